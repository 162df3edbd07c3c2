//! Executables: machine code for calls, with a fallback for calls that give a NaN.
//!
//! The code that runs first computes products of derivatives plainly; see
//! [`cotan_opt::passes::relax_products`]. Only where a result is NaN is the call repeated with code in which an exact zero
//! wins over a factor that is infinite or NaN. That code is compiled when it is first wanted.

use super::tiering::Tiered;
use super::versions::{MadeVersion, Versions};
use super::{CallContext, Executable};
use crate::CallError;
use crate::stopping::{CallLimits, Running};

use cotan_ir::{Symbol, VerifiedModule};
use cotan_llvm::{Backend, CompileError, CompileOptions};
use cotan_ops::{TensorMut, TensorRef, Value};
use cotan_runtime::{ByThread, CallOptions, CallResult, CompiledFunction, RuntimeError, Statistics};
use cotan_syntax::on_deep_stack;
use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};

/// Machine code, with what the last call of each thread took.
#[derive(Debug)]
pub(crate) struct CpuFunction {
    code: Code,
    /// What is called where a result is NaN; `None` if `code` has the exact products.
    exact: Option<NanFallback>,
    /// Code for calls of small sizes, which may run in the place of `code`.
    versions: Option<Versions>,
    max_bytes: usize,
    last: ByThread<Option<Statistics>>,
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
    /// The best code that is there.
    pub(super) fn best(&self) -> &CompiledFunction {
        match self {
            Code::Optimized(code) => code,
            Code::Tiered(quick) => quick.code(),
        }
    }

    /// Whether what runs next is optimized.
    fn is_optimized(&self) -> bool {
        match self {
            Code::Optimized(_) => true,
            Code::Tiered(quick) => quick.has_better(),
        }
    }

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
    pub(crate) module: VerifiedModule,
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

impl CpuFunction {
    pub(super) fn new(
        code: Code,
        exact: Option<NanFallback>,
        versions: Option<Versions>,
        max_bytes: usize,
    ) -> CpuFunction {
        CpuFunction { code, exact, versions, max_bytes, last: ByThread::default() }
    }

    /// Calls the version for the sizes among the operands, or the general code. A limit on steps is one of the general code,
    /// and no call with a deadline waits for a version.
    fn run(
        &self,
        limits: &CallLimits,
        operand: impl Fn(usize) -> Option<i64>,
        options: &CallOptions,
        mut call: impl FnMut(&CompiledFunction, &CallOptions) -> Result<CallResult, RuntimeError>,
    ) -> Result<CallResult, RuntimeError> {
        let versions = self.versions.as_ref().filter(|_| self.code.is_optimized() && limits.steps.is_none());
        let Some((versions, version)) = versions.and_then(|all| Some((all, all.of(operand)?))) else {
            return self.code.call(options, call);
        };
        if let Some(code) = versions.code(version, limits.deadline.is_none()) {
            return call(code, options);
        }
        let timed = CallOptions { is_timed: true, ..options.clone() };
        let outcome = self.code.call(&timed, call)?;
        version.spend(outcome.statistics.code_time);
        Ok(outcome)
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
        *self.last.own() = Some(outcome.statistics);
        Ok(outcome.values)
    }
}

impl Executable for CpuFunction {
    fn call(
        &self,
        args: &[Value],
        context: CallContext<'_>,
        output: &mut dyn FnMut(&str),
    ) -> Result<Vec<Value>, CallError> {
        let running = context.limits.start();
        running.begin()?;
        let options = self.options(context.threads, &running);
        let outcome = self.run(
            context.limits,
            |k| args[k].scalar()?.as_i64(),
            &options,
            |code, options| code.call_with_output(args, options, output),
        )?;
        self.finished(outcome, |exact, earlier| exact.call_again(args, earlier, &options))
    }

    fn call_again(
        &self,
        args: &[Value],
        context: CallContext<'_>,
        earlier: Vec<Value>,
        warm_ups: u32,
    ) -> Result<Vec<Value>, CallError> {
        let running = context.limits.start();
        running.begin()?;
        let options = CallOptions { warm_ups, ..self.options(context.threads, &running) };
        let mut earlier = Some(earlier);
        let outcome = self.run(
            context.limits,
            |k| args[k].scalar()?.as_i64(),
            &options,
            |code, options| code.call_again(args, earlier.take().unwrap_or_default(), options),
        )?;
        self.finished(outcome, |exact, earlier| exact.call_again(args, earlier, &options))
    }

    fn call_into(
        &self,
        args: &[TensorRef<'_>],
        results: &mut [TensorMut<'_>],
        context: CallContext<'_>,
    ) -> Result<(), CallError> {
        let running = context.limits.start();
        running.begin()?;
        // A look at the clock takes as long as short code.
        let options = CallOptions { is_timed: false, ..self.options(context.threads, &running) };
        let outcome = self.run(
            context.limits,
            |k| args[k].to_scalar()?.as_i64(),
            &options,
            |code, options| code.call_into(args, results, options),
        )?;
        self.finished(outcome, |exact, _| exact.call_into(args, results, &options)).map(drop)
    }

    fn statistics(&self) -> Option<Statistics> {
        self.last.each().find_map(|last| *last)
    }

    fn versions(&self) -> Vec<MadeVersion> {
        self.versions.as_ref().map(Versions::all_made).unwrap_or_default()
    }
}
