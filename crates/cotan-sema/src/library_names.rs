//! The public names of the library, an index for messages: what a program might have imported.
//!
//! A program sees only the modules that it imports. The names of the others are read from their tokens, `pub`, a word and
//! a name, when a message first asks for them.

use cotan_syntax::FileId;
use cotan_syntax::lexer::lex;
use cotan_syntax::token::TokenKind;
use std::cell::OnceCell;

use crate::modules::LibraryModule;
use crate::modules::paths::last_name;

/// The modules of a library and what they declare.
pub(crate) struct LibraryNames<'a> {
    modules: &'a [LibraryModule],
    /// For each module its public names.
    names: OnceCell<Vec<Vec<&'static str>>>,
}

impl<'a> LibraryNames<'a> {
    pub(crate) fn new(modules: &'a [LibraryModule]) -> Self {
        Self { modules, names: OnceCell::new() }
    }

    /// The module that programs call `name`: of `nn` it is `std.nn`.
    pub(crate) fn module(&self, name: &str) -> Option<&'static str> {
        self.modules.iter().map(|module| module.name).find(|module| last_name(module) == name)
    }

    /// Whether a module, by its whole name, declares a public name.
    pub(crate) fn has(&self, module: &str, name: &str) -> bool {
        self.all().any(|(owner, names)| owner == module && names.contains(&name))
    }

    /// The modules that declare a public name.
    pub(crate) fn owners(&self, name: &str) -> impl Iterator<Item = &'static str> {
        self.all().filter(move |(_, names)| names.contains(&name)).map(|(owner, _)| owner)
    }

    fn all(&self) -> impl Iterator<Item = (&'static str, &[&'static str])> {
        let names = self.names.get_or_init(|| self.modules.iter().map(|module| public_names(module.text)).collect());
        self.modules.iter().zip(names).map(|(module, names)| (module.name, names.as_slice()))
    }
}

/// The public declarations in a text.
fn public_names(text: &'static str) -> Vec<&'static str> {
    let tokens = lex(FileId(0), text, 0).tokens;
    let declared = tokens.windows(3).filter_map(|window| match window {
        [public, _, name] if public.kind == TokenKind::Pub && name.kind == TokenKind::Ident => Some(name),
        _ => None,
    });
    declared.filter_map(|name| text.get(name.span.range())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_public_declarations_of_a_module_are_found_by_their_tokens() {
        let text =
            "pub const K: i64 = 1\n# pub fn no()\npub fn area(r: f64) -> f64 = inner(r)\nfn inner(r: f64) -> f64 = r";
        let modules = [LibraryModule { name: "std.shapes", text }];
        let names = LibraryNames::new(&modules);
        assert_eq!(names.module("shapes"), Some("std.shapes"));
        assert_eq!(names.owners("area").collect::<Vec<_>>(), ["std.shapes"]);
        assert!(names.has("std.shapes", "K") && !names.has("std.shapes", "inner"));
        assert_eq!(names.owners("no").next(), None);
    }
}
