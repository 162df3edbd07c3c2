//! Exhaustive lists of the kinds of an enum: which functions name most of them, which or-patterns list five or more, which
//! matches have a wildcard, and which lines are nothing but the next kind of a list.
//!
//! The kinds are those of the source, so a new one counts at once.

use super::source::{Crate, File};
use anyhow::{Context, Result};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::BTreeSet;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// An or-pattern of so many kinds is a list.
const LIST: usize = 5;

/// An enum whose kinds are counted.
pub(super) struct Kinds {
    /// Its name.
    pub(super) name: &'static str,
    /// A function that names so many kinds matches on all of them.
    pub(super) many: usize,
    kinds: BTreeSet<String>,
}

/// What was found of one enum.
#[derive(Default)]
pub(super) struct Lists {
    /// Functions that name many kinds.
    pub(super) functions: Vec<Place>,
    /// Or-patterns of five or more kinds, with how many each has.
    pub(super) lists: Vec<Place>,
    /// Those of them outside of the functions that name many kinds.
    pub(super) lists_elsewhere: Vec<Place>,
    /// Matches on it with a wildcard arm.
    pub(super) wildcards: Vec<Place>,
    /// Lines that are nothing but a kind.
    pub(super) lines: Vec<Place>,
}

/// Where something stands, and how much of it.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) file: String,
    pub(super) line: usize,
    pub(super) name: String,
    pub(super) amount: usize,
}

impl Kinds {
    /// The kinds of the statements of the core IR and of the nodes of loop nests.
    pub(super) fn all(crates: &[Crate]) -> Result<[Kinds; 2]> {
        Ok([Kinds::read(crates, "cotan-ir", "Op", 8)?, Kinds::read(crates, "cotan-loops", "Node", 20)?])
    }

    fn read(crates: &[Crate], home: &str, name: &'static str, many: usize) -> Result<Kinds> {
        let files = crates.iter().filter(|one| one.name == home).flat_map(|one| &one.files);
        let kinds = files.flat_map(|file| &file.syntax.items).find_map(|item| {
            let syn::Item::Enum(item) = item else { return None };
            let is_it = item.ident == name;
            is_it.then(|| item.variants.iter().map(|variant| variant.ident.to_string()).collect())
        });
        Ok(Kinds { name, many, kinds: kinds.with_context(|| format!("{home} has no enum `{name}`"))? })
    }

    /// How many kinds there are.
    pub(super) fn count(&self) -> usize {
        self.kinds.len()
    }

    /// Looks at all files.
    pub(super) fn find(&self, crates: &[Crate]) -> Lists {
        let mut lists = Lists::default();
        for file in crates.iter().flat_map(|one| &one.files) {
            let mut reader = Reader { kinds: self, file, lists: &mut lists, of_enum: false, functions: Vec::new() };
            reader.visit_file(&file.syntax);
            let lines = file.lines().filter(|(_, line)| self.is_line(line));
            lists.lines.extend(lines.map(|(line, text)| Place {
                file: file.path.clone(),
                line,
                name: text.trim().to_owned(),
                amount: 1,
            }));
        }
        lists
    }

    /// Whether a line has one kind, with its fields, and nothing else but marks between alternatives.
    fn is_line(&self, line: &str) -> bool {
        let line = line.trim();
        let line = line.strip_prefix('|').map_or(line, str::trim_start);
        let rest = line.strip_prefix(self.name).and_then(|rest| rest.strip_prefix("::"));
        let Some(rest) = rest else { return false };
        let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let (kind, fields) = rest.split_at(end);
        let closes = [('{', '}'), ('(', ')')];
        let fields = fields.trim().trim_end_matches([',', '|']).trim_end();
        self.kinds.contains(kind)
            && (fields.is_empty()
                || closes.iter().any(|(open, end)| fields.starts_with(*open) && fields.ends_with(*end)))
    }

    /// The kind that a path at the head of these tokens names, and how many tokens the path has. `Self` counts where the
    /// code belongs to the enum.
    fn named(&self, tokens: &[TokenTree], of_enum: bool) -> Option<(&str, usize)> {
        let is_word = |k: usize, word: &str| matches!(tokens.get(k), Some(TokenTree::Ident(name)) if name == word);
        let is_colon = |k: usize| matches!(tokens.get(k), Some(TokenTree::Punct(mark)) if mark.as_char() == ':');
        let mut at = 0;
        while !(is_word(at, self.name) || of_enum && is_word(at, "Self")) {
            let is_path = matches!(tokens.get(at), Some(TokenTree::Ident(_))) && is_colon(at + 1) && is_colon(at + 2);
            at = if is_path { at + 3 } else { return None };
        }
        let Some(TokenTree::Ident(kind)) = tokens.get(at + 3).filter(|_| is_colon(at + 1) && is_colon(at + 2)) else {
            return None;
        };
        self.kinds.get(&kind.to_string()).map(|kind| (kind.as_str(), at + 4))
    }
}

