//! A checked program.

use crate::library::standard;
use cotan_sema::modules::{Library, Loaded, Loader, Modules, NoFiles, load};
use cotan_sema::typed::FnId;
use cotan_sema::{Checked, Limits};
use cotan_syntax::ast::Item;
use cotan_syntax::{Diagnostic, SourceMap, on_deep_stack};

/// A source file and what it imports after the front end: its typed tree as far as it goes, and everything there is to
/// say about it.
#[derive(Debug)]
pub struct Program {
    /// The source text of all modules.
    pub sources: SourceMap,
    /// The syntax trees of all modules.
    pub modules: Modules,
    /// The typed tree, with the data that an editor asks for.
    pub checked: Checked,
    /// Errors and warnings, in the order of the source.
    pub diagnostics: Vec<Diagnostic>,
}

impl Program {
    /// Parses and checks a program of one file, which may import the standard library. Never fails: what is wrong
    /// stands in the diagnostics.
    pub fn check(name: &str, text: &str, limits: &Limits) -> Program {
        Program::load(name, text, &NoFiles, &standard(), limits)
    }

    /// Parses and checks a file, the files that it imports, which `loader` gives, and the modules of a library.
    ///
    /// Of a declaration that could not be read, only that is reported: what the checker says about the rest of it would
    /// mostly be due to what is missing.
    pub fn load(name: &str, text: &str, loader: &dyn Loader, library: &Library, limits: &Limits) -> Program {
        on_deep_stack(|| Program::load_on_this_stack(name, text, loader, library, limits))
    }

    fn load_on_this_stack(name: &str, text: &str, loader: &dyn Loader, library: &Library, limits: &Limits) -> Program {
        let Loaded { modules, sources, mut diagnostics } = load(name, text, loader, library);
        let mut checked = cotan_sema::check(&modules, limits);
        let is_in = |d: &Diagnostic, item: &Item| {
            d.primary.span.file == item.span.file && (item.span.start..=item.span.end).contains(&d.primary.span.start)
        };
        let items = modules.all.iter().flat_map(|module| &module.syntax.items);
        let unread: Vec<&Item> = items.filter(|item| diagnostics.iter().any(|d| is_in(d, item))).collect();
        checked.diagnostics.retain(|d| !unread.iter().any(|item| is_in(d, item)));
        diagnostics.append(&mut checked.diagnostics);
        diagnostics.sort_by_key(|d| (d.primary.span.file, d.primary.span.start));
        Program { sources, modules, checked, diagnostics }
    }

    /// What there is to warn of if a function is differentiated with respect to these parameters; nothing where the
    /// program has no such function. Derivatives that the program itself takes are among its diagnostics.
    pub fn derivative_warnings(&self, function: &str, wrt: &[String]) -> Vec<Diagnostic> {
        let program = &self.checked.program;
        let Some(at) = program.functions.iter().position(|it| it.name == function) else { return Vec::new() };
        let params = &program.functions[at].params;
        let wrt: Vec<usize> = (0..params.len()).filter(|k| wrt.contains(&params[*k].name)).collect();
        on_deep_stack(|| cotan_sema::derivative_warnings(program, FnId(at as u32), &wrt))
    }

    /// Whether there are errors, so that nothing can be run.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}
