//! Advisories on packages: `cargo deny`, where it is installed with its database. Nothing is fetched.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the check needs and this machine does not have.
pub(super) fn missing() -> Option<String> {
    let version = Command::new("cargo-deny").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !version.is_ok_and(|status| status.success()) {
        return Some("`cargo deny` is not installed (cargo install cargo-deny --locked)".to_owned());
    }
    let databases = home().map(|home| home.join("advisory-dbs"));
    let is_there =
        databases.and_then(|folder| folder.read_dir().ok()).is_some_and(|mut entries| entries.next().is_some());
    (!is_there).then(|| "the database of advisories is not there (cargo deny fetch)".to_owned())
}

/// The folder of cargo, below which `cargo deny` keeps its database.
fn home() -> Option<PathBuf> {
    let named = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    named.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")))
}

/// Fails where a package has an advisory that `deny.toml` does not list.
pub(super) fn check(root: &Path) -> Result<()> {
    let mut command = Command::new("cargo-deny");
    command.args(["--offline", "--locked", "check", "--disable-fetch", "advisories"]).current_dir(root);
    let status = command.status().context("running cargo deny")?;
    if status.success() { Ok(()) } else { bail!("cargo deny check advisories failed: {status}") }
}
