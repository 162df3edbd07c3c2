//! A checked program.

use cotan_sema::{Checked, Limits};
use cotan_syntax::ast::Item;
use cotan_syntax::{Diagnostic, FileId, SourceMap};

/// A source file after the front end: its typed tree as far as it goes, and everything there is to say about it.
#[derive(Debug)]
pub struct Program {
    /// The source text.
    pub sources: SourceMap,
    /// The syntax tree.
    pub syntax: cotan_syntax::ast::Module,
    /// The typed tree, with the data that an editor asks for.
    pub checked: Checked,
    /// Errors and warnings, in the order of the source.
    pub diagnostics: Vec<Diagnostic>,
}

impl Program {
    /// Parses and checks a file. Never fails: what is wrong stands in the diagnostics.
    ///
    /// Of a declaration that could not be read, only that is reported: what the checker says about the rest of it would
    /// mostly be due to what is missing.
    pub fn check(name: &str, text: &str, limits: &Limits) -> Program {
        let mut sources = SourceMap::new();
        let file: FileId = sources.add(name, text);
        let (syntax, mut diagnostics) = cotan_syntax::parse(file, text);
        let mut checked = cotan_sema::check(&syntax, limits);
        let is_in = |d: &Diagnostic, item: &Item| (item.span.start..=item.span.end).contains(&d.primary.span.start);
        let unread: Vec<&Item> =
            syntax.items.iter().filter(|item| diagnostics.iter().any(|d| is_in(d, item))).collect();
        checked.diagnostics.retain(|d| !unread.iter().any(|item| is_in(d, item)));
        diagnostics.append(&mut checked.diagnostics);
        diagnostics.sort_by_key(|d| (d.primary.span.file, d.primary.span.start));
        Program { sources, syntax, checked, diagnostics }
    }

    /// Whether there are errors, so that nothing can be run.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}
