//! Arithmetic leaf by leaf: on tuples, structs, tensors of them, and where generic code meets floats of several types.

use super::Machine;
use super::checks::Checks;
use super::combinators::closure_of;
use super::number::{Number, reduced};
use super::value::{Flow, Tensor, Value, needed};
use cotan_ir::{Const, Elem};
use cotan_ops::PrimRow;
use cotan_sema::typed::Arg;

/// An operand, and whether it is part of a vector, or a scalar that goes to every leaf.
type Operand = (Value, bool);

/// What is done with the floats of the operands.
type OnNumbers<'f> = &'f mut dyn FnMut(&mut Checks, &[Number]) -> Flow<Number>;

impl Checks {
    /// An operation on values of which the result has the element type `elem`, or is no number.
    pub(super) fn on_vectors(
        &mut self,
        row: &PrimRow,
        elem: Option<Elem>,
        args: &[&Value],
        f: OnNumbers<'_>,
    ) -> Flow<Value> {
        let meets_others = |elem: Elem| {
            let differs = |arg: &&Value| first_elem(arg).is_some_and(|of| of.is_float() && of != elem);
            elem.is_float() && (!row.sig.domain.has(elem) || args.iter().any(differs))
        };
        if elem.is_some_and(|elem| !meets_others(elem)) {
            return self.element_wise(args, f);
        }
        let is_scalar = |arg: &Value| matches!(arg, Value::Number(_)) && elem.is_none();
        let args = args.iter().map(|arg| ((*arg).clone(), !is_scalar(arg))).collect();
        self.leaf_by_leaf(elem, args, f)
    }

    fn leaf_by_leaf(&mut self, elem: Option<Elem>, args: Vec<Operand>, f: OnNumbers<'_>) -> Flow<Value> {
        if let Some(n) = args.iter().find_map(|(arg, _)| n_fields(arg)) {
            let mut fields = Vec::new();
            for at in 0..n {
                fields.push(self.leaf_by_leaf(elem, parts(&args, at), f)?);
            }
            return Ok(match args.iter().find(|(arg, _)| n_fields(arg).is_some()) {
                Some((Value::Variant(index, _), _)) => Value::Variant(*index, fields),
                Some(_) | None => Value::Fields(fields),
            });
        }
        if let Some(tensor) = args.iter().find_map(|(arg, _)| of_fields(arg)) {
            let mut cells = Vec::new();
            for at in 0..tensor.cells.len() {
                let cell = |(arg, is_vector): &Operand| match arg {
                    Value::Tensor(tensor) => (tensor.cells[at].clone(), *is_vector),
                    Value::Number(_) | Value::Fields(_) | Value::Variant(..) | Value::Failed(_) => {
                        (arg.clone(), *is_vector)
                    }
                };
                cells.push(self.leaf_by_leaf(elem, args.iter().map(cell).collect(), f)?);
            }
            return Ok(Value::Tensor(Tensor::new(tensor.dims.clone(), cells)));
        }
        let of_vector = args.iter().find(|(_, is_vector)| *is_vector).or(args.first());
        let Some((leaf, _)) = of_vector else { return Ok(Value::unit()) };
        let elem = elem.or(first_elem(leaf));
        let Some(elem) = elem.filter(|elem| elem.is_float()) else { return Ok(leaf.clone()) };
        let values: Vec<&Value> = args.iter().map(|(arg, _)| arg).collect();
        let floats = |number: &Number| match number.elem().is_float() {
            true => number.converted(elem.computed()),
            false => number.clone(),
        };
        let mut in_type = |checks: &mut Checks, numbers: &[Number]| {
            let numbers: Vec<Number> = numbers.iter().map(floats).collect();
            f(checks, &numbers).map(|made| made.converted(elem))
        };
        self.element_wise(&values, &mut in_type)
    }
}

/// The operands at one part of the vectors among them. A tangent has no part where there is no derivative.
fn parts(args: &[Operand], at: usize) -> Vec<Operand> {
    let part = |(arg, is_vector): &Operand| {
        let part = match arg {
            Value::Fields(fields) | Value::Variant(_, fields) => fields.get(at).cloned(),
            Value::Number(_) | Value::Tensor(_) | Value::Failed(_) => Some(arg.clone()),
        };
        Some((part?, *is_vector))
    };
    let all: Vec<Operand> = args.iter().filter_map(part).collect();
    let is_unit = |(arg, _): &Operand| n_fields(arg) == Some(0);
    let some_are_there = all.iter().any(|arg| arg.1 && !is_unit(arg));
    all.into_iter().filter(|arg| !(some_are_there && is_unit(arg))).collect()
}

fn n_fields(value: &Value) -> Option<usize> {
    match value {
        Value::Fields(fields) | Value::Variant(_, fields) => Some(fields.len()),
        Value::Number(_) | Value::Tensor(_) | Value::Failed(_) => None,
    }
}

