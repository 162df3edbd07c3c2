//! Test suites under `tests/` and in the crates, run by cargo as they stand.

use super::{Measured, Workplace};
use crate::files::{programs, workspace_file};
use std::process::Command;

/// How many programs lie below a folder of the workspace.
pub(super) fn count(folder: &str) -> usize {
    programs(&workspace_file(folder)).len()
}

/// Runs tests of a package; gives the closing lines of cargo, or what failed. Of the programs under `tests/run` those
/// with `part` in their path.
pub(super) fn tests(place: &Workplace, package: &str, args: &[&str], part: &str) -> Result<String, String> {
    let text = output_of_tests(place, package, args, part)?;
    let closing = text.lines().filter(|l| l.starts_with("test result:")).filter_map(|l| l.split(';').next());
    Ok(closing.collect::<Vec<_>>().join(", "))
}

/// Runs tests of a package; gives what they print, or the end of it if one fails.
pub(super) fn output_of_tests(place: &Workplace, package: &str, args: &[&str], part: &str) -> Result<String, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let out = Command::new(cargo)
        .current_dir(&place.root)
        .env("COTAN_RUN", part)
        .args(["test", "--release", "-q", "-p", package])
        .args(args)
        .output()
        .map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    // A filter that fits no test is a line that cannot fail.
    let passed =
        text.lines().filter_map(|l| l.strip_prefix("test result: ok. ")?.split(' ').next()?.parse::<u64>().ok());
    if out.status.success() && passed.sum::<u64>() > 0 {
        return Ok(text);
    }
    let last: Vec<&str> = text.lines().rev().take(20).collect();
    Err(last.into_iter().rev().collect::<Vec<_>>().join("\n"))
}

/// Runs tests of a package that judge `n` programs, of which there must be `least`.
pub(super) fn harness(
    place: &Workplace,
    n: usize,
    least: usize,
    package: &str,
    args: &[&str],
) -> Result<Measured, String> {
    let result = tests(place, package, args, "")?;
    Ok(Measured::new(n >= least, format!("{n} programs; {result}")))
}
