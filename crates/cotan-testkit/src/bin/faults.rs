//! `faults [PROGRAMS [ORACLE]]`: seeds each fault of the list into a copy of the derivative crate, and shows after how many
//! random programs which oracle finds it, or whether that one does. Fails if one is not found within PROGRAMS (1,000).
//! An oracle alone is asked only about faults that it can see: `residues` about those of reverse mode.

use anyhow::{Context, Result, bail};
use cotan_testkit::faults::{FAULTS, VARIABLE, seed};
use cotan_testkit::files::workspace_file;
use std::fs;
use std::path::Path;
use std::process::Command;

#[expect(clippy::print_stdout, reason = "the output of a command line tool")]
fn main() -> Result<()> {
    let programs = std::env::args().nth(1).unwrap_or_else(|| "1000".to_owned());
    let only = std::env::args().nth(2);
    // A fixed place, so that a second run builds only what has changed.
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
    let oracle = build(&copy)?;
    let mut missed = 0;
    let mut n_faults = 0;
    for (number, fault) in FAULTS.iter().enumerate() {
        if only.is_some() && !fault.is_of_reverse_mode {
            continue;
        }
        n_faults += 1;
        let mut command = Command::new(&oracle);
        command.args([&programs, "1"]).env(VARIABLE, number.to_string());
        if let Some(name) = &only {
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

/// Builds the oracle of the copy and gives its path.
fn build(copy: &Path) -> Result<std::path::PathBuf> {
    let target = copy.with_file_name("target");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--release", "--quiet", "-p", "cotan-testkit", "--bin", "oracle"])
        .env("CARGO_TARGET_DIR", &target)
        .current_dir(copy)
        .status()
        .context("running cargo")?;
    if !status.success() {
        bail!("the seeded copy does not build");
    }
    Ok(target.join("release/oracle"))
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
