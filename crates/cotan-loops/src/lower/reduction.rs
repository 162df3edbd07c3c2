//! Reductions in the fixed order of [`cotan_ops::reduce`].
//!
//! The partial results of all levels lie in one buffer, 16 for each level. They start as neutral elements, which change
//! no bit of what is combined with them (for a sum of floats that is -0.0), so that no case is special: a value is
//! combined with partial result `number mod 16`, and the last value of a block closes it, as [`PartialSums`] say. Where there
//! are fewer values than one block, only as many partial results as values are made.

use super::{Lowering, Value};
use crate::node::{Independence, Node, Operand, Place, Tensor};
use crate::partial_sums::{BlockWork, PartialSums};
use cotan_ir::{Atom, Elem, Monoid, Var};
use cotan_ops::Instruction;
use cotan_ops::reduce::{BLOCK, LANES, LEVELS, neutral};

/// A block has two to the power of this many values.
const BLOCK_BITS: u32 = BLOCK.trailing_zeros();
const LAST_IN_BLOCK: i64 = BLOCK as i64 - 1;
const LAST_LANE: i64 = LANES as i64 - 1;

/// A reduction that is under way.
pub(super) struct Reduction {
    monoid: Monoid,
    init: Value,
    result: Var,
    /// The number of values.
    total: Operand,
    /// The partial results in use at the lowest level.
    width: Operand,
    /// The partial results: `[lane of any level, element dims..]`.
    lanes: Tensor,
}

impl Reduction {
    /// Whether the values may fill a block.
    pub(super) fn may_fill_block(&self) -> bool {
        self.total.as_i64().is_none_or(|n| n >= BLOCK as i64)
    }
}

