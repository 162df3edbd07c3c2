//! Structured values: what expressions have, as the language page says it.

use super::number::Number;
use cotan_ir::CheckKind;
use cotan_syntax::Span;
use std::rc::Rc;

/// A check that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What is wrong.
    pub kind: CheckKind,
    /// The source text that the check is of.
    pub span: Span,
    /// How many checks failed before it.
    pub(super) ordinal: usize,
}

/// A value. One that could not be computed stays where it would be, and fails whoever needs it.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A scalar.
    Number(Number),
    /// A tensor of scalars, tuples or structs.
    Tensor(Tensor),
    /// The parts of a tuple or the fields of a struct, in order.
    Fields(Vec<Value>),
    /// A variant of an enum, by position, and what it carries.
    Variant(usize, Vec<Value>),
    /// What a failed check left.
    Failed(Failure),
}

/// A dense tensor.
#[derive(Clone, Debug)]
pub(super) struct Tensor {
    /// Extents, outermost first.
    pub(super) dims: Vec<usize>,
    /// The elements, row-major; none of them is a tensor.
    pub(super) cells: Rc<Vec<Value>>,
}

/// Why an expression has no value here.
#[derive(Debug)]
pub(super) enum Stop {
    /// It needs something that a failed check left.
    Failed(Failure),
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `return`
    Return(Value),
    /// Something that the checker should have excluded.
    Bug(String),
}

/// What evaluation gives.
pub(super) type Flow<T> = Result<T, Stop>;

/// Says that the checker should have excluded this.
pub(super) fn bug<T>(message: impl Into<String>) -> Flow<T> {
    Err(Stop::Bug(message.into()))
}

/// A failure as a value; everything else goes on.
pub(super) fn caught(value: Flow<Value>) -> Flow<Value> {
    match value {
        Err(Stop::Failed(failure)) => Ok(Value::Failed(failure)),
        Ok(_) | Err(Stop::Break | Stop::Continue | Stop::Return(_) | Stop::Bug(_)) => value,
    }
}

/// Whoever needs all of some values meets the failure among them that happened first.
pub(super) fn needed<'v>(values: impl IntoIterator<Item = &'v Value>) -> Flow<()> {
    let first = values.into_iter().filter_map(Value::first_failure).min_by_key(|failure| failure.ordinal);
    first.map_or(Ok(()), |failure| Err(Stop::Failed(failure)))
}

impl Value {
    /// The value of statements.
    pub(super) fn unit() -> Value {
        Value::Fields(Vec::new())
    }

    /// The value for somebody who needs it.
    pub(super) fn met(self) -> Flow<Value> {
        match self {
            Value::Failed(failure) => Err(Stop::Failed(failure)),
            value @ (Value::Number(_) | Value::Tensor(_) | Value::Fields(_) | Value::Variant(..)) => Ok(value),
        }
    }

    /// The scalar.
    pub(super) fn number(&self) -> Flow<&Number> {
        match self {
            Value::Number(number) => Ok(number),
            Value::Failed(failure) => Err(Stop::Failed(*failure)),
            Value::Tensor(_) | Value::Fields(_) | Value::Variant(..) => bug("expected a scalar"),
        }
    }

    /// The integer, without its type.
    pub(super) fn integer(&self) -> Flow<i128> {
        self.number()?.plain().as_integer().map_or_else(|| bug("expected an integer"), Ok)
    }

    /// The truth value.
    pub(super) fn truth(&self) -> Flow<bool> {
        self.number()?.plain().as_bool().map_or_else(|| bug("expected a truth value"), Ok)
    }

    /// The tensor.
    pub(super) fn tensor(&self) -> Flow<&Tensor> {
        match self {
            Value::Tensor(tensor) => Ok(tensor),
            Value::Failed(failure) => Err(Stop::Failed(*failure)),
            Value::Number(_) | Value::Fields(_) | Value::Variant(..) => bug("expected a tensor"),
        }
    }

    /// The elements, of which a scalar has one and no extents.
    pub(super) fn elements(self) -> Flow<Tensor> {
        match self {
            Value::Tensor(tensor) => Ok(tensor),
            Value::Failed(failure) => Err(Stop::Failed(failure)),
            value @ (Value::Number(_) | Value::Fields(_) | Value::Variant(..)) => {
                Ok(Tensor::new(Vec::new(), vec![value]))
            }
        }
    }

    /// The parts of a tuple or struct.
    pub(super) fn fields(&self) -> Flow<&[Value]> {
        match self {
            Value::Fields(fields) => Ok(fields),
            Value::Failed(failure) => Err(Stop::Failed(*failure)),
            Value::Number(_) | Value::Tensor(_) | Value::Variant(..) => bug("expected a tuple or struct"),
        }
    }

    /// The variant of an enum, and what it carries.
    pub(super) fn variant(&self) -> Flow<(usize, &[Value])> {
        match self {
            Value::Variant(index, fields) => Ok((*index, fields)),
            Value::Failed(failure) => Err(Stop::Failed(*failure)),
            Value::Number(_) | Value::Tensor(_) | Value::Fields(_) => bug("expected a value of an enum"),
        }
    }

