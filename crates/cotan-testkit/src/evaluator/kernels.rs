//! Parallel loops of kernels. Their iterations run one after the other, as the order makes no difference; but a maximum
//! or minimum that iterations contribute to is taken once, at the end, so that all that tie share its derivative, and so is
//! a sum that is stored narrow, so that it is rounded once.
//!
//! While such a loop runs, each scalar that takes part is the list of what was contributed, the start value first.
//! Nobody reads it before the end.

use super::Machine;
use super::number::{Extreme, Number};
use super::value::{Flow, Tensor, Value, bug};
use cotan_sema::typed::{Accumulated, AssignOp, BinaryOp, Sharing};
use std::rc::Rc;

impl<'p> Machine<'p> {
    /// Runs a loop of a kernel.
    pub(super) fn sharing(
        &mut self,
        sharing: Option<&'p Sharing>,
        work: impl FnOnce(&mut Self) -> Flow<Value>,
    ) -> Flow<Value> {
        let collected: Vec<(&Accumulated, Collected)> =
            sharing.iter().flat_map(|s| &s.accumulated).filter_map(collected).collect();
        for (place, how) in &collected {
            change(self, place, &|value| opened(&value, *how))?;
        }
        let result = work(self);
        for (place, how) in &collected {
            change(self, place, &|value| closed(&value, *how))?;
        }
        result
    }

    /// `old op= value`, where `old` is open for contributions.
    pub(super) fn contributed(&mut self, old: &Value, value: &Value) -> Flow<Value> {
        match (old, value) {
            (Value::Tensor(old), Value::Tensor(value)) => {
                let cells = old.cells.iter().zip(value.cells.iter());
                let cells = cells.map(|(old, value)| self.contributed(old, value)).collect::<Flow<_>>()?;
                Ok(Value::Tensor(Tensor::new(old.dims.clone(), cells)))
            }
            (Value::Tensor(old), value) => {
                let cells = old.cells.iter().map(|old| self.contributed(old, value)).collect::<Flow<_>>()?;
                Ok(Value::Tensor(Tensor::new(old.dims.clone(), cells)))
            }
            (old, value) => {
                let value = Value::Number(value.number()?.clone());
                Ok(Value::Fields([old.fields()?, &[value]].concat()))
            }
        }
    }
}

fn change(machine: &mut Machine<'_>, place: &Accumulated, f: &dyn Fn(Value) -> Flow<Value>) -> Flow<()> {
    let root = machine.take_local(place.root)?;
    let changed = changed(root, &place.path, f)?;
    machine.set_local(place.root, changed);
    Ok(())
}

/// A value with a part of it changed, in a tensor of structs that part of every element.
fn changed(value: Value, path: &[usize], f: &dyn Fn(Value) -> Flow<Value>) -> Flow<Value> {
    let Some((first, rest)) = path.split_first() else { return f(value) };
    match value {
        Value::Fields(mut fields) => {
            let part = std::mem::replace(&mut fields[*first], Value::unit());
            fields[*first] = changed(part, rest, f)?;
            Ok(Value::Fields(fields))
        }
        Value::Tensor(tensor) => in_cells(&tensor, |cell| changed(cell.clone(), path, f)),
        // What failed stays so.
        Value::Number(_) | Value::Variant(..) | Value::Failed(_) => Ok(value),
    }
}

/// What becomes of contributions at the end of a loop.
#[derive(Clone, Copy)]
enum Collected {
    Extreme(Extreme),
    /// Of what is stored narrow alone.
    Sum,
}

fn collected(of: &Accumulated) -> Option<(&Accumulated, Collected)> {
    match of.op {
        AssignOp::Max => Some((of, Collected::Extreme(Extreme::Max))),
        AssignOp::Min => Some((of, Collected::Extreme(Extreme::Min))),
        AssignOp::Binary(BinaryOp::Add) => Some((of, Collected::Sum)),
        AssignOp::Set | AssignOp::Binary(_) => None,
    }
}

/// Whether contributions are collected there.
pub(super) fn is_open(value: &Value) -> bool {
    match value {
        Value::Fields(_) => true,
        Value::Tensor(tensor) => tensor.cells.iter().any(is_open),
        Value::Number(_) | Value::Variant(..) | Value::Failed(_) => false,
    }
}

fn opened(value: &Value, how: Collected) -> Flow<Value> {
    match value {
        Value::Number(x) => match how {
            Collected::Sum if x.elem().storage().is_none() => Ok(value.clone()),
            Collected::Sum | Collected::Extreme(_) => Ok(Value::Fields(vec![value.clone()])),
        },
        Value::Tensor(tensor) => in_cells(tensor, |cell| opened(cell, how)),
        Value::Failed(_) => Ok(value.clone()),
        Value::Fields(_) | Value::Variant(..) => bug("contributions to what is no number"),
    }
}

fn closed(value: &Value, how: Collected) -> Flow<Value> {
    match value {
        Value::Fields(all) => {
            let numbers: Vec<Number> = all.iter().map(|n| n.number().map(Number::computed)).collect::<Flow<_>>()?;
            let Some((start, rest)) = numbers.split_first() else { return bug("contributions without a start") };
            let total = match how {
                Collected::Extreme(which) => Number::extreme(which, &numbers),
                Collected::Sum => rest.iter().fold(start.clone(), |sum, n| sum.plus(n)),
            };
            Ok(Value::Number(total.converted(all[0].number()?.elem())))
        }
        Value::Tensor(tensor) => in_cells(tensor, |cell| closed(cell, how)),
        Value::Failed(_) | Value::Number(_) | Value::Variant(..) => Ok(value.clone()),
    }
}

fn in_cells(tensor: &Tensor, f: impl Fn(&Value) -> Flow<Value>) -> Flow<Value> {
    let cells = tensor.cells.iter().map(f).collect::<Flow<_>>()?;
    Ok(Value::Tensor(Tensor { dims: tensor.dims.clone(), cells: Rc::new(cells) }))
}