impl Lowering<'_> {
    /// A reduction of `total` values.
    pub(super) fn open_reduction(&mut self, monoid: Monoid, init: Atom, result: Var, total: Operand) -> Reduction {
        let ty = self.f.ty(result);
        let elem = ty.elem;
        let element_dims = self.dims(ty);
        let lanes = Operand::i64(LANES as i64);
        // One lane at least: without values its neutral element is the total.
        let width = i64_op(self, Instruction::Min, total, lanes);
        let width = i64_op(self, Instruction::Max, width, Operand::i64(1));
        let all = Operand::i64((LEVELS * LANES) as i64);
        // A few scalars are cheap to have and of known size; tensors are made as far as they are needed.
        let n_lanes = if element_dims.is_empty() { all } else { if_block_fills(self, total, all, width) };
        let n_used = if_block_fills(self, total, all, width);
        let dims = std::iter::once(n_lanes).chain(element_dims).collect();
        let lanes = self.allocate("lanes", elem, dims);
        let reduction = Reduction { monoid, init: self.value_of(init), result, total, width, lanes };
        clear_lanes(self, monoid, &reduction.lanes, n_used);
        reduction
    }

    /// Takes up value number `number`.
    pub(super) fn reduce(&mut self, r: &Reduction, value: &Value, number: Operand) {
        self.take_up(r.monoid, &r.lanes, value, number);
    }

    /// The same with the partial results of one block.
    pub(super) fn take_up(&mut self, monoid: Monoid, lanes: &Tensor, value: &Value, number: Operand) {
        let lane = i64_op(self, Instruction::And, number, Operand::i64(LAST_LANE));
        let lane = self.part(lanes, &[lane]);
        self.add_to(monoid, &lane, value);
    }

    /// The number of blocks of so many values.
    pub(super) fn n_blocks(&mut self, total: Operand) -> Operand {
        // Rounded up without a sum that the largest totals would overflow.
        let last = self.add(total, Operand::i64(-1));
        let before = i64_op(self, Instruction::Shr, last, Operand::i64(BLOCK_BITS.into()));
        self.add(before, Operand::i64(1))
    }

    /// The number of the first value of a block, and how many values it has.
    pub(super) fn range_of_block(&mut self, total: Operand, block: Operand) -> (Operand, Operand) {
        let start = i64_op(self, Instruction::Shl, block, Operand::i64(BLOCK_BITS.into()));
        let rest = self.sub(total, start);
        (start, i64_op(self, Instruction::Min, rest, Operand::i64(BLOCK as i64)))
    }

    /// Takes up scalar values that lie in memory.
    pub(super) fn reduce_all(&mut self, r: &Reduction, values: &Tensor, n: Operand) {
        let each = |this: &mut Self, k: Operand| {
            let place = this.shifted(values.place, k);
            let value = this.load("value", values.elem, place);
            this.reduce(r, &Value::Scalar(value), k);
        };
        if r.may_fill_block() {
            self.for_blocks("k", n, each, |this, last| this.close_full_blocks(r, last));
        } else {
            self.counted("k", n, Independence::Block, each);
        }
    }

    /// What a block of scalar values that lie in memory gives.
    pub(super) fn total_of_block(&mut self, monoid: Monoid, values: &Tensor, n: Operand) -> Operand {
        let lanes = self.open_block(monoid, values.elem);
        self.counted("k", n, Independence::Block, |this, k| {
            let place = this.shifted(values.place, k);
            let value = this.load("value", values.elem, place);
            this.take_up(monoid, &lanes, &Value::Scalar(value), k);
        });
        self.close_block(monoid, &lanes)
    }

    /// The partial results of a block of scalars, that nothing is combined with yet.
    pub(super) fn open_block(&mut self, monoid: Monoid, elem: Elem) -> Tensor {
        let all = Operand::i64(LANES as i64);
        let lanes = self.allocate("lanes", elem, vec![all]);
        clear_lanes(self, monoid, &lanes, all);
        lanes
    }

    /// What a block of scalars gives.
    pub(super) fn close_block(&mut self, monoid: Monoid, lanes: &Tensor) -> Operand {
        combine_lanes(self, monoid, lanes, Operand::i64(LANES as i64));
        self.load("total", lanes.elem, lanes.place)
    }

    /// A loop over the numbers of all values, block by block: `each` takes them up, `after_block` follows on the last
    /// value of a block, or of all.
    pub(super) fn for_blocks(
        &mut self,
        name: &str,
        total: Operand,
        each: impl FnOnce(&mut Self, Operand),
        after_block: impl FnOnce(&mut Self, Operand),
    ) {
        let n_blocks = self.n_blocks(total);
        self.for_each("block", n_blocks, |this, block| {
            let (start, length) = this.range_of_block(total, block);
            this.counted(name, length, Independence::Block, |this, k| {
                let number = this.add(start, k);
                each(this, number);
            });
            let next = this.add(start, length);
            let last = this.sub(next, Operand::i64(1));
            after_block(this, last);
        });
    }

    /// Closes the blocks of which value number `number` is the last: their totals go to the level above.
    pub(super) fn close_full_blocks(&mut self, r: &Reduction, number: Operand) {
        if !r.may_fill_block() {
            return;
        }
        let closes = is_last_in_block(self, number);
        let nodes = self.nodes(|this| work_on_blocks(this, BlockWork::Close, r, number));
        self.push(Node::If(closes, nodes, Vec::new()));
    }

    /// The total of all values, combined with the start value.
    pub(super) fn finish_reduction(&mut self, r: &Reduction) -> Value {
        match r.total.as_i64() {
            Some(n) if n < BLOCK as i64 => combine_lanes(self, r.monoid, &r.lanes, r.width),
            Some(_) => work_on_blocks(self, BlockWork::Combine, r, r.total),
            None => {
                let fills = fills_block(self, r.total);
                let levels = self.nodes(|this| work_on_blocks(this, BlockWork::Combine, r, r.total));
                let lanes = self.nodes(|this| combine_lanes(this, r.monoid, &r.lanes, r.width));
                self.push(Node::If(fills, levels, lanes));
            }
        }
        let total = self.part(&r.lanes, &[Operand::i64(0)]);
        if total.dims.is_empty() {
            let init = self.element(&r.init, Operand::i64(0));
            return Value::Scalar(with_total(self, r, init, total.place));
        }
        let to = self.allocate_for(r.result);
        let count = self.count(&to.dims);
        self.for_each("k", count, |this, k| {
            let init = this.element(&r.init, k);
            let from = this.shifted(total.place, k);
            let value = with_total(this, r, init, from);
            let place = this.shifted(to.place, k);
            this.store(place, value);
        });
        Value::Tensor(to)
    }
}

