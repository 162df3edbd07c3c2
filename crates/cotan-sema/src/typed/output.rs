//! Output: what `print` writes.

use super::Expr;

/// `print(a, b)`: evaluates its values from the left, then writes all pieces.
///
/// The checker makes the whole call, of unit type. Lowering takes it apart into steps, each with a token: a text and at
/// most one scalar or tensor of scalars after it; the value of a step is the next token, an i64.
#[derive(Clone, Debug, PartialEq)]
pub struct Print {
    /// The token of a step.
    pub token: Option<Expr>,
    /// What is written: in a whole call with a space between two pieces and a newline at the end.
    pub pieces: Vec<PrintPiece>,
}

/// A piece of output.
#[derive(Clone, Debug, PartialEq)]
pub enum PrintPiece {
    /// A text.
    Text(String),
    /// A value of any type.
    Value(Expr),
}

impl Print {
    /// The expressions in it, in order of evaluation.
    pub fn values(&self) -> impl Iterator<Item = &Expr> {
        let values = self.pieces.iter().filter_map(|piece| match piece {
            PrintPiece::Text(_) => None,
            PrintPiece::Value(value) => Some(value),
        });
        self.token.iter().chain(values)
    }
}
