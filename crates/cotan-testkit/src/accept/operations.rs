//! Lines of the operations: the battery, reference values, broken rules, defects of others, and new operations.

use super::suites::{output_of_tests, tests};
use super::{Line, Measured, Workplace};
use crate::battery;
use crate::battery::mutants::{Fate, judge_all, without_derivative};
use cotan_ops::Registry;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(super) const LINES: &[Line] = &[
    Line {
        title: "every operation of the registry under all oracles, from the registry alone",
        bar: "no failure",
        measure: every_operation,
    },
    Line {
        title: "every operation in loops, of views, in storage, on tensors of ranks 0 to 4, and beside NaN",
        bar: "no failure",
        measure: every_form,
    },
    Line {
        title: "every P and T entry of the reference is in the manifest, with tests (spec/coverage.tsv)",
        bar: "the tests of the table pass",
        measure: coverage,
    },
    Line {
        title: "every case of spec/operations: values of NumPy, SciPy and PyTorch, derivatives, and other types and programs",
        bar: "no failure, interpreted and compiled",
        measure: reference_values,
    },
    Line {
        title: "broken rules (cargo xtask mutate-rules)",
        bar: "every real mutant is noticed; at most 3 % are the same function, each listed",
        measure: broken_rules,
    },
    Line { title: "operations without a derivative", bar: "each has a reason", measure: no_derivative },
    Line {
        title: "every numbered defect of others has a test (tests/defects.tsv)",
        bar: "all 16, each with tests that are there",
        measure: defects,
    },
    Line {
        title: "an operation of one's own: one file and one line (crates/cotan/examples/own_operation.rs)",
        bar: "it is called from the language, holds before the battery, and its mutants are noticed",
        measure: own_operation,
    },
    Line {
        title: "the skeleton of `cargo xtask new-op`",
        bar: "it does not compile: one error for each thing that only its author knows",
        measure: skeleton,
    },
];

/// The most mutants that may be the same function, in parts of all.
const MOST_SAME: f64 = 0.03;

fn every_operation(_: &Workplace) -> Result<Measured, String> {
    measured(&battery::check_all(Registry::standard()))
}

fn every_form(_: &Workplace) -> Result<Measured, String> {
    measured(&battery::check_forms(Registry::standard()))
}

fn measured(report: &battery::Report) -> Result<Measured, String> {
    let failure = report.failures.first().map(|f| format!(", first: {f}")).unwrap_or_default();
    let (n, points, n_failures) = (report.operations, report.points, report.failures.len());
    let holds = report.failures.is_empty() && report.operations > 0;
    Ok(Measured::new(holds, format!("{n} operations, {points} points, {n_failures} failures{failure}")))
}

fn coverage(place: &Workplace) -> Result<Measured, String> {
    Ok(Measured::new(true, tests(place, "cotan-testkit", &["--test", "all", "coverage::"], "")?))
}

fn reference_values(place: &Workplace) -> Result<Measured, String> {
    let text = output_of_tests(place, "cotan-testkit", &["--test", "all", "operations::", "--", "--nocapture"], "")?;
    let figures: Vec<&str> =
        text.lines().filter(|line| line.contains("cases,") || line.ends_with("points")).map(str::trim).collect();
    Ok(Measured::new(text.contains("test result: ok"), figures.join("; ")))
}

fn broken_rules(_: &Workplace) -> Result<Measured, String> {
    let mutants = judge_all(Registry::standard())?;
    let of = |fate: Fate| mutants.iter().filter(|mutant| mutant.fate == fate).count();
    let (noticed, missed, same) = (of(Fate::Noticed), of(Fate::Missed), of(Fate::Same));
    let share = same as f64 / mutants.len().max(1) as f64;
    let text = format!(
        "{} mutants: {noticed} noticed, {missed} missed, {same} ({:.1} %) the same at every sampled point",
        mutants.len(),
        100.0 * share
    );
    Ok(Measured::new(missed == 0 && noticed > 0 && share <= MOST_SAME, text))
}

fn no_derivative(_: &Workplace) -> Result<Measured, String> {
    let listed = without_derivative(Registry::standard());
    let bare: Vec<&str> = listed.iter().filter(|(_, reason)| reason.len() < 10).map(|(name, _)| *name).collect();
    let names: Vec<&str> = listed.iter().map(|(name, _)| *name).collect();
    Ok(Measured::new(bare.is_empty(), format!("{}: {}", names.len(), names.join(" "))))
}

fn defects(place: &Workplace) -> Result<Measured, String> {
    let text = output_of_tests(place, "cotan-testkit", &["--test", "all", "sentences::", "--", "--nocapture"], "")?;
    let counts: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("defect ")).collect();
    Ok(Measured::new(counts.len() == 16, counts.join("; ")))
}

fn own_operation(place: &Workplace) -> Result<Measured, String> {
    Ok(Measured::new(true, tests(place, "cotan-testkit", &["--test", "own_operation"], "")?))
}

/// The name of the operation whose skeleton is looked at.
const SKELETON: &str = "skeleton_of_acceptance";

/// Files as they are now, which come back in the end.
struct Kept(Vec<(PathBuf, Option<Vec<u8>>)>);

impl Kept {
    fn of(paths: &[PathBuf]) -> Kept {
        Kept(paths.iter().map(|path| (path.clone(), fs::read(path).ok())).collect())
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        for (path, content) in &self.0 {
            // What can't be put back is seen by whoever looks at the working tree.
            let _ = match content {
                Some(content) => fs::write(path, content),
                None => fs::remove_file(path),
            };
        }
    }
}

fn skeleton(place: &Workplace) -> Result<Measured, String> {
    let folder = place.root.join("crates/cotan-ops/src");
    let own = format!("tensor/{SKELETON}.rs");
    let _kept = Kept::of(&["lib.rs", "table.rs", "tensor/mod.rs", &own].map(|name| folder.join(name)));
    let written = cargo(&place.root, &["xtask", "new-op", SKELETON])?;
    if !written.0 {
        return Err(written.1);
    }
    let (compiles, text) = cargo(&place.root, &["check", "-q", "-p", "cotan-ops"])?;
    let blanks = text.matches(&format!("error: {SKELETON}: ")).count();
    let in_file = fs::read_to_string(folder.join(&own)).map_err(|e| e.to_string())?.matches("compile_error!").count();
    let holds = !compiles && blanks > 0 && blanks == in_file;
    Ok(Measured::new(holds, format!("compiles: {compiles}; {blanks} of {in_file} blanks are errors")))
}

/// Whether a command of cargo succeeds, and what it says.
fn cargo(root: &Path, args: &[&str]) -> Result<(bool, String), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let out = Command::new(cargo).current_dir(root).args(args).output().map_err(|e| e.to_string())?;
    Ok((out.status.success(), String::from_utf8_lossy(&out.stderr).into_owned()))
}
