//! The declarations of modules by name, and names with dots that lead from one module into another.

use cotan_syntax::ast::{Ident, Import, ImportSource, Item, NodeId, Path, PostfixKind, PostfixOp};
use cotan_syntax::{Diagnostic, Span};

use super::meant::Use;
use super::{Def, Definition, ModuleChecker};
use crate::codes;
use crate::modules::ModuleId;
use crate::modules::paths::last_name;
use crate::prelude;
use crate::suggest::closest;

/// What a name with or without dots led to.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// The names that were needed, with dots.
    pub(super) name: String,
    /// What it stands for; never a module that another name follows.
    pub(super) def: Def,
    /// Where it is declared.
    pub(super) definition: Span,
    /// From the first name to the last one that was needed.
    pub(super) span: Span,
    /// How many names after the first one were needed.
    pub(super) n_dots: usize,
}

impl ModuleChecker<'_> {
    /// Runs `inside` with the names of another module.
    pub(super) fn within<R>(&mut self, module: ModuleId, inside: impl FnOnce(&mut Self) -> R) -> R {
        let outer = std::mem::replace(&mut self.current, module);
        let result = inside(self);
        self.current = outer;
        result
    }

    /// The declaration of that name in the current module.
    pub(super) fn find(&self, name: &str) -> Option<Definition> {
        self.definitions[self.current.0 as usize].get(name).copied()
    }

    /// The module of the library that a name of the current module stands for.
    pub(super) fn library_module(&self, name: &str) -> Option<&'static str> {
        let Def::Module(id) = self.find(name)?.def else { return None };
        let module = &self.modules[id.0 as usize];
        self.library.module(last_name(&module.label)).filter(|_| module.is_library)
    }

    /// Whether a name is that of a module and of a function of the prelude: without a dot after it the function is meant.
    pub(super) fn is_beside_module(&self, name: &str) -> bool {
        let is_module = self.find(name).is_some_and(|found| matches!(found.def, Def::Module(_)));
        is_module && (prelude::scalar_function(name).is_some() || prelude::builtin(name).is_some())
    }

    /// The names that are declared in the current module.
    pub(super) fn declared_names(&self) -> impl Iterator<Item = &str> {
        self.definitions[self.current.0 as usize].keys().map(String::as_str)
    }

    /// What a name stands for, recorded as a use. After the name of a module, `rest` gives the names after the dots.
    /// What a module does not have, or keeps to itself, is reported and unusable.
    pub(super) fn follow<'n>(
        &mut self,
        name: &str,
        span: Span,
        mut rest: impl FnMut(usize) -> Option<&'n Ident>,
    ) -> Option<Found> {
        let first = self.find(name)?;
        self.note_use(span, first.span);
        let mut found = Found { name: name.to_owned(), def: first.def, definition: first.span, span, n_dots: 0 };
        while let Def::Module(module) = found.def {
            let Some(ident) = rest(found.n_dots) else { break };
            found.n_dots += 1;
            found.span = span.to(ident.span);
            found.def = Def::Unusable;
            match self.definitions[module.0 as usize].get(&ident.name).copied() {
                None => report_unknown_item(self, module, &found, ident),
                Some(item) => {
                    self.note_use(ident.span, item.span);
                    if item.is_public {
                        found.def = item.def;
                        found.definition = item.span;
                    } else {
                        report_private(self, &found.name, ident, item.span);
                    }
                }
            }
            found.name = format!("{}.{}", found.name, ident.name);
        }
        Some(found)
    }

    /// What a path at the place of a type stands for.
    pub(super) fn follow_path(&mut self, path: &Path) -> Option<Found> {
        let (first, rest) = path.segments.split_first()?;
        self.follow(&first.name, first.span, |at| rest.get(at))
    }

    /// Enters a name; reports one that is taken, unless it is missing altogether.
    pub(super) fn define(&mut self, name: &Ident, def: Def, is_public: bool) -> bool {
        if name.name.is_empty() {
            return false;
        }
        if let Some(first) = self.find(&name.name) {
            report_redefinition(self, name, first.span, "give one of them another name");
            return false;
        }
        let definition = Definition { def, span: name.span, is_public };
        self.definitions[self.current.0 as usize].insert(name.name.clone(), definition);
        true
    }

    /// Says what a name stands for that was entered before that was known.
    pub(super) fn redefine(&mut self, name: &Ident, def: Def) {
        if let Some(definition) = self.definitions[self.current.0 as usize].get_mut(&name.name)
            && definition.span == name.span
        {
            definition.def = def;
        }
    }

    /// The name that a declaration of the current module has in the program.
    pub(super) fn full_name(&self, name: &str) -> String {
        match self.modules[self.current.0 as usize].label.as_str() {
            "" => name.to_owned(),
            label => format!("{label}.{name}"),
        }
    }
}

