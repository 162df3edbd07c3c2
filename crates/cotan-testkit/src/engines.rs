//! Every way in which a function of the core IR can be run.

use crate::case::options;
use crate::machine::{backend, compile, compile_plain};
use cotan_interp::RuntimeError;
use cotan_ir::{CheckKind, Module, Span};
use cotan_llvm::jit::OptLevel;
use cotan_llvm::{Backend, CallOptions, CompileOptions, CompiledFunction};
use cotan_ops::Value;
use std::fmt;
use std::sync::OnceLock;

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
    /// Machine code, by level of optimisation and number of threads. Optimised code runs as the library runs it: with
    /// plain products of derivatives, and again without where a result is NaN.
    Compiled(OptLevel, usize),
}

impl Engine {
    /// Enough to see every kind of code: the interpreter, and both levels of machine code.
    pub const ALL: [Engine; 3] =
        [Engine::Interpreter, Engine::Compiled(OptLevel::O0, 1), Engine::Compiled(OptLevel::O2, 2)];

    /// For errors, whose order must not depend on threads.
    pub const BY_THREADS: [Engine; 5] = [
        Engine::Interpreter,
        Engine::Compiled(OptLevel::O2, 1),
        Engine::Compiled(OptLevel::O2, 2),
        Engine::Compiled(OptLevel::O2, 3),
        Engine::Compiled(OptLevel::O2, 4),
    ];

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
            Engine::Compiled(level, threads) => {
                let backend = threaded(threads).map_err(|e| RunError::Other(e.to_owned()))?;
                let plain = match level {
                    OptLevel::O0 => None,
                    OptLevel::O2 => {
                        compile_plain(backend, module, name, CompileOptions::default()).map_err(RunError::Other)?
                    }
                };
                let mut call = |function: CompiledFunction| {
                    function.call_with_output(args, &CallOptions::default(), output).map_err(|e| match e {
                        cotan_llvm::RuntimeError::Check { kind, span, .. } => RunError::Check { kind, span },
                        other @ (cotan_llvm::RuntimeError::Argument(_)
                        | cotan_llvm::RuntimeError::OutOfMemory(_)
                        | cotan_llvm::RuntimeError::Cancelled
                        | cotan_llvm::RuntimeError::OutOfSteps
                        | cotan_llvm::RuntimeError::Bug(_)
                        | cotan_llvm::RuntimeError::BadExtents(_)) => RunError::Other(other.to_string()),
                    })
                };
                if let Some(plain) = plain {
                    let outcome = call(plain)?;
                    if !outcome.has_nan {
                        return Ok(outcome.values);
                    }
                }
                let function = compile(backend, module, name, level).map_err(RunError::Other)?;
                call(function).map(|outcome| outcome.values)
            }
        }
    }
}

/// The backend with so many threads, 1 to 4.
fn threaded(threads: usize) -> Result<&'static Backend, &'static str> {
    static BACKENDS: [OnceLock<Result<Backend, String>>; 4] = [const { OnceLock::new() }; 4];
    let threads = threads.clamp(1, BACKENDS.len());
    BACKENDS[threads - 1].get_or_init(|| backend(threads)).as_ref().map_err(String::as_str)
}
