//! Folds of tensors: by an operator over some axes, by a function over the last.

use cotan_ir::{Atom, CheckKind, Const, Elem, Monoid, ParResult};
use cotan_ops::{
    ABS, ADD, AND, DIV, GT, ISFINITE, LE, LT, MUL, NE, OR, REM, SELECT, SHR, SQRT, STOP_GRADIENT, SUB, cast_fits,
    cast_to,
};
use cotan_syntax::ast::FoldOp;

use super::Result;
use super::body::{Body, Closure, Value};
use cotan_sema::typed::{Expr, Type};

impl<'p> Body<'_, 'p> {
    /// `op/ v` over some axes; the others are kept.
    pub(super) fn fold(&mut self, op: FoldOp, axes: &[usize], tensor: Atom) -> Result<Atom> {
        if axes.is_empty() {
            // A shape pack has left no axis: there is one element.
            return Ok(tensor);
        }
        let dims: Vec<Atom> = self.b.ty(tensor).dims.iter().map(|dim| dim.atom()).collect();
        let is_folded = |axis: &usize| axes.contains(axis);
        let kept: Vec<Atom> = (0..dims.len()).filter(|axis| !is_folded(axis)).map(|axis| dims[axis]).collect();
        let folded: Vec<Atom> = axes.iter().map(|axis| dims[*axis]).collect();
        self.stacked(&kept, &mut |body, outer| {
            let mut element = |body: &mut Self, inner: &[Atom]| -> Atom {
                let (mut outer, mut inner) = (outer.iter(), inner.iter());
                let next = |axis| if is_folded(&axis) { inner.next() } else { outer.next() };
                let at: Vec<Atom> = (0..dims.len()).filter_map(next).copied().collect();
                body.b.index(tensor, &at).into()
            };
            let elem = body.b.ty(tensor).elem;
            body.fold_elements(op, elem, &folded, &mut element).map(|folded| vec![folded])
        })
        .map(|results| results[0])
    }

    /// What `f` gives, stacked over these extents; what it gives itself if there are none.
    pub(super) fn stacked(
        &mut self,
        extents: &[Atom],
        f: &mut dyn FnMut(&mut Self, &[Atom]) -> Result<Value>,
    ) -> Result<Value> {
        if extents.is_empty() {
            return f(self, &[]);
        }
        let indices = self.index_vars(extents.len());
        let at: Vec<Atom> = indices.iter().map(|v| Atom::Var(*v)).collect();
        self.b.open_block();
        let elements = self.scoped(|body| f(body, &at))?;
        let kinds = vec![ParResult::Stacked; elements.len()];
        let block = self.b.close_block(elements);
        let results = self.b.finish_par(indices, extents.to_vec(), kinds, Vec::new(), block);
        Ok(results.into_iter().map(Atom::Var).collect())
    }

    fn fold_elements(
        &mut self,
        op: FoldOp,
        elem: Elem,
        extents: &[Atom],
        element: &mut dyn FnMut(&mut Self, &[Atom]) -> Atom,
    ) -> Result<Atom> {
        match op {
            FoldOp::Add if elem.is_integer() => self.exact_sum(elem, extents, element),
            FoldOp::Add => Ok(self.reduce(Monoid::Add, Const::zero(elem), extents, element)),
            FoldOp::Mul if elem.is_integer() => {
                let one = Const::number(elem, 1).into();
                self.in_order(extents, one, element, &mut |body, product, x| body.fitting(&MUL, &[product, x]))
            }
            FoldOp::Mul => Ok(self.reduce(Monoid::Mul, Const::number(elem, 1), extents, element)),
            FoldOp::And => Ok(self.reduce(Monoid::And, Const::bool(true), extents, element)),
            FoldOp::Or => Ok(self.reduce(Monoid::Or, Const::bool(false), extents, element)),
            FoldOp::Max => {
                let result = self.reduce(Monoid::Max, least(elem), extents, element);
                Ok(self.not_of_nothing(extents, result))
            }
            FoldOp::Min => {
                let result = self.reduce(Monoid::Min, greatest(elem), extents, element);
                Ok(self.not_of_nothing(extents, result))
            }
            FoldOp::Sub => self.after_first(extents, element, &mut |body, acc, x| body.subtract(acc, x)),
            FoldOp::Div => self.after_first(extents, element, &mut |body, acc, x| body.divide(acc, x)),
        }
    }

    fn subtract(&mut self, acc: Atom, x: Atom) -> Atom {
        if self.b.ty(acc).is_float() { self.prim(&SUB, &[acc, x]) } else { self.fitting(&SUB, &[acc, x]) }
    }

    fn divide(&mut self, acc: Atom, x: Atom) -> Atom {
        let elem = self.b.ty(acc).elem;
        if elem.is_float() {
            return self.prim(&DIV, &[acc, x]);
        }
        let cond = self.prim(&NE, &[x, Const::zero(elem).into()]);
        let x = self.check(cond, CheckKind::DivisionByZero, &[x], x);
        self.fitting(&DIV, &[acc, x])
    }

    /// A reduction in parallel.
    pub(super) fn reduce(
        &mut self,
        monoid: Monoid,
        init: Const,
        extents: &[Atom],
        element: &mut dyn FnMut(&mut Self, &[Atom]) -> Atom,
    ) -> Atom {
        let name = match monoid {
            Monoid::Add => "sum",
            Monoid::Mul => "product",
            Monoid::Max => "greatest",
            Monoid::Min => "least",
            Monoid::And => "all",
            Monoid::Or => "any",
        };
        let reductions = vec![(name, monoid, init)];
        self.reduce_all(&reductions, extents, &mut |body, at| vec![element(body, at)])[0]
    }

    fn reduce_all(
        &mut self,
        reductions: &[(&str, Monoid, Const)],
        extents: &[Atom],
        elements: &mut dyn FnMut(&mut Self, &[Atom]) -> Value,
    ) -> Value {
        let indices = self.index_vars(extents.len());
        let at: Vec<Atom> = indices.iter().map(|v| Atom::Var(*v)).collect();
        self.b.open_block();
        let elements = self.scoped(|body| elements(body, &at));
        let block = self.b.close_block(elements);
        let kind = |(_, monoid, init): &(&str, Monoid, Const)| ParResult::Reduced {
            monoid: *monoid,
            init: Atom::Const(*init),
        };
        let kinds = reductions.iter().map(kind).collect();
        let results = self.b.finish_par(indices, extents.to_vec(), kinds, Vec::new(), block);
        for (v, (name, ..)) in results.iter().zip(reductions) {
            self.b.info_mut(*v).name = (*name).into();
        }
        results.into_iter().map(Atom::Var).collect()
    }

    /// A sum of integers that fails exactly when it does not fit: narrow types are summed as i64; a sum of 64-bit
    /// numbers wraps, while the sums of their upper and lower halves, which can't overflow, say whether it fits.
    fn exact_sum(
        &mut self,
        elem: Elem,
        extents: &[Atom],
        element: &mut dyn FnMut(&mut Self, &[Atom]) -> Atom,
    ) -> Result<Atom> {
        if elem.bytes() < 8 {
            let sum = self.reduce(Monoid::Add, Const::zero(Elem::I64), extents, &mut |body, at| {
                let x = element(body, at);
                body.prim(cast_to(Elem::I64), &[x])
            });
            let fits = cast_fits(elem).expect("invariant: an integer type");
            let cond = self.prim(fits, &[sum]);
            let narrow = self.prim(cast_to(elem), &[sum]);
            return Ok(self.check(cond, CheckKind::IntegerOverflow, &[], narrow));
        }
        let zero = Const::zero(elem);
        let half = Atom::i64(32);
        let low_bits: Atom = Const::integer(elem, 0xffff_ffff).into();
        let sums = [("sum", Monoid::Add, zero), ("upper", Monoid::Add, zero), ("lower", Monoid::Add, zero)];
        let results = self.reduce_all(&sums, extents, &mut |body, at| {
            let x = element(body, at);
            let upper = body.prim(&SHR, &[x, half]);
            let lower = body.prim(&AND, &[x, low_bits]);
            vec![x, upper, lower]
        });
        let carry = self.prim(&SHR, &[results[2], half]);
        let upper = self.prim(&ADD, &[results[1], carry]);
        let cond = if elem == Elem::U64 {
            self.prim(&LE, &[upper, low_bits])
        } else {
            self.prim(cast_fits(Elem::I32).expect("invariant: an integer type"), &[upper])
        };
        Ok(self.check(cond, CheckKind::IntegerOverflow, &[], results[0]))
    }

    /// The result of a fold without start value: there must be an element.
    pub(super) fn not_of_nothing(&mut self, extents: &[Atom], result: Atom) -> Atom {
        let cond = self.is_not_empty(extents);
        self.check(cond, CheckKind::EmptyFold, &[], result)
    }

    fn is_not_empty(&mut self, extents: &[Atom]) -> Atom {
        let mut cond: Atom = Const::bool(true).into();
        for n in extents {
            let holds = self.prim(&GT, &[*n, Atom::i64(0)]);
            cond = self.both(cond, holds);
        }
        cond
    }

    /// A fold from left to right.
    fn in_order(
        &mut self,
        extents: &[Atom],
        init: Atom,
        element: &mut dyn FnMut(&mut Self, &[Atom]) -> Atom,
        step: &mut dyn FnMut(&mut Self, Atom, Atom) -> Atom,
    ) -> Result<Atom> {
        let mut at = Vec::new();
        self.in_order_from(extents, init, &mut at, element, step)
    }

    fn in_order_from(
        &mut self,
        extents: &[Atom],
        init: Atom,
        at: &mut Vec<Atom>,
        element: &mut dyn FnMut(&mut Self, &[Atom]) -> Atom,
        step: &mut dyn FnMut(&mut Self, Atom, Atom) -> Atom,
    ) -> Result<Atom> {
        let Some((extent, inner)) = extents.split_first() else {
            let x = element(self, at);
            return Ok(step(self, init, x));
        };
        let results = self.counted(*extent, &[("acc", init)], &mut |body, index, carried| {
            at.push(index);
            let next = body.in_order_from(inner, carried[0], at, element, step);
            at.pop();
            Ok(vec![next?])
        })?;
        Ok(results[0])
    }

    /// A fold from left to right that starts with the first element.
    fn after_first(
        &mut self,
        extents: &[Atom],
        element: &mut dyn FnMut(&mut Self, &[Atom]) -> Atom,
        step: &mut dyn FnMut(&mut Self, Atom, Atom) -> Atom,
    ) -> Result<Atom> {
        let cond = self.is_not_empty(extents);
        let zero = self.check(cond, CheckKind::EmptyFold, &[], Atom::i64(0));
        let first = element(self, &vec![zero; extents.len()]);
        let mut count = Atom::i64(1);
        for (axis, n) in extents.iter().enumerate() {
            count = if axis == 0 { *n } else { self.prim(&MUL, &[count, *n]) };
        }
        let rest = self.prim(&SUB, &[count, Atom::i64(1)]);
        let mut later = |body: &mut Self, at: &[Atom]| {
            let position = body.prim(&ADD, &[at[0], Atom::i64(1)]);
            let at = body.unflattened(position, extents);
            element(body, &at)
        };
        self.in_order(&[rest], first, &mut later, step)
    }

    /// The indices of an element, given its position in row-major order.
    fn unflattened(&mut self, position: Atom, extents: &[Atom]) -> Vec<Atom> {
        let mut position = position;
        let mut at = Vec::new();
        for n in extents.iter().skip(1).rev() {
            at.push(self.prim(&REM, &[position, *n]));
            position = self.prim(&DIV, &[position, *n]);
        }
        at.push(position);
        at.reverse();
        at
    }

    // ---- by a function

    /// `f/v` and `f/init/v` over the last axis.
    pub(super) fn fold_by(
        &mut self,
        function: Closure<'p>,
        init: Option<&'p Expr>,
        operand: &'p Expr,
        ty: &Type,
    ) -> Result<Value> {
        let init = match init {
            Some(init) => Some(self.expr(init)?),
            None => None,
        };
        let value = self.expr(operand)?;
        let Some(first_leaf) = value.first().copied() else { return Ok(Value::new()) };
        let rank = operand.ty.dims().len();
        let dims: Vec<Atom> = self.b.ty(first_leaf).dims[..rank].iter().map(|dim| dim.atom()).collect();
        let Some((last, kept)) = dims.split_last() else { return Ok(value) };
        let names = self.leaf_names("acc", ty.elem());
        self.stacked(kept, &mut |body, outer| {
            let element = |body: &mut Self, k: Atom| -> Value {
                let at = [outer, &[k]].concat();
                value.iter().map(|leaf| body.b.index(*leaf, &at).into()).collect()
            };
            let (start, count, offset) = match &init {
                Some(init) => (init.clone(), *last, 0),
                None => {
                    let cond = body.is_not_empty(&[*last]);
                    let zero = body.check(cond, CheckKind::EmptyFold, &[], Atom::i64(0));
                    let first = element(body, zero);
                    (first, body.prim(&SUB, &[*last, Atom::i64(1)]), 1)
                }
            };
            let start = body.steady(&function.callable.result, &start);
            let inits: Vec<(&str, Atom)> = names.iter().map(String::as_str).zip(start).collect();
            body.counted(count, &inits, &mut |body, index, acc| {
                let at = if offset == 0 { index } else { body.prim(&ADD, &[index, Atom::i64(offset)]) };
                let x = element(body, at);
                let next = body.apply(function, vec![acc.to_vec(), x], &[])?;
                Ok(body.like(&function.callable.result, &next, acc))
            })
        })
    }

    // ---- sums that have a name

    /// The inner product of two vectors.
    pub(super) fn dot(&mut self, left: Atom, right: Atom) -> Result<Atom> {
        let ty = self.b.ty(left);
        let extents: Vec<Atom> = ty.dims.iter().map(|dim| dim.atom()).collect();
        self.fold_elements(FoldOp::Add, ty.elem, &extents, &mut |body, at| {
            let x = body.b.index(left, at).into();
            let y = body.b.index(right, at).into();
            if ty.is_float() { body.prim(&MUL, &[x, y]) } else { body.fitting(&MUL, &[x, y]) }
        })
    }

    /// The Euclidean norm of all elements. Where the largest is so large or small that its square would overflow or
    /// vanish, they are scaled by it; the scale is a constant to the derivative, as the norm does not depend on it.
    pub(super) fn norm(&mut self, tensor: Atom) -> Result<Atom> {
        let ty = self.b.ty(tensor);
        let extents: Vec<Atom> = ty.dims.iter().map(|dim| dim.atom()).collect();
        if extents.is_empty() {
            return Ok(self.prim(&ABS, &[tensor]));
        }
        let zero = Const::zero(ty.elem);
        let greatest = self.reduce(Monoid::Max, zero, &extents, &mut |body, at| {
            let x = body.b.index(tensor, at).into();
            body.prim(&ABS, &[x])
        });
        let greatest = self.prim(&STOP_GRADIENT, &[greatest]);
        let large = if ty.elem == Elem::F32 { 1e18 } else { 1e150 };
        let is_large = self.prim(&GT, &[greatest, Const::float(ty.elem, large).into()]);
        let is_finite = self.prim(&ISFINITE, &[greatest]);
        let is_large = self.prim(&AND, &[is_large, is_finite]);
        let is_small = self.prim(&LT, &[greatest, Const::float(ty.elem, 1.0 / large).into()]);
        let is_positive = self.prim(&GT, &[greatest, zero.into()]);
        let is_small = self.prim(&AND, &[is_small, is_positive]);
        let is_extreme = self.prim(&OR, &[is_large, is_small]);
        let scale = self.prim(&SELECT, &[is_extreme, greatest, Const::number(ty.elem, 1).into()]);
        let squares = self.reduce(Monoid::Add, zero, &extents, &mut |body, at| {
            let x = body.b.index(tensor, at).into();
            let scaled = body.prim(&DIV, &[x, scale]);
            body.prim(&MUL, &[scaled, scaled])
        });
        let root = self.prim(&SQRT, &[squares]);
        Ok(self.prim(&MUL, &[scale, root]))
    }

    /// All elements folded.
    pub(super) fn fold_all(&mut self, op: FoldOp, tensor: Atom) -> Result<Atom> {
        let axes: Vec<usize> = (0..self.b.ty(tensor).rank()).collect();
        self.fold(op, &axes, tensor)
    }

    /// The mean of all elements; of no elements NaN.
    pub(super) fn mean(&mut self, tensor: Atom) -> Result<Atom> {
        let ty = self.b.ty(tensor);
        let sum = self.fold_all(FoldOp::Add, tensor)?;
        let mut count = Atom::i64(1);
        for (axis, dim) in ty.dims.iter().enumerate() {
            count = if axis == 0 { dim.atom() } else { self.prim(&MUL, &[count, dim.atom()]) };
        }
        let count = match count.constant().and_then(|c| c.as_i64()) {
            Some(n) => Const::float(ty.elem, n as f64).into(),
            None => self.prim(cast_to(ty.elem), &[count]),
        };
        Ok(self.prim(&DIV, &[sum, count]))
    }

    /// The sum of the diagonal of a square matrix.
    pub(super) fn trace(&mut self, matrix: Atom) -> Result<Atom> {
        let ty = self.b.ty(matrix);
        let n = ty.dims[0].atom();
        self.fold_elements(FoldOp::Add, ty.elem, &[n], &mut |body, at| body.b.index(matrix, &[at[0], at[0]]).into())
    }
}

/// The identity of `max`.
pub(super) fn least(elem: Elem) -> Const {
    match elem.integer_range() {
        Some((least, _)) => Const::integer(elem, least),
        None => Const::float(elem, f64::NEG_INFINITY),
    }
}

/// The identity of `min`.
pub(super) fn greatest(elem: Elem) -> Const {
    match elem.integer_range() {
        Some((_, greatest)) => Const::integer(elem, greatest),
        None => Const::float(elem, f64::INFINITY),
    }
}