/// A tensor whose elements are no numbers.
fn of_fields(value: &Value) -> Option<&Tensor> {
    match value {
        Value::Tensor(tensor) if tensor.cells.first().is_some_and(|cell| n_fields(cell).is_some()) => Some(tensor),
        Value::Tensor(_) | Value::Number(_) | Value::Fields(_) | Value::Variant(..) | Value::Failed(_) => None,
    }
}

/// The element type of a number, or of the elements of a tensor of numbers.
fn first_elem(value: &Value) -> Option<Elem> {
    match value {
        Value::Number(number) => Some(number.elem()),
        Value::Tensor(tensor) => tensor.cells.iter().find_map(first_elem),
        Value::Fields(_) | Value::Variant(..) | Value::Failed(_) => None,
    }
}

/// The floats of a value as f64s, leaf by leaf: those of a field of all elements of a tensor are one leaf.
pub(super) fn leaves(value: &Value) -> Vec<Vec<Number>> {
    match value {
        Value::Number(number) if number.elem().is_float() => vec![vec![number.converted(Elem::F64)]],
        Value::Number(_) | Value::Failed(_) => Vec::new(),
        Value::Fields(fields) | Value::Variant(_, fields) => fields.iter().flat_map(leaves).collect(),
        Value::Tensor(tensor) => {
            let mut all: Vec<Vec<Number>> = Vec::new();
            for cell in tensor.cells.iter() {
                let of_cell = leaves(cell);
                all.resize(of_cell.len(), Vec::new());
                all.iter_mut().zip(of_cell).for_each(|(all, numbers)| all.extend(numbers));
            }
            all
        }
    }
}

/// The sum of all leaves, each summed as a tensor is.
pub(super) fn total(leaves: &[Vec<Number>]) -> Value {
    let zero = Number::zero(Elem::F64);
    let sum = |leaf: &Vec<Number>| match leaf.as_slice() {
        [one] => one.clone(),
        all => reduced(all, Number::plus).map_or(zero.clone(), |sum| zero.plus(&sum)),
    };
    Value::Number(leaves.iter().map(sum).fold(zero.clone(), |total, sum| total.plus(&sum)))
}

impl<'p> Machine<'p> {
    /// `inner(a, b)`
    pub(super) fn inner(&mut self, args: &'p [Arg]) -> Flow<Value> {
        let (a, b) = (self.arg(&args[0])?, self.arg(&args[1])?);
        needed([&a, &b])?;
        let (a, b) = (leaves(&a), leaves(&b));
        let times = |(a, b): (&Vec<Number>, &Vec<Number>)| a.iter().zip(b).map(|(a, b)| a.times(b)).collect();
        let products: Vec<Vec<Number>> = a.iter().zip(&b).map(times).collect();
        Ok(total(&products))
    }

    /// `close(a, b, tolerance)`
    pub(super) fn close(&mut self, args: &'p [Arg]) -> Flow<Value> {
        let (a, b, tolerance) = (self.arg(&args[0])?, self.arg(&args[1])?, self.arg(&args[2])?);
        needed([&a, &b])?;
        let tolerance = tolerance.number()?.plain().as_float().unwrap_or(f64::NAN);
        let floats = |value: &Value| leaves(value).concat().iter().filter_map(|x| x.plain().as_float()).collect();
        let (a, b): (Vec<f64>, Vec<f64>) = (floats(&a), floats(&b));
        let is_near = |(a, b): (&f64, &f64)| {
            let (gap, size) = ((a - b).abs(), a.abs().max(b.abs()).max(1.0));
            a == b || gap.is_finite() && gap <= size * tolerance
        };
        Ok(Value::Number(Number::Plain(Const::bool(a.iter().zip(&b).all(is_near)))))
    }

    /// `norm(a)` of something that is no tensor of numbers.
    pub(super) fn norm_of_leaves(&mut self, value: &Value) -> Flow<Value> {
        needed([value])?;
        let all: Vec<Value> = leaves(value).concat().into_iter().map(Value::Number).collect();
        self.checks.norm(&Tensor::new(vec![all.len()], all), Elem::F64).map(Value::Number)
    }

    /// `map_leaves(f, a, b, ..)`
    pub(super) fn map_leaves(&mut self, args: &'p [Arg]) -> Flow<Value> {
        let function = closure_of(self, &args[0])?;
        let values = self.args(&args[1..])?;
        needed(&values)?;
        let floats: Vec<Vec<Number>> = values.iter().map(floats).collect();
        let mut made = Vec::new();
        for at in 0..floats[0].len() {
            let of_all = floats.iter().map(|floats| Value::Number(floats[at].clone())).collect();
            made.push(self.apply(&function, of_all, &[])?.number()?.clone());
        }
        let mut made = made.into_iter();
        Ok(values[0].map(&mut |number| match number.elem().is_float() {
            true => made.next().unwrap_or_else(|| number.clone()).converted(number.elem()),
            false => number.clone(),
        }))
    }
}

/// The floats of a value as f64s, in the order in which it holds them.
fn floats(value: &Value) -> Vec<Number> {
    let mut all = Vec::new();
    value.each(&mut |number| {
        if number.elem().is_float() {
            all.push(number.converted(Elem::F64));
        }
    });
    all
}
