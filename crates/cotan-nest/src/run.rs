//! The way in: arguments checked, values brought to memory, results given back.

use crate::call::{Finished, Given};
use crate::error::{Outcome, RuntimeError};
use crate::machine::{Frame, Machine, Options};
use cotan_ir::Const;
use cotan_loops::{Argument, LoopFunction, Operand, Param, Tensor, VerifiedNests};
use cotan_ops::{ElementCount, Value};

/// Runs one of several functions, which may call the others, and gives its results.
pub fn run(
    functions: &VerifiedNests,
    name: &str,
    args: &[Value],
    options: &Options,
) -> Result<Vec<Value>, RuntimeError> {
    run_machine(Machine::new(functions, options, None), name, args)
}

/// The same; output goes to `output`, piece by piece as it happens.
pub fn run_with_output(
    functions: &VerifiedNests,
    name: &str,
    args: &[Value],
    options: &Options,
    output: &mut dyn FnMut(&str),
) -> Result<Vec<Value>, RuntimeError> {
    let mut write = |text: &str| output(text);
    run_machine(Machine::new(functions, options, Some(&mut write)), name, args)
}

fn run_machine(mut machine: Machine<'_>, name: &str, args: &[Value]) -> Outcome<Vec<Value>> {
    let Some(f) = machine.functions.get(name).copied() else {
        return Err(RuntimeError::Argument(format!("there is no function `{name}`")));
    };
    check_arguments(f, args)?;
    let mut given = Vec::with_capacity(args.len());
    for (param, arg) in f.params.iter().zip(args) {
        given.push(match param {
            Param::Scalar(_) => Given::Scalar(arg.bits.first().copied().unwrap_or_default()),
            Param::Tensor(tensor) => {
                let info = &f.buffers[tensor.place.buffer.index()];
                let address = machine.memory.allocate(info, arg.bits.len() as i64)?;
                machine.memory.elements_mut(address, arg.bits.len())?.copy_from_slice(&arg.bits);
                Given::Tensor(address)
            }
        });
    }
    let finished = machine.enter(f, given, vec![None; f.results.len()])?;
    let Finished(frame) = &finished;
    f.results.iter().map(|piece| result(&mut machine, frame, piece)).collect()
}

fn result(machine: &mut Machine, frame: &Frame, piece: &Argument) -> Outcome<Value> {
    match piece {
        Argument::Scalar(operand) => Ok(Const::from_bits(frame.f.operand_elem(*operand), frame.bits(*operand)).into()),
        Argument::Tensor(tensor) => machine.value(frame, tensor),
    }
}

/// Whether arguments fit the parameters: number, element types, extents.
fn check_arguments(f: &LoopFunction, args: &[Value]) -> Outcome<()> {
    let wrong = |message: String| Err(RuntimeError::Argument(message));
    if args.len() != f.params.len() {
        return wrong(format!("expected {} arguments, found {}", f.params.len(), args.len()));
    }
    for (position, (param, arg)) in f.params.iter().zip(args).enumerate() {
        let (elem, dims) = match param {
            Param::Scalar(local) => (f.elem(*local), Vec::new()),
            Param::Tensor(tensor) => (tensor.elem, extents(f, tensor, args)),
        };
        let is_whole = ElementCount::of(&arg.dims).is_some_and(|n| n.get() == arg.bits.len());
        if (arg.elem, &arg.dims) != (elem, &dims) || !is_whole {
            return wrong(format!("argument {position}: expected {elem}{dims:?}, found {}{:?}", arg.elem, arg.dims));
        }
    }
    Ok(())
}

/// The extents that a parameter asks for, by the values of other parameters.
fn extents(f: &LoopFunction, tensor: &Tensor, args: &[Value]) -> Vec<i64> {
    let extent = |dim: &Operand| match dim {
        Operand::Const(c) => c.as_i64(),
        Operand::Local(local) => {
            let position = f.params.iter().position(|param| *param == Param::Scalar(*local));
            position.and_then(|at| args[at].scalar()).and_then(Const::as_i64)
        }
    };
    // What is no size of this call fits no value.
    tensor.dims.iter().map(|dim| extent(dim).unwrap_or(-1)).collect()
}
