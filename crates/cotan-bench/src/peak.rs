//! What one core of this machine can do at most, measured by `benches/reference/peak.cpp`.

use crate::marks::compile;
use anyhow::{Context, Result, bail};
use cotan_measure::Peak;
use std::path::Path;
use std::process::Command;

/// Builds the program from `benches/reference` into a folder, and runs it.
pub fn measure_peak(sources: &Path, folder: &Path) -> Result<Peak> {
    compile(sources, folder, "peak", &[])?;
    let out = Command::new(folder.join("peak")).output().context("running the program of peaks")?;
    if !out.status.success() {
        bail!("the program of peaks failed: {}", String::from_utf8_lossy(&out.stderr));
    }
    serde_json::from_slice(&out.stdout).context("expected the line of the program of peaks")
}
