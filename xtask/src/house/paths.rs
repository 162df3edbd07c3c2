//! Paths in source text: what each `use` brings, and every path in code and in calls of macros.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// The names of a path.
pub(super) type Names = Vec<String>;

/// The imports at the head of a file: the name here, none for `*`, and the path.
pub(super) fn uses(file: &syn::File) -> Vec<(Option<String>, Names)> {
    let mut found = Vec::new();
    for item in &file.items {
        if let syn::Item::Use(item) = item {
            leaves(&item.tree, &mut Vec::new(), &mut |name, path| found.push((name, path)));
        }
    }
    found
}

/// All paths of a file that may lead out of it, with their lines: of every `use`, and of code where they have more than one
/// name.
pub(super) fn paths(file: &syn::File) -> Vec<(Names, usize)> {
    let mut paths = Paths::default();
    paths.visit_file(file);
    paths.found
}

/// Gives each name that a `use` brings, with its path; no name for `*`.
fn leaves(tree: &syn::UseTree, before: &mut Names, give: &mut dyn FnMut(Option<String>, Names)) {
    match tree {
        syn::UseTree::Path(path) => {
            before.push(path.ident.to_string());
            leaves(&path.tree, before, give);
            before.pop();
        }
        syn::UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, before, give)),
        syn::UseTree::Glob(_) => give(None, before.clone()),
        syn::UseTree::Name(name) if name.ident == "self" => give(before.last().cloned(), before.clone()),
        syn::UseTree::Name(name) => {
            let path = before.iter().cloned().chain([name.ident.to_string()]).collect();
            give(Some(name.ident.to_string()), path);
        }
        syn::UseTree::Rename(name) => {
            let is_self = name.ident == "self";
            let last = (!is_self).then(|| name.ident.to_string());
            give(Some(name.rename.to_string()), before.iter().cloned().chain(last).collect());
        }
    }
}

/// Collects paths.
#[derive(Default)]
struct Paths {
    found: Vec<(Names, usize)>,
}

impl Paths {
    /// Paths in the tokens of a macro's call.
    fn read(&mut self, tokens: TokenStream) {
        let mut path: Names = Vec::new();
        let (mut n_colons, mut line) = (0, 0);
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if n_colons != 2 {
                        self.end(&mut path, line);
                    }
                    line = name.span().start().line;
                    path.push(name.to_string());
                    n_colons = 0;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => n_colons += 1,
                TokenTree::Group(group) => {
                    self.end(&mut path, line);
                    self.read(group.stream());
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => self.end(&mut path, line),
            }
        }
        self.end(&mut path, line);
    }

    /// Keeps a path that has ended.
    fn end(&mut self, path: &mut Names, line: usize) {
        let path = std::mem::take(path);
        if path.len() > 1 {
            self.found.push((path, line));
        }
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let line = item.span().start().line;
        leaves(&item.tree, &mut Vec::new(), &mut |_, path| self.found.push((path, line)));
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let mut names: Names = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.end(&mut names, path.span().start().line);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.read(call.tokens.to_token_stream());
        visit::visit_macro(self, call);
    }
}
