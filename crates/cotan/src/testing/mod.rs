//! Tests of programs: the functions marked `@test`, and the examples in documentation.

mod examples;
mod sides;

pub use sides::with_sides;

use cotan_syntax::ast::{Item, ItemKind};
use cotan_syntax::{FileId, parse};

/// A function that passes if it gives `true`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// What is shown.
    pub title: String,
    /// The function to call.
    pub function: String,
    /// The line of its place, from 1.
    pub line: usize,
    /// The column of its place, from 1.
    pub column: usize,
}

/// The tests of a program, by their lines, and the text in which all of them are functions. Lines and columns of that text
/// are those of the program.
pub fn tests(text: &str) -> (String, Vec<Test>) {
    let (module, _) = parse(FileId(0), text);
    let (exposed, examples) = examples::expose(text, &module);
    let mut tests: Vec<Test> = module.items.iter().filter_map(|item| marked(item, text)).collect();
    tests.extend(examples.into_iter().map(|example| Test {
        title: format!("example of {}", example.subject),
        function: example.function,
        line: example.line,
        column: 1,
    }));
    tests.sort_by_key(|test| test.line);
    (exposed, tests)
}

/// The test that a declaration is.
fn marked(item: &Item, text: &str) -> Option<Test> {
    let ItemKind::Function(function) = &item.kind else { return None };
    item.attrs.iter().find(|attr| attr.name.name == "test")?;
    let name = &function.signature.name;
    let before = &text[..name.span.start as usize];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    Some(Test {
        title: name.name.clone(),
        function: name.name.clone(),
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    })
}
