//! Calls of functions of the program, by each other and from outside.

use crate::error::{Outcome, bug};
use crate::machine::{Frame, Machine};
use crate::memory::Address;
use cotan_ir::Symbol;
use cotan_loops::{Argument, CallResult, LoopFunction, Param};

/// An argument: a scalar's bits, or where a tensor lies.
pub(crate) enum Given {
    Scalar(u64),
    Tensor(Address),
}

/// A frame as a call has left it, with the arrays in it.
pub(crate) struct Finished<'f>(pub(crate) Frame<'f>);

impl<'p> Machine<'p> {
    /// Runs a function whose caller offers memory for some results.
    pub(crate) fn enter(
        &mut self,
        f: &'p LoopFunction,
        args: Vec<Given>,
        offered: Vec<Option<(Address, i64)>>,
    ) -> Outcome<Finished<'p>> {
        let mut frame = Frame::new(f);
        frame.offered = offered;
        for (param, arg) in f.params.iter().zip(args) {
            match (param, arg) {
                (Param::Scalar(local), Given::Scalar(bits)) => frame.set(*local, bits),
                (Param::Tensor(tensor), Given::Tensor(address)) => {
                    frame.buffers[tensor.place.buffer.index()] = Some(address);
                }
                (Param::Scalar(_), Given::Tensor(_)) | (Param::Tensor(_), Given::Scalar(_)) => {
                    return bug(format!("an argument that `{}` does not take", f.name));
                }
            }
        }
        self.list(&mut frame, &f.body)?;
        Ok(Finished(frame))
    }

    /// Gives the arrays of a frame back.
    pub(crate) fn leave(&mut self, Finished(mut frame): Finished<'p>) {
        self.free_arrays(&mut frame);
    }

    /// The same, of a frame that goes on.
    pub(crate) fn free_arrays(&mut self, frame: &mut Frame<'p>) {
        let mut arrays: Vec<Address> = frame.arrays.drain().map(|(_, address)| address).collect();
        arrays.sort();
        arrays.into_iter().rev().for_each(|address| self.memory.free(address));
    }

    /// A call by a node.
    pub(crate) fn call(
        &mut self,
        frame: &mut Frame<'p>,
        callee: &Symbol,
        args: &[Argument],
        results: &[CallResult],
    ) -> Outcome<()> {
        let Some(f) = self.functions.get(&**callee).copied() else {
            return bug(format!("there is no function `{callee}`"));
        };
        let given = args.iter().map(|arg| match arg {
            Argument::Scalar(operand) => Ok(Given::Scalar(frame.bits(*operand))),
            Argument::Tensor(tensor) => Ok(Given::Tensor(frame.address(tensor.place)?)),
        });
        let given = given.collect::<Outcome<Vec<Given>>>()?;
        let offered = results.iter().map(|result| match result {
            CallResult::Into(tensor) => {
                let room = frame.count(tensor.elem, &tensor.dims);
                Ok(Some((frame.address(tensor.place)?, room)))
            }
            CallResult::Scalar(_) | CallResult::New(..) => Ok(None),
        });
        let offered = offered.collect::<Outcome<Vec<_>>>()?;
        if (given.len(), offered.len()) != (f.params.len(), f.results.len()) {
            return bug(format!("a call that `{callee}` does not take"));
        }
        let finished = self.enter(f, given, offered)?;
        for (result, piece) in results.iter().zip(&f.results) {
            self.take(frame, &finished.0, result, piece)?;
        }
        self.leave(finished);
        Ok(())
    }

    /// Takes a result of a call.
    fn take(
        &mut self,
        frame: &mut Frame<'p>,
        callee: &Frame<'p>,
        result: &CallResult,
        piece: &Argument,
    ) -> Outcome<()> {
        match (result, piece) {
            (CallResult::Scalar(local), Argument::Scalar(operand)) => frame.set(*local, callee.bits(*operand)),
            (CallResult::New(buffer, _), Argument::Tensor(tensor)) => {
                frame.buffers[buffer.index()] = Some(callee.address(tensor.place)?);
            }
            (CallResult::Into(expected), Argument::Tensor(tensor)) => {
                if callee.address(tensor.place)? != frame.address(expected.place)? {
                    return bug(format!("a result of `{}` that does not fit its memory", callee.f.name));
                }
            }
            (CallResult::Scalar(_), Argument::Tensor(_))
            | (CallResult::New(..) | CallResult::Into(_), Argument::Scalar(_)) => {
                return bug(format!("a result that `{}` does not give", callee.f.name));
            }
        }
        Ok(())
    }
}
