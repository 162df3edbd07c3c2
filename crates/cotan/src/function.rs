//! Functions that can be called.

use crate::host::{Arguments, HostValue, fit_arguments, rebuild};
use crate::CallError;
use cotan_interp::Options as InterpOptions;
use cotan_ir::Module;
use cotan_ops::Value;
use cotan_sema::entry::Entry;
use std::sync::Arc;

/// What runs a function.
#[derive(Clone, Debug)]
pub(crate) enum Executor {
    /// The reference interpreter.
    Interpreter(InterpOptions),
    /// Machine code.
    Compiled(Arc<cotan_llvm::CompiledFunction>),
}

/// What the last calls of compiled code used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Allocations of one call.
    pub allocations: u64,
    /// The most bytes that a call held at one time.
    pub peak_bytes: u64,
    /// Bytes of records that a call wrote for its reverse sweep.
    pub record_bytes: u64,
}

/// A function of a program, or a derivative of one, ready to be called from any thread.
#[derive(Clone, Debug)]
pub struct Function {
    pub(crate) entry: Entry,
    pub(crate) module: Arc<Module>,
    pub(crate) executor: Executor,
}

impl Function {
    /// Names, types and sizes.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// Whether this is machine code, and not the interpreter.
    pub fn is_compiled(&self) -> bool {
        matches!(self.executor, Executor::Compiled(_))
    }

    /// What the last call used; `None` for the interpreter and before the first call.
    pub fn usage(&self) -> Option<Usage> {
        match &self.executor {
            Executor::Interpreter(_) => None,
            Executor::Compiled(f) => f.usage(),
        }
    }

    /// The IR that runs.
    pub fn ir(&self) -> &Module {
        &self.module
    }

    /// Calls the function with arguments by name. Sizes follow from the extents of the arguments; a size that follows
    /// from none is given as an argument of its name.
    pub fn call(&self, args: &Arguments) -> Result<HostValue, CallError> {
        let args = fit_arguments(&self.entry, args)?;
        let results = self.call_flat(&args)?;
        self.rebuild(results)
    }

    /// Calls the function with the flat operands of its IR; see [`cotan_sema::entry`].
    pub fn call_flat(&self, args: &[Value]) -> Result<Vec<Value>, CallError> {
        match &self.executor {
            Executor::Interpreter(options) => {
                Ok(cotan_interp::run(&self.module, &self.entry.symbol, args, options)?)
            }
            Executor::Compiled(f) => f.call(args).map_err(CallError::from),
        }
    }

    /// The structured value of flat results.
    pub fn rebuild(&self, results: Vec<Value>) -> Result<HostValue, CallError> {
        let mut leaves = self.entry.leaf_results.iter().filter_map(|k| results.get(*k).cloned());
        rebuild(&self.entry.result, &mut leaves)
            .ok_or_else(|| CallError::Bug(format!("results of `{}` do not fit its type", self.entry.symbol)))
    }
}
