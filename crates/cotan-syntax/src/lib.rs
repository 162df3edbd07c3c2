//! Source text, diagnostics, lexer, parser and syntax tree of the Cotan language.
//!
//! This crate knows nothing about names or types: `N` may be a size, a type or a variable, and
//! `f/v` may be a division or a fold. Whoever resolves names decides; see [`ast`] for the places
//! where the tree leaves a choice open.
//!
//! Nothing here fails: [`parse`] gives a tree for every text, together with what is wrong with it.

pub mod ast;
pub mod codes;
pub mod diagnostic;
pub mod dump;
pub mod fix;
pub mod format;
pub mod lexer;
mod literal;
pub mod parser;
pub mod precedence;
pub mod render;
pub mod repeats;
mod sink;
pub mod span;
mod stack;
pub mod token;

pub use diagnostic::{Code, CodeInfo, Diagnostic, Edit, Label, Repeated, Severity};
pub use lexer::decode;
pub use parser::{Limits, parse, parse_with};
pub use sink::cap;
pub use span::{FileId, SourceFile, SourceMap, Span};
pub use stack::on_deep_stack;