    /// One part of a tuple or struct.
    pub(super) fn field(&self, index: usize) -> Flow<Value> {
        self.fields()?.get(index).cloned().map_or_else(|| bug("a part that is not there"), Ok)
    }

    /// The first failure that somebody who needs all of the value meets: the one that happened first.
    pub(super) fn first_failure(&self) -> Option<Failure> {
        let first = |values: &[Value]| values.iter().filter_map(Value::first_failure).min_by_key(|f| f.ordinal);
        match self {
            Value::Number(_) => None,
            Value::Tensor(tensor) => first(&tensor.cells),
            Value::Fields(fields) | Value::Variant(_, fields) => first(fields),
            Value::Failed(failure) => Some(*failure),
        }
    }

    /// The same with every scalar changed. Failed parts stay.
    pub(super) fn map(&self, f: &mut dyn FnMut(&Number) -> Number) -> Value {
        match self {
            Value::Number(number) => Value::Number(f(number)),
            Value::Tensor(Tensor { dims, cells }) => {
                let cells = Rc::new(cells.iter().map(|cell| cell.map(f)).collect());
                Value::Tensor(Tensor { dims: dims.clone(), cells })
            }
            Value::Fields(fields) => Value::Fields(fields.iter().map(|field| field.map(f)).collect()),
            Value::Variant(index, fields) => Value::Variant(*index, fields.iter().map(|field| field.map(f)).collect()),
            Value::Failed(_) => self.clone(),
        }
    }

    /// Calls `f` for every scalar, in order.
    pub(super) fn each(&self, f: &mut dyn FnMut(&Number)) {
        match self {
            Value::Number(number) => f(number),
            Value::Tensor(tensor) => tensor.cells.iter().for_each(|cell| cell.each(f)),
            Value::Fields(fields) | Value::Variant(_, fields) => fields.iter().for_each(|field| field.each(f)),
            Value::Failed(_) => {}
        }
    }

    /// The value through which no derivative flows.
    pub(super) fn without_derivative(&self) -> Value {
        self.map(&mut |number| Number::Plain(number.plain()))
    }

    /// Whether it is a tensor without elements.
    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Value::Tensor(tensor) if tensor.cells.is_empty())
    }

    /// Whether two values of one type have one shape throughout. What failed has any shape.
    pub(super) fn has_shape_of(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Tensor(a), Value::Tensor(b)) => {
                a.dims == b.dims
                    && match (a.cells.first(), b.cells.first()) {
                        (Some(x), Some(y)) => x.has_shape_of(y),
                        (_, _) => true,
                    }
            }
            (Value::Fields(a), Value::Fields(b)) => a.iter().zip(b).all(|(x, y)| x.has_shape_of(y)),
            // Different variants carry different things.
            (Value::Variant(k, a), Value::Variant(l, b)) if k == l => a.iter().zip(b).all(|(x, y)| x.has_shape_of(y)),
            (Value::Number(_) | Value::Tensor(_) | Value::Fields(_) | Value::Variant(..) | Value::Failed(_), _) => true,
        }
    }
}

impl Tensor {
    /// A tensor; there are as many cells as the dims say.
    pub(super) fn new(dims: Vec<usize>, cells: Vec<Value>) -> Tensor {
        debug_assert_eq!(dims.iter().product::<usize>(), cells.len(), "cells for {dims:?}");
        Tensor { dims, cells: Rc::new(cells) }
    }

    /// The element or row at a position of the first axis, which is in range.
    pub(super) fn row(&self, at: usize) -> Value {
        self.part(1, at)
    }

    /// The element or part number `at` along the first axes, so many of them.
    pub(super) fn part(&self, n_axes: usize, at: usize) -> Value {
        let inner = &self.dims[n_axes..];
        let size: usize = inner.iter().product();
        Tensor::new(inner.to_vec(), self.cells[at * size..(at + 1) * size].to_vec()).into_value()
    }

    /// The scalars; a failure among them is a failure.
    pub(super) fn numbers(&self) -> Flow<Vec<Number>> {
        needed(self.cells.iter())?;
        self.cells.iter().map(|cell| cell.number().cloned()).collect()
    }

    /// The value at this shape: a scalar or whatever the only cell is where there are no dims.
    pub(super) fn into_value(self) -> Value {
        match (self.dims.as_slice(), self.cells.as_slice()) {
            ([], [only]) => only.clone(),
            (_, _) => Value::Tensor(self),
        }
    }
}

/// The position in each axis of element number `at`.
pub(super) fn unflattened(dims: &[usize], mut at: usize) -> Vec<usize> {
    let mut position = vec![0; dims.len()];
    for (place, extent) in position.iter_mut().zip(dims).rev() {
        *place = at % extent;
        at /= extent;
    }
    position
}

/// The number of the element at a position.
pub(super) fn flattened(dims: &[usize], position: &[usize]) -> usize {
    dims.iter().zip(position).fold(0, |at, (extent, place)| at * extent + place)
}
