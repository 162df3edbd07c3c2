//! Folds, sums that have names, and everything that a function makes of the elements of a tensor in order.

use super::Machine;
use super::checks::Checks;
use super::frame::Closure;
use super::number::{Extreme, Number, reduced};
use super::value::{Flow, Tensor, Value, bug, caught, flattened, needed, unflattened};
use cotan_ir::{CheckKind, Const, Elem};
use cotan_ops::{DIV, MUL, SQRT};
use cotan_sema::typed::{BinaryOp, Callable, Expr};
use cotan_syntax::Span;
use cotan_syntax::ast::FoldOp;

impl<'p> Machine<'p> {
    /// `f/v` and `f/init/v`: from left to right over the last axis.
    pub(super) fn fold_by(
        &mut self,
        function: &'p Callable,
        init: Option<&'p Expr>,
        operand: &'p Expr,
        e: &'p Expr,
    ) -> Flow<Value> {
        let function = self.closure(function);
        let init = init.map(|init| self.expr(init)).transpose()?;
        let value = self.expr(operand)?;
        let tensor = value.tensor()?;
        let Some((length, outer)) = tensor.dims.split_last() else { return bug("a fold of a scalar") };
        let mut cells = Vec::new();
        for row in 0..outer.iter().product() {
            let elements = tensor.cells[row * length..(row + 1) * length].iter();
            let cell = fold_row(self, &function, init.clone(), elements, e.span);
            cells.push(caught(cell)?);
        }
        if outer.is_empty() {
            return Tensor::new(Vec::new(), cells).into_value().met();
        }
        let ty = self.ty(&e.ty).into_owned();
        let elem = ty.elem();
        self.stack(elem, outer, cells, e.span)
    }
}

impl Checks {
    /// `op/ tensor` over some axes; the others are kept.
    pub(super) fn fold(&mut self, op: FoldOp, axes: &[usize], tensor: &Tensor, elem: Elem, span: Span) -> Flow<Value> {
        let pick = |is_folded: bool| -> Vec<usize> {
            (0..tensor.dims.len()).filter(|axis| axes.contains(axis) == is_folded).collect()
        };
        let (folded, kept) = (pick(true), pick(false));
        let extents = |axes: &[usize]| -> Vec<usize> { axes.iter().map(|axis| tensor.dims[*axis]).collect() };
        let (inner, outer) = (extents(&folded), extents(&kept));
        let n_outer: usize = outer.iter().product();
        let n_inner: usize = inner.iter().product();
        let mut cells = Vec::with_capacity(n_outer);
        for o in 0..n_outer {
            let mut position = vec![0; tensor.dims.len()];
            kept.iter().zip(unflattened(&outer, o)).for_each(|(axis, at)| position[*axis] = at);
            let mut elements = Vec::with_capacity(n_inner);
            for i in 0..n_inner {
                folded.iter().zip(unflattened(&inner, i)).for_each(|(axis, at)| position[*axis] = at);
                elements.push(tensor.cells[flattened(&tensor.dims, &position)].clone());
            }
            let elements = Tensor::new(vec![n_inner], elements).numbers();
            let cell = elements.and_then(|elements| self.fold_numbers(op, elem, &elements, span)).map(Value::Number);
            cells.push(caught(cell)?);
        }
        Ok(Tensor::new(outer, cells).into_value())
    }

    /// A fold of numbers of one type, in order.
    pub(super) fn fold_numbers(&mut self, op: FoldOp, elem: Elem, numbers: &[Number], span: Span) -> Flow<Number> {
        let numbers: &[Number] = &numbers.iter().map(Number::computed).collect::<Vec<_>>();
        match op {
            FoldOp::Add => sum(self, elem, numbers, span),
            FoldOp::Mul => product(self, elem, numbers, span),
            FoldOp::And => Ok(Number::Plain(Const::bool(numbers.iter().all(is_true)))),
            FoldOp::Or => Ok(Number::Plain(Const::bool(numbers.iter().any(is_true)))),
            FoldOp::Max => extreme(self, Extreme::Max, numbers, span),
            FoldOp::Min => extreme(self, Extreme::Min, numbers, span),
            FoldOp::Sub => in_order(self, BinaryOp::Sub, numbers, span),
            FoldOp::Div => in_order(self, BinaryOp::Div, numbers, span),
        }
    }

    // ---- sums that have a name

    /// The inner product of two vectors.
    pub(super) fn dot(&mut self, left: &Tensor, right: &Tensor, elem: Elem, span: Span) -> Flow<Number> {
        needed(left.cells.iter().chain(right.cells.iter()))?;
        let pairs = left.numbers()?.into_iter().zip(right.numbers()?);
        let product = |(x, y): (Number, Number)| self.scalar_binary(BinaryOp::Mul, &x, &y, span);
        let products: Vec<Number> = pairs.map(product).collect::<Flow<_>>()?;
        self.fold_numbers(FoldOp::Add, elem, &products, span)
    }

