//! Each test parses text and compares the printed tree or the diagnostics.

mod declarations;
mod expressions;
mod foreign;
mod limits;
mod mistakes;
mod newlines;
mod pages;
mod robustness;

use expect_test::Expect;

use super::*;
use crate::dump;

/// Programs that use the whole language and have no errors.
const SAMPLES: &[&str] = &[
    include_str!("tests/samples/functions.cot"),
    include_str!("tests/samples/types.cot"),
    include_str!("tests/samples/derivatives.cot"),
];

/// The tree of a whole file; it has no errors.
fn check_module(source: &str, expected: Expect) {
    let (module, diagnostics) = parse(FileId(0), source);
    assert_eq!(diagnostics, [], "{source}");
    expected.assert_eq(&dump::module(&module));
}

/// The tree of the body of a function without errors.
fn check_body(source: &str, expected: Expect) {
    let source = format!("fn f() -> f64 = {source}");
    let (module, diagnostics) = parse(FileId(0), &source);
    assert_eq!(diagnostics, [], "{source}");
    let body = match &module.items[0].kind {
        crate::ast::ItemKind::Function(function) => dump::expr(&function.body),
        other => panic!("{other:?}"),
    };
    expected.assert_eq(&body);
}

/// Code, marked text, message and help of each diagnostic.
fn check_errors(source: &str, expected: Expect) {
    let (_, diagnostics) = parse(FileId(0), source);
    let lines: Vec<_> = diagnostics
        .iter()
        .map(|diagnostic| {
            let marked = |span: Span| {
                let line = source[..span.start as usize].matches('\n').count() + 1;
                format!("{line}:{:?}", &source[span.range()])
            };
            let mut line =
                format!("{} at {}: {}\n", diagnostic.code, marked(diagnostic.primary.span), diagnostic.message);
            for label in &diagnostic.labels {
                line += &format!("  label at {}: {}\n", marked(label.span), label.text);
            }
            for help in &diagnostic.help {
                line += &format!("  help: {help}\n");
            }
            line
        })
        .collect();
    expected.assert_eq(&lines.concat());
}
