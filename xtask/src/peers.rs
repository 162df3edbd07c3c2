//! The Python environment of peers: frameworks that differentiate, with which the benchmarks compare.

use anyhow::{Context, Result, bail};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Makes the environment in `peers` of the target folder, or brings it up to date. Versions are pinned in
/// `benches/peers/requirements-*.txt`; where packages come from is the configuration of pip.
pub(crate) fn install(root: &Path, args: &[String]) -> Result<()> {
    let mut requirements = vec!["requirements-jax.txt"];
    match args {
        [] => {}
        [option] if option == "--torch" => requirements.push("requirements-torch.txt"),
        [other, ..] => bail!("`peers` takes --torch, found `{other}`"),
    }
    let environment = target(root)?.join("peers");
    let python = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
    let python = environment.join(python);
    if !python.exists() {
        make(&environment)?;
    }
    for name in requirements {
        let mut command = Command::new(&python);
        command.args(["-m", "pip", "install", "--requirement"]).arg(root.join("benches/peers").join(name));
        let status = command.status().with_context(|| format!("running {}", python.display()))?;
        if !status.success() {
            bail!("pip cannot install what benches/peers/{name} lists: {status}");
        }
    }
    Ok(())
}

fn make(environment: &Path) -> Result<()> {
    let mut command = Command::new("python3");
    command.args(["-m", "venv"]).arg(environment);
    let status = match command.status() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!("the peers are Python programs, and python3 is missing: install Python 3.11 or later")
        }
        status => status.context("running python3")?,
    };
    if !status.success() {
        bail!("`python3 -m venv` cannot make {}: {status}", environment.display());
    }
    Ok(())
}

/// The folder that cargo builds in. This program lies in a folder of its own within it.
fn target(root: &Path) -> Result<PathBuf> {
    let here = std::env::current_exe().context("finding this program")?;
    Ok(here.ancestors().nth(2).map_or_else(|| root.join("target"), PathBuf::from))
}
