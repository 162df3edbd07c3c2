//! Lines of the whole language: its sentences, kernels, diagnostics and programs that run.

use super::suites::{count, harness, output_of_tests, tests};
use super::{Line, Measured, Workplace};
use crate::campaign::whole_language;
use crate::files::{FilesBelow, programs, tests_folder, workspace_file};
use crate::generate::Construct;
use crate::shuffle::has_parallel_loops;
use cotan::Program;
use cotan::library::standard;
use cotan_sema::{Limits, codes};
use cotan_syntax::{FileId, decode};
use std::collections::BTreeSet;
use std::path::Path;

pub(super) const LINES: &[Line] = &[
    Line {
        title: "every promise of the language's page has a test (tests/language.tsv)",
        bar: "the test of the table passes: no section without rows, no row without a test that exists",
        measure: sentences,
    },
    Line {
        title: "race check of kernels",
        bar: "40 accepted, 40 rejected; accepted ones keep their bits with their iterations shuffled",
        measure: kernels,
    },
    Line {
        title: "diagnostics as ui tests",
        bar: "at least 200 programs, every code at least one, each with span, expected, found, help",
        measure: diagnostics,
    },
    Line {
        title: "programs that run, tests/run",
        bar: "every one on the evaluator of the typed tree, the interpreter, the tape engine and compiled, none left out",
        measure: no_exclusions,
    },
    Line {
        title: "random programs of the whole language: evaluator of the typed tree, interpreter, tape engine, compiled code",
        bar: "10,000 programs, each on all of them, no failure; every construct and variant of the tree in at least 50",
        measure: random_programs,
    },
];

/// The codes of the race check.
const RACES: [&str; 4] = ["E0640", "E0641", "E0642", "E0645"];

fn sentences(place: &Workplace) -> Result<Measured, String> {
    let text = output_of_tests(place, "cotan-testkit", &["--test", "all", "sentences::", "--", "--nocapture"], "")?;
    let sections: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("section ")).collect();
    Ok(Measured::new(!sections.is_empty(), sections.join("; ")))
}

fn kernels(place: &Workplace) -> Result<Measured, String> {
    let (mut n_accepted, mut n_rejected) = (0, 0);
    for path in programs(&workspace_file("tests/run/kernels")) {
        let program = checked(&path, "run")?;
        n_accepted += usize::from(!program.has_errors() && has_parallel_loops(&program.checked.program));
    }
    for path in programs(&workspace_file("tests/ui/kernels")) {
        let program = checked(&path, "ui")?;
        n_rejected += usize::from(program.diagnostics.iter().any(|d| RACES.contains(&d.code.as_str())));
    }
    let shuffled = tests(place, "cotan-testkit", &["--test", "all", "run::"], "kernels/")?;
    let rejected = tests(place, "cotan-testkit", &["--test", "all", "ui::"], "")?;
    let text = format!("{n_accepted} accepted, {n_rejected} rejected; run and shuffled: {shuffled}; ui: {rejected}");
    Ok(Measured::new(n_accepted >= 40 && n_rejected >= 40, text))
}

fn diagnostics(place: &Workplace) -> Result<Measured, String> {
    let ui = programs(&workspace_file("tests/ui"));
    let mut seen = BTreeSet::new();
    for path in &ui {
        let bytes = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let found = match decode(FileId(0), bytes) {
            Ok(_) => checked(path, "ui")?.diagnostics,
            Err(invalid) => vec![*invalid.diagnostic],
        };
        seen.extend(found.iter().map(|diagnostic| diagnostic.code.as_str()));
    }
    let all: Vec<&str> = cotan_syntax::codes::all().chain(codes::all()).map(|info| info.code.as_str()).collect();
    let without: Vec<&str> = all.iter().copied().filter(|code| !seen.contains(code)).collect();
    let Measured { text, holds } = harness(place, ui.len(), 200, "cotan-testkit", &["--test", "all", "ui::"])?;
    let text = format!("{text}; {} codes, tested elsewhere: {}", all.len(), without.join(" "));
    Ok(Measured::new(holds && seen.contains("W0501") && seen.contains("W0502"), text))
}

/// The header of a program has no key that leaves out an engine: the harness runs each on all of them.
fn no_exclusions(place: &Workplace) -> Result<Measured, String> {
    harness(place, count("tests/run"), 1, "cotan-testkit", &["--test", "all", "run::"])
}

fn random_programs(_: &Workplace) -> Result<Measured, String> {
    let outcome = whole_language(10_000);
    let (_, _, least) = outcome.coverage.least(Construct::of_source());
    let (_, least_variant) = outcome.coverage.least_variant();
    let holds = outcome.failures.is_empty() && outcome.programs >= 10_000 && least.min(least_variant) >= 50;
    Ok(Measured::new(holds, outcome.figures(Construct::of_source())))
}

/// A test program after the front end; `folder` is the one that its imports are relative to.
fn checked(path: &Path, folder: &str) -> Result<Program, String> {
    let below = tests_folder().join(folder);
    let name = path.strip_prefix(&below).unwrap_or(path).to_string_lossy();
    let bytes = std::fs::read(path).map_err(|e| format!("{name}: {e}"))?;
    Ok(Program::load(&name, &String::from_utf8_lossy(&bytes), &FilesBelow(&below), &standard(), &Limits::default()))
}
