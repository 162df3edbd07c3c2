//! Programs with mistakes, under `tests/ui`: each gets the diagnostics that it is marked with, and no others.
//!
//! The rendered text stands beside the program; `COTAN_BLESS=1` writes it.

mod marks;
mod quality;

use cotan::Program;
use cotan_sema::Limits;
use cotan_syntax::render::{Style, to_json, to_text};
use cotan_syntax::{Diagnostic, FileId, SourceMap, decode};
use cotan_testkit::files::{FilesBelow, expect_file, programs, report, tests_folder};
use marks::{Mark, marks};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Codes for which there is no small program, with the reason.
const WITHOUT_CASE: &[(&str, &str)] = &[
    ("E0111", "needs a file of 4 GiB"),
    ("E0132", "needs more errors than anybody reads; the tests of the command have it"),
    ("E0133", "needs a declaration of half a million nodes"),
    ("E0348", "needs dozens of columns that exclude each other; the checker's own tests have it"),
    ("E0606", "needs nesting that the parser refuses before"),
    ("E0607", "needs ten thousand specialisations"),
    ("E0609", "needs a million operations"),
];

/// A program after the front end.
struct Checked {
    path: PathBuf,
    name: String,
    text: String,
    sources: SourceMap,
    diagnostics: Vec<Diagnostic>,
}

fn checked() -> Vec<Checked> {
    checked_in("ui")
}

fn checked_in(folder: &str) -> Vec<Checked> {
    programs(&tests_folder().join(folder)).into_iter().map(check).collect()
}

fn check(path: PathBuf) -> Checked {
    let below = path.strip_prefix(tests_folder()).expect("every path was found below the folder");
    let name = below.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
    let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("reading {name}: {e}"));
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (sources, diagnostics) = match decode(FileId(0), bytes) {
        Ok(text) => {
            let program = Program::load(
                &name,
                &text,
                &FilesBelow(&tests_folder()),
                &cotan::library::standard(),
                &Limits::default(),
            );
            (program.sources, program.diagnostics)
        }
        Err(invalid) => {
            let mut sources = SourceMap::new();
            sources.add(&name, &invalid.valid);
            (sources, vec![*invalid.diagnostic])
        }
    };
    Checked { path, name, text, sources, diagnostics }
}

#[test]
fn every_program_gets_the_diagnostics_that_it_is_marked_with_and_no_others() {
    let programs = checked();
    let compare = |program: &Checked| {
        let mut found: Vec<Mark> = program.diagnostics.iter().map(|d| mark_of(d, &program.sources)).collect();
        found.sort();
        let expected = expected(program);
        let lines = |marks: &[Mark]| marks.iter().map(|m| format!("\n    {m}")).collect::<String>();
        let differ = found != expected || found.is_empty();
        differ.then(|| format!("{}\n  expected{}\n  found{}", program.name, lines(&expected), lines(&found)))
    };
    report(programs.iter().filter_map(compare).collect(), programs.len());
}

/// The marks of the program and of the files that it imports.
fn expected(program: &Checked) -> Vec<Mark> {
    let imported =
        program.sources.iter().skip(1).flat_map(|(_, file)| {
            marks(file.text()).into_iter().map(|mark| Mark { file: file.name().to_owned(), ..mark })
        });
    let mut all: Vec<Mark> = marks(&program.text).into_iter().chain(imported).collect();
    all.sort();
    all
}

fn mark_of(diagnostic: &Diagnostic, sources: &SourceMap) -> Mark {
    let json = to_json(diagnostic, sources);
    let file = if diagnostic.primary.span.file == FileId(0) { String::new() } else { json.file };
    Mark { file, line: json.line, severity: json.severity.to_uppercase(), code: json.code.to_owned() }
}

#[test]
fn the_rendered_text_is_what_stands_beside_the_program() {
    let programs = checked();
    let compare = |p: &Checked| expect_file(&p.path.with_extension("stderr"), &rendered(p)).err();
    report(programs.iter().filter_map(compare).collect(), programs.len());
}

fn rendered(program: &Checked) -> String {
    let texts = program.diagnostics.iter().map(|d| to_text(d, &program.sources, Style::Plain));
    texts.map(|text| text + "\n").collect::<Vec<_>>().join("\n")
}

#[test]
fn every_diagnostic_names_what_it_is_about_and_says_what_to_do() {
    let programs: Vec<Checked> = ["ui", "mistakes", "drafts"].into_iter().flat_map(checked_in).collect();
    let judge = |program: &Checked| -> Vec<String> {
        let defects = program.diagnostics.iter().flat_map(|d| quality::defects(d, &program.sources));
        defects.map(|defect| format!("{}: {defect}", program.name)).collect()
    };
    report(programs.iter().flat_map(judge).collect(), programs.len());
}

#[test]
fn every_code_of_the_front_end_has_a_program() {
    let programs = checked();
    let seen: BTreeSet<&str> = programs.iter().flat_map(|p| &p.diagnostics).map(|d| d.code.as_str()).collect();
    let excused: BTreeSet<&str> = WITHOUT_CASE.iter().map(|(code, _)| *code).collect();
    let pages = cotan_syntax::codes::all().chain(cotan_sema::codes::all());
    let all: Vec<&str> = pages.map(|info| info.code.as_str()).collect();
    let missing = all.iter().filter(|code| !seen.contains(*code) && !excused.contains(*code));
    report(missing.map(|code| format!("no program under tests/ui gets {code}")).collect(), all.len());
}
