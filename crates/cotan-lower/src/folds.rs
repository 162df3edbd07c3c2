//! Folds of tensors: by an operator over some axes, by a function over the last.

use cotan_ir::{Atom, CheckKind, Const, Elem, Monoid, ParResult};
use cotan_ops::{
    ABS, ADD, AND, DIV, GT, ISFINITE, LE, LT, MUL, NE, OR, REM, SELECT, SHR, SQRT, STOP_GRADIENT, SUB, cast_fits,
    cast_to,
};
use cotan_syntax::ast::FoldOp;

use super::Result;
use super::body::{Body, Closure, Value};
use super::code::Code;
use cotan_sema::typed::{Expr, Type};

impl<'p> Body<'_, 'p> {
    /// `op/ v` over some axes; the others are kept.
    pub(super) fn fold(&mut self, op: FoldOp, axes: &[usize], tensor: Atom) -> Result<Atom> {
        if axes.is_empty() {
            // A shape pack has left no axis: there is one element.
            return Ok(tensor);
        }
        let dims: Vec<Atom> = self.code.b.ty(tensor).dims.iter().map(|dim| dim.atom()).collect();
        let is_folded = |axis: &usize| axes.contains(axis);
        let kept: Vec<Atom> = (0..dims.len()).filter(|axis| !is_folded(axis)).map(|axis| dims[axis]).collect();
        let folded: Vec<Atom> = axes.iter().map(|axis| dims[*axis]).collect();
        self.stacked(&kept, &mut |body, outer| {
            let mut element = |code: &mut Code, inner: &[Atom]| -> Atom {
                let (mut outer, mut inner) = (outer.iter(), inner.iter());
                let next = |axis| if is_folded(&axis) { inner.next() } else { outer.next() };
                let at: Vec<Atom> = (0..dims.len()).filter_map(next).copied().collect();
                code.b.index(tensor, &at).into()
            };
            let elem = body.code.b.ty(tensor).elem;
            fold_elements(body, op, elem, &folded, &mut element).map(|folded| vec![folded])
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
        let indices = self.code.index_vars(extents.len());
        let at: Vec<Atom> = indices.iter().map(|v| Atom::Var(*v)).collect();
        self.code.b.open_block();
        let elements = self.scoped(|body| f(body, &at))?;
        let kinds = vec![ParResult::Stacked; elements.len()];
        let block = self.code.b.close_block(elements);
        let results = self.code.b.finish_par(indices, extents.to_vec(), kinds, Vec::new(), block);
        Ok(results.into_iter().map(Atom::Var).collect())
    }

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
        let dims: Vec<Atom> = self.code.b.ty(first_leaf).dims[..rank].iter().map(|dim| dim.atom()).collect();
        let Some((last, kept)) = dims.split_last() else { return Ok(value) };
        let names = self.layout.leaf_names("acc", ty.elem());
        self.stacked(kept, &mut |body, outer| {
            let element = |body: &mut Self, k: Atom| -> Value {
                let at = [outer, &[k]].concat();
                value.iter().map(|leaf| body.code.b.index(*leaf, &at).into()).collect()
            };
            let (start, count, offset) = match &init {
                Some(init) => (init.clone(), *last, 0),
                None => {
                    let cond = is_not_empty(&mut body.code, &[*last]);
                    let zero = body.code.check(cond, CheckKind::EmptyFold, &[], Atom::i64(0));
                    let first = element(body, zero);
                    (first, body.code.prim(&SUB, &[*last, Atom::i64(1)]), 1)
                }
            };
            let start = body.steady(&function.callable.result, &start);
            let inits: Vec<(&str, Atom)> = names.iter().map(String::as_str).zip(start).collect();
            body.counted(count, &inits, &mut |body, index, acc| {
                let at = if offset == 0 { index } else { body.code.prim(&ADD, &[index, Atom::i64(offset)]) };
                let x = element(body, at);
                let next = body.apply(function, vec![acc.to_vec(), x], &[])?;
                Ok(body.like(&function.callable.result, &next, acc))
            })
        })
    }

    // ---- sums that have a name

    /// The inner product of two vectors.
    pub(super) fn dot(&mut self, left: Atom, right: Atom) -> Result<Atom> {
        let ty = self.code.b.ty(left);
        let extents: Vec<Atom> = ty.dims.iter().map(|dim| dim.atom()).collect();
        fold_elements(self, FoldOp::Add, ty.elem, &extents, &mut |code, at| {
            let x = code.b.index(left, at).into();
            let y = code.b.index(right, at).into();
            if ty.is_float() { code.prim(&MUL, &[x, y]) } else { code.fitting(&MUL, &[x, y]) }
        })
    }

    /// All elements folded.
    pub(super) fn fold_all(&mut self, op: FoldOp, tensor: Atom) -> Result<Atom> {
        let axes: Vec<usize> = (0..self.code.b.ty(tensor).rank()).collect();
        self.fold(op, &axes, tensor)
    }

    /// The mean of all elements; of no elements NaN.
    pub(super) fn mean(&mut self, tensor: Atom) -> Result<Atom> {
        let ty = self.code.b.ty(tensor);
        let sum = self.fold_all(FoldOp::Add, tensor)?;
        let mut count = Atom::i64(1);
        for (axis, dim) in ty.dims.iter().enumerate() {
            count = if axis == 0 { dim.atom() } else { self.code.prim(&MUL, &[count, dim.atom()]) };
        }
        let count = match count.constant().and_then(|c| c.as_i64()) {
            Some(n) => Const::float(ty.elem, n as f64).into(),
            None => self.code.prim(cast_to(ty.elem), &[count]),
        };
        Ok(self.code.prim(&DIV, &[sum, count]))
    }

    /// The sum of the diagonal of a square matrix.
    pub(super) fn trace(&mut self, matrix: Atom) -> Result<Atom> {
        let ty = self.code.b.ty(matrix);
        let n = ty.dims[0].atom();
        fold_elements(self, FoldOp::Add, ty.elem, &[n], &mut |code, at| code.b.index(matrix, &[at[0], at[0]]).into())
    }
}

