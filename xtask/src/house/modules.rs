//! Name resolution between the files of a crate: which file defines what a path names.
//!
//! An import is a path into the own crate, in a `use` or in code. Modules and re-exports are followed, so an import counts
//! as one of the file that defines the name. A module and those below it may import from each other as they like.

use super::paths::{Names, paths, uses};
use super::source::{Crate, File};
use std::collections::{BTreeMap, BTreeSet};

/// How many re-exports are followed.
const REEXPORTS: usize = 8;

/// The modules of a crate.
pub(super) struct Modules<'a> {
    modules: BTreeMap<&'a [String], Module>,
}

/// What a module has.
struct Module {
    /// Its file, by its number in the crate.
    file: usize,
    /// Its imports: the name here, and the path as it is written.
    imports: Vec<(String, Names)>,
    /// The modules of which it has all names.
    globs: Vec<Names>,
    /// What it defines itself, modules aside.
    items: BTreeSet<String>,
}

impl<'a> Modules<'a> {
    pub(super) fn of(one: &'a Crate) -> Modules<'a> {
        let mut modules = BTreeMap::new();
        for (k, file) in one.files.iter().enumerate() {
            let Some(path) = &file.module else { continue };
            let mut module = Module { file: k, imports: Vec::new(), globs: Vec::new(), items: BTreeSet::new() };
            for (name, path) in uses(&file.syntax) {
                match name {
                    Some(name) => module.imports.push((name, path)),
                    None => module.globs.push(path),
                }
            }
            module.items.extend(file.syntax.items.iter().filter_map(name_of));
            modules.insert(path.as_slice(), module);
        }
        let mut all = Modules { modules };
        let resolved: Vec<Vec<Names>> = all
            .modules
            .iter()
            .map(|(path, module)| module.globs.iter().filter_map(|glob| all.module(path, glob)).collect())
            .collect();
        all.modules.values_mut().zip(resolved).for_each(|(module, globs)| module.globs = globs);
        all
    }

    /// The module that a path names, seen from a module.
    fn module(&self, from: &[String], path: &[String]) -> Option<Names> {
        let (mut at, rest) = start(from, path)?;
        at.extend_from_slice(rest);
        self.modules.contains_key(at.as_slice()).then_some(at)
    }

    /// The files that a file imports from, itself and those above and below it aside.
    pub(super) fn imports(&self, one: &Crate, k: usize) -> Vec<usize> {
        let Some((file, from)) = one.files.get(k).and_then(|file| Some((file, file.module.as_deref()?))) else {
            return Vec::new();
        };
        let found = paths(&file.syntax).into_iter().filter_map(|(path, _)| self.home(from, &path, 0));
        let found: BTreeSet<usize> = found.filter(|to| !is_above_or_below(one.files.get(*to), file)).collect();
        found.into_iter().collect()
    }

    /// The file that defines what a path names, seen from a module; none for what is of another crate.
    fn home(&self, from: &[String], path: &[String], depth: usize) -> Option<usize> {
        if depth > REEXPORTS {
            return None;
        }
        let (mut at, names) = start(from, path)?;
        let mut names = names.iter();
        // A path without a beginning of its own has to begin with a name of this module.
        let mut is_inside = names.len() < path.len();
        while let Some(name) = names.next() {
            let below: Names = at.iter().chain([name]).cloned().collect();
            if self.modules.contains_key(below.as_slice()) {
                at = below;
                is_inside = true;
                continue;
            }
            let module = self.modules.get(at.as_slice())?;
            if module.items.contains(name) {
                return Some(module.file);
            }
            if let Some((_, target)) = module.imports.iter().find(|(known, _)| known == name) {
                let rest: Names = target.iter().chain(names).cloned().collect();
                return self.home(&at, &rest, depth + 1);
            }
            let rest: Names = std::iter::once(name).chain(names).cloned().collect();
            return module.globs.iter().find_map(|glob| self.home(glob, &rest, depth + 1));
        }
        self.modules.get(at.as_slice()).filter(|_| is_inside).map(|module| module.file)
    }
}

/// Where a path begins, seen from a module: the module that `crate`, `self` and each `super` lead to, and the names behind.
fn start<'p>(from: &[String], path: &'p [String]) -> Option<(Names, &'p [String])> {
    let mut at = from.to_vec();
    let mut rest = path;
    match rest {
        [first, names @ ..] if first == "crate" => (at, rest) = (Names::new(), names),
        [first, names @ ..] if first == "self" => rest = names,
        _ => {}
    }
    while let [first, names @ ..] = rest {
        if first != "super" {
            break;
        }
        at.pop()?;
        rest = names;
    }
    Some((at, rest))
}

/// Whether one of two files is a module around the other.
fn is_above_or_below(one: Option<&File>, other: &File) -> bool {
    let (Some(one), Some(other)) = (one.and_then(|one| one.module.as_ref()), other.module.as_ref()) else {
        return true;
    };
    one.starts_with(other) || other.starts_with(one)
}

/// The name that an item defines, if it can be imported.
fn name_of(item: &syn::Item) -> Option<String> {
    let name = match item {
        syn::Item::Const(item) => &item.ident,
        syn::Item::Enum(item) => &item.ident,
        syn::Item::Fn(item) => &item.sig.ident,
        syn::Item::Mod(item) if item.content.is_some() => &item.ident,
        syn::Item::Static(item) => &item.ident,
        syn::Item::Struct(item) => &item.ident,
        syn::Item::Trait(item) => &item.ident,
        syn::Item::Type(item) => &item.ident,
        syn::Item::Union(item) => &item.ident,
        syn::Item::Macro(item) => return item.ident.as_ref().map(ToString::to_string),
        syn::Item::ExternCrate(_)
        | syn::Item::ForeignMod(_)
        | syn::Item::Impl(_)
        | syn::Item::Mod(_)
        | syn::Item::TraitAlias(_)
        | syn::Item::Use(_)
        | syn::Item::Verbatim(_)
        | _ => return None,
    };
    Some(name.to_string())
}
