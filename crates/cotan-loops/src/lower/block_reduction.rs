//! Reductions whose blocks are reduced apart, which their order lets them: so threads can share the work, and no iteration
//! waits for the one before it.
//!
//! With several indices a block is a range of row-major numbers, and a loop over the parts of rows in it has one over a part's
//! iterations inside. Their values go to memory first: numbers modulo the partial results are others in each row.
//!
//! Values that are dear to compute go to memory first, so that nothing holds up the loop that computes them. Light ones
//! are added up at once. What a block adds up waits for its last sums, so blocks of the lightest values go two at a time.

use super::par::output::Output;
use super::work::{combines_at_fixed_places, combines_nothing, times, times_extent};
use super::{Lowering, Value};
use crate::node::{Independence, Operand, Place, Sharing, Tensor};
use cotan_ir::{Const, Elem, Op, Par, ParResult, Var};
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

/// The last extent from which the values of several indices are worth loops of their own.
const LONG_ROW: i64 = 8;

/// From so many values on they are as many as can be counted.
const UNCOUNTABLE: i64 = 1 << 62;

/// Whether blocks of reductions can be reduced apart: all are of scalars, and there is more than a block of them, or
/// iterations are long; and where there are several indices, rows may be long and share nothing else, or the same elements
/// in all iterations.
pub(super) fn has_blocks_apart(
    this: &Lowering,
    sharing: &Sharing,
    p: &Par,
    results: &[Var],
    extents: &[Operand],
) -> bool {
    let mut reduced = p.kinds.iter().zip(results).filter(|(kind, _)| matches!(kind, ParResult::Reduced { .. }));
    let known = extents.iter().try_fold(1_i64, |n, extent| Some(n.saturating_mul(extent.as_i64()?.max(0))));
    let may_have_blocks = known.is_none_or(|n| n > BLOCK as i64);
    let may_have_totals = known.is_none_or(|n| n <= MOST_VALUES);
    let pays = match extents {
        [_] => may_have_blocks || !is_light(sharing),
        [.., last] if combines_nothing(p) => last.as_i64().is_none_or(|n| n >= LONG_ROW),
        // What they combine is added up otherwise then, so known extents must not decide.
        [_, ..] => combines_at_fixed_places(p),
        [] => false,
    };
    pays && may_have_totals && reduced.all(|(_, result)| this.f.ty(*result).is_scalar())
}

/// The number of values; of more than can be counted as many as can be.
fn n_values(this: &mut Lowering, extents: &[Operand]) -> Operand {
    let n = this.count(extents);
    if extents.len() == 1 || n.as_i64().is_some() {
        return n;
    }
    let one = Operand::Const(Const::float(Elem::F64, 1.0));
    let product = extents.iter().fold(one, |product, extent| {
        let extent = this.native(Instruction::Cast(Elem::F64), Elem::I64, Elem::F64, &[*extent]);
        this.native(Instruction::Mul, Elem::F64, Elem::F64, &[product, extent])
    });
    let most = Operand::Const(Const::float(Elem::F64, UNCOUNTABLE as f64));
    let is_countable = this.native(Instruction::Lt, Elem::F64, Elem::Bool, &[product, most]);
    this.native(Instruction::Select, Elem::I64, Elem::I64, &[is_countable, n, Operand::i64(UNCOUNTABLE)])
}

/// The loops of a `par`, block by block. `sharing` is of a value.
pub(super) fn blocks_apart<'a>(
    this: &mut Lowering<'a>,
    p: &'a Par,
    extents: &[Operand],
    results: &[Var],
    sharing: Sharing,
) {
    let n = n_values(this, extents);
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
    if extents.len() > 1 || !is_light(&sharing) {
        this.for_each("block", n_blocks, |this, block| dear_block(this, p, extents, n, &whole, block, sharing));
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
fn dear_block<'a>(
    this: &mut Lowering<'a>,
    p: &'a Par,
    extents: &[Operand],
    n: Operand,
    whole: &[Tensor],
    block: Operand,
    sharing: Sharing,
) {
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
    if let [extent] = extents {
        let name = this.f.name_of(p.indices[0]).to_owned();
        this.for_each_apart(&name, length, |this, k| {
            let i = this.add(start, k);
            this.par_body(p, &[*extent], &[i], &outputs, k);
        });
        this.may_fork(sharing);
    } else {
        rows_of_block(this, p, extents, &outputs, (start, length), sharing);
    }
    for ((kind, output), totals) in p.kinds.iter().zip(&outputs).zip(whole) {
        if let (ParResult::Reduced { monoid, .. }, Output::Block(values)) = (kind, output) {
            let total = this.total_of_block(*monoid, values, length);
            this.store(Place { buffer: totals.place.buffer, offset: block }, total);
        }
    }
}

/// The iterations of several indices whose row-major numbers are those of a block: row by row, and of each row its part.
fn rows_of_block<'a>(
    this: &mut Lowering<'a>,
    p: &'a Par,
    extents: &[Operand],
    outputs: &[Output],
    (start, length): (Operand, Operand),
    sharing: Sharing,
) {
    let (row, outer) = extents.split_last().expect("invariant: there are several indices");
    let [name_of_row, name] = [0, outer.len()].map(|k| this.f.name_of(p.indices[k]).to_owned());
    let i64_op = |this: &mut Lowering, instruction, a, b| this.native(instruction, Elem::I64, Elem::I64, &[a, b]);
    let end = this.add(start, length);
    let first_row = i64_op(this, Instruction::Div, start, *row);
    let last = this.sub(end, Operand::i64(1));
    let last_row = i64_op(this, Instruction::Div, last, *row);
    let n_before = this.sub(last_row, first_row);
    let n_rows = this.add(n_before, Operand::i64(1));
    this.for_each_apart(&name_of_row, n_rows, |this, k| {
        let number_of_row = this.add(first_row, k);
        let start_of_row = this.mul(number_of_row, *row);
        let before = this.sub(start, start_of_row);
        let low = i64_op(this, Instruction::Max, before, Operand::i64(0));
        let rest = this.sub(end, start_of_row);
        let high = i64_op(this, Instruction::Min, rest, *row);
        let mut at = indices_of_row(this, outer, number_of_row);
        let count = this.sub(high, low);
        this.for_each_apart(&name, count, |this, k| {
            let j = this.add(low, k);
            let number = this.add(start_of_row, j);
            at.push(j);
            let in_block = this.sub(number, start);
            this.par_body(p, extents, &at, outputs, in_block);
        });
    });
    let steps = times_extent(this, sharing.steps, *row);
    this.may_fork(Sharing { steps, ..sharing });
}

/// The indices of a row, given its row-major number.
fn indices_of_row(this: &mut Lowering, extents: &[Operand], number: Operand) -> Vec<Operand> {
    let Some((_, inner)) = extents.split_first() else { return Vec::new() };
    let mut left = number;
    let mut indices = Vec::new();
    for extent in inner.iter().rev() {
        indices.push(this.native(Instruction::Rem, Elem::I64, Elem::I64, &[left, *extent]));
        left = this.native(Instruction::Div, Elem::I64, Elem::I64, &[left, *extent]);
    }
    indices.push(left);
    indices.reverse();
    indices
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
    let name = this.f.name_of(p.indices[0]).to_owned();
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