    /// The mean of all elements; of none NaN.
    pub(super) fn mean(&mut self, tensor: &Tensor, elem: Elem, span: Span) -> Flow<Number> {
        let sum = self.fold_numbers(FoldOp::Add, elem, &tensor.numbers()?, span)?;
        let count = Number::Plain(Const::float(elem, tensor.cells.len() as f64));
        Ok(Number::apply(&DIV, &[sum, count]))
    }

    /// The Euclidean norm of all elements. They are scaled by the greatest where that is so large or small that squares
    /// would overflow or vanish.
    pub(super) fn norm(&mut self, tensor: &Tensor, elem: Elem) -> Flow<Number> {
        let numbers: Vec<Number> = tensor.numbers()?.iter().map(Number::computed).collect();
        let magnitude = |n: &Number| n.plain().as_float().unwrap_or(f64::NAN).abs();
        let greatest = numbers.iter().map(magnitude).fold(0.0, f64::max);
        let large = if elem == Elem::F32 { 1e18 } else { 1e150 };
        let has_nan = numbers.iter().any(|n| magnitude(n).is_nan());
        let is_extreme = greatest > large && greatest.is_finite() || greatest > 0.0 && greatest < 1.0 / large;
        let scale = Number::Plain(Const::float(elem, if is_extreme && !has_nan { greatest } else { 1.0 }));
        let times = |a: &Number, b: &Number| Number::apply(&MUL, &[a.clone(), b.clone()]);
        let square = |n: &Number| {
            let scaled = Number::apply(&DIV, &[n.clone(), scale.clone()]);
            times(&scaled, &scaled)
        };
        let squares: Vec<Number> = numbers.iter().map(square).collect();
        let zero = Number::zero(elem);
        let sum = reduced(&squares, Number::plus).map_or(zero.clone(), |total| zero.plus(&total));
        Ok(times(&scale, &Number::apply(&SQRT, &[sum])))
    }
}

/// The sum; of integers it fails exactly where it does not fit.
fn sum(checks: &mut Checks, elem: Elem, numbers: &[Number], span: Span) -> Flow<Number> {
    if elem.is_integer() {
        let exact = numbers.iter().filter_map(|n| n.plain().as_integer()).sum();
        return checks.fitting(elem, Some(exact), span);
    }
    let total = reduced(numbers, Number::plus);
    Ok(total.map_or_else(|| Number::zero(elem), |total| Number::zero(elem).plus(&total)))
}

fn product(checks: &mut Checks, elem: Elem, numbers: &[Number], span: Span) -> Flow<Number> {
    let one = Number::one(elem);
    if elem.is_integer() {
        return numbers.iter().try_fold(one, |product, n| checks.scalar_binary(BinaryOp::Mul, &product, n, span));
    }
    let times = |a: &Number, b: &Number| Number::apply(&MUL, &[a.clone(), b.clone()]);
    Ok(reduced(numbers, times).map_or(one.clone(), |total| times(&one, &total)))
}

fn extreme(checks: &mut Checks, which: Extreme, numbers: &[Number], span: Span) -> Flow<Number> {
    checks.check(!numbers.is_empty(), CheckKind::EmptyFold, span)?;
    Ok(Number::extreme(which, numbers))
}

fn in_order(checks: &mut Checks, op: BinaryOp, numbers: &[Number], span: Span) -> Flow<Number> {
    checks.check(!numbers.is_empty(), CheckKind::EmptyFold, span)?;
    let Some((first, rest)) = numbers.split_first() else { return bug("a fold of nothing") };
    rest.iter().try_fold(first.clone(), |acc, n| checks.scalar_binary(op, &acc, n, span))
}

fn fold_row<'p, 'v>(
    machine: &mut Machine<'p>,
    function: &Closure<'p>,
    init: Option<Value>,
    mut elements: impl Iterator<Item = &'v Value>,
    span: Span,
) -> Flow<Value> {
    let first = match init {
        Some(init) => Some(init),
        None => elements.next().cloned(),
    };
    machine.checks.check(first.is_some(), CheckKind::EmptyFold, span)?;
    let mut acc = first.unwrap_or_else(Value::unit);
    for element in elements {
        machine.spend(1)?;
        acc = machine.apply(function, vec![acc, element.clone()], &[])?;
    }
    Ok(acc)
}

fn is_true(n: &Number) -> bool {
    n.plain().as_bool().unwrap_or(false)
}
