//! Source text, diagnostics, lexer, parser and syntax tree of the Cotan language.
//!
//! This crate knows nothing about names or types: `N` may be a size, a type or a variable, and
//! `f/v` may be a division or a fold. Whoever resolves names decides; see [`ast`] for the places
//! where the tree leaves a choice open.

pub mod ast;
pub mod diagnostic;
pub mod span;
pub mod token;

pub use diagnostic::{Code, CodeInfo, Diagnostic, Label, Severity};
pub use span::{FileId, SourceFile, SourceMap, Span};
