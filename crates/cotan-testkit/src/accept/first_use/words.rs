//! Words of the library: an optimiser for any struct, a network with its training in a few lines, and functions beside other
//! libraries.

use super::super::command::{cotan, json, output};
use super::super::suites::{self, tests};
use super::super::{Line, Measured, Workplace};
use std::fs;

pub(super) const LINES: &[Line] = &[
    Line { title: "Adam on any struct is one function", bar: "at most 8 lines in its body", measure: adam },
    Line {
        title: "the digits network with its training loop (examples/digits)",
        bar: "at most 28 lines; 9 of 10 pictures read right; the gradient holds before finite differences",
        measure: digits,
    },
    Line {
        title: "every S entry of the words is in spec/coverage.tsv, with tests",
        bar: "at least 50, and the tests of the table pass",
        measure: coverage,
    },
    Line {
        title: "cases of another library for `nn`, `losses`, `attention`, `complex`: values, both modes, order 2, `vmap`, views, f32, NaN",
        bar: "no failure",
        measure: cases,
    },
];

/// The network ends where the data begins.
const DATA: &str = "# Digits to read";

fn read(place: &Workplace, path: &str) -> Result<String, String> {
    fs::read_to_string(place.root.join(path)).map_err(|e| format!("{path}: {e}"))
}

/// The lines of a text that are neither empty nor a comment.
fn lines_of_code(text: &str) -> usize {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).count()
}

fn adam(place: &Workplace) -> Result<Measured, String> {
    let text = read(place, "lib/std/optim.cot")?;
    let (_, function) = text.split_once("pub fn adam[").ok_or("there is no `adam`")?;
    let (_, body) = function.split_once(" {\n").ok_or("`adam` has no body")?;
    let (body, _) = body.split_once("\n}").ok_or("`adam` has no end")?;
    let n = lines_of_code(body);
    Ok(Measured::new(n <= 8 && function.starts_with("T: Differentiable"), format!("{n} lines")))
}

fn digits(place: &Workplace) -> Result<Measured, String> {
    const PROGRAM: &str = "examples/digits/digits.cot";
    const CHECK: &str = "grad examples/digits/digits.cot --fn loss_at --wrt scale --set scale=1 --check --json";
    let text = read(place, PROGRAM)?;
    let (network, _) = text.split_once(DATA).ok_or("there is no data")?;
    let n = lines_of_code(network);
    let out = output(cotan(place).current_dir(&place.root).args(["run", PROGRAM]))?;
    let said = String::from_utf8_lossy(&out.stdout).trim().to_owned();
    let share = said.rsplit(' ').next().and_then(|word| word.parse::<f64>().ok()).ok_or_else(|| said.clone())?;
    let check = output(cotan(place).current_dir(&place.root).args(CHECK.split(' ')))?;
    let ok = json(&check)?["check"]["ok"].as_bool().ok_or("no `check.ok`")?;
    Ok(Measured::new(n <= 28 && share >= 0.9 && ok, format!("{n} lines; {said}; gradient: {ok}")))
}

fn coverage(place: &Workplace) -> Result<Measured, String> {
    const GROUPS: [&str; 7] = ["activations", "normalisation", "attention", "losses", "complex", "optimisers", "ODE"];
    let text = read(place, "spec/coverage.tsv")?;
    let is_asked = |line: &&str| GROUPS.iter().any(|group| line.starts_with(group)) && line.contains("\tS\t");
    let n = text.lines().filter(is_asked).count();
    let closing = tests(place, "cotan-testkit", &["--test", "all", "coverage::"], "")?;
    Ok(Measured::new(n >= 50, format!("{n} entries; {closing}")))
}

fn cases(place: &Workplace) -> Result<Measured, String> {
    let figures = ["nn", "losses", "attention", "complex"].map(|file| suites::operations(place, file));
    let figures: Result<Vec<String>, String> = figures.into_iter().collect();
    Ok(Measured::new(true, figures?.join("; ")))
}
