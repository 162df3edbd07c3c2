//! Reading and replacing parts of tensors, and writing to accumulators.

use super::{Lowering, Value};
use crate::node::{BufferKind, Local, Node, Operand, Place, Target, Tensor};
use cotan_ir::{Acc, AccKind, Atom, Monoid, Op, Stmt, Var};

/// Where the writes to an accumulator go.
#[derive(Clone, Debug)]
pub(super) enum Accumulator {
    /// A scalar, added to a mutable local.
    Scalar(Monoid, Local),
    /// A tensor, in place.
    Tensor(Monoid, Tensor),
    /// A log: a stack of elements; the tensor is one of them, at position 0.
    Log(Tensor),
}

impl Lowering<'_> {
    pub(super) fn index(&mut self, result: Var, array: Atom, indices: &[Atom]) {
        let indices: Vec<Operand> = indices.iter().map(|i| self.scalar(*i)).collect();
        let value = match self.value_of(array) {
            Value::Scalar(operand) => Value::Scalar(operand),
            Value::Tensor(tensor) => {
                let part = self.part(&tensor, &indices);
                if part.dims.is_empty() {
                    Value::Scalar(self.load(self.f.name_of(result), part.elem, part.place))
                } else {
                    Value::Tensor(part)
                }
            }
        };
        self.bind(result, value);
    }

    pub(super) fn update(&mut self, stmt: &Stmt, array: Atom, indices: &[Atom], value: Atom) {
        let result = stmt.results[0];
        if self.f.ty(result).is_scalar() {
            let value = self.value_of(value);
            return self.bind(result, value);
        }
        let to = if self.may_overwrite(array, &stmt.op) {
            self.tensor(array)
        } else {
            let to = self.allocate_for(result);
            let from = self.tensor(array);
            self.copy_tensor(&from, to.place);
            to
        };
        let indices: Vec<Operand> = indices.iter().map(|i| self.scalar(*i)).collect();
        let part = self.part(&to, &indices);
        match self.value_of(value) {
            Value::Scalar(value) => self.store(part.place, value),
            Value::Tensor(value) => self.copy_tensor(&value, part.place),
        }
        self.bind(result, Value::Tensor(to));
    }

    // ---- accumulators

    /// Makes an accumulator ready for writes; `op` introduces it, `result` is its final value.
    pub(super) fn open_accumulator(&mut self, acc: &Acc, op: &Op, result: Var) {
        let info = &self.f.vars[acc.var.index()];
        let accumulator = match (acc.kind, acc.init) {
            (AccKind::Reduce(monoid), Some(init)) if info.ty.is_scalar() => {
                let first = self.scalar(init);
                Accumulator::Scalar(monoid, self.variable(&info.name, info.ty.elem, first))
            }
            (AccKind::Reduce(monoid), Some(init)) => Accumulator::Tensor(monoid, self.take_over(init, op, result)),
            (AccKind::Log | AccKind::Reduce(_), _) => {
                let buffer = self.open_stack(result);
                let place = Place { buffer, offset: Operand::i64(0) };
                Accumulator::Log(Tensor { place, elem: info.ty.elem, dims: self.dims(&info.ty.inner(1)) })
            }
        };
        self.accumulators.insert(acc.var, accumulator);
    }

    /// The start value of something that is changed in place: in its own memory if nobody needs it any more, else in a
    /// copy for `result`.
    pub(super) fn take_over(&mut self, init: Atom, op: &Op, result: Var) -> Tensor {
        let from = self.tensor(init);
        let shared = op.operands().iter().filter(|a| lies_in(self, **a, from.place)).count() > 1;
        if !shared && self.may_overwrite(init, op) {
            return self.tensor(init);
        }
        let to = self.allocate_for(result);
        self.copy_tensor(&from, to.place);
        to
    }

    /// Binds the final value of an accumulator.
    pub(super) fn close_accumulator(&mut self, acc: &Acc, result: Var) {
        let accumulator = self.accumulators.remove(&acc.var).expect("invariant: the accumulator was opened");
        let value = match accumulator {
            Accumulator::Scalar(_, local) => Value::Scalar(self.read(local)),
            Accumulator::Tensor(_, tensor) => Value::Tensor(tensor),
            Accumulator::Log(element) => Value::Tensor(self.finished_stack(element.place, result)),
        };
        self.bind(result, value);
    }

    /// The elements of a stack that grows no more, as the tensor `result`.
    pub(super) fn finished_stack(&mut self, stack: Place, result: Var) -> Tensor {
        let info = &self.f.vars[result.index()];
        let buffer = self.new_buffer(&info.name, info.ty.elem, BufferKind::Bound);
        self.push(Node::Bind { buffer, to: stack });
        self.count_record(result);
        Tensor { place: Place { buffer, offset: Operand::i64(0) }, elem: info.ty.elem, dims: self.dims(&info.ty) }
    }

    pub(super) fn acc_add(&mut self, acc: Var, indices: &[Atom], value: Atom) {
        let accumulator = self.accumulators.get(&acc).cloned().expect("invariant: an accumulator in scope is open");
        let indices: Vec<Operand> = indices.iter().map(|i| self.scalar(*i)).collect();
        let value = self.value_of(value);
        match accumulator {
            Accumulator::Scalar(monoid, local) => {
                let value = self.element(&value, Operand::i64(0));
                self.push(Node::Combine { monoid, target: Target::Local(local), value });
            }
            Accumulator::Tensor(monoid, tensor) => {
                let part = self.part(&tensor, &indices);
                self.accumulate(monoid, &part, &value);
            }
            Accumulator::Log(element) => {
                let to = self.push_element(&element, indices[0]);
                self.put(to, &value, &element.dims);
            }
        }
    }

    /// Combines a tensor or element of an accumulator in place with a value.
    pub(super) fn accumulate(&mut self, monoid: Monoid, part: &Tensor, value: &Value) {
        let combine = |this: &mut Self, k: Operand| {
            let target = Target::Element(this.shifted(part.place, k));
            let value = this.element(value, k);
            this.push(Node::Combine { monoid, target, value });
        };
        if part.dims.is_empty() {
            combine(self, Operand::i64(0));
        } else {
            let count = self.count(&part.dims);
            self.for_each_apart("k", count, combine);
        }
    }

    /// Combines a tensor or element in place with a value.
    pub(super) fn add_to(&mut self, monoid: Monoid, part: &Tensor, value: &Value) {
        let count = self.count(&part.dims);
        let add_element = |this: &mut Self, k: Operand| {
            let place = this.shifted(part.place, k);
            let old = this.load("old", part.elem, place);
            let value = this.element(value, k);
            let new = this.combine(monoid, part.elem, old, value);
            this.store(place, new);
        };
        if part.dims.is_empty() {
            add_element(self, Operand::i64(0));
        } else {
            self.for_each_apart("k", count, add_element);
        }
    }

    /// Makes room in a stack for the element at a position; gives its place.
    pub(super) fn push_element(&mut self, element: &Tensor, position: Operand) -> Place {
        let size = self.count(&element.dims);
        let start = self.mul(position, size);
        let end = self.add(start, size);
        self.push(Node::StackExtend(element.place.buffer, end));
        Place { buffer: element.place.buffer, offset: start }
    }

    /// Writes a scalar or tensor to a place.
    pub(super) fn put(&mut self, to: Place, value: &Value, dims: &[Operand]) {
        match value {
            Value::Scalar(operand) if dims.is_empty() => self.store(to, *operand),
            Value::Scalar(operand) => {
                let count = self.count(dims);
                self.for_each_apart("k", count, |this, k| {
                    let place = this.shifted(to, k);
                    this.store(place, *operand);
                });
            }
            Value::Tensor(tensor) => self.copy_tensor(tensor, to),
        }
    }
}

fn lies_in(this: &Lowering, a: Atom, place: Place) -> bool {
    match this.value_of(a) {
        Value::Tensor(t) => t.place.buffer == place.buffer,
        Value::Scalar(_) => false,
    }
}
