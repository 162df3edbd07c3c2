//! What can be called: functions, lambdas, and what is made of them.

use super::{Derivative, Expr, FnId, GenericArg, LocalId, Pattern, Type};
use cotan_syntax::Span;

/// Something that can be called.
#[derive(Clone, Debug, PartialEq)]
pub struct Callable {
    /// Where it stands.
    pub span: Span,
    /// The types of the parameters, at this use.
    pub params: Vec<Type>,
    /// The type of the result, at this use. For a function, sizes that its result leaves open and
    /// integer arguments that are no dims have been replaced by run-time sizes of the caller.
    pub result: Type,
    /// What it is.
    pub kind: CallableKind,
}

/// The kinds of things that can be called.
#[derive(Clone, Debug, PartialEq)]
pub enum CallableKind {
    /// A function with what its generics stand for.
    Function {
        /// Which.
        function: FnId,
        /// One for each of its generics.
        generics: Vec<GenericArg>,
    },
    /// A lambda; it may be run any number of times, also in parallel.
    Lambda(Box<Lambda>),
    /// A parameter of function type.
    Param(LocalId),
    /// A derivative of something that can be called.
    Derivative(Box<Derivative>),
    /// Something that can be called, over one more axis.
    Vmap(Box<Vmap>),
}

/// `|x, (a, b)| e`. Its locals are in the table of the body that it stands in.
#[derive(Clone, Debug, PartialEq)]
pub struct Lambda {
    /// The parameters, one pattern for each, which always matches.
    pub params: Vec<Pattern>,
    /// The locals of the surroundings that the body reads, ascending. They are read-only there.
    pub captures: Vec<LocalId>,
    /// The value.
    pub body: Expr,
}

/// `vmap[axis](f)`: `f` for every position along an axis of its arguments, in parallel, with the results stacked. Where
/// results have shapes that only the run knows, differing ones are a run-time error, as in a `tabulate`.
#[derive(Clone, Debug, PartialEq)]
pub struct Vmap {
    /// For each argument the position of the axis in each tensor that it consists of, or the last one where there are
    /// fewer; a negative one counts from the back. `None` is an argument that is the same for every position; one at
    /// least is not.
    pub axes: Vec<Option<i64>>,
    /// The position of the axis in each tensor that the result consists of, with the same conventions.
    pub out: i64,
    /// What is called for each position. Its parameters and its result lack the axis.
    pub base: Callable,
}
