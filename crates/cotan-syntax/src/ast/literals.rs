//! Literals of expressions and patterns.

use super::Suffix;

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// An integer. A minus sign before it is an operator.
    Int {
        /// The value.
        value: i128,
        /// The type after the underscore, an integer type.
        suffix: Option<Suffix>,
    },
    /// A float, kept as text so that it is rounded once, to the type that it gets. `1_f64` is one.
    Float {
        /// The digits without underscores and suffix; `str::parse` reads them.
        digits: String,
        /// The type after the underscore, a float type.
        suffix: Option<Suffix>,
    },
    /// `true` or `false`
    Bool(bool),
    /// A string, escapes resolved.
    Str(String),
    /// A character, escapes resolved. Its value is an `i32` code point.
    Char(char),
}