impl Code {
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
        reduce_all(self, &reductions, extents, &mut |code, at| vec![element(code, at)])[0]
    }

    /// The result of a fold without start value: there must be an element.
    pub(super) fn not_of_nothing(&mut self, extents: &[Atom], result: Atom) -> Atom {
        let cond = is_not_empty(self, extents);
        self.check(cond, CheckKind::EmptyFold, &[], result)
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
        let greatest = self.reduce(Monoid::Max, zero, &extents, &mut |code, at| {
            let x = code.b.index(tensor, at).into();
            code.prim(&ABS, &[x])
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
        let squares = self.reduce(Monoid::Add, zero, &extents, &mut |code, at| {
            let x = code.b.index(tensor, at).into();
            let scaled = code.prim(&DIV, &[x, scale]);
            code.prim(&MUL, &[scaled, scaled])
        });
        let root = self.prim(&SQRT, &[squares]);
        Ok(self.prim(&MUL, &[scale, root]))
    }
}

fn fold_elements(
    body: &mut Body<'_, '_>,
    op: FoldOp,
    elem: Elem,
    extents: &[Atom],
    element: &mut dyn FnMut(&mut Code, &[Atom]) -> Atom,
) -> Result<Atom> {
    match op {
        FoldOp::Add if elem.is_integer() => exact_sum(&mut body.code, elem, extents, element),
        FoldOp::Add => Ok(body.code.reduce(Monoid::Add, Const::zero(elem), extents, element)),
        FoldOp::Mul if elem.is_integer() => {
            let one = Const::number(elem, 1).into();
            in_order(body, extents, one, element, &mut |code, product, x| code.fitting(&MUL, &[product, x]))
        }
        FoldOp::Mul => Ok(body.code.reduce(Monoid::Mul, Const::number(elem, 1), extents, element)),
        FoldOp::And => Ok(body.code.reduce(Monoid::And, Const::bool(true), extents, element)),
        FoldOp::Or => Ok(body.code.reduce(Monoid::Or, Const::bool(false), extents, element)),
        FoldOp::Max => {
            let result = body.code.reduce(Monoid::Max, least(elem), extents, element);
            Ok(body.code.not_of_nothing(extents, result))
        }
        FoldOp::Min => {
            let result = body.code.reduce(Monoid::Min, greatest(elem), extents, element);
            Ok(body.code.not_of_nothing(extents, result))
        }
        FoldOp::Sub => after_first(body, extents, element, &mut subtract),
        FoldOp::Div => after_first(body, extents, element, &mut divide),
    }
}

fn subtract(code: &mut Code, acc: Atom, x: Atom) -> Atom {
    if code.b.ty(acc).is_float() { code.prim(&SUB, &[acc, x]) } else { code.fitting(&SUB, &[acc, x]) }
}

fn divide(code: &mut Code, acc: Atom, x: Atom) -> Atom {
    let elem = code.b.ty(acc).elem;
    if elem.is_float() {
        return code.prim(&DIV, &[acc, x]);
    }
    let cond = code.prim(&NE, &[x, Const::zero(elem).into()]);
    let x = code.check(cond, CheckKind::DivisionByZero, &[x], x);
    code.fitting(&DIV, &[acc, x])
}

fn reduce_all(
    code: &mut Code,
    reductions: &[(&str, Monoid, Const)],
    extents: &[Atom],
    elements: &mut dyn FnMut(&mut Code, &[Atom]) -> Value,
) -> Value {
    let indices = code.index_vars(extents.len());
    let at: Vec<Atom> = indices.iter().map(|v| Atom::Var(*v)).collect();
    code.b.open_block();
    let elements = elements(code, &at);
    let block = code.b.close_block(elements);
    let kind =
        |(_, monoid, init): &(&str, Monoid, Const)| ParResult::Reduced { monoid: *monoid, init: Atom::Const(*init) };
    let kinds = reductions.iter().map(kind).collect();
    let results = code.b.finish_par(indices, extents.to_vec(), kinds, Vec::new(), block);
    for (v, (name, ..)) in results.iter().zip(reductions) {
        code.b.info_mut(*v).name = (*name).into();
    }
    results.into_iter().map(Atom::Var).collect()
}

/// A sum of integers that fails exactly when it does not fit: narrow types are summed as i64; a sum of 64-bit
/// numbers wraps, while the sums of their upper and lower halves, which can't overflow, say whether it fits.
fn exact_sum(
    code: &mut Code,
    elem: Elem,
    extents: &[Atom],
    element: &mut dyn FnMut(&mut Code, &[Atom]) -> Atom,
) -> Result<Atom> {
    if elem.bytes() < 8 {
        let sum = code.reduce(Monoid::Add, Const::zero(Elem::I64), extents, &mut |code, at| {
            let x = element(code, at);
            code.prim(cast_to(Elem::I64), &[x])
        });
        let fits = cast_fits(elem).expect("invariant: an integer type");
        let cond = code.prim(fits, &[sum]);
        let narrow = code.prim(cast_to(elem), &[sum]);
        return Ok(code.check(cond, CheckKind::IntegerOverflow, &[], narrow));
    }
    let zero = Const::zero(elem);
    let half = Atom::i64(32);
    let low_bits: Atom = Const::integer(elem, 0xffff_ffff).into();
    let sums = [("sum", Monoid::Add, zero), ("upper", Monoid::Add, zero), ("lower", Monoid::Add, zero)];
    let results = reduce_all(code, &sums, extents, &mut |code, at| {
        let x = element(code, at);
        let upper = code.prim(&SHR, &[x, half]);
        let lower = code.prim(&AND, &[x, low_bits]);
        vec![x, upper, lower]
    });
    let carry = code.prim(&SHR, &[results[2], half]);
    let upper = code.prim(&ADD, &[results[1], carry]);
    let cond = if elem == Elem::U64 {
        code.prim(&LE, &[upper, low_bits])
    } else {
        code.prim(cast_fits(Elem::I32).expect("invariant: an integer type"), &[upper])
    };
    Ok(code.check(cond, CheckKind::IntegerOverflow, &[], results[0]))
}

fn is_not_empty(code: &mut Code, extents: &[Atom]) -> Atom {
    let mut cond: Atom = Const::bool(true).into();
    for n in extents {
        let holds = code.prim(&GT, &[*n, Atom::i64(0)]);
        cond = code.both(cond, holds);
    }
    cond
}

/// A fold from left to right.
fn in_order(
    body: &mut Body<'_, '_>,
    extents: &[Atom],
    init: Atom,
    element: &mut dyn FnMut(&mut Code, &[Atom]) -> Atom,
    step: &mut dyn FnMut(&mut Code, Atom, Atom) -> Atom,
) -> Result<Atom> {
    let mut at = Vec::new();
    in_order_from(body, extents, init, &mut at, element, step)
}

fn in_order_from(
    body: &mut Body<'_, '_>,
    extents: &[Atom],
    init: Atom,
    at: &mut Vec<Atom>,
    element: &mut dyn FnMut(&mut Code, &[Atom]) -> Atom,
    step: &mut dyn FnMut(&mut Code, Atom, Atom) -> Atom,
) -> Result<Atom> {
    let Some((extent, inner)) = extents.split_first() else {
        let x = element(&mut body.code, at);
        return Ok(step(&mut body.code, init, x));
    };
    let results = body.counted(*extent, &[("acc", init)], &mut |body, index, carried| {
        at.push(index);
        let next = in_order_from(body, inner, carried[0], at, element, step);
        at.pop();
        Ok(vec![next?])
    })?;
    Ok(results[0])
}

/// A fold from left to right that starts with the first element.
fn after_first(
    body: &mut Body<'_, '_>,
    extents: &[Atom],
    element: &mut dyn FnMut(&mut Code, &[Atom]) -> Atom,
    step: &mut dyn FnMut(&mut Code, Atom, Atom) -> Atom,
) -> Result<Atom> {
    let cond = is_not_empty(&mut body.code, extents);
    let zero = body.code.check(cond, CheckKind::EmptyFold, &[], Atom::i64(0));
    let first = element(&mut body.code, &vec![zero; extents.len()]);
    let mut count = Atom::i64(1);
    for (axis, n) in extents.iter().enumerate() {
        count = if axis == 0 { *n } else { body.code.prim(&MUL, &[count, *n]) };
    }
    let rest = body.code.prim(&SUB, &[count, Atom::i64(1)]);
    let mut later = |code: &mut Code, at: &[Atom]| {
        let position = code.prim(&ADD, &[at[0], Atom::i64(1)]);
        let at = unflattened(code, position, extents);
        element(code, &at)
    };
    in_order(body, &[rest], first, &mut later, step)
}

/// The indices of an element, given its position in row-major order.
fn unflattened(code: &mut Code, position: Atom, extents: &[Atom]) -> Vec<Atom> {
    let mut position = position;
    let mut at = Vec::new();
    for n in extents.iter().skip(1).rev() {
        at.push(code.prim(&REM, &[position, *n]));
        position = code.prim(&DIV, &[position, *n]);
    }
    at.push(position);
    at.reverse();
    at
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
