//! Checks of a program that failed at run time.

use cotan_ir::{CheckKind, Span};
use std::fmt;

/// A check of the program that failed at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckFailure {
    /// What is wrong.
    pub kind: CheckKind,
    /// The numbers that are reported.
    pub args: Vec<i128>,
    /// The source text that needed the check.
    pub span: Span,
}

impl fmt::Display for CheckFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind.message(&self.args))
    }
}
