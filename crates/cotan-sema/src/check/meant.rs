//! What is meant by a name that is not declared: the library, another module, or a name of another language.
//!
//! In this order: a module of the library that is not imported, the table of [`crate::foreign`] names, the prelude for
//! what stands behind the name of a module, and the library for what stands without one.

use cotan_syntax::ast::ItemKind;
use cotan_syntax::{Diagnostic, Span};

use super::{Def, ModuleChecker, written};
use crate::foreign::{self, Foreign};
use crate::modules::paths::last_name;
use crate::prelude;
use crate::typed::NamedForm;

/// How a name is used.
#[derive(Clone, Copy)]
pub(super) enum Use<'u> {
    /// Without parentheses after it.
    Value,
    /// Called with these arguments; one that is too long to quote is missing.
    Call(&'u [Option<String>]),
}

/// What to write in place of a name.
pub(super) struct Meant {
    /// The code; empty if nothing takes its place.
    pub(super) code: String,
    /// Whether the code stands for the whole call, arguments included.
    pub(super) is_whole_call: bool,
    /// The modules that are to be imported for it.
    pub(super) imports: Vec<&'static str>,
    /// Why, or how it differs.
    pub(super) why: String,
    /// Whether it means the same, so that it may take the place of the name.
    pub(super) is_certain: bool,
}

impl Meant {
    fn name(code: impl Into<String>, imports: Vec<&'static str>) -> Self {
        Self { code: code.into(), is_whole_call: false, imports, why: String::new(), is_certain: true }
    }

    /// Whether the code differs from what stands there.
    fn is_other_text(&self, written: Option<&str>) -> bool {
        written.is_none_or(|written| written != self.code)
    }

    /// A whole call, which is certain if nothing of it was too long to quote.
    pub(super) fn call(code: String, is_certain: bool) -> Self {
        Self { is_whole_call: true, is_certain, ..Self::name(code, Vec::new()) }
    }

    /// The proposal of `code`, which is [`Self::code`] with what stays around it, for `found`, which stands there.
    pub(super) fn help(&self, code: &str, found: &str) -> String {
        let imports = self.imports.iter().map(|module| format!("`import {module}`")).collect::<Vec<_>>().join(" and ");
        let proposal = match (imports.is_empty(), code.is_empty() || code == found) {
            (true, true) => return self.why.clone(),
            (true, false) => format!("write `{code}`"),
            (false, true) => format!("write {imports} at the top of the file"),
            (false, false) => format!("write {imports} at the top of the file, and `{code}` here"),
        };
        if self.why.is_empty() { proposal } else { format!("{proposal}: {}", self.why) }
    }
}

