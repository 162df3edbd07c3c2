//! Every way in which a function of the core IR can be run.

use crate::compile::{MOST_THREADS, threaded_machine};
use crate::derived_case::options;
use crate::variant::Variant;
use cotan_interp::RuntimeError;
use cotan_ir::{CheckKind, Module, Span};
use cotan_ops::Value;
use cotan_runtime::{CallOptions, CompiledFunction};
use std::fmt;
use std::num::NonZeroUsize;

/// Why a run has no results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// A check of the program failed.
    Check {
        /// What is wrong.
        kind: CheckKind,
        /// The source text that needed the check.
        span: Span,
    },
    /// Anything else is a failure of what is tested.
    Other(String),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Check { kind, span } => write!(f, "{} at {span:?}", kind.code()),
            RunError::Other(message) => f.write_str(message),
        }
    }
}

/// An engine and how it is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The reference interpreter.
    Interpreter,
    /// Machine code, by how it is compiled and the number of threads, at most [`MOST_THREADS`]. Code that is not exact runs
    /// as the library runs it: with plain products of derivatives, and again without where a result is NaN.
    Compiled(Variant, usize),
}

impl Engine {
    /// The engines that a program of this name is asked of: the interpreter, and compiled code in so many variants; in all
    /// of them in the campaign.
    pub fn of(name: &str, variants: usize) -> Vec<Engine> {
        let compiled = Variant::of(name, variants).into_iter().enumerate();
        [Engine::Interpreter]
            .into_iter()
            .chain(compiled.map(|(k, variant)| Engine::Compiled(variant, 2 - k % 2)))
            .collect()
    }

    /// The same for errors, whose order must not depend on threads: compiled code on every number of them.
    pub fn by_threads(name: &str, variants: usize) -> Vec<Engine> {
        let threads = |variant| (1..=MOST_THREADS).map(move |threads| Engine::Compiled(variant, threads));
        [Engine::Interpreter].into_iter().chain(Variant::of(name, variants).into_iter().flat_map(threads)).collect()
    }

    /// Runs a function of a module.
    pub fn run(self, module: &Module, name: &str, args: &[Value]) -> Result<Vec<Value>, RunError> {
        self.run_with_output(module, name, args, &mut |_| {})
    }

    /// Runs a function of a module whose output goes to `output`.
    pub fn run_with_output(
        self,
        module: &Module,
        name: &str,
        args: &[Value],
        output: &mut dyn FnMut(&str),
    ) -> Result<Vec<Value>, RunError> {
        match self {
            Engine::Interpreter => {
                cotan_interp::run_with_output(module, name, args, &options(), output).map_err(|e| match e {
                    RuntimeError::Check(failure) => RunError::Check { kind: failure.kind, span: failure.span },
                    other @ (RuntimeError::Argument(_)
                    | RuntimeError::Limit(_)
                    | RuntimeError::OutOfMemory(_)
                    | RuntimeError::Undefined(_)
                    | RuntimeError::Bug(_)) => RunError::Other(other.to_string()),
                })
            }
            Engine::Compiled(variant, threads) => {
                let machine = threaded_machine().map_err(|e| RunError::Other(e.to_owned()))?;
                let options = CallOptions { threads: NonZeroUsize::new(threads), ..CallOptions::default() };
                let mut call = |function: &CompiledFunction| {
                    function.call_with_output(args, &options, output).map_err(|e| match e {
                        cotan_runtime::RuntimeError::Check { kind, span, .. } => RunError::Check { kind, span },
                        other @ (cotan_runtime::RuntimeError::Argument(_)
                        | cotan_runtime::RuntimeError::OutOfMemory(_)
                        | cotan_runtime::RuntimeError::Cancelled
                        | cotan_runtime::RuntimeError::OutOfSteps
                        | cotan_runtime::RuntimeError::TimedOut
                        | cotan_runtime::RuntimeError::Bug(_)
                        | cotan_runtime::RuntimeError::BadExtents(_)) => RunError::Other(other.to_string()),
                    })
                };
                if !variant.is_exact {
                    let plain = machine.compile_plain(module, name, variant.options()).map_err(RunError::Other)?;
                    if let Some(plain) = plain {
                        let outcome = call(&plain)?;
                        if !outcome.has_nan {
                            return Ok(outcome.values);
                        }
                    }
                }
                let function = machine.compile(module, name, &variant.options()).map_err(RunError::Other)?;
                call(&function).map(|outcome| outcome.values)
            }
        }
    }
}
