//! Data that goes out of one process and into another, and files that do not fit.

use super::super::suites::tests;
use super::super::{Line, Measured, Workplace};
use crate::files::workspace_file;
use std::fs;

pub(super) const LINES: &[Line] = &[
    Line {
        title: "train, save, start another process, load, evaluate: JSON, npz and CSV; structs, tuples, enums and tensors",
        bar: "equal bits",
        measure: round_trips,
    },
    Line { title: "files and settings that do not fit", bar: "at least 60, each with its text", measure: misfits },
];

fn round_trips(place: &Workplace) -> Result<Measured, String> {
    let result = tests(place, "cotan-cli", &["--test", "all", "equal_bits"], "")?;
    Ok(Measured::new(true, result))
}

/// What is said of each.
const MISFITS: &str = "crates/cotan/tests/misfits.txt";

fn misfits(place: &Workplace) -> Result<Measured, String> {
    let text = fs::read_to_string(workspace_file(MISFITS)).map_err(|e| format!("{MISFITS}: {e}"))?;
    let n = text.lines().filter(|line| !line.is_empty() && !line.starts_with(' ')).count();
    let result = tests(place, "cotan", &["--test", "all", "misfits::"], "")?;
    Ok(Measured::new(n >= 60, format!("{n} misfits; {result}")))
}