fn i64_op(this: &mut Lowering, instruction: Instruction, a: Operand, b: Operand) -> Operand {
    match (instruction, a.as_i64(), b.as_i64()) {
        (Instruction::Min, Some(a), Some(b)) => Operand::i64(a.min(b)),
        (Instruction::Max, Some(a), Some(b)) => Operand::i64(a.max(b)),
        _ => this.native(instruction, Elem::I64, Elem::I64, &[a, b]),
    }
}

fn if_block_fills(this: &mut Lowering, total: Operand, yes: Operand, no: Operand) -> Operand {
    match total.as_i64() {
        Some(n) if n >= BLOCK as i64 => yes,
        Some(_) => no,
        None => {
            let fills = fills_block(this, total);
            this.native(Instruction::Select, Elem::I64, Elem::I64, &[fills, yes, no])
        }
    }
}

/// Whether so many values fill a block.
fn fills_block(this: &mut Lowering, total: Operand) -> Operand {
    this.native(Instruction::Ge, Elem::I64, Elem::Bool, &[total, Operand::i64(BLOCK as i64)])
}

fn clear_lanes(this: &mut Lowering, monoid: Monoid, lanes: &Tensor, n: Operand) {
    let size = this.count(&lanes.dims[1..]);
    let count = this.mul(n, size);
    let neutral = Operand::Const(neutral(monoid, lanes.elem));
    this.for_each_apart("k", count, |this, k| {
        let place = this.shifted(lanes.place, k);
        this.store(place, neutral);
    });
}

fn work_on_blocks(this: &mut Lowering, work: BlockWork, r: &Reduction, number: Operand) {
    let size = this.count(&r.lanes.dims[1..]);
    this.push(Node::PartialSums(PartialSums { work, monoid: r.monoid, lanes: r.lanes.place, size, stride: 1, number }));
}

fn is_last_in_block(this: &mut Lowering, number: Operand) -> Operand {
    let last = Operand::i64(LAST_IN_BLOCK);
    let in_block = i64_op(this, Instruction::And, number, last);
    this.native(Instruction::Eq, Elem::I64, Elem::Bool, &[in_block, last])
}

/// Combines the `width` lanes of the lowest level in the order of the tree; the first one is then the total.
fn combine_lanes(this: &mut Lowering, monoid: Monoid, lanes: &Tensor, width: Operand) {
    let half = Operand::i64(LANES as i64 / 2);
    let n_steps = i64::from(LANES.trailing_zeros());
    if width.as_i64().is_some() {
        (0..n_steps)
            .for_each(|step| combine_halves(this, monoid, lanes, width, Operand::i64(LANES as i64 >> (step + 1))));
    } else {
        this.for_each("step", Operand::i64(n_steps), |this, step| {
            let stride = i64_op(this, Instruction::Shr, half, step);
            combine_halves(this, monoid, lanes, width, stride);
        });
    }
}

/// Combines each of `width` lanes with the one that lies so far behind it, if there is one.
fn combine_halves(this: &mut Lowering, monoid: Monoid, lanes: &Tensor, width: Operand, stride: Operand) {
    let missing = this.sub(width, stride);
    let n = i64_op(this, Instruction::Min, missing, stride);
    if n.as_i64().is_some_and(|n| n <= 0) {
        return;
    }
    let combine = |this: &mut Lowering, to: Operand| {
        let from = this.add(to, stride);
        let (to, from) = (this.part(lanes, &[to]), this.part(lanes, &[from]));
        this.add_to(monoid, &to, &Value::Tensor(from));
    };
    if n.as_i64().is_some() { this.for_each_apart("k", n, combine) } else { this.for_each("k", n, combine) }
}

/// The start value combined with the total at a place.
fn with_total(this: &mut Lowering, r: &Reduction, init: Operand, total: Place) -> Operand {
    let total = this.load("total", r.lanes.elem, total);
    this.combine(r.monoid, r.lanes.elem, init, total)
}
