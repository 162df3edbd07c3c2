//! The book as HTML, by mdBook, where that is installed.

use anyhow::{Context, Result, bail};
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

/// Builds the book into `target/book`. What mdBook warns of is an error; without mdBook nothing is built.
pub(crate) fn build(root: &Path) -> Result<()> {
    let out = Command::new("mdbook").args(["build", "docs"]).current_dir(root).output();
    let out = match out {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            eprintln!("the book is not built: mdbook is missing (`cargo install mdbook --locked`)");
            return Ok(());
        }
        out => out.context("running mdbook")?,
    };
    let log = String::from_utf8_lossy(&out.stderr);
    if !out.status.success() || log.lines().any(|line| line.contains("WARN") || line.contains("ERROR")) {
        bail!("mdbook is not content with the book:\n{log}");
    }
    Ok(())
}
