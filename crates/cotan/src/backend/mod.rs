//! Backends: what executes functions of the core IR, as a list. The interpreter, the CPU and Vulkan are in it; a compiler
//! may be given more.
//!
//! A backend says what it lacks ([`Capabilities`]). What a program asks for is held against that before anything of it is
//! rewritten, so a backend never sees a construct that it has not.

mod capabilities;
mod cpu;
mod engine;
mod executable;
mod interpreter;
mod operand;
mod tiering;
mod versions;
pub mod vulkan;

pub use capabilities::{Capabilities, Construct, Lack, Unsupported};
pub(crate) use cpu::{CodeOptions, Cpu};
pub use engine::{Engine, UnknownDevice};
pub(crate) use interpreter::{Interpreter, interpreter_options};
pub use operand::FlatOperand;
pub use versions::{MadeVersion, VersionPolicy};
pub(crate) use vulkan::{Keep, VulkanBackend};

use crate::stopping::CallLimits;
use crate::{CallError, CompileError, ReadyModule, Statistics};
use cotan_ir::{Module, OutOfMemory, VerifiedModule};
use cotan_lower::entry::Entry;
use cotan_ops::{TensorMut, TensorRef, Value};
use cotan_opt::KnownExtents;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use vulkan::Ran;

/// What makes executables of functions.
pub trait Backend: fmt::Debug + Send + Sync {
    /// The name, by which an [`Engine`] chooses it.
    fn name(&self) -> &'static str;

    /// What it lacks.
    fn capabilities(&self) -> &Capabilities;

    /// Makes the entry of a module executable, in which no derivative is left to be written.
    fn compile(&self, ready: &ReadyModule) -> Result<Arc<dyn Executable>, CompileError>;

    /// The entry of a source, where the backend keeps executables under what they are made of; it finishes the source if it
    /// has to. `None` if nothing is kept.
    fn kept(&self, _source: &Source<'_>) -> Result<Option<Kept>, CompileError> {
        Ok(None)
    }
}

/// An executable under what it was made of, and the module that it runs.
pub type Kept = (VerifiedModule, Arc<dyn Executable>);

/// A lowered function before its derivatives are written.
pub struct Source<'s> {
    pub(crate) entry: &'s Entry,
    pub(crate) module: &'s Module,
    pub(crate) derivatives: &'s cotan_ad::Limits,
    pub(crate) known: &'s [KnownExtents],
    /// Writes the derivatives, and optimises.
    pub(crate) finish: &'s (dyn Fn() -> Result<ReadyModule, CompileError> + Sync),
}

/// What a call may use.
#[derive(Clone, Copy, Debug)]
pub struct CallContext<'c> {
    /// How many of the compiler's threads may share the work; `None` for all of them.
    pub threads: Option<NonZeroUsize>,
    /// What may stop the call.
    pub limits: &'c CallLimits,
}

/// A function that can be called from any thread, with flat operands.
pub trait Executable: fmt::Debug + Send + Sync {
    /// Calls the function; what it prints goes to `output`.
    fn call(
        &self,
        args: &[Value],
        context: CallContext<'_>,
        output: &mut dyn FnMut(&str),
    ) -> Result<Vec<Value>, CallError>;

    /// Calls the function without output. The results of an earlier call may give their memory to those of this one. It
    /// runs so often before the run that [`Executable::statistics`] tells of, where there are statistics.
    fn call_again(
        &self,
        args: &[Value],
        context: CallContext<'_>,
        _earlier: Vec<Value>,
        _warm_ups: u32,
    ) -> Result<Vec<Value>, CallError> {
        self.call(args, context, &mut |_| {})
    }

    /// Calls the function without output on tensors that the host lends, one for each operand and result.
    fn call_into(
        &self,
        args: &[TensorRef<'_>],
        results: &mut [TensorMut<'_>],
        context: CallContext<'_>,
    ) -> Result<(), CallError> {
        let no_memory =
            |arg: &TensorRef<'_>| OutOfMemory::of_machine(arg.elements().len().saturating_mul(size_of::<u64>()));
        let widened = args.iter().map(|arg| arg.to_value().ok_or_else(|| CallError::OutOfMemory(no_memory(arg))));
        let found = self.call(&widened.collect::<Result<Vec<_>, _>>()?, context, &mut |_| {})?;
        copy_results(&found, results)
    }

    /// Calls the function with operands of which arrays may lie on a device. Where the function is one of a device, the arrays
    /// that it gives stay there.
    fn call_resident(
        &self,
        args: &[FlatOperand],
        context: CallContext<'_>,
        output: &mut dyn FnMut(&str),
    ) -> Result<Vec<FlatOperand>, CallError> {
        let values = args.iter().map(FlatOperand::to_value).collect::<Result<Vec<Value>, CallError>>()?;
        Ok(self.call(&values, context, output)?.into_iter().map(FlatOperand::Value).collect())
    }

    /// Whether this is compiled code, and not an interpreter.
    fn is_compiled(&self) -> bool {
        true
    }

    /// What the last call of this thread took, or of another one if this one has made none; `None` where nothing is measured, and before the first call.
    fn statistics(&self) -> Option<Statistics> {
        None
    }

    /// Where the last call ran; `None` where there is no device, and before the first call.
    fn ran(&self) -> Option<Ran> {
        None
    }

    /// The versions for small sizes that were made so far.
    fn versions(&self) -> Vec<MadeVersion> {
        Vec::new()
    }
}

/// Copies results to tensors of the same types and extents.
pub(crate) fn copy_results(found: &[Value], results: &mut [TensorMut<'_>]) -> Result<(), CallError> {
    for (k, (value, room)) in found.iter().zip(results).enumerate() {
        if !room.copy_from(value) {
            let (elem, dims) = (room.elem(), room.dims());
            let message = format!("result {k}: it is {}{:?}, its room {elem}{dims:?}", value.elem, value.dims);
            return Err(crate::host::ArgumentMisfit::Operands(message).into());
        }
    }
    Ok(())
}
