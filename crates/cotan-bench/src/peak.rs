//! What one core of this machine can do at most, measured by `benches/reference/peak.cpp`.

use crate::Cpp;
use anyhow::{Context, Result, bail};
use cotan_measure::Peak;
use std::process::Command;

/// Builds the program from `benches/reference`, and runs it.
pub fn measure_peak(cpp: &Cpp) -> Result<Peak> {
    let program = cpp.build("peak", &[])?;
    let out = Command::new(program).output().context("running the program of peaks")?;
    if !out.status.success() {
        bail!("the program of peaks failed: {}", String::from_utf8_lossy(&out.stderr));
    }
    serde_json::from_slice(&out.stdout).context("expected the line of the program of peaks")
}
