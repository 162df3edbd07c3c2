//! Sizes: the longest functions and files, and the types with the most methods.

use super::kinds::Place;
use super::source::{Crate, File};
use quote::ToTokens;
use std::collections::BTreeMap;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// A function of the workspace.
pub(super) struct Function {
    pub(super) place: Place,
    /// Whether it is nothing but a table: one expression that lists values and decides nothing.
    pub(super) is_table: bool,
}

/// All functions, the longest first. Their lengths run from the signature to the closing brace.
pub(super) fn functions(crates: &[Crate]) -> Vec<Function> {
    let mut found = Vec::new();
    for file in crates.iter().flat_map(|one| &one.files) {
        Functions { file, found: &mut found }.visit_file(&file.syntax);
    }
    found.sort_by_key(|function| std::cmp::Reverse(function.place.amount));
    found
}

struct Functions<'a> {
    file: &'a File,
    found: &'a mut Vec<Function>,
}

impl Functions<'_> {
    fn push(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let (first, last) = (signature.span().start().line, block.span().end().line);
        let place = Place {
            file: self.file.path.clone(),
            line: first,
            name: signature.ident.to_string(),
            amount: last + 1 - first,
        };
        self.found.push(Function { place, is_table: is_table(block) });
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.push(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.push(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }
}

/// Whether a body is one expression that lists values, or looks one up by a match whose arms are values. Closures that
/// shorten its rows may stand in front of it.
fn is_table(block: &syn::Block) -> bool {
    let Some((syn::Stmt::Expr(expr, None), short)) = block.stmts.split_last() else { return false };
    let is_closure = |stmt: &syn::Stmt| {
        let syn::Stmt::Local(local) = stmt else { return false };
        local.init.as_ref().is_some_and(|init| matches!(&*init.expr, syn::Expr::Closure(_)) && is_value(&init.expr))
    };
    if !short.iter().all(is_closure) {
        return false;
    }
    let syn::Expr::Match(lookup) = expr else { return is_value(expr) };
    lookup.arms.iter().all(|arm| is_value(&arm.body))
}

/// Whether an expression is made of literals, names, lists and calls, without control flow.
fn is_value(expr: &syn::Expr) -> bool {
    let mut search = ControlFlow(false);
    search.visit_expr(expr);
    !search.0
}

/// Whether an expression has control flow.
struct ControlFlow(bool);

impl<'ast> Visit<'ast> for ControlFlow {
    fn visit_expr(&mut self, expr: &'ast syn::Expr) {
        use syn::Expr::{Block, ForLoop, If, Loop, Match, While};
        // Braces around one expression are layout.
        let is_layout =
            matches!(expr, Block(braces) if matches!(braces.block.stmts.as_slice(), [syn::Stmt::Expr(_, None)]));
        self.0 |= matches!(expr, Block(_) | ForLoop(_) | If(_) | Loop(_) | Match(_) | While(_)) && !is_layout;
        visit::visit_expr(self, expr);
    }
}

/// Files by their lines, those of tests aside; the longest first.
pub(super) fn files(crates: &[Crate]) -> Vec<Place> {
    let files = crates.iter().flat_map(|one| &one.files);
    let place = |file: &File| Place { file: file.path.clone(), line: 1, name: String::new(), amount: file.n_lines() };
    let mut files: Vec<Place> = files.map(place).collect();
    files.sort_by_key(|place| std::cmp::Reverse(place.amount));
    files
}

/// Types by the methods of all their own `impl` blocks, in how many files these stand; the most first.
pub(super) fn methods(crates: &[Crate]) -> Vec<(String, usize, usize)> {
    let mut found: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for one in crates {
        for file in &one.files {
            for item in &file.syntax.items {
                let syn::Item::Impl(item) = item else { continue };
                let syn::Type::Path(of) = &*item.self_ty else { continue };
                let Some(last) = of.path.segments.last().filter(|_| item.trait_.is_none()) else { continue };
                let n = item.items.iter().filter(|item| matches!(item, syn::ImplItem::Fn(_))).count();
                let name = format!("{}::{}", one.name, last.ident.to_token_stream());
                found.entry(name).or_default().extend(std::iter::repeat_n(file.path.as_str(), n));
            }
        }
    }
    let mut types: Vec<(String, usize, usize)> = found
        .into_iter()
        .map(|(name, mut files)| {
            let n = files.len();
            files.dedup(); // They come in the order of the files.
            (name, n, files.len())
        })
        .collect();
    types.sort_by_key(|(_, n, _)| std::cmp::Reverse(*n));
    types
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_decides_nothing() {
        let is_table = |text: &str| is_table(&syn::parse_str(text).unwrap());
        assert!(is_table("{ &[row(1), row(2)] }"));
        assert!(is_table("{ let row = |a| Row { a }; match kind { A => row(1), B => row(const { &[2] }) } }"));
        assert!(!is_table("{ let n = count(); [n] }"));
        assert!(!is_table("{ match kind { A => if b { 1 } else { 2 } } }"));
    }
}
