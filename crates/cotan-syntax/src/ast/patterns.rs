//! Patterns of `let`, `for`, `match` and lambda parameters.

use super::{Ident, Literal, NodeId, Path};
use crate::span::Span;

/// A pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// The number of this node.
    pub id: NodeId,
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub kind: PatternKind,
}

/// The kinds of patterns.
#[derive(Clone, Debug, PartialEq)]
pub enum PatternKind {
    /// `_`
    Wildcard,
    /// `x` or `mut x`; without `mut` it may also be a variant without payload.
    Name {
        /// Where `mut` stands.
        mutable: Option<Span>,
        /// The name.
        name: Ident,
    },
    /// `1`, `-2.0`, `'a'`, `true`.
    Literal(PatternLiteral),
    /// `lo..hi` or `lo..=hi`.
    Range {
        /// The first value.
        lo: PatternLiteral,
        /// The last value, or one past it.
        hi: PatternLiteral,
        /// Whether `hi` belongs to the range.
        inclusive: bool,
    },
    /// `(a, b)`; `()` is empty.
    Tuple(Vec<Pattern>),
    /// `S.Circle(r)`, `Circle(r)` or `S.Dot`. A bare name is [`PatternKind::Name`].
    Variant {
        /// The variant, with or without its type.
        path: Path,
        /// The patterns of the payload.
        args: Vec<Pattern>,
    },
    /// `P { x, y: q, .. }`, of a struct or a variant.
    Struct {
        /// The struct or variant.
        path: Path,
        /// The fields.
        fields: Vec<FieldPattern>,
        /// Where `..` stands.
        rest: Option<Span>,
    },
    /// `a | b`, with at least two alternatives.
    Or(Vec<Pattern>),
    /// Not a pattern; that has been reported.
    Error,
}

/// A literal in a pattern, with its sign.
#[derive(Clone, Debug, PartialEq)]
pub struct PatternLiteral {
    /// From the sign to the end.
    pub span: Span,
    /// Whether a minus sign stands before it.
    pub negative: bool,
    /// The literal.
    pub literal: Literal,
}

/// `name` or `name: pattern`.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldPattern {
    /// The name of the field.
    pub name: Ident,
    /// What the field must match; for `name` alone the pattern that binds the name.
    pub pattern: Pattern,
}
