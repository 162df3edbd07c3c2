//! Reductions whose blocks are reduced apart, which their order lets them: so threads can share the work.
//!
//! Values that are dear to compute go to memory first, so that nothing holds up the loop that computes them. Light ones
//! are added up at once. What a block adds up waits for its last sums, so blocks of the lightest values go two at a time.

use super::par::output::Output;
use super::work::times;
use super::{Lowering, Value};
use crate::node::{Independence, Operand, Place, Sharing, Tensor};
use cotan_ir::{Elem, Op, Par, ParResult, Var};
use cotan_ops::Instruction;
use cotan_ops::reduce::BLOCK;

/// Steps of an iteration up to which its value is not worth keeping: it is reduced at once.
const LIGHT: f64 = 32.0;

/// Statements of a body up to which two blocks are reduced at a time: with more of them sums wait for other things.
const FEW: usize = 4;

/// Values up to which there is memory for what each block gives. Of more than that, of which no run sees the end, each is
/// taken up at once, so that a failing one is the error and not the memory.
const MOST_VALUES: i64 = 1 << 40;

/// Values of two blocks, as a power of two.
const PAIR_BITS: u32 = (2 * BLOCK).trailing_zeros();

/// Whether threads can share the work on reductions: all are of scalars, and there is more than a block of them, or
/// iterations are long.
pub(super) fn has_blocks_apart(this: &Lowering, sharing: &Sharing, p: &Par, results: &[Var], n: Operand) -> bool {
    let mut reduced = p.kinds.iter().zip(results).filter(|(kind, _)| matches!(kind, ParResult::Reduced { .. }));
    let may_have_blocks = n.as_i64().is_none_or(|n| n > BLOCK as i64);
    let may_have_totals = n.as_i64().is_none_or(|n| n <= MOST_VALUES);
    (may_have_blocks || !is_light(sharing))
        && may_have_totals
        && reduced.all(|(_, result)| this.f.ty(*result).is_scalar())
}

/// The loop of a single index, block by block.
pub(super) fn blocks_apart<'a>(this: &mut Lowering<'a>, p: &'a Par, n: Operand, results: &[Var], sharing: Sharing) {
    let n_blocks = this.n_blocks(n);
    // Of a stacked result the place, of a reduced one what its blocks give.
    let mut whole = Vec::new();
    for (kind, result) in p.kinds.iter().zip(results) {
        whole.push(match kind {
            ParResult::Stacked => this.allocate_for(*result),
            ParResult::Reduced { .. } => this.allocate("totals", this.f.ty(*result).elem, vec![n_blocks]),
        });
    }
    let longest = n.as_i64().map_or(BLOCK as i64, |n| n.clamp(0, BLOCK as i64));
    let steps = times(this, sharing.steps, longest);
    let of_block = Sharing { steps, sums: sharing.sums.clone() };
    if !is_light(&sharing) {
        this.for_each("block", n_blocks, |this, block| dear_block(this, p, n, &whole, block, sharing));
        this.may_fork(of_block);
    } else if goes_in_pairs(p, n) {
        let n_paired = pairs_of_blocks(this, p, n, &whole, of_block);
        let n_left = this.sub(n_blocks, n_paired);
        this.for_each("block", n_left, |this, k| {
            let block = this.add(n_paired, k);
            light_block(this, p, n, &whole, block);
        });
    } else {
        this.for_each("block", n_blocks, |this, block| light_block(this, p, n, &whole, block));
        this.may_fork(of_block);
    }
    for ((kind, result), tensor) in p.kinds.iter().zip(results).zip(whole) {
        let value = match kind {
            ParResult::Stacked => Value::Tensor(tensor),
            ParResult::Reduced { monoid, init } => {
                let reduction = this.open_reduction(*monoid, *init, *result, n_blocks);
                this.reduce_all(&reduction, &tensor, n_blocks);
                this.finish_reduction(&reduction)
            }
        };
        this.bind(*result, value);
    }
}

