//! The reference interpreter as a backend.

use super::{Backend, CallContext, Capabilities, Executable};
use crate::{CallError, CompileError, ReadyModule};
use cotan_interp::Options;
use cotan_ir::{Symbol, VerifiedModule};
use cotan_ops::Value;
use std::sync::Arc;

/// The reference interpreter, which lacks nothing.
#[derive(Debug)]
pub(crate) struct Interpreter {
    capabilities: Capabilities,
    options: Options,
}

/// How the interpreter runs within so many bytes.
pub(crate) fn interpreter_options(memory: Option<u64>) -> Options {
    let mut options = Options::default();
    if let Some(bytes) = memory {
        options.limits.bytes = bytes;
    }
    options
}

impl Interpreter {
    /// The interpreter, whose calls use at most so many bytes.
    pub(crate) fn new(memory: Option<u64>) -> Interpreter {
        Interpreter { capabilities: Capabilities::default(), options: interpreter_options(memory) }
    }
}

impl Backend for Interpreter {
    fn name(&self) -> &'static str {
        super::Engine::INTERPRETER.name()
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn compile(&self, ready: &ReadyModule) -> Result<Arc<dyn Executable>, CompileError> {
        let (module, symbol) = (ready.module.clone(), ready.entry.symbol.clone());
        Ok(Arc::new(Interpreted { module, symbol, options: self.options }))
    }
}

/// A function that is interpreted.
#[derive(Debug)]
struct Interpreted {
    module: VerifiedModule,
    symbol: Symbol,
    options: Options,
}

impl Executable for Interpreted {
    fn call(
        &self,
        args: &[Value],
        context: CallContext<'_>,
        output: &mut dyn FnMut(&str),
    ) -> Result<Vec<Value>, CallError> {
        let running = context.limits.start();
        running.begin()?;
        let (module, symbol) = (&self.module, &self.symbol);
        let Some(watch) = running.watch() else {
            return Ok(cotan_interp::run_with_output(module, symbol, args, &self.options, output)?);
        };
        let options = context.limits.interpreter(self.options);
        let stop = watch.stopping().clone();
        cotan_interp::run_watched(module, symbol, args, &options, stop, output).map_err(|e| running.error(e))
    }

    fn is_compiled(&self) -> bool {
        false
    }
}
