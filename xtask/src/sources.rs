//! The Rust files of a folder.

use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// The Rust files in and below a folder, sorted.
pub(crate) fn collect(folder: &Path, out: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, out)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
    out.sort();
    Ok(())
}