impl ModuleChecker<'_> {
    /// What is meant by a path that leads to no type.
    pub(super) fn meant_type(&self, path: &[&str]) -> Option<Meant> {
        self.in_library(path).or_else(|| foreign::ty(path).map(|row| self.by_table(row, Use::Value)))
    }

    /// What is meant by a path that leads nowhere.
    pub(super) fn meant(&self, path: &[&str], used: Use<'_>) -> Option<Meant> {
        if let Some(meant) = self.in_library(path) {
            return Some(meant);
        }
        let last = *path.last()?;
        let is_of_prelude = path.len() > 1 && is_prelude(last);
        if let Some(row) = foreign::value(path)
            && (matches!(used, Use::Call(_)) || row.is_constant() || path.len() > 1)
            && (fits(&row, used) || !is_of_prelude)
        {
            return Some(self.by_table(row, used));
        }
        if is_of_prelude {
            return Some(Meant::name(last, Vec::new()));
        }
        let owner = self.library.owners(last).find(|_| path.len() > 1 || matches!(used, Use::Call(_)))?;
        let (name, imports) = self.module_here(owner);
        Some(Meant::name(format!("{name}.{last}"), imports))
    }

    /// A declaration of the library whose module is named and not imported, or named in full.
    fn in_library(&self, path: &[&str]) -> Option<Meant> {
        let (module, item) = match path {
            [module, item] | ["std", module, item] => (self.library.module(module)?, *item),
            _ => return None,
        };
        if !self.library.has(module, item) {
            return None;
        }
        let (name, imports) = self.module_here(module);
        Some(Meant::name(format!("{name}.{item}"), imports))
    }

    /// What the current module calls a module of the library, and the import that it lacks.
    pub(super) fn module_here(&self, module: &'static str) -> (String, Vec<&'static str>) {
        let definitions = &self.definitions[self.current.0 as usize];
        let imported = definitions.iter().find(|(_, definition)| match definition.def {
            Def::Module(id) => self.modules[id.0 as usize].label == module,
            Def::Function(_)
            | Def::Pending
            | Def::Gradients(_)
            | Def::Struct(_)
            | Def::Enum(_)
            | Def::Alias(_)
            | Def::Constant(_)
            | Def::Trait(_)
            | Def::Unusable => false,
        });
        match imported {
            Some((name, _)) => (name.clone(), Vec::new()),
            None => (last_name(module).to_owned(), vec![module]),
        }
    }

    /// The edits that put it at the place of a name, or of a whole call; none if that is not certain.
    pub(super) fn with_fix(&self, meant: &Meant, diagnostic: Diagnostic, name: Span, call: Option<Span>) -> Diagnostic {
        let is_free = meant.imports.iter().all(|module| self.find(last_name(module)).is_none());
        let place = if meant.is_whole_call { call } else { Some(name) };
        let Some(place) = place.filter(|_| meant.is_certain && is_free && !meant.code.is_empty()) else {
            return diagnostic;
        };
        let code = if meant.is_other_text(self.written(place)) { Some(written::operand(&meant.code)) } else { None };
        let diagnostic = code.into_iter().fold(diagnostic, |diagnostic, code| diagnostic.fix(place, code));
        meant.imports.iter().fold(diagnostic, |diagnostic, module| {
            let (place, text) = self.new_import(module);
            diagnostic.fix(place, text)
        })
    }

    /// Where the current module gets another import, and its text: after the last one, or at the beginning.
    fn new_import(&self, module: &str) -> (Span, String) {
        let syntax = &self.modules[self.current.0 as usize].syntax;
        let last = syntax.items.iter().rev().find(|item| matches!(item.kind, ItemKind::Import(_)));
        match last {
            Some(item) => (item.span.after(), format!("\nimport {module}")),
            None => (Span::new(syntax.file, 0, 0), format!("import {module}\n")),
        }
    }

    /// What a row of the table says, with the arguments that are given.
    pub(super) fn by_table(&self, row: Foreign, used: Use<'_>) -> Meant {
        let given: Option<Vec<String>> = match used {
            Use::Value => None,
            Use::Call(args) => args.iter().cloned().collect(),
        };
        let given = given.filter(|given| given.len() == row.operands().count());
        let own = given.filter(|_| !row.is_other_name()).and_then(|given| {
            let given: Vec<String> = given.iter().map(|arg| written::operand(arg)).collect();
            row.with_operands(&given.iter().map(String::as_str).collect::<Vec<_>>())
        });
        let is_certain = row.why.is_empty() && (row.is_other_name() || row.is_constant() || own.is_some());
        let mut code = own.unwrap_or_else(|| row.code.to_owned());
        let mut imports = Vec::new();
        for module in self.modules_in(row.code) {
            let (name, missing) = self.module_here(module);
            code = code.replace(&format!("{}.", last_name(module)), &format!("{name}."));
            imports.extend(missing);
        }
        let is_whole_call = !row.is_other_name() && !row.is_constant();
        Meant { code, is_whole_call, imports, why: row.why.to_owned(), is_certain }
    }

    /// The modules of the library that a piece of code names.
    fn modules_in(&self, code: &str) -> Vec<&'static str> {
        let words = code.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.');
        let mut modules: Vec<&'static str> =
            words.filter_map(|word| self.library.module(word.split_once('.')?.0)).collect();
        modules.dedup();
        modules
    }
}

/// Whether a row has as many operands as a call has arguments, if it has any.
fn fits(row: &Foreign, used: Use<'_>) -> bool {
    match used {
        Use::Value => true,
        Use::Call(args) => matches!(row.operands().count(), n if n == 0 || n == args.len()),
    }
}

/// Whether a name needs no import.
fn is_prelude(name: &str) -> bool {
    prelude::names().any(|known| known == name) || NamedForm::from_name(name).is_some()
}
