//! The memory-checking job.

use crate::accept::{Line, Measured, Workplace};
use std::process::Command;

pub(super) const LINE: Line = Line {
    title: "`cargo xtask memcheck`: tests of the crate with `unsafe` under AddressSanitizer, compiled programs under Valgrind",
    bar: "no report, neither part skipped, at least 100 programs with their gradients",
    measure,
};

/// Programs under Valgrind.
const PROGRAMS: usize = 100;

fn measure(place: &Workplace) -> Result<Measured, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    let output = command.args(["xtask", "memcheck"]).current_dir(&place.root).output().map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let parts: Vec<&str> = text.lines().filter(|line| line.starts_with("memcheck: ")).collect();
    let counted = parts.iter().filter_map(|line| line.split(" programs").next()?.rsplit(' ').next()?.parse().ok());
    let n: usize = counted.max().unwrap_or(0);
    let failed = text.lines().rev().take(20).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("; ");
    let holds = output.status.success() && n >= PROGRAMS;
    Ok(Measured::new(holds, if holds { parts.join("; ") } else { format!("{}: {failed}", output.status) }))
}
