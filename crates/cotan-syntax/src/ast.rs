//! The syntax tree.
//!
//! The tree is what was written, not what it means. These choices are left to whoever resolves
//! names:
//!
//! - **Brackets.** `a[i, j]`, `f[4, 8](x)`, `zeros[f64](n)`, `grad[w](f)` and the type
//!   `f64[N, M]` all hold a list of [`Arg`]s whose values are expressions. A type in brackets is
//!   an expression too: `f64` is a name, `f64[N]` an index, `(f64, f64)` a tuple. `..S` is a range
//!   without a start and `_` is [`ExprKind::Hole`].
//! - **Folds by a named function.** `f/v` and `f/init/v` are parsed as division: a [`Chain`] whose
//!   operand `f` is followed by `/` links. If that operand is a bare name of a function, the
//!   next link (or the next two, if both are `/`: the start value, then the tensor) is a fold and
//!   binds tighter than the rest of the chain, as in `2.0 * f/v`. A negated fold `-f/v` is a chain
//!   whose first operand negates `f`, and in `f/v ** 2.0` the power is inside the link, though the
//!   fold binds tighter: whoever finds a fold there asks for parentheses. A fold by a
//!   parenthesised lambda is [`ExprKind::FoldBy`].
//! - **Names.** A bare name in a pattern may be a new variable or a variant without payload;
//!   `S.Circle(r)` is a field access and a call.
//!
//! Runs of operators are flat lists and not left-leaning trees, so that a sum of 20,000 terms
//! has depth one and can be walked and dropped on a small stack. Each element of such a list has
//! a [`NodeId`] of its own, which stands for the value of everything up to it.
//!
//! Parentheses leave no node; the span of a parenthesised expression includes them.

mod expressions;
mod items;
mod literals;
mod operators;
mod patterns;
mod types;

pub use expressions::*;
pub use items::*;
pub use literals::*;
pub use operators::*;
pub use patterns::*;
pub use types::*;

use crate::span::Span;

/// The number of a node. Numbers are dense from 0 in each module: a side table is a vector of
/// [`Module::n_nodes`] entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A name with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The name. It is empty if the name is missing, which has been reported.
    pub name: String,
    /// Where it stands.
    pub span: Span,
}

/// A dotted name such as `nn.Params` or `S.Circle`. It has at least one segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The names between the dots.
    pub segments: Vec<Ident>,
    /// From the first segment to the last.
    pub span: Span,
}

/// One argument of a call, an index, an attribute or a type: `value` or `name = value`.
#[derive(Clone, Debug, PartialEq)]
pub struct Arg {
    /// The name before `=`, if there is one.
    pub name: Option<Ident>,
    /// The value. Only in brackets may it be a range with an open end.
    pub value: Expr,
}

/// `@name` or `@name(args)` before a declaration, a parameter, a loop or a block.
#[derive(Clone, Debug, PartialEq)]
pub struct Attr {
    /// From `@` to the end.
    pub span: Span,
    /// The name after `@`.
    pub name: Ident,
    /// The arguments, empty without parentheses.
    pub args: Vec<Arg>,
}
