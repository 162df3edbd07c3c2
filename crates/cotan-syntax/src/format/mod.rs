//! The formatter: one layout for every program.
//!
//! The tree says how tokens belong together; what is printed are the tokens themselves, in their order,
//! each with the comments before it. So nothing is lost: only white space, the commas at the ends of
//! lists and the `;` between statements differ from the source.
//!
//! The style, in short:
//!
//! - Lines have at most [`WIDTH`] characters where a break can achieve that; indentation is two spaces.
//! - A bracket that does not fit has one element a line and a comma after each. In a declaration and a
//!   `match` over several lines, line ends separate.
//! - A brace that the author opened with a line end stays open; so do rows of array literals, and
//!   stages of `|>` on lines of their own. At most one empty line in a row is kept.
//! - Operators stand at the end of a line, `|>` at the start. There are spaces round them, but none in
//!   the sizes of types and the ends of ranges: `f64[D*(D+1)/2]`, `0..n-1`.
//!
//! ```
//! use cotan_syntax::{FileId, format::format};
//! let text = format(FileId(0), "fn  twice(x :f64)->f64=2.0*x # exact");
//! assert_eq!(text.as_deref(), Ok("fn twice(x: f64) -> f64 = 2.0 * x # exact\n"));
//! ```

mod blocks;
mod cursor;
mod expressions;
mod items;
mod layout;
mod lists;
mod operators;
mod patterns;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use crate::ast::Module;
use crate::diagnostic::Diagnostic;
use crate::parser::parse;
use crate::span::FileId;
use crate::stack::on_deep_stack;
use crate::token::{Comment, Token};
use cursor::partners;
use layout::Layout;

/// The longest line, in characters, as far as breaks can achieve it.
pub const WIDTH: usize = 100;

/// Formats a file. A file with errors is not formatted: what is wrong with it is given instead.
pub fn format(file: FileId, source: &str) -> Result<String, Vec<Diagnostic>> {
    on_deep_stack(|| {
        let (module, diagnostics) = parse(file, source);
        if diagnostics.iter().any(Diagnostic::is_error) {
            return Err(diagnostics);
        }
        Ok(format_module(source, &module))
    })
}

/// Formats a file that was parsed without errors.
fn format_module(source: &str, module: &Module) -> String {
    let mut formatter = Formatter {
        source,
        tokens: &module.tokens,
        comments: &module.comments,
        partners: partners(&module.tokens),
        pos: 0,
        next_comment: 0,
        layout: Layout::default(),
        is_dense: false,
        bound: HashSet::new(),
    };
    formatter.module(&module.items);
    formatter.layout.print()
}

struct Formatter<'a> {
    source: &'a str,
    tokens: &'a [Token],
    comments: &'a [Comment],
    /// For each opening bracket the index of its partner.
    partners: Vec<u32>,
    /// The index of the next token.
    pos: usize,
    /// The index of the next comment.
    next_comment: usize,
    layout: Layout<'a>,
    /// Whether arithmetic is written without spaces, as in the sizes of types.
    is_dense: bool,
    /// The names that are variables somewhere in the declaration so far. `f/v` may be a fold only if `f`
    /// is not among them.
    bound: HashSet<&'a str>,
}