/// Goes over the functions of a file.
struct Reader<'a> {
    kinds: &'a Kinds,
    file: &'a File,
    lists: &'a mut Lists,
    /// Whether the code belongs to the enum.
    of_enum: bool,
    /// Whether each function around the code names many kinds.
    functions: Vec<bool>,
}

impl Reader<'_> {
    fn place(&self, line: usize, name: &str, amount: usize) -> Place {
        Place { file: self.file.path.clone(), line, name: name.to_owned(), amount }
    }

    /// Counts a function; its lists count with the outermost function that has them.
    fn enter(&mut self, name: &syn::Ident, tokens: TokenStream) {
        let mut found = Found::default();
        found.read(self.kinds, tokens, self.of_enum);
        let is_many = found.named.len() >= self.kinds.many;
        let name = name.to_string();
        if is_many {
            let line = found.first.unwrap_or_default();
            self.lists.functions.push(self.place(line, &name, found.named.len()));
        }
        if self.functions.is_empty() {
            for (line, amount) in found.lists {
                let place = self.place(line, &name, amount);
                if !is_many {
                    self.lists.lists_elsewhere.push(place.clone());
                }
                self.lists.lists.push(place);
            }
        }
        self.functions.push(is_many);
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let before = self.of_enum;
        self.of_enum = item.self_ty.to_token_stream().to_string() == self.kinds.name;
        visit::visit_item_impl(self, item);
        self.of_enum = before;
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.enter(&item.sig.ident, item.block.to_token_stream());
        visit::visit_item_fn(self, item);
        self.functions.pop();
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.enter(&item.sig.ident, item.block.to_token_stream());
        visit::visit_impl_item_fn(self, item);
        self.functions.pop();
    }

    fn visit_expr_match(&mut self, expr: &'ast syn::ExprMatch) {
        let is_kind = |pattern: &syn::Pat| {
            let tokens: Vec<TokenTree> = pattern.to_token_stream().into_iter().collect();
            let tokens = match tokens.as_slice() {
                [TokenTree::Punct(_), rest @ ..] => rest,
                all => all,
            };
            self.kinds.named(tokens, self.of_enum).is_some()
        };
        let wild = expr.arms.iter().find(|arm| matches!(arm.pat, syn::Pat::Wild(_)));
        if let Some(wild) = wild.filter(|_| expr.arms.iter().any(|arm| is_kind(&arm.pat))) {
            self.lists.wildcards.push(self.place(wild.span().start().line, "_ =>", 1));
        }
        visit::visit_expr_match(self, expr);
    }
}

/// What the tokens of a function name.
#[derive(Default)]
struct Found {
    named: BTreeSet<String>,
    /// Lines and lengths of or-patterns.
    lists: Vec<(usize, usize)>,
    first: Option<usize>,
}

impl Found {
    fn read(&mut self, kinds: &Kinds, tokens: TokenStream, of_enum: bool) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        // The or-pattern that is being read: its line, its length, and where its next alternative would begin.
        let mut list: Option<(usize, usize, usize)> = None;
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            self.first.get_or_insert(token.span().start().line);
            if let TokenTree::Group(group) = token {
                self.read(kinds, group.stream(), of_enum);
            }
            let Some((kind, length)) = kinds.named(&tokens[at..], of_enum) else {
                at += 1;
                continue;
            };
            self.named.insert(kind.to_owned());
            let line = token.span().start().line;
            let (first, n, _) = list.take_if(|(_, _, next)| *next == at).unwrap_or((line, 0, at));
            at += length;
            if let Some(TokenTree::Group(group)) = tokens.get(at).filter(|token| is_fields(token)) {
                self.read(kinds, group.stream(), of_enum);
                at += 1;
            }
            let is_followed = matches!(tokens.get(at), Some(TokenTree::Punct(mark)) if mark.as_char() == '|');
            if is_followed {
                at += 1;
                list = Some((first, n + 1, at));
            } else if n + 1 >= LIST {
                self.lists.push((first, n + 1));
            }
        }
    }
}

fn is_fields(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if matches!(group.delimiter(), Delimiter::Brace | Delimiter::Parenthesis))
}
