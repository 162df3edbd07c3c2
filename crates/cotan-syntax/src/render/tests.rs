//! Tests of rendering.

use expect_test::{Expect, expect};

use super::*;
use crate::diagnostic::{Code, Diagnostic};
use crate::span::{FileId, SourceMap, Span};

const CODE: Code = Code("E0199");

fn span(file: u32, start: u32, end: u32) -> Span {
    Span::new(FileId(file), start, end)
}

fn sources() -> SourceMap {
    let mut sources = SourceMap::new();
    sources.add("dir/a.cot", "fn f() -> f64 {\n  let é = (1.0\n  2.0\n}\n\n\n\n\n\nlast");
    sources.add("b.cot", "const N: i64 = 3");
    sources
}

fn check(diagnostic: &Diagnostic, sources: &SourceMap, expected: Expect) {
    expected.assert_eq(&to_text(diagnostic, sources, Style::Plain));
}

#[test]
fn text_shows_marked_lines_labels_and_help() {
    let diagnostic = Diagnostic::error(CODE, span(0, 32, 33), "expected `)`, found `2`")
        .note("here")
        .label(span(0, 27, 28), "opened here")
        .help("add `)`")
        .help("or remove `(`");
    check(
        &diagnostic,
        &sources(),
        expect![[r#"
        error[E0199]: expected `)`, found `2`
         --> dir/a.cot:3:1
          |
        2 |   let é = (1.0
          |           - opened here
        3 |   2.0
          | ^ here
          |
          = help: add `)`
          = help: or remove `(`"#]],
    );
}

#[test]
fn text_shows_other_files_and_leaves_out_lines_between() {
    let diagnostic = Diagnostic::warning(CODE, span(0, 0, 2), "`f` is not used")
        .label(span(0, 42, 46), "last line")
        .label(span(1, 6, 7), "`N` is declared here");
    check(
        &diagnostic,
        &sources(),
        expect![[r#"
        warning[E0199]: `f` is not used
          --> dir/a.cot:1:1
           |
         1 |   fn f() -> f64 {
           |   ^^
        ...
         7 | /
        ...  |
        10 | | last
           | |_- last line
           |
          ::: b.cot:1:7
           |
         1 |   const N: i64 = 3
           |         - `N` is declared here"#]],
    );
}

#[test]
fn an_empty_span_and_one_past_the_end_have_a_place() {
    check(
        &Diagnostic::error(CODE, span(1, 16, 16), "end"),
        &sources(),
        expect![[r#"
        error[E0199]: end
         --> b.cot:1:17
          |
        1 | const N: i64 = 3
          |                 ^"#]],
    );
    check(
        &Diagnostic::error(CODE, span(1, 90, 99), "beyond"),
        &sources(),
        expect![[r#"
        error[E0199]: beyond
         --> b.cot:1:17
          |
        1 | const N: i64 = 3
          |                 ^"#]],
    );
    check(&Diagnostic::error(CODE, span(9, 0, 1), "no file"), &sources(), expect!["error[E0199]: no file"]);
}

#[test]
fn the_first_lines_of_a_syntax_error_name_code_file_line_and_column() {
    let mut sources = SourceMap::new();
    let source = "fn f(x: f64) -> f64 {\n  if x = 1.0 { x } else { 0.0 }\n}\n";
    let file = sources.add("a.cot", source);
    let (_, diagnostics) = crate::parse(file, source);
    check(
        &diagnostics[0],
        &sources,
        expect![[r#"
        error[E0148]: expected a condition, found the assignment `=`
         --> a.cot:2:8
          |
        2 |   if x = 1.0 { x } else { 0.0 }
          |        ^
          |
          = help: write `==` to compare"#]],
    );
}

#[test]
fn control_characters_never_reach_the_terminal() {
    let mut sources = SourceMap::new();
    let file = sources.add("a\u{1b}[2J.cot", "\u{1b}[31m\u{7f}\u{202e} x\r\n");
    let (_, diagnostics) = crate::parse(file, sources.slice(span(0, 0, 12)));
    for diagnostic in &diagnostics {
        let text = to_text(diagnostic, &sources, Style::Plain);
        assert!(!text.contains(['\u{1b}', '\u{7f}', '\u{202e}', '\r']), "{text:?}");
    }
    let shown = Diagnostic::error(CODE, span(0, 10, 11), "a\u{1b}b").help("c\u{7}d");
    check(
        &shown,
        &sources,
        expect![[r#"
            error[E0199]: a␛b
             --> a␛[2J.cot:1:9
              |
            1 | ␛[31m␡� x 
              |         ^
              |
              = help: c␇d"#]],
    );
}

/// Defect D10: a line break in the name of a file began a diagnostic of its own.
#[test]
fn d10_a_line_break_in_a_name_begins_no_diagnostic() {
    let mut sources = SourceMap::new();
    sources.add("a\nerror[E0001]: b.cot", "x");
    let diagnostic = Diagnostic::error(CODE, span(0, 0, 1), "no `c\nerror: d`").note("e\nf").help("g\nh");
    check(
        &diagnostic,
        &sources,
        expect![[r#"
            error[E0199]: no `c␊error: d`
             --> a␊error[E0001]: b.cot:1:1
              |
            1 | x
              | ^ e␊f
              |
              = help: g␊h"#]],
    );
}

#[test]
fn colours_are_used_only_when_asked_for() {
    let diagnostic = Diagnostic::error(CODE, span(1, 0, 5), "wrong");
    assert!(to_text(&diagnostic, &sources(), Style::Coloured).contains('\u{1b}'));
    assert!(!to_text(&diagnostic, &sources(), Style::Plain).contains('\u{1b}'));
}

#[test]
fn json_has_the_fields_that_tools_rely_on() {
    let diagnostic = Diagnostic::error(CODE, span(0, 32, 35), "expected `)`, found `2`")
        .note("here")
        .label(span(1, 6, 7), "declared here")
        .help("add `)`")
        .help("or remove `(`");
    let json = serde_json::to_string_pretty(&to_json(&diagnostic, &sources())).expect("strings are JSON");
    expect![[r#"
        {
          "severity": "error",
          "code": "E0199",
          "message": "expected `)`, found `2`",
          "file": "dir/a.cot",
          "line": 3,
          "column": 1,
          "end_line": 3,
          "end_column": 4,
          "help": "add `)`\nor remove `(`",
          "related": [
            {
              "message": "here",
              "file": "dir/a.cot",
              "line": 3,
              "column": 1,
              "end_line": 3,
              "end_column": 4
            },
            {
              "message": "declared here",
              "file": "b.cot",
              "line": 1,
              "column": 7,
              "end_line": 1,
              "end_column": 8
            }
          ],
          "fix": []
        }"#]]
    .assert_eq(&json);
}

#[test]
fn of_long_lines_a_part_is_shown_or_the_place_alone() {
    let mut sources = SourceMap::new();
    let file = sources.add("long.cot", format!("{}\n", "x ".repeat(500_000)));
    let shown = |at: u32| {
        let diagnostic = Diagnostic::error(CODE, Span::new(file, at, at + 1), "expected less").help("write less");
        to_text(&diagnostic, &sources, Style::Plain)
    };
    let (first, last) = (shown(2), shown(900_000));
    assert!(first.contains("long.cot:1:3") && first.contains("x x x") && first.len() < 2_000, "{first}");
    assert!(last.contains("long.cot:1:900001") && !last.contains("x x x") && last.contains("write less"), "{last}");
}
