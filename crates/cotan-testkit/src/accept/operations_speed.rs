//! Lines of the speed of single operations: forward and gradient beside the better of JAX and PyTorch, on one thread.
//!
//! One run of `cotan-bench operations` serves all of them, so that everything is compared under the same conditions. It
//! wants the peers that `cargo xtask peers --torch` installs; a row without a peer does not hold.

use super::command::{number, output};
use super::{Line, Measured, Workplace};
use serde_json::Value as Json;
use std::process::Command;
use std::sync::OnceLock;

pub(super) const LINES: &[Line] = &[
    Line {
        title: "operations that memory bounds, forward: sums, softmax, cumulative sums, sort, gather, small solves",
        bar: "at least as fast as the better of JAX and PyTorch, f32 and f64",
        measure: |place| rows(place, "forward", 1.0),
    },
    Line {
        title: "their gradients",
        bar: "at least as fast as the better of JAX and PyTorch, f32 and f64",
        measure: |place| rows(place, "gradient", 1.0),
    },
    Line {
        title: "convolutions and Fourier transforms, forward",
        bar: "at most 1.5 times the better of JAX and PyTorch, f32 and f64",
        measure: |place| rows(place, "forward", 1.5),
    },
    Line {
        title: "their gradients",
        bar: "at most 1.5 times the better of JAX and PyTorch, f32 and f64",
        measure: |place| rows(place, "gradient", 1.5),
    },
];

/// What `cotan-bench operations` printed: an object for each row.
static ROWS: OnceLock<Result<Vec<Json>, String>> = OnceLock::new();

fn printed(place: &Workplace) -> Result<&'static [Json], String> {
    let run = || {
        let mut command = Command::new(place.built.join("cotan-bench"));
        let out = output(command.args(["--threads", "1", "--json", "operations"]))?;
        let text = String::from_utf8(out.stdout).map_err(|e| e.to_string())?;
        text.lines().map(|line| serde_json::from_str(line).map_err(|e| e.to_string())).collect()
    };
    ROWS.get_or_init(run).as_deref().map_err(Clone::clone)
}

/// The ratios of the rows of a form that have this bar.
fn rows(place: &Workplace, form: &str, bar: f64) -> Result<Measured, String> {
    let wanted = printed(place)?.iter().filter(|row| row["form"] == form && row["bar"] == bar);
    let mut holds = true;
    let mut parts = Vec::new();
    for row in wanted {
        holds &= row["holds"] == true;
        let name = format!("{} {}", row["operation"].as_str().unwrap_or("?"), row["elem"].as_str().unwrap_or("?"));
        parts.push(match number(row, "ratio") {
            Ok(ratio) => format!("{name} {ratio:.2}"),
            Err(_) => format!("{name} without a peer"),
        });
    }
    Ok(Measured::new(holds && !parts.is_empty(), parts.join(", ")))
}
