//! `vmap[axis](f)`: a parallel loop over an axis of the arguments.
//!
//! The axis is brought to the front, each iteration takes what lies along it and the other arguments whole, and the axis
//! of the stacked results is brought to its place.

use cotan_ir::{Atom, Ty};
use cotan_ops::TRANSPOSE;

use super::Result;
use super::body::{Body, Closure, Value};
use super::code::Code;
use cotan_sema::typed::{Callable, Type, Vmap, axes};

impl<'p> Body<'_, 'p> {
    /// A call of a `vmap` that stands in `frame`.
    pub(super) fn vmap(
        &mut self,
        callable: &'p Callable,
        vmap: &'p Vmap,
        frame: usize,
        args: Vec<Value>,
        functions: &[Option<Closure<'p>>],
    ) -> Result<Value> {
        let mut fronts: Vec<Value> = Vec::new();
        let mut extent = None;
        for ((ty, axis), value) in callable.params.iter().zip(&vmap.axes).zip(args) {
            let Some(axis) = axis else {
                fronts.push(value);
                continue;
            };
            let axes = axes(self, ty, *axis);
            let front: Value =
                value.into_iter().zip(axes).map(|(leaf, axis)| axis_to_front(&mut self.code, leaf, axis)).collect();
            extent = extent.or(front.first().map(|leaf| self.code.b.ty(*leaf).dims[0].atom()));
            fronts.push(front);
        }
        let base = Closure { callable: &vmap.base, frame };
        let stacked = self.stack(&[extent.unwrap_or(Atom::i64(0))], &vmap.base.result, &mut |body, at| {
            let arg = |(front, axis): (&Value, &Option<i64>)| match axis {
                Some(_) => body.code.row(front, at),
                None => front.clone(),
            };
            let args = fronts.iter().zip(&vmap.axes).map(arg).collect();
            body.apply(base, args, functions)
        })?;
        let axes = axes(self, &callable.result, vmap.out);
        Ok(stacked.into_iter().zip(axes).map(|(leaf, axis)| axis_from_front(&mut self.code, leaf, axis)).collect())
    }
}

fn axes(body: &Body<'_, '_>, ty: &Type, axis: i64) -> Vec<usize> {
    axes::leaf_axes(ty, axis, &|ty| body.layout.n_leaves(ty))
}

fn axis_to_front(code: &mut Code, leaf: Atom, axis: usize) -> Atom {
    let rank = code.b.ty(leaf).rank();
    permuted(code, leaf, std::iter::once(axis).chain((0..rank).filter(|k| *k != axis)).collect())
}

fn axis_from_front(code: &mut Code, leaf: Atom, axis: usize) -> Atom {
    let rank = code.b.ty(leaf).rank();
    permuted(code, leaf, (1..=axis).chain([0]).chain(axis + 1..rank).collect())
}

/// The leaf with its axes in another order: axis `k` of the result is axis `order[k]` of the leaf.
fn permuted(code: &mut Code, leaf: Atom, order: Vec<usize>) -> Atom {
    if order.is_sorted() {
        return leaf;
    }
    let Ty { elem, dims } = code.b.ty(leaf);
    let ty = Ty::new(elem, order.iter().map(|k| dims[*k]).collect());
    let order: Vec<i64> = order.into_iter().map(|k| k as i64).collect();
    code.b.tensor(TRANSPOSE.op(), &[leaf], &order, ty).into()
}
