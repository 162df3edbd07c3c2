//! Reductions that stay whole, in nests for devices: a `par` that reduces is one [`Node::Reduce`], however many indices it
//! has. Its sums hold the start values before it, and the results after it.

use super::par::output::Output;
use super::{Lowering, Value};
use crate::node::{BufferKind, Local, Node, Operand, Place, Reduce, Sum, Target, Tensor};
use cotan_ir::{Atom, Elem, Monoid, Par, ParResult, Var};

/// Lowers a `par` that reduces.
pub(super) fn reduce<'a>(this: &mut Lowering<'a>, p: &'a Par, extents: &[Operand], results: &[Var]) {
    let mut outputs = Vec::new();
    for (kind, result) in p.kinds.iter().zip(results) {
        outputs.push(match kind {
            ParResult::Stacked => Output::Stacked(this.allocate_for(*result)),
            ParResult::Reduced { monoid, init } => Output::Whole(open(this, *monoid, *init, *result)),
        });
    }
    let index = |this: &mut Lowering, v: &Var| this.new_local(this.f.name_of(*v), Elem::I64, false);
    let indices: Vec<Local> = p.indices.iter().map(|v| index(this, v)).collect();
    let at: Vec<Operand> = indices.iter().map(|index| (*index).into()).collect();
    let body = this.body_nodes(|this| this.par_body(p, extents, &at, &outputs, Operand::i64(0)));
    let sums = outputs.iter().filter_map(|output| match output {
        Output::Whole(sum) => Some(sum.clone()),
        Output::Stacked(_) | Output::Reduced(_) | Output::Block(_) | Output::Lanes(..) => None,
    });
    let indices = indices.into_iter().zip(extents.iter().copied()).collect();
    let reduction = Reduce { indices, sums: sums.collect(), body };
    this.push(Node::Reduce(Box::new(reduction)));
    this.bind_outputs(outputs, results);
}

/// A sum that holds a start value.
fn open(this: &mut Lowering, monoid: Monoid, init: Atom, result: Var) -> Sum {
    let info = &this.f.vars[result.index()];
    if info.ty.is_scalar() {
        let first = this.scalar(init);
        let total = this.variable(&info.name, info.ty.elem, first);
        return Sum { monoid, target: Target::Local(total), extents: Vec::new() };
    }
    let to = whole_buffer(this, result);
    let start = this.value_of(init);
    this.put(to.place, &start, &to.dims);
    Sum { monoid, target: Target::Element(to.place), extents: to.dims }
}

/// Memory for a result that nothing else lies in: what was offered may be a part of something.
fn whole_buffer(this: &mut Lowering, result: Var) -> Tensor {
    let to = this.allocate_for(result);
    let is_whole = to.place.offset.as_i64() == Some(0)
        && matches!(this.buffers[to.place.buffer.index()].kind, BufferKind::Allocated(_));
    if is_whole { to } else { this.allocate(this.f.name_of(result), to.elem, to.dims) }
}

/// Combines a value of an iteration with a sum.
pub(super) fn combine(this: &mut Lowering, sum: &Sum, value: &Value) {
    match sum.target {
        Target::Local(_) => {
            let value = this.element(value, Operand::i64(0));
            this.push(Node::Combine { monoid: sum.monoid, target: sum.target, value });
        }
        Target::Element(place) => {
            let whole = tensor(this, place, sum.extents.clone());
            this.accumulate(sum.monoid, &whole, value);
        }
    }
}

/// What a sum holds after the reduction.
pub(super) fn total(this: &mut Lowering, sum: Sum) -> Value {
    match sum.target {
        Target::Local(local) => Value::Scalar(this.read(local)),
        Target::Element(place) => Value::Tensor(tensor(this, place, sum.extents)),
    }
}

fn tensor(this: &Lowering, place: Place, dims: Vec<Operand>) -> Tensor {
    Tensor { place, elem: this.buffers[place.buffer.index()].elem, dims }
}
