//! The sequential loop, counted or a while.
//!
//! Carried scalars are mutable locals; a carried tensor stays in one buffer, where an update in the body changes it in
//! place. At the end of an iteration stacked elements are written first, then the next carried values. An element that is
//! the old value of a carried tensor is written when the iteration begins: then the next value may be made in its place.

use super::matmul::pack;
use super::memory::Destination;
use super::{Lowering, Value};
use crate::node::{Local, Node, Operand, Place, Tensor};
use cotan_ir::{Atom, Elem, Loop, Stmt, bug};

/// Where a carried value lives.
enum Carried {
    Scalar(Local),
    Tensor(Tensor),
}

impl<'a> Lowering<'a> {
    pub(super) fn sequential(&mut self, stmt: &'a Stmt, l: &'a Loop) {
        let results = l.split(&stmt.results);
        let count = l.count.map(|n| self.scalar(n));
        let packed = count.map_or_else(Vec::new, |count| pack(self, l, count));
        let mut carried = Vec::new();
        for ((param, init), result) in l.params.iter().zip(&l.inits).zip(results.carried) {
            let info = &self.f.vars[param.index()];
            carried.push(if info.ty.is_scalar() {
                let first = self.scalar(*init);
                Carried::Scalar(self.variable(&info.name, info.ty.elem, first))
            } else {
                Carried::Tensor(self.take_over(*init, &stmt.op, *result))
            });
        }
        for (acc, result) in l.accs.iter().zip(results.accs) {
            self.open_accumulator(acc, &stmt.op, *result);
        }
        let index_name = self.f.name_of(l.index).to_owned();
        let mut trips = None;
        let mut stacks = Vec::new();
        let outside = std::mem::replace(&mut self.is_in_loop, true);
        match (count, carried.first()) {
            (Some(count), _) => {
                stacks = results.stacked.iter().map(|r| self.allocate_for(*r)).collect();
                self.for_each(&index_name, count, |this, i| {
                    iteration(
                        this,
                        l,
                        i,
                        &carried,
                        |this, element, i| {
                            let size = this.count(&element.dims[1..]);
                            let offset = this.mul(i, size);
                            this.shifted(element.place, offset)
                        },
                        &stacks,
                    );
                });
            }
            (None, Some(Carried::Scalar(go))) => {
                let go = *go;
                let counter = self.variable(&index_name, Elem::I64, Operand::i64(0));
                trips = Some(counter);
                for r in results.stacked {
                    let info = &self.f.vars[r.index()];
                    let buffer = self.open_stack(*r);
                    let place = Place { buffer, offset: Operand::i64(0) };
                    let dims = self.dims(&info.ty.inner(1));
                    stacks.push(Tensor { place, elem: info.ty.elem, dims });
                }
                let body = self.body_nodes(|this| {
                    let i = this.read(counter);
                    iteration(this, l, i, &carried, |this, element, i| this.push_element(element, i), &stacks);
                    let next = this.add(i, Operand::i64(1));
                    this.push(Node::Set(counter, next));
                });
                self.push(Node::While(go, body));
            }
            (None, Some(Carried::Tensor(_)) | None) => {
                bug!("lowering to nests", self.f, "a while decides on its first carried value, a number")
            }
        }
        // Behind the loop the matrices may change.
        packed.iter().for_each(|matrix| drop(self.columns.remove(matrix)));
        self.is_in_loop = outside;
        if let (Some(result), Some(counter)) = (results.trips, trips) {
            let trips = self.read(counter);
            self.bind(result, Value::Scalar(trips));
        }
        for (carried, result) in carried.into_iter().zip(results.carried) {
            let value = match carried {
                Carried::Scalar(local) => Value::Scalar(self.read(local)),
                Carried::Tensor(tensor) => Value::Tensor(tensor),
            };
            self.bind(*result, value);
        }
        for (acc, result) in l.accs.iter().zip(results.accs) {
            self.close_accumulator(acc, *result);
        }
        for (stack, result) in stacks.into_iter().zip(results.stacked) {
            let tensor = if count.is_some() { stack } else { self.finished_stack(stack.place, *result) };
            self.bind(*result, Value::Tensor(tensor));
        }
    }
}

/// One iteration. `slot` gives the place of this iteration's element of a stacked result.
fn iteration<'a>(
    this: &mut Lowering<'a>,
    l: &'a Loop,
    i: Operand,
    carried: &[Carried],
    slot: impl Fn(&mut Lowering<'a>, &Tensor, Operand) -> Place,
    stacks: &[Tensor],
) {
    this.scopes.open(&l.body, true);
    this.bind(l.index, Value::Scalar(i));
    for (param, carried) in l.params.iter().zip(carried) {
        let value = match carried {
            Carried::Scalar(local) => Value::Scalar(this.read(*local)),
            Carried::Tensor(tensor) => Value::Tensor(tensor.clone()),
        };
        this.bind(*param, value);
    }
    let (next, elements) = l.body.results.split_at(l.params.len());
    // A stack may move while the body runs, but its elements keep their offsets.
    let slots: Vec<Place> = stacks.iter().map(|s| slot(this, s, i)).collect();
    let destinations = elements.iter().zip(&slots).map(|(element, slot)| (*element, Destination::Place(*slot)));
    this.offer(&destinations.collect::<Vec<_>>());
    let is_old = |e: &Atom| e.var().is_some_and(|v| l.params.contains(&v));
    let (old, new): (Vec<(&Atom, Place)>, _) = elements.iter().zip(slots).partition(|(e, _)| is_old(e));
    let old = old.into_iter().map(|(e, slot)| (this.value_of(*e), slot)).collect();
    this.fill_slots(old);
    this.statements(&l.body);
    let new = new.into_iter().map(|(e, slot)| (this.value_of(*e), slot)).collect();
    fill_and_carry(this, new, next, carried);
    this.scopes.close();
}

fn fill_and_carry(this: &mut Lowering, slots: Vec<(Value, Place)>, next: &[Atom], carried: &[Carried]) {
    let mut moves = Vec::new();
    for (value, slot) in slots {
        match value {
            Value::Scalar(operand) => this.store(slot, operand),
            Value::Tensor(tensor) => moves.push((tensor, slot)),
        }
    }
    let mut sets = Vec::new();
    for (next, carried) in next.iter().zip(carried) {
        match carried {
            Carried::Scalar(local) => sets.push((*local, this.scalar(*next))),
            Carried::Tensor(tensor) => moves.push((this.tensor(*next), tensor.place)),
        }
    }
    this.deliver(moves);
    for (local, next) in sets {
        this.push(Node::Set(local, next));
    }
}
