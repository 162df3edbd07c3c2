//! Test suites under `tests/` and in the crates, run by cargo as they stand.

use super::{Measured, Workplace};
use crate::files::{programs, workspace_file};
use std::process::Command;

/// How many programs lie below a folder of the workspace.
pub(super) fn count(folder: &str) -> usize {
    programs(&workspace_file(folder)).len()
}

/// Runs a built command; gives what it prints, or the end of that if it fails.
pub(super) fn built(place: &Workplace, name: &str, args: &[&str], env: &[(&str, &str)]) -> Result<String, String> {
    let mut command = Command::new(place.built.join(name));
    let out = command.current_dir(&place.root).args(args).envs(env.iter().copied()).output();
    let out = out.map_err(|e| format!("{name}: {e}"))?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    if out.status.success() {
        return Ok(text);
    }
    Err(format!("{}{}", end(&text), end(&String::from_utf8_lossy(&out.stderr))))
}

/// The last lines of a text.
fn end(text: &str) -> String {
    let last: Vec<&str> = text.lines().rev().take(20).collect();
    last.into_iter().rev().collect::<Vec<_>>().join("\n")
}

/// Runs tests of a package; gives the closing lines of cargo, or what failed. Of the programs under `tests/run` those
/// with `part` in their path.
pub(super) fn tests(place: &Workplace, package: &str, args: &[&str], part: &str) -> Result<String, String> {
    Ok(closing_lines(&output_of_tests(place, package, args, part)?))
}

/// Runs tests of a package; gives what they print, or the end of it if one fails.
pub(super) fn output_of_tests(place: &Workplace, package: &str, args: &[&str], part: &str) -> Result<String, String> {
    output(place, package, args, &[("COTAN_RUN", part)])
}

/// Runs the tests of the library's operations on the files with `part` in their name, all forms of each.
pub(super) fn operations(place: &Workplace, part: &str) -> Result<String, String> {
    let args = ["--test", "all", "operations::"];
    Ok(closing_lines(&output(place, "cotan-testkit", &args, &[("COTAN_OPERATIONS", part), ("COTAN_CAMPAIGN", "1")])?))
}

/// Runs tests of a package in the second tier, which takes every form of each program; gives the closing lines of cargo.
pub(super) fn campaign(place: &Workplace, package: &str, args: &[&str]) -> Result<String, String> {
    Ok(closing_lines(&output(place, package, args, &[("COTAN_RUN", ""), ("COTAN_CAMPAIGN", "1")])?))
}

fn closing_lines(text: &str) -> String {
    let closing = text.lines().filter(|l| l.starts_with("test result:")).filter_map(|l| l.split(';').next());
    closing.collect::<Vec<_>>().join(", ")
}

/// Runs tests of a package with these variables; gives what they print, or the end of it if one fails or none ran.
pub(super) fn output(place: &Workplace, package: &str, args: &[&str], env: &[(&str, &str)]) -> Result<String, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let out = Command::new(cargo)
        .current_dir(&place.root)
        .envs(env.iter().copied())
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
    Err(end(&text))
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
