//! Positions in ascending order: a merge sort from the bottom up, one row after the other.
//!
//! `order` holds the positions in sorted runs of `width`; each pass merges pairs of runs into `merged` and copies back.

use super::{Held, Lowering};
use crate::nest::{Local, Node, Operand, Tensor};
use cotan_ir::{Elem, Var};
use cotan_ops::{ADD, AND, ISNAN, LT, MIN, MUL, NOT, OR, SELECT};

pub(super) fn argsort(this: &mut Lowering, result: Var, args: &[Held], _: &[i64]) -> Held {
    let Held::Tensor(keys) = &args[0] else { panic!("bug: a scalar is sorted") };
    let to = this.allocate_for(result);
    let (last, outer) = to.dims.split_last().expect("invariant: the operand has an axis");
    let (n, rows) = (*last, this.count(outer));
    let merged = this.allocate("merged", Elem::I64, vec![n]);
    let as_rows = |t: &Tensor| Tensor { dims: vec![rows, n], ..t.clone() };
    let (keys, orders) = (as_rows(keys), as_rows(&to));
    this.for_each("row", rows, |this, row| {
        let (keys, order) = (this.part(&keys, &[row]), this.part(&orders, &[row]));
        this.for_each("k", n, |this, k| {
            let place = this.shifted(order.place, k);
            this.store(place, k);
        });
        let width = this.variable("width", Elem::I64, Operand::i64(1));
        let unsorted = this.apply("unsorted", &LT, &[Operand::i64(1), n]);
        let goes_on = this.variable("unsorted", Elem::Bool, unsorted);
        let pass = this.body_nodes(|this| {
            let run = this.read(width);
            let twice = this.apply("pair", &MUL, &[run, Operand::i64(2)]);
            merge_runs(this, &keys, &order, &merged, run);
            this.push(Node::Copy { from: merged.place, to: order.place, count: n });
            this.push(Node::Set(width, twice));
            let unsorted = this.apply("unsorted", &LT, &[twice, n]);
            this.push(Node::Set(goes_on, unsorted));
        });
        this.push(Node::While(goes_on, pass));
    });
    Held::Tensor(to)
}

/// Merges each pair of sorted runs. `left` and `right` are the next positions of the two runs of the pair.
fn merge_runs(this: &mut Lowering, keys: &Tensor, order: &Tensor, merged: &Tensor, run: Operand) {
    let n = order.dims[0];
    let zero = Operand::i64(0);
    let [left, right, middle, end] =
        ["left", "right", "middle", "end"].map(|name| this.variable(name, Elem::I64, zero));
    this.for_each("k", n, |this, k| {
        let old_end = this.read(end);
        let begins = this.apply("begins", &cotan_ops::EQ, &[k, old_end]);
        let begin = this.nodes(|this| {
            let last = this.sub(n, k);
            // The distances stay below the extent, so the sums can't overflow.
            let to_middle = this.apply("length", &MIN, &[run, last]);
            let half = this.apply("middle", &ADD, &[k, to_middle]);
            let rest = this.sub(n, half);
            let to_end = this.apply("length", &MIN, &[run, rest]);
            let stop = this.apply("end", &ADD, &[half, to_end]);
            for (local, value) in [(left, k), (right, half), (middle, half), (end, stop)] {
                this.push(Node::Set(local, value));
            }
        });
        this.push(Node::If(begins, begin, Vec::new()));
        let takes_left = takes_left(this, keys, order, [left, right, middle, end]);
        let (at_left, at_right) = (this.read(left), this.read(right));
        let from = this.apply("from", &SELECT, &[takes_left, at_left, at_right]);
        let source = this.shifted(order.place, from);
        let position = this.load("position", Elem::I64, source);
        let target = this.shifted(merged.place, k);
        this.store(target, position);
        for (local, at, moves_if) in [(left, at_left, true), (right, at_right, false)] {
            let following = this.add(at, Operand::i64(1));
            let (if_left, if_right) = if moves_if { (following, at) } else { (at, following) };
            let next = this.apply("next", &SELECT, &[takes_left, if_left, if_right]);
            this.push(Node::Set(local, next));
        }
    });
}

/// Whether the next element comes from the left run: there is one, and none on the right that belongs before it.
fn takes_left(this: &mut Lowering, keys: &Tensor, order: &Tensor, locals: [Local; 4]) -> Operand {
    let [at_left, at_right, middle, end] = locals.map(|local| this.read(local));
    let last = this.sub(order.dims[0], Operand::i64(1));
    let [x, y] = [at_left, at_right].map(|at| {
        // A run that is used up has no next element; what is read in its place does not count.
        let at = this.apply("at", &MIN, &[at, last]);
        let place = this.shifted(order.place, at);
        let position = this.load("position", Elem::I64, place);
        let place = this.shifted(keys.place, position);
        this.load("key", keys.elem, place)
    });
    let mut is_before = this.apply("before", &LT, &[y, x]);
    if keys.elem.is_float() {
        let [x_is_nan, y_is_nan] = [x, y].map(|key| this.apply("nan", &ISNAN, &[key]));
        let y_is_number = this.apply("number", &NOT, &[y_is_nan]);
        let is_moved = this.apply("before", &AND, &[x_is_nan, y_is_number]);
        is_before = this.apply("before", &OR, &[is_before, is_moved]);
    }
    let has_right = this.apply("has_right", &LT, &[at_right, end]);
    let right_first = this.apply("right_first", &AND, &[has_right, is_before]);
    let has_left = this.apply("has_left", &LT, &[at_left, middle]);
    let stays = this.apply("stays", &NOT, &[right_first]);
    this.apply("takes_left", &AND, &[has_left, stays])
}
