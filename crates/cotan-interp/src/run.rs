//! The way in: arguments checked, values converted, results given back.

use crate::budget::{Budget, Limits, Stats};
use crate::error::{ArgumentError, RuntimeError};
use crate::machine::Machine;
use crate::numbers::Numbers;
use crate::plan::elem_of;
use crate::value::Val;
use cotan_ir::{Atom, Dim, Elem, Function, Module, Ty};
use cotan_ops::stop::Stop;
use cotan_ops::{ElementCount, Value};
use std::sync::Arc;

/// How to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// What the run may use.
    pub limits: Limits,
    /// What floats are.
    pub numbers: Numbers,
}

/// Runs a function of a module and gives its results.
pub fn run(module: &Module, name: &str, args: &[Value], options: &Options) -> Result<Vec<Value>, RuntimeError> {
    run_counted(module, name, args, options).map(|(results, _)| results)
}

/// Runs a function of a module whose output goes to `output`, piece by piece as it happens.
pub fn run_with_output<'m>(
    module: &'m Module,
    name: &str,
    args: &[Value],
    options: &Options,
    output: &'m mut dyn FnMut(&str),
) -> Result<Vec<Value>, RuntimeError> {
    run_machine(module, name, args, options, None, Some(output)).map(|(results, _)| results)
}

/// Runs a function of a module as [`run_with_output`] does, until `stop` asks it to stop.
pub fn run_watched<'m>(
    module: &'m Module,
    name: &str,
    args: &[Value],
    options: &Options,
    stop: Stop,
    output: &'m mut dyn FnMut(&str),
) -> Result<Vec<Value>, RuntimeError> {
    run_machine(module, name, args, options, Some(stop), Some(output)).map(|(results, _)| results)
}

/// Runs a function of a module and gives its results, and what the run did.
pub fn run_counted(
    module: &Module,
    name: &str,
    args: &[Value],
    options: &Options,
) -> Result<(Vec<Value>, Stats), RuntimeError> {
    run_machine(module, name, args, options, None, None)
}

fn run_machine<'m>(
    module: &'m Module,
    name: &str,
    args: &[Value],
    options: &Options,
    stop: Option<Stop>,
    output: Option<&'m mut dyn FnMut(&str)>,
) -> Result<(Vec<Value>, Stats), RuntimeError> {
    let f = function(module, name)?;
    check_arguments(f, args, options.numbers)?;
    let mut machine = Machine::new(module, options.numbers, options.limits);
    machine.output = output;
    stop.into_iter().for_each(|stop| machine.budget.watch(stop));
    let vals = arguments(&machine.budget, args)?;
    let results = machine.call(name, vals)?;
    let values = results.iter().zip(&f.body.results).map(|(val, a)| {
        let elem = options.numbers.outside(elem_of(f, *a));
        Value { elem, dims: val.dims().to_vec(), bits: val.cells().to_vec() }
    });
    Ok((values.collect(), machine.stats))
}

/// Arguments as values of a run.
pub(crate) fn arguments(budget: &Budget, args: &[Value]) -> Result<Vec<Val>, RuntimeError> {
    args.iter().map(|arg| Val::copied(budget, &arg.dims, &arg.bits)).collect()
}

/// The function of that name.
pub(crate) fn function<'m>(module: &'m Module, name: &str) -> Result<&'m Arc<Function>, RuntimeError> {
    module.function(name).ok_or_else(|| ArgumentError::UnknownFunction(name.to_owned()).into())
}

/// Whether these are arguments of the function: their number, element types and extents.
pub(crate) fn check_arguments(f: &Function, args: &[Value], numbers: Numbers) -> Result<(), ArgumentError> {
    if f.params.len() != args.len() {
        return Err(ArgumentError::Count { expected: f.params.len(), found: args.len() });
    }
    for (position, (param, arg)) in f.params.iter().zip(args).enumerate() {
        let ty = f.ty(*param);
        check_value(position, numbers.outside(ty.elem), &extents(f, ty, args), arg)?;
    }
    Ok(())
}

/// Whether a value has an element type and extents.
pub(crate) fn check_value(position: usize, elem: Elem, dims: &[i64], value: &Value) -> Result<(), ArgumentError> {
    if value.elem != elem {
        return Err(ArgumentError::Elem { position, expected: elem, found: value.elem });
    }
    let is_whole = ElementCount::of(&value.dims).is_some_and(|n| n.get() == value.bits.len());
    if value.dims != dims || !is_whole {
        return Err(ArgumentError::Dims { position, expected: dims.to_vec(), found: value.dims.clone() });
    }
    Ok(())
}

/// The extents that a parameter's type asks for, by the values of other parameters.
fn extents(f: &Function, ty: &Ty, args: &[Value]) -> Vec<i64> {
    let extent = |dim: &Dim| match dim.atom() {
        Atom::Const(c) => c.as_i64(),
        Atom::Var(v) => {
            let position = f.params.iter().position(|p| *p == v);
            position.and_then(|at| args[at].scalar()).and_then(|c| c.as_i64())
        }
    };
    // What is no size of this call fits no value.
    ty.dims.iter().map(|d| extent(d).unwrap_or(-1)).collect()
}
