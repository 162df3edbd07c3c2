//! The book: its programs are right, their tests pass, and what it shows of the compiler is what the compiler says.

use cotan::host::{Arguments, HostValue};
use cotan::ir::Const;
use cotan::syntax::ast::ItemKind;
use cotan::syntax::{FileId, parse};
use cotan::{Compiler, Config, Engine, Request};
use cotan_testkit::files::{files, workspace_file};
use cotan_testkit::front::{checked, lower};
use std::fmt::Write;
use std::fs;

/// A fenced block: what stands behind the backticks, the lines, and where they stand in the page.
struct Block {
    info: String,
    text: String,
    start: usize,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    let mut at = 0;
    for line in page.split_inclusive('\n') {
        at += line.len();
        match (line.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(info), None) => {
                open = Some(Block { info: info.trim().to_owned(), text: String::new(), start: at });
            }
            (None, Some(block)) => block.text += line,
            (None, None) => {}
        }
    }
    blocks
}

fn pages() -> Vec<(String, String)> {
    let of = |path: std::path::PathBuf| (path.display().to_string(), fs::read_to_string(&path).expect("a page"));
    files(&workspace_file("docs"), ".md").into_iter().map(of).collect()
}

/// The functions marked `@test`.
fn tests(source: &str) -> Vec<String> {
    let (module, _) = parse(FileId(0), source);
    let tests = module.items.into_iter().filter(|item| item.attrs.iter().any(|attr| attr.name.name == "test"));
    tests
        .filter_map(|item| if let ItemKind::Function(f) = item.kind { Some(f.signature.name.name) } else { None })
        .collect()
}

#[test]
fn programs_of_the_book_are_right_and_their_tests_pass() {
    let compiler = Compiler::new(Config::default()).expect("threads");
    let mut n = 0;
    for (path, page) in pages() {
        for block in blocks(&page).into_iter().filter(|block| block.info == "cot") {
            let source = &block.text;
            checked(&path, source).unwrap_or_else(|e| panic!("{path}: {e}\n{source}"));
            let program = compiler.check(&path, source);
            for name in tests(source) {
                let f = compiler.function(&program, &Request::function(&name), Engine::Interpreter);
                let f = f.unwrap_or_else(|e| panic!("{path}: `{name}`: {e}"));
                let found = f.call(&Arguments::default()).unwrap_or_else(|e| panic!("{path}: `{name}`: {e}"));
                assert_eq!(found, HostValue::Scalar(Const::bool(true)), "{path}: `{name}`");
                n += 1;
            }
        }
    }
    assert!(n > 0, "the book has tests");
}

#[test]
fn the_book_shows_the_ir_that_the_compiler_writes() {
    for (path, mut page) in pages() {
        let is_blessing = std::env::var_os("COTAN_BLESS").is_some();
        let all = blocks(&page);
        // From the last to the first, so that what is replaced does not move what is still to come.
        for (k, block) in all.iter().enumerate().rev() {
            let Some(name) = block.info.strip_prefix("ir ") else { continue };
            let source = all[..k].iter().rev().find(|block| block.info == "cot").expect("a program above");
            let program = checked(&path, &source.text).unwrap_or_else(|e| panic!("{path}: {e}"));
            let lowered = lower(&program, &Request::function(name)).unwrap_or_else(|e| panic!("{path}: {e}"));
            let f = lowered.module.function(&lowered.entry.symbol).expect("the entry").to_string();
            let f = f.trim_end().to_owned() + "\n";
            if is_blessing {
                page.replace_range(block.start..block.start + block.text.len(), &f);
            } else {
                assert_eq!(block.text, f, "{path}: `{name}`: bless with COTAN_BLESS=1");
            }
        }
        if is_blessing {
            fs::write(&path, page).expect("a page that can be written");
        }
    }
}

/// The page of all codes.
fn errors() -> String {
    let mut text = "# Errors\n\nGenerated from the compiler's own table; `cotan explain CODE` prints one.\n".to_owned();
    let mut all: Vec<_> = cotan::codes::all().collect();
    all.sort_by_key(|info| info.code.0);
    for info in all {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n## {}\n\n{}\n\n{}\n", info.code, capital(info.title), info.explanation.trim());
        if !info.failing_example.is_empty() {
            let _ = write!(text, "\nReported for:\n\n```text\n{}\n```\n", info.failing_example.trim_end());
        }
    }
    text
}

fn capital(title: &str) -> String {
    let mut letters = title.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>() + ".").unwrap_or_default()
}

#[test]
fn the_page_of_errors_is_that_of_the_codes() {
    let path = workspace_file("docs/errors.md");
    if std::env::var_os("COTAN_BLESS").is_some() {
        fs::write(&path, errors()).expect("a page that can be written");
    }
    let found = fs::read_to_string(&path).expect("the page");
    assert!(found == errors(), "docs/errors.md is stale: bless with COTAN_BLESS=1");
}

#[test]
fn every_chapter_is_listed_and_every_link_leads_to_a_page() {
    let summary = fs::read_to_string(workspace_file("docs/SUMMARY.md")).expect("the summary");
    for (path, page) in pages() {
        for link in page.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap_or_default();
            if target.ends_with(".md") {
                let folder = std::path::Path::new(&path).parent().expect("a folder");
                assert!(folder.join(target).is_file(), "{path}: `{link}` leads nowhere");
            }
        }
        let name = std::path::Path::new(&path).file_name().unwrap_or_default().to_string_lossy().into_owned();
        assert!(name == "SUMMARY.md" || summary.contains(&name), "{path} is in no chapter");
    }
}
