//! Why a call has no result: what the program, its caller, the machine, or a bug did.

use cotan_ir::{CheckKind, OutOfMemory, Span};
use std::fmt;

/// Why a call has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuntimeError {
    /// A check of the program failed.
    Check {
        /// What is wrong.
        kind: CheckKind,
        /// The values that the message shows.
        args: Vec<i128>,
        /// The source text of the statement that needed the check.
        span: Span,
    },
    /// The arguments don't fit the function.
    Argument(String),
    /// The memory limit, or the machine's memory, is exhausted.
    OutOfMemory(OutOfMemory),
    /// The call was cancelled.
    Cancelled,
    /// The step budget is used up.
    OutOfSteps,
    /// The time of the call is over.
    TimedOut,
    /// Compiled code reported what it cannot report, or what it called panicked: a bug.
    Bug(String),
    /// Compiled code gave a tensor of extents that none has there, or that does not lie in the memory for it: a bug.
    BadExtents(Vec<i64>),
}

impl fmt::Display for RuntimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RuntimeError::Check { kind, args, .. } => f.write_str(&kind.message(args)),
            RuntimeError::Argument(message) => f.write_str(message),
            RuntimeError::OutOfMemory(error) => error.fmt(f),
            RuntimeError::Cancelled => f.write_str("the call was cancelled"),
            RuntimeError::OutOfSteps => f.write_str("the limit on executed steps is reached"),
            RuntimeError::TimedOut => f.write_str("the time of the call is over"),
            RuntimeError::Bug(message) => f.write_str(message),
            RuntimeError::BadExtents(extents) => write!(f, "bug: compiled code gave a tensor of extents {extents:?}"),
        }
    }
}

impl std::error::Error for RuntimeError {}

/// There is no memory for so many bytes of an argument or a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoMemory(pub(super) usize);

/// There is no memory for an argument or a result, by the limit or by the machine.
pub(super) fn no_memory(wanted: usize, held: usize, max_bytes: usize) -> RuntimeError {
    let limit = (wanted > max_bytes).then_some(max_bytes as u64);
    RuntimeError::OutOfMemory(OutOfMemory { wanted: wanted as u64, held: held as u64, limit, site: None })
}
