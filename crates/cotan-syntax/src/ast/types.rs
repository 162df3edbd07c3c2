//! Types as they are written.

use super::{Arg, NodeId, Path};
use crate::span::Span;

/// A type as it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeExpr {
    /// The number of this node.
    pub id: NodeId,
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub kind: TypeKind,
}

/// The kinds of types.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind {
    /// A name: `f64`, `T`, `Self`, `nn.Params`.
    Path(Path),
    /// `base[args]`: a tensor, or a generic type with its parameters. In the arguments `_` is a
    /// hole and `..S` a range without a start.
    Apply {
        /// What stands before the bracket.
        base: Box<TypeExpr>,
        /// What stands in the bracket.
        args: Vec<Arg>,
        /// The bracket.
        args_span: Span,
    },
    /// `(f64, f64[N])`; the unit type is empty, and `(f64)` is just `f64`.
    Tuple(Vec<TypeExpr>),
    /// `(f64) -> f64`.
    Function {
        /// The types of the parameters.
        params: Vec<TypeExpr>,
        /// The type of the result.
        result: Box<TypeExpr>,
    },
    /// Not a type; that has been reported.
    Error,
}
