//! The bytes of records against the number of steps, for schemes of checkpoints, as `cotan bench` counts them.

use super::cotan;
use anyhow::{Context, Result};
use serde_json::Value as Json;
use std::path::Path;

/// The program whose functions are run.
const PROGRAM: &str = "docs/figures/loops.cot";
/// The trip counts.
const STEPS: [i64; 5] = [100, 1_000, 10_000, 100_000, 1_000_000];
/// The functions, and what they are called in the figure.
const SCHEMES: [(&str, &str); 4] =
    [("all", "no checkpoints"), ("budget", "budget = 20000"), ("sqrt_of", "sqrt"), ("levels", "levels = 3")];

/// A line for each number of steps, with the KiB of each scheme.
pub(super) fn table(root: &Path) -> Result<String> {
    let mut text = format!("steps,{}\n", SCHEMES.map(|(_, name)| name).join(","));
    for steps in STEPS {
        let mut cells = vec![steps.to_string()];
        for (function, _) in SCHEMES {
            cells.push((record_bytes(root, function, steps)? / 1024.0).to_string());
        }
        text += &(cells.join(",") + "\n");
    }
    Ok(text)
}

/// The most bytes of records that the gradient of a function holds at one time.
fn record_bytes(root: &Path, function: &str, steps: i64) -> Result<f64> {
    let steps = format!("steps={steps}");
    let words = ["bench", PROGRAM, "--fn", function, "--grad", "x", "--json", "--threads", "1", "--budget", "0"];
    let out = cotan(root, &[&words[..], &["--set", "x=1.0", "--set", &steps]].concat())?;
    let measured: Json = serde_json::from_slice(&out.stdout).context("what `cotan bench` printed is no JSON")?;
    measured["predicted_record_bytes"].as_f64().context("no bytes")
}
