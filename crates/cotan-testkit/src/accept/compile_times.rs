//! Lines of compile times: from the start of the command to its first result, with an empty cache and with a warm one.

use super::command::{cotan, output};
use super::folder::Folder;
use super::{Line, Measured, Workplace};
use crate::files::programs;
use std::path::Path;
use std::time::Instant;

pub(super) const LINES: &[Line] = &[
    Line {
        title: "the command on the gradient of each ADBench objective, with an empty cache",
        bar: "under 300 ms from the start of the process to its end",
        measure: cold,
    },
    Line { title: "the same with the code in the cache", bar: "under 20 ms", measure: cached },
    Line {
        title: "the command on the gradient of programs of 100 lines (tests/run/programs), with an empty cache",
        bar: "under 100 ms",
        measure: hundred_lines,
    },
];

/// How often each is run; the shortest time counts.
const RUNS: usize = 7;

/// The gradients of ADBench in `examples`, with arguments.
pub(super) const GRADIENTS: [(&str, &str, &str); 5] = [
    ("gmm/gmm.cot", "gmm_gradient", "gmm/data/gmm_d10_K25.json"),
    ("ba/ba.cot", "ba_jacobian", "ba/data/ba1.json"),
    ("lstm/lstm.cot", "lstm_gradient", "lstm/data/lstm_l2_c1024.json"),
    ("hand/hand.cot", "hand_jacobian", "hand/data/hand.json"),
    ("hand/hand.cot", "hand_c_jacobian", "hand/data/hand_c.json"),
];

/// Milliseconds from the start of the command to its end, the least of some runs.
fn least(place: &Workplace, folder: &Folder, args: &[&str], is_cold: bool) -> Result<f64, String> {
    let mut least = f64::INFINITY;
    for _ in 0..RUNS {
        if is_cold {
            folder.empty_cache()?;
        }
        let mut command = cotan(place);
        command.current_dir(place.root.join("examples")).env("XDG_CACHE_HOME", folder.cache()).args(args);
        let start = Instant::now();
        output(&mut command)?;
        least = least.min(1e3 * start.elapsed().as_secs_f64());
    }
    Ok(least)
}

fn gradients(place: &Workplace, is_cold: bool, most: f64) -> Result<Measured, String> {
    let folder = Folder::new()?;
    let mut times = Vec::new();
    for (file, function, args) in GRADIENTS {
        let args = ["run", file, "--fn", function, "--args", args, "--json"];
        times.push((function.to_owned(), least(place, &folder, &args, is_cold)?));
    }
    Ok(within(&times, most))
}

fn within(times: &[(String, f64)], most: f64) -> Measured {
    let parts: Vec<String> = times.iter().map(|(name, ms)| format!("{name} {ms:.0} ms")).collect();
    Measured::new(!times.is_empty() && times.iter().all(|(_, ms)| *ms < most), parts.join(", "))
}

fn cold(place: &Workplace) -> Result<Measured, String> {
    gradients(place, true, 300.0)
}

fn cached(place: &Workplace) -> Result<Measured, String> {
    gradients(place, false, 20.0)
}

fn hundred_lines(place: &Workplace) -> Result<Measured, String> {
    let folder = Folder::new()?;
    let mut times = Vec::new();
    for path in programs(&place.root.join("tests/run/programs")) {
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let key = |key: &str| text.lines().find_map(|line| line.strip_prefix("#: ")?.strip_prefix(key)).map(str::trim);
        let (Some(function), Some(wrt), Some(args)) = (key("fn "), key("wrt "), key("args ")) else {
            return Err(format!("{}: expected a function, parameters and arguments", path.display()));
        };
        let inputs = folder.0.join("args.json");
        std::fs::write(&inputs, args).map_err(|e| format!("{}: {e}", inputs.display()))?;
        let (program, inputs) = (path.display().to_string(), inputs.display().to_string());
        let wrt = wrt.replace(' ', "");
        let args = ["grad", &program, "--fn", function, "--wrt", &wrt, "--args", &inputs];
        let name = format!("{} of {} lines", name(&path), text.lines().count());
        times.push((name, least(place, &folder, &args, true)?));
    }
    Ok(within(&times, 100.0))
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
