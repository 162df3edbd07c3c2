//! Programs with mistakes, under `tests/ui`: each gets the diagnostics that it is marked with, and no others.
//!
//! The rendered text stands beside the program; `COTAN_BLESS=1` writes it.

#[path = "../support/files.rs"]
mod files;
mod marks;
mod quality;

use cotan_syntax::render::{Style, to_text};
use cotan_syntax::{Diagnostic, SourceMap};
use files::{TestFile, expect_none, programs};
use marks::{Mark, marks};
use std::collections::BTreeSet;
use std::fs;

/// Codes for which there is no small program, with the reason.
const WITHOUT_CASE: &[(&str, &str)] =
    &[("E0111", "needs a file of 4 GiB"), ("E0130", "needs a thousand brackets; the parser's own tests have it")];

/// A program after the front end.
struct Checked {
    file: TestFile,
    text: String,
    sources: SourceMap,
    diagnostics: Vec<Diagnostic>,
}

fn checked() -> Vec<Checked> {
    programs("ui").into_iter().map(check).collect()
}

fn check(file: TestFile) -> Checked {
    let mut sources = SourceMap::new();
    let text = String::from_utf8_lossy(&file.bytes).into_owned();
    let id = cotan_syntax::FileId(0);
    let diagnostics = match cotan_syntax::decode(id, file.bytes.clone()) {
        Ok(text) => {
            let id = sources.add(&file.name, &text);
            let (module, mut diagnostics) = cotan_syntax::parse(id, &text);
            diagnostics.extend(cotan_sema::check(&module, &cotan_sema::Limits::default()).diagnostics);
            diagnostics
        }
        Err(invalid) => {
            sources.add(&file.name, &invalid.valid);
            vec![*invalid.diagnostic]
        }
    };
    Checked { file, text, sources, diagnostics }
}

#[test]
fn every_program_gets_the_diagnostics_that_it_is_marked_with_and_no_others() {
    let mut problems = Vec::new();
    for program in checked() {
        let mut found: Vec<Mark> = program.diagnostics.iter().map(|d| mark_of(d, &program.sources)).collect();
        found.sort();
        let expected = marks(&program.text);
        if found != expected || found.is_empty() {
            let lines = |marks: &[Mark]| marks.iter().map(|m| format!("\n    {m}")).collect::<String>();
            let (expected, found) = (lines(&expected), lines(&found));
            problems.push(format!("{}\n  expected{expected}\n  found{found}", program.file.name));
        }
    }
    expect_none(&problems);
}

fn mark_of(diagnostic: &Diagnostic, sources: &SourceMap) -> Mark {
    let json = cotan_syntax::render::to_json(diagnostic, sources);
    Mark { line: json.line, severity: json.severity.to_uppercase(), code: json.code.to_owned() }
}

#[test]
fn the_rendered_text_is_what_stands_beside_the_program() {
    let is_blessing = std::env::var_os("COTAN_BLESS").is_some();
    let mut problems = Vec::new();
    for program in checked() {
        let text = rendered(&program);
        let beside = program.file.path.with_extension("stderr");
        let expected = fs::read_to_string(&beside).unwrap_or_default();
        if text == expected {
            continue;
        }
        if is_blessing {
            fs::write(&beside, text).unwrap_or_else(|e| panic!("writing {}: {e}", beside.display()));
        } else {
            problems.push(format!("{}\nexpected\n{expected}\nfound\n{text}", program.file.name));
        }
    }
    expect_none(&problems);
}

fn rendered(program: &Checked) -> String {
    let texts = program.diagnostics.iter().map(|d| to_text(d, &program.sources, Style::Plain));
    texts.map(|text| text + "\n").collect::<Vec<_>>().join("\n")
}

#[test]
fn every_diagnostic_names_what_it_is_about_and_says_what_to_do() {
    let mut problems = Vec::new();
    for program in checked() {
        for diagnostic in &program.diagnostics {
            for defect in quality::defects(diagnostic, &program.sources) {
                problems.push(format!("{}: {defect}", program.file.name));
            }
        }
    }
    expect_none(&problems);
}

#[test]
fn every_code_of_the_front_end_has_a_program() {
    let seen: BTreeSet<&str> =
        checked().iter().flat_map(|p| p.diagnostics.iter().map(|d| d.code.as_str()).collect::<Vec<_>>()).collect();
    let excused: BTreeSet<&str> = WITHOUT_CASE.iter().map(|(code, _)| *code).collect();
    let pages = cotan_syntax::codes::all().chain(cotan_sema::codes::all());
    let all = pages.map(|info| info.code.as_str());
    let problems: Vec<String> =
        all.filter(|code| !seen.contains(code) && !excused.contains(code)).map(str::to_owned).collect();
    expect_none(&problems);
}