/// Reports the last name of the path `found`, which its module does not have.
fn report_unknown_item(checker: &mut ModuleChecker<'_>, module: ModuleId, found: &Found, ident: &Ident) {
    if ident.name.is_empty() {
        return;
    }
    let path = &found.name;
    let message = format!("expected a declaration of the module `{path}`, found `{}`", ident.name);
    let diagnostic = Diagnostic::error(codes::UNKNOWN_ITEM, ident.span, message);
    let of_library = &checker.modules[module.0 as usize];
    let names = [last_name(&of_library.label), &ident.name];
    if let Some(meant) = checker.meant(&names, Use::Value).filter(|_| of_library.is_library) {
        let diagnostic = diagnostic.help(meant.help(&meant.code, &format!("{path}.{}", ident.name)));
        checker.report(checker.with_fix(&meant, diagnostic, found.span, None));
        return;
    }
    let items = &checker.definitions[module.0 as usize];
    let public = items.iter().filter(|(_, item)| item.is_public).map(|(name, _)| name.as_str());
    let help = match closest(&ident.name, public.clone()) {
        Some(near) => format!("did you mean `{path}.{near}`?"),
        None if public.clone().next().is_none() => format!("nothing in `{path}` is marked `pub`"),
        None => format!("it has `{}`", public.collect::<Vec<_>>().join("`, `")),
    };
    checker.report(diagnostic.help(help));
}

fn report_private(checker: &mut ModuleChecker<'_>, path: &str, ident: &Ident, definition: Span) {
    let message =
        format!("expected a public declaration of the module `{path}`, found `{}`, which is private", ident.name);
    checker.report(
        Diagnostic::error(codes::PRIVATE_ITEM, ident.span, message)
            .label(definition, "declared here without `pub`")
            .help("write `pub` before the declaration to let other modules use it"),
    );
}

/// Enters the name of an imported module.
pub(super) fn declare_import(checker: &mut ModuleChecker<'_>, item: &Item, import: &Import) {
    let segments = match &import.source {
        ImportSource::Library(path) => &path.segments,
        ImportSource::Relative { segments, .. } => segments,
    };
    let Some(name) = import.alias.as_ref().or(segments.last()) else { return };
    let def = imported(checker, item.id).map_or(Def::Unusable, Def::Module);
    match checker.find(&name.name) {
        Some(first) => {
            let is_same = matches!((first.def, def), (Def::Module(a), Def::Module(b)) if a == b);
            let help = other_name(checker, import, is_same);
            report_redefinition(checker, name, first.span, &help);
        }
        None => drop(checker.define(name, def, item.public.is_some())),
    }
}

/// What to do about an import whose name is taken, by the same module or by something else.
fn other_name(checker: &ModuleChecker<'_>, import: &Import, is_same: bool) -> String {
    let (segments, span) = match &import.source {
        ImportSource::Library(path) => (&path.segments, path.span),
        ImportSource::Relative { segments, span, .. } => (segments, *span),
    };
    if is_same {
        return "leave this import out".to_owned();
    }
    let path = checker.text(span).unwrap_or("...");
    let names: Vec<&str> = segments.iter().rev().take(2).rev().map(|segment| segment.name.as_str()).collect();
    let alias = if let [name] = names.as_slice() { format!("{name}2") } else { names.join("_") };
    format!("give it another name: `import {path} as {alias}`")
}

fn imported(checker: &ModuleChecker<'_>, import: NodeId) -> Option<ModuleId> {
    checker.modules[checker.current.0 as usize].imports.get(&import).copied()
}

fn report_redefinition(checker: &mut ModuleChecker<'_>, name: &Ident, first: Span, help: &str) {
    let message = format!("expected one declaration of `{}`, found a second", name.name);
    checker.report(
        Diagnostic::error(codes::DUPLICATE_ITEM, name.span, message).label(first, "first declared here").help(help),
    );
}

/// A path as it is written.
pub(super) fn path_name(path: &Path) -> String {
    path.segments.iter().map(|segment| segment.name.as_str()).collect::<Vec<_>>().join(".")
}

/// The name in `.name`.
pub(super) fn field_name(op: Option<&PostfixOp>) -> Option<&Ident> {
    match op.map(|op| &op.kind) {
        Some(PostfixKind::Field(name)) => Some(name),
        Some(PostfixKind::Call(_) | PostfixKind::Index(_) | PostfixKind::TupleField { .. } | PostfixKind::Cast(_))
        | None => None,
    }
}

/// Whether a name is that of a type of the program.
pub(super) fn is_type(checker: &ModuleChecker<'_>, name: &str) -> bool {
    matches!(checker.find(name), Some(Definition { def: Def::Struct(_) | Def::Enum(_) | Def::Alias(_), .. }))
}
