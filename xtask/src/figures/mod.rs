//! The figures of the book: counted by `cotan bench`, kept as data, drawn as SVG.

mod chart;

use anyhow::{Context, Result, bail};
use chart::{Chart, Series};
use serde_json::Value as Json;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

const FOLDER: &str = "docs/figures";
/// The program whose functions are run.
const PROGRAM: &str = "docs/figures/loops.cot";

/// The trip counts of the figure of memory.
const STEPS: [i64; 5] = [100, 1_000, 10_000, 100_000, 1_000_000];
/// The functions of that figure, and what they are called there.
const SCHEMES: [(&str, &str); 4] =
    [("all", "no checkpoints"), ("budget", "budget = 20000"), ("sqrt_of", "sqrt"), ("levels", "levels = 3")];

/// Counts, and writes data and figure.
pub(crate) fn write(root: &Path) -> Result<()> {
    let mut data = String::from("scheme,steps,KiB of records at once\n");
    let memory = memory(root)?;
    for series in &memory.series {
        for (x, y) in &series.points {
            writeln!(data, "{},{x},{y}", series.name)?;
        }
    }
    save(root, "memory.svg", &memory.svg())?;
    save(root, "memory.csv", &data)
}

fn save(root: &Path, name: &str, text: &str) -> Result<()> {
    let path = root.join(FOLDER).join(name);
    fs::write(&path, text).with_context(|| format!("writing {}", path.display()))
}

/// The bytes of records at any one time, which `cotan bench` counts, against the number of steps, for schemes of checkpoints.
fn memory(root: &Path) -> Result<Chart> {
    let mut series = Vec::new();
    for (function, name) in SCHEMES {
        let mut points = Vec::new();
        for steps in STEPS {
            let measured = bench(root, function, "x", &[("x", "1.0"), ("steps", &steps.to_string())])?;
            let bytes = measured["predicted_record_bytes"].as_f64().context("no bytes")?;
            points.push((steps as f64, bytes / 1024.0));
        }
        series.push(Series { name, points });
    }
    Ok(Chart {
        title: "The gradient of 10² to 10⁶ Runge-Kutta steps",
        x_label: "steps",
        y_label: "records at once (KiB)",
        series,
    })
}

/// What `cotan bench` measures of a function of the program and its gradient.
fn bench(root: &Path, function: &str, wrt: &str, args: &[(&str, &str)]) -> Result<Json> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "-q", "-p", "cotan-cli", "--", "bench", PROGRAM, "--fn", function, "--grad", wrt]);
    command.args(["--json", "--threads", "1", "--budget", "0"]);
    for (name, value) in args {
        command.args(["--set", &format!("{name}={value}")]);
    }
    let out = command.current_dir(root).output().context("running `cotan bench`")?;
    if !out.status.success() {
        bail!("`cotan bench` failed: {}", String::from_utf8_lossy(&out.stderr));
    }
    serde_json::from_slice(&out.stdout).context("what `cotan bench` printed is no JSON")
}
