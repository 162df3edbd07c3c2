//! Errors and limits: requests that are malformed, circular or too large. No construct of the IR is refused.

use cotan_ir::Symbol;
use cotan_opt::InlineLimit;
use std::fmt;

/// Bounds on the work of a request, so that an exploding one is an error and not a hang.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Derivatives of derivatives, nested at most this deep.
    pub order: usize,
    /// Variables of one generated function, before it is simplified, and statements of one source.
    pub variables: usize,
    /// A loop that depends on at most as many scalars may be differentiated forward inside a reverse sweep where that is
    /// cheaper; with 0 all loops run backwards, except those whose author asks for forward mode.
    pub tangents: usize,
    /// Which calls are inlined before differentiation. The derivative of a remaining call calls a derivative.
    pub inline: InlineLimit,
}

impl Limits {
    /// The limits by default.
    pub const DEFAULT: Limits = Limits { order: 8, variables: 5_000_000, tangents: 4, inline: InlineLimit::DEFAULT };
    /// The same, and all loops run backwards in a reverse sweep.
    pub const REVERSE_ALONE: Limits = Limits { tangents: 0, ..Limits::DEFAULT };
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::DEFAULT
    }
}

/// Why a derivative could not be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A function of that name is asked for or called, and the module has none.
    UnknownFunction(Symbol),
    /// The functions need one another, in this order.
    Cycle(Vec<Symbol>),
    /// A parameter (`wrt`) that does not exist or carries no derivative.
    NotDifferentiable {
        /// The function.
        function: Symbol,
        /// Position of the parameter.
        parameter: usize,
    },
    /// A result (`outs`) that does not exist or carries no derivative.
    NoDerivativeOfResult {
        /// The function.
        function: Symbol,
        /// Position of the result.
        result: usize,
    },
    /// Derivatives are nested deeper than the limit.
    OrderLimit {
        /// The derivative.
        function: Symbol,
        /// The limit.
        limit: usize,
    },
    /// A generated function is larger than the limit.
    SizeLimit {
        /// The derivative.
        function: Symbol,
        /// The limit.
        limit: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::UnknownFunction(name) => write!(f, "there is no function `{name}`"),
            Error::Cycle(names) => write!(f, "functions need one another: `{}`", names.join("` → `")),
            Error::NotDifferentiable { function, parameter } => {
                write!(f, "parameter {parameter} of `{function}` carries no derivative")
            }
            Error::NoDerivativeOfResult { function, result } => {
                write!(f, "result {result} of `{function}` carries no derivative")
            }
            Error::OrderLimit { function, limit } => {
                write!(f, "`{function}` is a derivative of order greater than {limit}")
            }
            Error::SizeLimit { function, limit } => {
                write!(f, "the derivative `{function}` grows beyond {limit} variables")
            }
        }
    }
}

impl std::error::Error for Error {}