/// The values of a block go to memory, and are then reduced.
fn dear_block<'a>(this: &mut Lowering<'a>, p: &'a Par, n: Operand, whole: &[Tensor], block: Operand, sharing: Sharing) {
    let (start, length) = this.range_of_block(n, block);
    let longest = n.as_i64().map_or(BLOCK as i64, |n| n.clamp(0, BLOCK as i64));
    let mut outputs = Vec::new();
    for (kind, tensor) in p.kinds.iter().zip(whole) {
        outputs.push(match kind {
            ParResult::Stacked => Output::Stacked(tensor.clone()),
            ParResult::Reduced { .. } => {
                Output::Block(this.allocate("values", tensor.elem, vec![Operand::i64(longest)]))
            }
        });
    }
    let name = name_of_index(this, p);
    this.for_each_apart(&name, length, |this, k| {
        let i = this.add(start, k);
        this.par_body(p, &[n], &[i], &outputs, k);
    });
    this.may_fork(sharing);
    for ((kind, output), totals) in p.kinds.iter().zip(&outputs).zip(whole) {
        if let (ParResult::Reduced { monoid, .. }, Output::Block(values)) = (kind, output) {
            let total = this.total_of_block(*monoid, values, length);
            this.store(Place { buffer: totals.place.buffer, offset: block }, total);
        }
    }
}

/// The values of a block are reduced as they are computed.
fn light_block<'a>(this: &mut Lowering<'a>, p: &'a Par, n: Operand, whole: &[Tensor], block: Operand) {
    let (_, length) = this.range_of_block(n, block);
    light_blocks(this, p, n, whole, &[block], length);
}

/// Whole blocks, two at a time; gives how many there are.
fn pairs_of_blocks<'a>(
    this: &mut Lowering<'a>,
    p: &'a Par,
    n: Operand,
    whole: &[Tensor],
    of_block: Sharing,
) -> Operand {
    let n_pairs = match n.as_i64() {
        Some(n) => Operand::i64(n >> PAIR_BITS),
        None => {
            let n = this.native(Instruction::Max, Elem::I64, Elem::I64, &[n, Operand::i64(0)]);
            this.native(Instruction::Shr, Elem::I64, Elem::I64, &[n, Operand::i64(PAIR_BITS.into())])
        }
    };
    this.for_each("pair", n_pairs, |this, pair| {
        let first = this.mul(pair, Operand::i64(2));
        let second = this.add(first, Operand::i64(1));
        light_blocks(this, p, n, whole, &[first, second], Operand::i64(BLOCK as i64));
    });
    let steps = times(this, of_block.steps, 2);
    this.may_fork(Sharing { steps, ..of_block });
    this.mul(n_pairs, Operand::i64(2))
}

/// Blocks of a length side by side.
fn light_blocks<'a>(
    this: &mut Lowering<'a>,
    p: &'a Par,
    n: Operand,
    whole: &[Tensor],
    blocks: &[Operand],
    length: Operand,
) {
    let mut parts = Vec::new();
    for block in blocks {
        let (start, _) = this.range_of_block(n, *block);
        let mut outputs = Vec::new();
        for (kind, tensor) in p.kinds.iter().zip(whole) {
            outputs.push(match kind {
                ParResult::Stacked => Output::Stacked(tensor.clone()),
                ParResult::Reduced { monoid, .. } => Output::Lanes(*monoid, this.open_block(*monoid, tensor.elem)),
            });
        }
        parts.push((*block, start, outputs));
    }
    let name = name_of_index(this, p);
    this.counted(&name, length, Independence::Block, |this, k| {
        for (_, start, outputs) in &parts {
            let i = this.add(*start, k);
            this.par_body(p, &[n], &[i], outputs, k);
        }
    });
    for (block, _, outputs) in parts {
        for (output, totals) in outputs.iter().zip(whole) {
            if let Output::Lanes(monoid, lanes) = output {
                let total = this.close_block(*monoid, lanes);
                this.store(Place { buffer: totals.place.buffer, offset: block }, total);
            }
        }
    }
}

fn name_of_index(this: &Lowering, p: &Par) -> String {
    this.f.name_of(p.indices[0]).to_owned()
}

/// Whether blocks may be reduced two at a time: bodies read and compute a little and do nothing else.
fn goes_in_pairs(p: &Par, n: Operand) -> bool {
    let is_plain = |op: &Op| matches!(op, Op::Prim { .. } | Op::Index { .. });
    let reduces = p.kinds.iter().all(|kind| matches!(kind, ParResult::Reduced { .. }));
    let may_have_two = n.as_i64().is_none_or(|n| n >= 2 * BLOCK as i64);
    may_have_two
        && reduces
        && p.accs.is_empty()
        && p.body.stmts.len() <= FEW
        && p.body.stmts.iter().all(|s| is_plain(&s.op))
}

/// Whether an iteration costs little more than to keep its value.
fn is_light(sharing: &Sharing) -> bool {
    match sharing.steps {
        Operand::Const(steps) => steps.as_float().is_some_and(|steps| steps <= LIGHT),
        Operand::Local(_) => false,
    }
}
