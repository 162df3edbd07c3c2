//! Why a run has no result.

use cotan_ir::{AllocationSite, CheckKind, Elem, Function, OutOfMemory, Span, Var};
use std::fmt;

/// Why a run has no result.
#[derive(Clone, Debug, PartialEq)]
pub enum RuntimeError {
    /// A check of the program failed: an error of the program's user.
    Check(CheckFailure),
    /// The function or its arguments are not what the call needs: an error of the caller.
    Argument(ArgumentError),
    /// A limit of the run was reached.
    Limit(Limit),
    /// The values that are alive, at 8 bytes per element of any type, take more bytes than the run may use.
    OutOfMemory(Box<OutOfMemory>),
    /// The program asks for what the chosen numbers can't do, such as an ordering of integers modulo a prime.
    Undefined(String),
    /// The IR breaks its contract: a bug of whoever made it.
    Bug(Bug),
}

/// A broken contract of the IR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bug {
    /// What is wrong.
    pub what: String,
    /// The text of the statement, where there is one.
    pub statement: Option<String>,
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

/// A misfit between a function and the arguments of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgumentError {
    /// The module has no function of this name with a body.
    UnknownFunction(String),
    /// Wrong number of arguments.
    Count {
        /// Parameters of the function.
        expected: usize,
        /// Arguments of the call.
        found: usize,
    },
    /// Wrong element type.
    Elem {
        /// Position of the parameter.
        position: usize,
        /// That of the parameter.
        expected: Elem,
        /// That of the argument.
        found: Elem,
    },
    /// Wrong extents.
    Dims {
        /// Position of the parameter.
        position: usize,
        /// Those that the earlier arguments ask for.
        expected: Vec<i64>,
        /// Those of the argument.
        found: Vec<i64>,
    },
    /// A position in `wrt` or `outs` that names no float parameter or result.
    NotDifferentiable {
        /// The position.
        position: usize,
    },
}

/// A limit of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Statements executed.
    Steps,
    /// Nodes of a tape.
    Tape,
    /// Steps of a path.
    Path,
    /// Blocks inside blocks, calls included.
    Depth,
    /// Somebody has asked the run to stop; whoever it was knows why.
    Stopped,
}

impl From<ArgumentError> for RuntimeError {
    fn from(e: ArgumentError) -> RuntimeError {
        RuntimeError::Argument(e)
    }
}

impl fmt::Display for RuntimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RuntimeError::Check(failure) => f.write_str(&failure.kind.message(&failure.args)),
            RuntimeError::Argument(e) => e.fmt(f),
            RuntimeError::Limit(limit) => limit.fmt(f),
            RuntimeError::OutOfMemory(error) => error.fmt(f),
            RuntimeError::Undefined(what) => f.write_str(what),
            RuntimeError::Bug(Bug { what, statement: Some(s) }) => write!(f, "bug: {what}, in `{s}`"),
            RuntimeError::Bug(Bug { what, statement: None }) => write!(f, "bug: {what}"),
        }
    }
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArgumentError::UnknownFunction(name) => write!(f, "there is no function `{name}`"),
            ArgumentError::Count { expected, found } => write!(f, "expected {expected} arguments, found {found}"),
            ArgumentError::Elem { position, expected, found } => {
                write!(f, "argument {position}: expected element type {expected}, found {found}")
            }
            ArgumentError::Dims { position, expected, found } => {
                write!(f, "argument {position}: expected extents {expected:?}, found {found:?}")
            }
            ArgumentError::NotDifferentiable { position } => {
                write!(f, "position {position} holds no value that carries derivatives")
            }
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::Steps => "the limit on executed statements is reached",
            Limit::Tape => "the limit on the memory of a tape is reached",
            Limit::Path => "the limit on the steps of a path is reached",
            Limit::Depth => "the limit on nested blocks is reached",
            Limit::Stopped => "the run was asked to stop",
        })
    }
}

impl std::error::Error for RuntimeError {}

/// What a part of a run gives.
pub(crate) type Outcome<T> = Result<T, RuntimeError>;

/// A broken contract of the IR.
pub(crate) fn bug<T>(what: impl Into<String>) -> Outcome<T> {
    Err(RuntimeError::Bug(Bug { what: what.into(), statement: None }))
}

/// Enters the variable that memory was asked for.
pub(crate) fn asked_for(e: RuntimeError, f: &Function, v: Var, span: Span) -> RuntimeError {
    match e {
        RuntimeError::OutOfMemory(mut error) => {
            error.site.get_or_insert_with(|| AllocationSite::of(f, v, span));
            RuntimeError::OutOfMemory(error)
        }
        RuntimeError::Check(_)
        | RuntimeError::Argument(_)
        | RuntimeError::Limit(_)
        | RuntimeError::Undefined(_)
        | RuntimeError::Bug(_) => e,
    }
}
