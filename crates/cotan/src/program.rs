//! A checked program.

use crate::library::standard;
use cotan_sema::modules::{Library, Loaded, Loader, Modules, NoFiles, load};
use cotan_sema::typed::FnId;
use cotan_sema::{Checked, Limits};
use cotan_syntax::repeats::grouped;
use cotan_syntax::{Diagnostic, Edit, FileId, SourceMap, Span, cap, codes, on_deep_stack};
use std::collections::BTreeMap;

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
        let Loaded { modules, mut diagnostics } = load(name, text, loader, library);
        let mut checked = cotan_sema::check(&modules, limits);
        // The checker stops looking where it has found more than are told.
        let n_errors = checked.diagnostics.iter().filter(|d| d.is_error()).count();
        let unread = Unread::of(&modules, &diagnostics);
        diagnostics.iter_mut().for_each(|d| add_result(d, &checked.found_results));
        checked.diagnostics.retain(|d| !unread.has(d));
        let are_left = checked.diagnostics.iter().any(Diagnostic::is_error);
        let are_all_found = n_errors <= limits.errors_found() || !are_left;
        diagnostics.append(&mut checked.diagnostics);
        diagnostics.sort_by_key(|d| (d.primary.span.file, d.primary.span.start));
        let mut diagnostics = grouped(diagnostics);
        cap(&mut diagnostics, limits.diagnostics, are_all_found);
        Program { sources: modules.sources.clone(), modules, checked, diagnostics }
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

/// Says of a function without a result type what its body has.
fn add_result(diagnostic: &mut Diagnostic, found: &[(Span, String)]) {
    let place = diagnostic.primary.span;
    if diagnostic.code != codes::MISSING_RESULT || !diagnostic.fix.is_empty() {
        return;
    }
    let before = found.iter().filter(|(signature, _)| signature.file == place.file && signature.end <= place.start);
    let Some((signature, ty)) = before.max_by_key(|(signature, _)| signature.end) else { return };
    let text = format!(" -> {ty}");
    diagnostic.help = vec![format!("write `->{}`, the type of the body", &text[3..])];
    diagnostic.fix.push(Edit { span: signature.after(), text });
}

/// The declarations that could not be read: by where they start, where they end.
struct Unread(BTreeMap<(FileId, u32), u32>);

impl Unread {
    /// Those that something is reported about; from where errors are only counted, all of the file.
    fn of(modules: &Modules, diagnostics: &[Diagnostic]) -> Unread {
        let items = modules.all.iter().flat_map(|module| &module.syntax.items);
        let all = Unread(items.map(|item| ((item.span.file, item.span.start), item.span.end)).collect());
        let mut unread = Unread(diagnostics.iter().flat_map(|d| all.around(d)).collect());
        for d in diagnostics.iter().filter(|d| d.code == codes::TOO_MANY_DIAGNOSTICS) {
            let file = d.primary.span.file;
            let rest = all.0.range((file, d.primary.span.start)..=(file, u32::MAX));
            unread.0.extend(rest.map(|(start, end)| (*start, *end)));
        }
        unread
    }

    /// The declarations around the place of a diagnostic: one, or two that touch there.
    fn around(&self, d: &Diagnostic) -> impl Iterator<Item = ((FileId, u32), u32)> {
        let (file, at) = (d.primary.span.file, d.primary.span.start);
        let before = self.0.range((file, 0)..=(file, at)).rev().take(2);
        before.filter(move |(_, end)| at <= **end).map(|(start, end)| (*start, *end))
    }

    fn has(&self, d: &Diagnostic) -> bool {
        self.around(d).next().is_some()
    }
}
