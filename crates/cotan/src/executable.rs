//! Executables: machine code for calls, with a fallback for calls that give a NaN.
//!
//! The code that runs first computes products of derivatives plainly; see
//! [`cotan_opt::passes::relax_products`]. Only where a result is NaN is the call repeated with code in which an exact zero
//! wins over a factor that is infinite or NaN. That code is compiled when it is first wanted.

use crate::CallError;
use crate::stopping::{CallLimits, Running};
use crate::tiering::Tiered;
use cotan_ir::{Module, Symbol};
use cotan_llvm::{
    Backend, CallOptions, CallResult, CompileError, CompileOptions, CompiledFunction, RuntimeError, Statistics,
};
use cotan_ops::{TensorMut, TensorRef, Value};
use cotan_syntax::on_deep_stack;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Machine code, with what its last call took.
#[derive(Debug)]
pub(crate) struct Executable {
    code: Code,
    /// What is called where a result is NaN; `None` if `code` has the exact products.
    exact: Option<NanFallback>,
    max_bytes: usize,
    /// The sizes and extents that were found to fit each other last.
    fitting: Mutex<Vec<Option<i64>>>,
    last: Mutex<Option<Statistics>>,
}

/// What is called first.
#[derive(Debug)]
pub(crate) enum Code {
    /// Optimized code.
    Optimized(CompiledFunction),
    /// Unoptimized code until optimized code is ready.
    Tiered(Box<Tiered>),
}

impl Code {
    fn call(
        &self,
        options: &CallOptions,
        mut call: impl FnMut(&CompiledFunction, &CallOptions) -> Result<CallResult, RuntimeError>,
    ) -> Result<CallResult, RuntimeError> {
        match self {
            Code::Optimized(code) => call(code, options),
            Code::Tiered(quick) => quick.call(options, call),
        }
    }
}

/// Code that is compiled when it is wanted.
#[derive(Debug)]
pub(crate) struct NanFallback {
    pub(crate) backend: Arc<Backend>,
    pub(crate) module: Arc<Module>,
    pub(crate) symbol: Symbol,
    pub(crate) options: CompileOptions,
    pub(crate) code: OnceLock<Result<CompiledFunction, CompileError>>,
}

impl NanFallback {
    fn code(&self) -> Result<&CompiledFunction, CallError> {
        let compile = || on_deep_stack(|| self.backend.compile(&self.module, &self.symbol, &self.options));
        self.code.get_or_init(compile).as_ref().map_err(|e| CallError::Bug(e.to_string()))
    }
}

impl Executable {
    pub(crate) fn new(code: Code, exact: Option<NanFallback>, max_bytes: usize) -> Executable {
        Executable { code, exact, max_bytes, fitting: Mutex::default(), last: Mutex::default() }
    }

    /// Checks sizes and extents, unless they are those that fitted last: calls with equal ones need no memory for it.
    pub(crate) fn check_once<E>(
        &self,
        numbers: impl Iterator<Item = Option<i64>> + Clone,
        check: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        let mut fitting = self.fitting.lock().unwrap_or_else(PoisonError::into_inner);
        if fitting.is_empty() || !fitting.iter().copied().eq(numbers.clone()) {
            check()?;
            fitting.clear();
            fitting.extend(numbers);
        }
        Ok(())
    }

    /// What the last call took.
    pub(crate) fn statistics(&self) -> Option<Statistics> {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn call(
        &self,
        args: &[Value],
        threads: Option<NonZeroUsize>,
        limits: &CallLimits,
        output: &mut dyn FnMut(&str),
    ) -> Result<Vec<Value>, CallError> {
        let running = limits.start();
        running.begin()?;
        let options = self.options(threads, &running);
        let outcome = self.code.call(&options, |code, options| code.call_with_output(args, options, output))?;
        self.finished(outcome, |exact, earlier| exact.call_again(args, earlier, &options))
    }

    /// A call on tensors that the host lends.
    pub(crate) fn call_into(
        &self,
        args: &[TensorRef<'_>],
        results: &mut [TensorMut<'_>],
        threads: Option<NonZeroUsize>,
        limits: &CallLimits,
    ) -> Result<(), CallError> {
        let running = limits.start();
        running.begin()?;
        let options = self.options(threads, &running);
        let outcome = self.code.call(&options, |code, options| code.call_into(args, results, options))?;
        self.finished(outcome, |exact, _| exact.call_into(args, results, &options)).map(drop)
    }

    /// A call whose results may take the memory of earlier ones.
    pub(crate) fn call_again(
        &self,
        args: &[Value],
        threads: Option<NonZeroUsize>,
        limits: &CallLimits,
        earlier: Vec<Value>,
        warm_ups: u32,
    ) -> Result<Vec<Value>, CallError> {
        let running = limits.start();
        running.begin()?;
        let options = CallOptions { warm_ups, ..self.options(threads, &running) };
        let mut earlier = Some(earlier);
        let outcome = self
            .code
            .call(&options, |code, options| code.call_again(args, earlier.take().unwrap_or_default(), options))?;
        self.finished(outcome, |exact, earlier| exact.call_again(args, earlier, &options))
    }

    /// The repetition of a call for NaN runs under the same watch: it has the steps and the time that are left.
    fn options(&self, threads: Option<NonZeroUsize>, running: &Running) -> CallOptions {
        let watch = running.watch().cloned();
        CallOptions { max_bytes: self.max_bytes, threads, watch, ..CallOptions::default() }
    }

    /// The results of a call, or of its repetition by other code, which may take their memory.
    fn finished(
        &self,
        first: CallResult,
        again: impl FnOnce(&CompiledFunction, Vec<Value>) -> Result<CallResult, RuntimeError>,
    ) -> Result<Vec<Value>, CallError> {
        let outcome = match &self.exact {
            Some(exact) if first.has_nan => again(exact.code()?, first.values)?,
            Some(_) | None => first,
        };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome.statistics);
        Ok(outcome.values)
    }
}
