//! The programs of the book.
//!
//! What stands behind the backticks says what must be true of a block; codes are named in the paragraph in front of it too:
//! - `cot`: neither errors nor warnings, and every `@test` gives `true`;
//! - `cot warns W0501 ..`: exactly these warnings and notes, and every `@test` gives `true`;
//! - `cot error E0301 ..`: exactly these errors, in any order, each as often as it is named;
//! - `cot fails R0001`: neither errors nor warnings, and every `@test` ends in this run-time error;
//! - `output`: what `main` of the block above prints.
//!
//! `file NAME` and `part NAME` may stand behind `cot`.

use cotan::host::{Arguments, HostValue};
use cotan::{CallError, Compiler, Config, Engine, Program, Request};
use cotan_ir::Const;
use cotan_syntax::ast::ItemKind;
use cotan_syntax::render::{Style, to_text};
use cotan_syntax::{FileId, parse};
use cotan_testkit::book::{Block, pages};
use cotan_testkit::files::report;

/// What a block promises.
enum Promise<'a> {
    Works,
    Warns(Vec<&'a str>),
    IsRefused(Vec<&'a str>),
    Fails(&'a str),
}

impl Promise<'_> {
    /// The codes that are promised.
    fn codes(&self) -> &[&str] {
        match self {
            Promise::Works => &[],
            Promise::Warns(codes) | Promise::IsRefused(codes) => codes,
            Promise::Fails(code) => std::slice::from_ref(code),
        }
    }
}

/// The promise of a block of Cotan, or nothing for a block of something else.
fn promise(info: &str) -> Result<Option<Promise<'_>>, String> {
    let mut words: Vec<&str> = info.split_whitespace().collect();
    if matches!(words.as_slice(), ["cot", "file" | "part", _, ..]) {
        words.drain(1..3);
    }
    Ok(Some(match words.as_slice() {
        ["cot"] => Promise::Works,
        ["cot", "warns", codes @ ..] if !codes.is_empty() => Promise::Warns(codes.to_vec()),
        ["cot", "error", codes @ ..] if !codes.is_empty() => Promise::IsRefused(codes.to_vec()),
        ["cot", "fails", code] => Promise::Fails(code),
        ["cot", ..] => return Err(format!("`{info}` is no kind of block")),
        _ => return Ok(None),
    }))
}

#[test]
fn programs_of_the_book_do_what_it_says() {
    let compiler = Compiler::new(Config::default()).expect("threads");
    let mut n_tests = 0;
    let mut failures = Vec::new();
    for page in pages() {
        let blocks = page.blocks();
        for (k, block) in blocks.iter().enumerate() {
            let kept = match block.info.as_str() {
                "output" => printed(&compiler, &page.name(), &blocks[k - 1], &block.text),
                _ => kept(&compiler, &page.name(), block),
            };
            match kept {
                Ok(n) => n_tests += n,
                Err(e) => failures.push(format!("{}:{}: {e}", page.name(), block.line)),
            }
        }
    }
    assert!(n_tests > 0, "the book has tests");
    report(failures, n_tests);
}

/// The number of tests in a block that keeps its promise.
fn kept(compiler: &Compiler, page: &str, block: &Block) -> Result<usize, String> {
    let Some(promise) = promise(&block.info)? else { return Ok(0) };
    // Readers do not see what stands behind the backticks.
    if let Some(code) = promise.codes().iter().find(|code| !block.introduction.contains(*code)) {
        return Err(format!("the paragraph in front of the program does not name {code}"));
    }
    let program = compiler.check(page, &block.text);
    let mut found: Vec<&str> = program.diagnostics.iter().map(|d| d.code.0).collect();
    found.sort_unstable();
    let (Promise::Warns(expected) | Promise::IsRefused(expected)) = &promise else {
        return if found.is_empty() { run(compiler, &program, block, &promise) } else { Err(rendered(&program)) };
    };
    let mut expected = expected.clone();
    expected.sort_unstable();
    if found != expected {
        return Err(format!("expected {expected:?}, found {found:?}\n{}", rendered(&program)));
    }
    if program.has_errors() { Ok(1) } else { run(compiler, &program, block, &promise) }
}

/// Runs `main` of a program and compares what it prints.
fn printed(compiler: &Compiler, page: &str, program: &Block, expected: &str) -> Result<usize, String> {
    let program = compiler.check(page, &program.text);
    let f = compiler.function(&program, &Request::function("main"), Engine::INTERPRETER).map_err(|e| e.to_string())?;
    let mut found = String::new();
    f.call_with_output(&Arguments::default(), &mut |text| found += text).map_err(|e| e.to_string())?;
    if found == expected { Ok(1) } else { Err(format!("expected\n{expected}found\n{found}")) }
}

fn rendered(program: &Program) -> String {
    let all = program.diagnostics.iter().map(|d| to_text(d, &program.sources, Style::Plain));
    all.collect::<Vec<_>>().join("\n")
}

/// Runs the tests of a program; how many there are.
fn run(compiler: &Compiler, program: &Program, block: &Block, promise: &Promise<'_>) -> Result<usize, String> {
    let names = tests(&block.text);
    for name in &names {
        let f = compiler.function(program, &Request::function(name), Engine::INTERPRETER);
        let f = f.map_err(|e| format!("`{name}`: {e}"))?;
        // What a test prints is no concern of the book's.
        let found = f.call_with_output(&Arguments::default(), &mut |_| {});
        let is_as_promised = match (promise, &found) {
            (Promise::Fails(code), Err(CallError::Check(e))) => e.kind.code() == *code,
            (Promise::Works | Promise::Warns(_), Ok(value)) => *value == HostValue::Scalar(Const::bool(true)),
            (Promise::Works | Promise::Warns(_) | Promise::IsRefused(_) | Promise::Fails(_), _) => false,
        };
        if !is_as_promised {
            return Err(format!("`{name}`: {found:?}"));
        }
    }
    Ok(names.len())
}

/// The functions marked `@test`.
fn tests(source: &str) -> Vec<String> {
    let (module, _) = parse(FileId(0), source);
    let tests = module.items.into_iter().filter(|item| item.attrs.iter().any(|attr| attr.name.name == "test"));
    tests
        .filter_map(|item| if let ItemKind::Function(f) = item.kind { Some(f.signature.name.name) } else { None })
        .collect()
}
