//! Parsing of the workspace's product code: every file of every crate as a syntax tree, with the items that only tests see
//! cut out first.

use anyhow::{Context, Result};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A crate with its files.
pub(super) struct Crate {
    /// Its name, as its folder has it.
    pub(super) name: String,
    /// The files of `src`, sorted by path.
    pub(super) files: Vec<File>,
}

/// A source file.
pub(super) struct File {
    /// Its path below the workspace.
    pub(super) path: String,
    /// The path of its module in the crate; `None` for a program beside the library, which is a root of its own.
    pub(super) module: Option<Vec<String>>,
    /// The text.
    pub(super) text: String,
    /// The items, without those of tests.
    pub(super) syntax: syn::File,
    /// The lines of tests.
    tests: Vec<RangeInclusive<usize>>,
}

impl File {
    /// The lines with their numbers, without those of tests.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let numbered = self.text.lines().enumerate().map(|(k, line)| (k + 1, line));
        numbered.filter(|(number, _)| !self.tests.iter().any(|lines| lines.contains(number)))
    }

    /// How many lines it has, those of tests aside.
    pub(super) fn n_lines(&self) -> usize {
        self.lines().count()
    }
}

/// Reads the crates of the workspace and its developer commands.
pub(super) fn read(root: &Path) -> Result<Vec<Crate>> {
    let mut folders = vec![root.join("xtask")];
    for entry in fs::read_dir(root.join("crates")).context("reading crates")? {
        folders.push(entry?.path());
    }
    folders.sort();
    let mut crates = Vec::new();
    for folder in folders.iter().filter(|folder| folder.join("Cargo.toml").is_file()) {
        let source = folder.join("src");
        let mut paths = Vec::new();
        crate::sources::collect(&source, &mut paths)?;
        let mut files = Vec::new();
        for path in &paths {
            let shown = path.strip_prefix(root).unwrap_or(path).display().to_string();
            let file = read_file(path, &source, shown.clone()).with_context(|| format!("reading {shown}"))?;
            files.extend(file);
        }
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        crates.push(Crate { name, files });
    }
    Ok(crates)
}

/// A file, unless it is one of tests as a whole.
fn read_file(path: &Path, source: &Path, shown: String) -> Result<Option<File>> {
    let text = fs::read_to_string(path)?;
    let below = path.strip_prefix(source)?;
    if below.with_extension("").iter().any(|name| name == "tests") {
        return Ok(None);
    }
    let tokens = TokenStream::from_str(&text).map_err(|e| anyhow::anyhow!("{e}"))?;
    let mut tests = Vec::new();
    let syntax = syn::parse2(without_tests(tokens, &mut tests))?;
    Ok(Some(File { path: shown, module: module_of(below), text, syntax, tests }))
}

/// The module of a file by its path below `src`.
fn module_of(path: &Path) -> Option<Vec<String>> {
    let path = PathBuf::from(path).with_extension("");
    let mut names: Vec<String> = path.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    if names.first().is_some_and(|name| name == "bin") {
        return None;
    }
    let is_folder = names.last().is_some_and(|name| name == "mod");
    let is_root = names.len() == 1 && names.first().is_some_and(|name| name == "lib" || name == "main");
    if is_folder || is_root {
        names.pop();
    }
    Some(names)
}

/// The tokens without each item behind `#[cfg(test)]`; gives the lines that go.
fn without_tests(tokens: TokenStream, gone: &mut Vec<RangeInclusive<usize>>) -> TokenStream {
    let mut kept = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_attribute = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '#');
        match tokens.peek() {
            Some(TokenTree::Group(group)) if is_attribute && is_of_tests(group) => {
                let first = token.span().start().line;
                let last = end_of_item(&mut tokens.by_ref().skip(1));
                gone.push(first..=last.unwrap_or(first));
            }
            _ => kept.push(match token {
                TokenTree::Group(ref group) => {
                    let mut inner = Group::new(group.delimiter(), without_tests(group.stream(), gone));
                    inner.set_span(group.span());
                    TokenTree::Group(inner)
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => token,
            }),
        }
    }
    kept.into_iter().collect()
}

/// Whether the brackets of an attribute ask for a build of tests.
fn is_of_tests(brackets: &Group) -> bool {
    let mut tokens = brackets.stream().into_iter();
    let is_cfg = matches!(tokens.next(), Some(TokenTree::Ident(name)) if name == "cfg");
    let Some(TokenTree::Group(condition)) = tokens.next().filter(|_| is_cfg) else { return false };
    let condition = condition.stream().to_string();
    condition.split(|c: char| !c.is_alphanumeric()).any(|word| word == "test") && !condition.contains("not")
}

/// Takes an item; gives its last line.
fn end_of_item(tokens: &mut dyn Iterator<Item = TokenTree>) -> Option<usize> {
    let mut is_open = false;
    for token in tokens {
        let line = token.span().end().line;
        match token {
            TokenTree::Ident(word) => is_open |= ["use", "const", "static", "let"].iter().any(|open| word == open),
            TokenTree::Punct(mark) if mark.as_char() == ';' => return Some(line),
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace && !is_open => return Some(line),
            TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_of_tests_are_cut_out() {
        let text =
            "fn a() {}\n#[cfg(test)]\nuse b::{c};\n#[cfg(all(test, unix))]\nmod tests {\n  fn d() {}\n}\nfn e() {}";
        let mut gone = Vec::new();
        let kept = without_tests(TokenStream::from_str(text).unwrap(), &mut gone);
        assert_eq!(kept.to_string(), "fn a () { } fn e () { }");
        assert_eq!(gone, [2..=3, 4..=7]);
    }

    #[test]
    fn modules_follow_paths() {
        let module = |path: &str| module_of(Path::new(path)).map(|names| names.join("::"));
        assert_eq!(module("lib.rs").as_deref(), Some(""));
        assert_eq!(module("a/mod.rs").as_deref(), Some("a"));
        assert_eq!(module("a/b.rs").as_deref(), Some("a::b"));
        assert_eq!(module("bin/c.rs"), None);
    }
}
