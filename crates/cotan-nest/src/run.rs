//! The way in: arguments checked, values brought to memory, results given back.

use crate::call::{Finished, Given};
use crate::error::{Outcome, RuntimeError};
use crate::machine::{Frame, Machine, Options};
use cotan_ir::Const;
use cotan_loops::{Argument, Param, VerifiedNests, check_arguments};
use cotan_ops::Value;

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
    check_arguments(f, args).map_err(RuntimeError::Argument)?;
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
