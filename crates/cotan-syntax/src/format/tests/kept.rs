use std::fs;
use std::path::{Path, PathBuf};

use super::super::format;
use crate::ast::Module;
use crate::token::{CommentKind, TokenKind};
use crate::{Diagnostic, FileId, dump, parse};

/// All programs of the repository that parse.
fn programs() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders =
        vec![root.join("tests"), root.join("examples"), root.join("crates/cotan-syntax/src/parser/tests")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "cot")
                && let Ok(text) = fs::read_to_string(&path)
                && is_right(&text)
            {
                found.push((path, text));
            }
        }
    }
    found.sort();
    found
}

fn is_right(source: &str) -> bool {
    !parse(FileId(0), source).1.iter().any(Diagnostic::is_error)
}

/// The comments in their order.
fn comments(source: &str, module: &Module) -> Vec<(CommentKind, String)> {
    module.comments.iter().map(|c| (c.kind, source[c.span.range()].trim_end().to_owned())).collect()
}

/// Asserts what formatting keeps, and that formatting again changes nothing. Gives the text.
fn check(name: &str, source: &str) -> String {
    let text = format(FileId(0), source).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    let (before, _) = parse(FileId(0), source);
    let (after, diagnostics) = parse(FileId(0), &text);
    assert!(!diagnostics.iter().any(Diagnostic::is_error), "{name}: {diagnostics:?}\n{source}\n-----\n{text}");
    assert_eq!(dump::module(&after), dump::module(&before), "{name}\n{source}\n-----\n{text}");
    let docs =
        |module: &Module| module.items.iter().map(|item| item.doc.as_ref().map(|d| d.text.clone())).collect::<Vec<_>>();
    assert_eq!(docs(&after), docs(&before), "{name}");
    assert_eq!(comments(&text, &after), comments(source, &before), "{name}\n{source}\n-----\n{text}");
    let again = format(FileId(0), &text).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    let (once, twice): (Vec<&str>, Vec<&str>) = (text.lines().collect(), again.lines().collect());
    let differs = once.iter().zip(&twice).position(|(a, b)| a != b).unwrap_or(once.len().min(twice.len()));
    let context = differs.saturating_sub(3)..(differs + 5);
    let part = |lines: &[&str]| lines.get(context.start..context.end.min(lines.len())).unwrap_or_default().join("\n");
    if text != again {
        eprintln!("SRC {source}");
    }
    assert!(text == again, "{name}: formatted once\n{}\nformatted twice\n{}", part(&once), part(&twice));
    text
}

#[test]
fn programs_of_the_repository_keep_tree_and_comments() {
    for (path, text) in programs() {
        check(&path.display().to_string(), &text);
    }
}

/// Numbers that look random: a linear congruential generator.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// The program with other white space: line ends stay where they may mean something, and come and go
/// inside parentheses. Sometimes a comment stands where white space was.
fn spoil(source: &str, numbers: &mut Numbers) -> String {
    let (module, _) = parse(FileId(0), source);
    let mut out = String::new();
    let mut at = 0;
    let mut brackets = Vec::new();
    for token in &module.tokens {
        let gap = &source[at..token.span.start as usize];
        if gap.trim().is_empty() && at > 0 {
            let is_free = matches!(brackets.last(), Some(TokenKind::LParen | TokenKind::LBracket));
            out.push_str(&white_space(gap, is_free, numbers));
        } else {
            out.push_str(gap);
        }
        out.push_str(&source[token.span.range()]);
        at = token.span.end as usize;
        if matches!(token.kind, TokenKind::LParen | TokenKind::LBracket | TokenKind::LBrace) {
            brackets.push(token.kind);
        } else if matches!(token.kind, TokenKind::RParen | TokenKind::RBracket | TokenKind::RBrace) {
            brackets.pop();
        }
    }
    out
}

fn white_space(gap: &str, is_free: bool, numbers: &mut Numbers) -> String {
    if gap.is_empty() {
        return String::new();
    }
    if gap.contains('\n') || (is_free && numbers.below(6) == 0) {
        return match numbers.below(8) {
            0 => " # a comment\n".to_owned(),
            1 => "\n  # a line\n\n".to_owned(),
            2 => "\n\n\n".to_owned(),
            3 => " /* one */\n /* two */ ".to_owned(),
            _ => "\n    ".to_owned(),
        };
    }
    match numbers.below(12) {
        0 => " /* inside /* nested */ */ ".to_owned(),
        1 => "   ".to_owned(),
        _ => " ".to_owned(),
    }
}

#[test]
fn spoilt_programs_keep_tree_and_comments() {
    let mut numbers = Numbers(7);
    for (path, text) in programs() {
        for round in 0..3 {
            let spoilt = spoil(&text, &mut numbers);
            if is_right(&spoilt) {
                check(&format!("{} spoilt {round}", path.display()), &spoilt);
            }
        }
    }
}
