//! Why a run has no result.

use cotan_ir::{CheckKind, OutOfMemory, Span};
use std::fmt;

/// Why a run has no result.
#[derive(Clone, Debug, PartialEq)]
pub enum RuntimeError {
    /// A check of the program failed: an error of the program's user.
    Check(CheckFailure),
    /// The function or its arguments are not what the call needs: an error of the caller.
    Argument(String),
    /// The memory limit, or the machine's memory, is exhausted.
    OutOfMemory(Box<OutOfMemory>),
    /// The run has taken as many steps as it may.
    OutOfSteps,
    /// An array of a thread has too little room: the thread has left, and the call begins anew with more.
    TooLittleRoom,
    /// The nest breaks its contract: a bug of whoever made it.
    Bug {
        /// What is wrong.
        what: String,
        /// The line of the nest.
        node: Option<String>,
    },
}

/// A failed check of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckFailure {
    /// What is wrong.
    pub kind: CheckKind,
    /// The values that are reported, as their kind says: integers, and the bits of floats.
    pub args: Vec<i128>,
    /// The source text of the statement that needed the check.
    pub span: Span,
}

/// What a step of a run gives.
pub(crate) type Outcome<T> = Result<T, RuntimeError>;

/// A broken contract of the nest.
pub(crate) fn bug<T>(what: impl Into<String>) -> Outcome<T> {
    Err(RuntimeError::Bug { what: what.into(), node: None })
}

impl RuntimeError {
    /// Enters the node into a bug that does not name one yet.
    pub(crate) fn at(self, node: impl FnOnce() -> String) -> RuntimeError {
        match self {
            RuntimeError::Bug { what, node: None } => RuntimeError::Bug { what, node: Some(node()) },
            RuntimeError::Bug { .. }
            | RuntimeError::Check(_)
            | RuntimeError::TooLittleRoom
            | RuntimeError::Argument(_)
            | RuntimeError::OutOfMemory(_)
            | RuntimeError::OutOfSteps => self,
        }
    }
}

impl fmt::Display for RuntimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RuntimeError::Check(failure) => f.write_str(&failure.kind.message(&failure.args)),
            RuntimeError::Argument(message) => f.write_str(message),
            RuntimeError::OutOfMemory(error) => error.fmt(f),
            RuntimeError::OutOfSteps => f.write_str("the limit on executed steps is reached"),
            RuntimeError::TooLittleRoom => f.write_str("an array of a thread has too little room"),
            RuntimeError::Bug { what, node: Some(node) } => write!(f, "bug: {what}, in `{node}`"),
            RuntimeError::Bug { what, node: None } => write!(f, "bug: {what}"),
        }
    }
}

impl std::error::Error for RuntimeError {}
