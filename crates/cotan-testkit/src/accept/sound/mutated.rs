//! Mutated programs through check, fmt (twice), run and grad on both engines.

use crate::accept::{Line, Measured, Workplace};
use std::process::Command;

pub(super) const LINE: Line = Line {
    title: "mutated programs: check, fmt twice, run and grad on both engines",
    bar: "50,000 programs: same text, same tree, same value or error at the same place; 0 panics, signals, hangs over 10 s",
    measure,
};

/// How many.
const PROGRAMS: u64 = 50_000;

/// In a process of its own: a signal is a figure too.
fn measure(place: &Workplace) -> Result<Measured, String> {
    let mut command = Command::new(place.built.join("fuzz"));
    let output = command.args(["commands", "--count", &PROGRAMS.to_string()]).output().map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_whole = lines.first().is_some_and(|line| line.starts_with(&format!("commands: {PROGRAMS} inputs")));
    let holds = output.status.success() && is_whole;
    Ok(Measured::new(holds, format!("{}; {}", output.status, lines.join("; "))))
}
