//! What one core of this machine can do at most, measured by `benches/reference/peak.cpp`.

use crate::marks::compile;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::Command;

/// The most that one core does in a second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Peak {
    /// Operations on f64, two for each fused product and sum on registers.
    pub flops: f64,
    /// Bytes read from and written to memory.
    pub bytes: f64,
}

impl Peak {
    /// Builds the program from `benches/reference` into a folder, and runs it.
    pub fn measure(sources: &Path, folder: &Path) -> Result<Peak> {
        compile(sources, folder, "peak", &[])?;
        let out = Command::new(folder.join("peak")).output().context("running the program of peaks")?;
        if !out.status.success() {
            bail!("the program of peaks failed: {}", String::from_utf8_lossy(&out.stderr));
        }
        serde_json::from_slice(&out.stdout).context("expected the line of the program of peaks")
    }
}
