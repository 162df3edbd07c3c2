//! Patterns: what values are matched against and taken apart by.

use cotan_syntax::Span;

use super::{Literal, LocalId, Type};

/// A pattern. In `let`, `for` and lambdas it matches every value.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// Where it stands.
    pub span: Span,
    /// The type of what it is matched against.
    pub ty: Type,
    /// What it is.
    pub kind: PatternKind,
}

/// The kinds of patterns.
#[derive(Clone, Debug, PartialEq)]
pub enum PatternKind {
    /// `_`
    Wildcard,
    /// A name.
    Local(LocalId),
    /// Parts of a tuple or struct, by position.
    Fields(Vec<(usize, Pattern)>),
    /// A number or truth value that is equal; the type of the pattern is a scalar. No float equals
    /// `nan`.
    Literal(Literal),
    /// A number in a range; the type of the pattern is a scalar.
    Range(PatternRange),
    /// A variant of an enum.
    Variant {
        /// The position of the variant in the declaration.
        index: usize,
        /// Parts of the payload, by position.
        fields: Vec<(usize, Pattern)>,
    },
    /// `a | b`: the first alternative that matches. All bind the same locals.
    Or(Vec<Pattern>),
}

/// `lo..hi` or `lo..=hi` in a pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct PatternRange {
    /// The first value.
    pub lo: Literal,
    /// The last value, or one past it.
    pub hi: Literal,
    /// Whether `hi` belongs to the range.
    pub inclusive: bool,
}

impl Pattern {
    /// Calls `f` for this pattern and all patterns in it, outermost first.
    pub fn each(&self, f: &mut dyn FnMut(&Self)) {
        f(self);
        match &self.kind {
            PatternKind::Wildcard | PatternKind::Local(_) | PatternKind::Literal(_) | PatternKind::Range(_) => {}
            PatternKind::Fields(fields) | PatternKind::Variant { fields, .. } => {
                fields.iter().for_each(|(_, field)| field.each(f));
            }
            PatternKind::Or(alternatives) => alternatives.iter().for_each(|alternative| alternative.each(f)),
        }
    }
}
