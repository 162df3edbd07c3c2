//! `faults [PROGRAMS [ORACLE]]`: seeds each fault of the list into a copy of the workspace, and shows after how many random
//! programs which oracle finds a fault of the derivative crate, or whether that one does. Fails if one is not found within
//! PROGRAMS (1,000). An oracle alone is asked only about faults that it can see: `residues` about those of reverse mode.
//!
//! `faults passes [PROGRAMS]`: the same with faults of passes. Each must be named by the bisection, which blames nobody where
//! there is none.

use anyhow::{Context, Result, bail};
use cotan_testkit::faults::{Judge, VARIABLE, all, seed};
use cotan_testkit::files::workspace_file;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["passes"] => of_passes("200"),
        ["passes", programs] => of_passes(programs),
        [] => of_derivatives("1000", None),
        [programs] => of_derivatives(programs, None),
        [programs, only] => of_derivatives(programs, Some(only)),
        _ => bail!("usage: faults [PROGRAMS [ORACLE]], or faults passes [PROGRAMS]"),
    }
}

/// Faults of the derivative crate, which oracles find.
#[expect(clippy::print_stdout, reason = "the output of a command line tool")]
fn of_derivatives(programs: &str, only: Option<&str>) -> Result<()> {
    let oracle = build(&seeded_copy()?, "oracle")?;
    let (mut missed, mut n_faults) = (0, 0);
    for (number, fault) in all() {
        let Judge::Oracles { is_of_reverse_mode } = fault.judge else { continue };
        if only.is_some() && !is_of_reverse_mode {
            continue;
        }
        n_faults += 1;
        let mut command = Command::new(&oracle);
        command.args([programs, "1"]).env(VARIABLE, number.to_string());
        if let Some(name) = only {
            command.args(["--only", name]);
        }
        let output = command.output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let found = text.lines().find(|line| line.starts_with("found after"));
        missed += usize::from(found.is_none());
        println!("{number:>2}  {:<80} {}", fault.what, found.unwrap_or("NOT FOUND"));
    }
    match missed {
        0 => {
            println!("{n_faults} of {n_faults} faults found");
            Ok(())
        }
        n => bail!("{n} of {n_faults} faults are not found within {programs} programs"),
    }
}

/// Faults of passes, which the bisection names.
#[expect(clippy::print_stdout, reason = "the output of a command line tool")]
fn of_passes(programs: &str) -> Result<()> {
    let guilty = build(&seeded_copy()?, "guilty")?;
    let said = |number: Option<usize>| {
        let number = number.map(|number| number.to_string()).unwrap_or_default();
        let output = Command::new(&guilty).arg(programs).env(VARIABLE, number).output()?;
        anyhow::Ok(
            String::from_utf8_lossy(if output.status.success() { &output.stdout } else { &output.stderr }).into_owned(),
        )
    };
    let innocent = said(None)?;
    if !innocent.starts_with("no pass is guilty") {
        bail!("without a fault: {innocent}");
    }
    let (mut missed, mut n_faults) = (0, 0);
    for (number, fault) in all() {
        let Judge::Bisection(pass) = fault.judge else { continue };
        n_faults += 1;
        let said = said(Some(number))?;
        let first = said.lines().next().unwrap_or_default();
        let is_named = first.contains(&format!("pass `{pass}`, found by "));
        missed += usize::from(!is_named);
        println!("{number:>2}  {pass:<16} {:<56} {}{first}", fault.what, if is_named { "" } else { "NOT NAMED: " });
    }
    match missed {
        0 => {
            println!("{n_faults} of {n_faults} faults named, each with its pass");
            Ok(())
        }
        n => bail!("{n} of {n_faults} faults are not named"),
    }
}

/// A copy of the workspace with all faults, in a fixed place, so that a second run builds only what has changed.
fn seeded_copy() -> Result<PathBuf> {
    let copy = workspace_file("target/faults/workspace");
    if copy.exists() {
        fs::remove_dir_all(&copy).with_context(|| format!("removing {}", copy.display()))?;
    }
    let root = workspace_file("");
    for entry in fs::read_dir(&root).with_context(|| format!("reading {}", root.display()))? {
        let name = entry?.file_name();
        if name != "target" && !name.to_string_lossy().starts_with('.') {
            copy_all(&root.join(&name), &copy.join(&name))?;
        }
    }
    seed(&copy).map_err(anyhow::Error::msg)?;
    Ok(copy)
}

/// Builds a command of the copy and gives its path.
fn build(copy: &Path, command: &str) -> Result<PathBuf> {
    let target = copy.with_file_name("target");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--release", "--quiet", "-p", "cotan-testkit", "--bin", command])
        .env("CARGO_TARGET_DIR", &target)
        .current_dir(copy)
        .status()
        .context("running cargo")?;
    if !status.success() {
        bail!("the seeded copy does not build");
    }
    Ok(target.join("release").join(command))
}

fn copy_all(from: &Path, to: &Path) -> Result<()> {
    if from.is_dir() {
        fs::create_dir_all(to).with_context(|| format!("creating {}", to.display()))?;
        for entry in fs::read_dir(from).with_context(|| format!("reading {}", from.display()))? {
            let entry = entry?;
            copy_all(&entry.path(), &to.join(entry.file_name()))?;
        }
    } else {
        fs::copy(from, to).with_context(|| format!("copying {}", from.display()))?;
    }
    Ok(())
}
