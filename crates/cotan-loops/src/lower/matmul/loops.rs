//! Products as loops, each element a sum in order. A vector times a matrix is strip-mined: a few rows of the matrix at a time.
//!
//! Columns have lanes, and down a whole column each row is far from the one before: no prefetcher follows, and the same
//! pages are looked up again for the next columns. A few rows at a time are read along the rows, as they lie in memory. What a
//! column has added up so far waits in an array.

use super::super::Lowering;
use super::runs::{Runs, others};
use crate::node::{Local, Node, Operand, Tensor};
use cotan_ir::{Const, Elem};
use cotan_ops::{ADD, FMA, Instruction, MULZ, is_strong};

/// Rows of a matrix that are added up for all columns before the next ones: measured, from one cache to main memory.
const ROWS: i64 = 16;

/// What is multiplied.
pub(super) struct Factors<'a> {
    pub(super) left: &'a Tensor,
    pub(super) right: &'a Tensor,
    pub(super) attrs: &'a [i64],
}

/// The sum of every element as `matmul` defines it.
pub(super) fn product_loops(this: &mut Lowering, factors: &Factors, to: &Tensor) {
    if let ([_], [rows, columns]) = (&factors.left.dims[..], &factors.right.dims[..])
        && this.target.reads_through_caches
        && !this.is_in_par
        && rows.as_i64().is_none_or(|n| n > ROWS)
    {
        return by_rows(this, factors, [*rows, *columns], to);
    }
    element_by_element(this, factors, to);
}

fn element_by_element(this: &mut Lowering, factors: &Factors, to: &Tensor) {
    let (left_rank, right_rank) = (factors.left.dims.len(), factors.right.dims.len());
    let n_batch = left_rank.min(right_rank).saturating_sub(2);
    let summed = factors.left.dims[left_rank - 1];
    let runs = Runs::of(this, summed, factors.attrs);
    this.for_all(&to.dims.clone(), &mut |this, at| {
        let (batch, sides) = at.split_at(n_batch);
        let (row, column) = sides.split_at(usize::from(left_rank > 1));
        let total = runs.total(this, to.elem, |this, run| {
            let sum = this.variable("sum", to.elem, Operand::Const(Const::zero(to.elem)));
            this.for_each("k", run.length, |this, k| {
                let k = this.add(run.low, k);
                let x_at: Vec<Operand> = batch.iter().chain(row).copied().chain([k]).collect();
                let y_at: Vec<Operand> = batch.iter().copied().chain([k]).chain(column.iter().copied()).collect();
                add_term(this, factors, sum, &x_at, &y_at);
            });
            this.read(sum)
        });
        let target = this.part(to, at).place;
        this.store(target, total);
    });
}

/// Adds the product of two elements to a sum.
fn add_term(this: &mut Lowering, factors: &Factors, sum: Local, x_at: &[Operand], y_at: &[Operand]) {
    let (x, y) = (this.part(factors.left, x_at).place, this.part(factors.right, y_at).place);
    let (x, y) = (this.load("x", factors.left.elem, x), this.load("y", factors.right.elem, y));
    let old = this.read(sum);
    let new = if is_strong(factors.attrs) {
        let product = this.apply("product", &MULZ, &[x, y]);
        this.apply("sum", &ADD, &[old, product])
    } else {
        this.apply("sum", &FMA, &[x, y, old])
    };
    this.push(Node::Set(sum, new));
}

/// A vector times a matrix, a few rows at a time.
fn by_rows(this: &mut Lowering, factors: &Factors, [n_rows, n_columns]: [Operand; 2], to: &Tensor) {
    let sums = this.allocate("sums", to.elem, vec![n_columns]);
    let runs = Runs::of(this, n_rows, factors.attrs);
    runs.each(this, |this, run| {
        let others = others(this, run.length);
        let others = this.i64_of(Instruction::Div, others, Operand::i64(ROWS));
        let n_strips = this.add(others, Operand::i64(1));
        this.for_each("strip", n_strips, |this, strip| {
            let skipped = this.mul(strip, Operand::i64(ROWS));
            let left = this.sub(run.length, skipped);
            let length = this.i64_of(Instruction::Min, left, Operand::i64(ROWS));
            let low = this.add(run.low, skipped);
            let is_first = this.native(Instruction::Le, Elem::I64, Elem::Bool, &[strip, Operand::i64(0)]);
            let is_last = this.native(Instruction::Le, Elem::I64, Elem::Bool, &[left, Operand::i64(ROWS)]);
            this.for_each_apart("column", n_columns, |this, column| {
                let waiting = this.part(&sums, &[column]).place;
                let sum = this.variable("sum", to.elem, Operand::Const(Const::zero(to.elem)));
                let before = this.nodes(|this| {
                    let before = this.load("sum", to.elem, waiting);
                    this.push(Node::Set(sum, before));
                });
                this.push(Node::If(is_first, Vec::new(), before));
                this.for_each("k", length, |this, k| {
                    let k = this.add(low, k);
                    add_term(this, factors, sum, &[k], &[k, column]);
                });
                let sum = this.read(sum);
                let element = this.part(to, &[column]);
                let finished = this.nodes(|this| runs.add_to(this, run, &element, sum));
                let waits = this.nodes(|this| this.store(waiting, sum));
                this.push(Node::If(is_last, finished, waits));
            });
        });
    });
}
