//! Chains of functions that each call the one before twice: the last one runs the first `2^k` times.

use crate::accept::command::{cotan, json};
use crate::accept::limits::peak;
use crate::accept::{Line, Measured, Workplace};
use serde_json::Value as Json;
use std::fmt::Write;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

pub(super) const LINES: &[Line] = &[Line {
    title: "functions that each call the one before twice, 9 to 18 of them, empty cache: value, and gradient",
    bar: "each at most 1 s and 200 MB, the closed form within 1e-9, the value of 11 with the bits of the interpreter",
    measure: doubling,
}];

const TIME: Duration = Duration::from_secs(1);
const BYTES: u64 = 200_000_000;
/// How many functions there are beside the first.
const LENGTHS: [u32; 5] = [9, 10, 11, 14, 18];
/// How many there are where the interpreter is asked as well.
const INTERPRETED: u32 = 11;

/// `f0(x) = x / (1 + x / 2^k)`, so `fk(x) = x / (1 + x)`.
fn chain(k: u32) -> String {
    let mut text = format!("fn f0(x: f64) -> f64 = x / (1.0 + x / {}.0)\n", 1_u64 << k);
    for n in 1..=k {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "fn f{n}(x: f64) -> f64 = f{}(f{}(x))", n - 1, n - 1);
    }
    text
}

/// What a command printed and took.
struct Taken {
    output: Output,
    time: Duration,
    user: Duration,
    bytes: u64,
}

/// Runs the command with an empty cache, and watches it.
fn watched(place: &Workplace, folder: &Path, args: &[&str]) -> Result<Taken, String> {
    let cache = folder.join("cache");
    if cache.exists() {
        std::fs::remove_dir_all(&cache).map_err(|e| e.to_string())?;
    }
    let mut command = cotan(place);
    command.current_dir(folder).env("XDG_CACHE_HOME", &cache).args(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let start = Instant::now();
    let mut child = command.spawn().map_err(|e| format!("running the command: {e}"))?;
    let (mut bytes, mut user) = (0, Duration::ZERO);
    while child.try_wait().map_err(|e| e.to_string())?.is_none() {
        bytes = bytes.max(peak(child.id()));
        user = user.max(user_time(child.id()));
        std::thread::sleep(Duration::from_millis(2));
    }
    let time = start.elapsed();
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    Ok(Taken { output, time, user, bytes })
}

/// The time of a process so far that is its own and not the system's, zero where the system does not tell.
fn user_time(process: u32) -> Duration {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name of the command may have blanks; behind it, the twelfth field counts hundredths of a second.
    let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = fields.split_whitespace().nth(11).and_then(|n| n.parse().ok()).unwrap_or(0);
    Duration::from_millis(10 * ticks)
}

fn result_of(taken: &Taken) -> Result<Json, String> {
    if taken.output.status.success() {
        return json(&taken.output);
    }
    Err(String::from_utf8_lossy(&taken.output.stderr).trim().to_owned())
}

fn doubling(place: &Workplace) -> Result<Measured, String> {
    let folder = std::env::temp_dir().join(format!("cotan-calls-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let outcome = measured(place, &folder);
    std::fs::remove_dir_all(&folder).map_err(|e| e.to_string())?;
    outcome
}

fn measured(place: &Workplace, folder: &Path) -> Result<Measured, String> {
    let (mut holds, mut told) = (true, Vec::new());
    for k in LENGTHS {
        std::fs::write(folder.join("chain.cot"), chain(k)).map_err(|e| e.to_string())?;
        let name = format!("f{k}");
        let call = ["chain.cot", "--fn", &name, "--set", "x=1", "--json"];
        let run = [&["run"][..], &call].concat();
        let grad = [&["grad", "--wrt", "x", "--value"][..], &call].concat();
        for (what, args) in [("run", &run), ("grad", &grad)] {
            let taken = watched(place, folder, args)?;
            let found = result_of(&taken)?;
            let numbers = match what {
                "run" => vec![(&found["result"], 0.5)],
                _ => vec![(&found["value"], 0.5), (&found["grad"]["x"], 0.25)],
            };
            let is_close = |(found, expected): &(&Json, f64)| {
                found.as_f64().is_some_and(|found| (found - expected).abs() <= 1e-9 * expected)
            };
            // Products of derivatives round elsewhere in compiled code.
            let is_exact = what != "run" || k != INTERPRETED || found == interpreted(place, folder, args)?;
            let is_right = is_exact && numbers.iter().all(is_close);
            holds &= is_right && taken.time <= TIME && taken.bytes <= BYTES;
            told.push(format!(
                "{what} {k}: {:.2} s ({:.2} s user), {} MB{}",
                taken.time.as_secs_f64(),
                taken.user.as_secs_f64(),
                taken.bytes / 1_000_000,
                if is_right { "" } else { ", WRONG" },
            ));
        }
    }
    Ok(Measured::new(holds, told.join("; ")))
}

/// What the interpreter makes of the same command.
fn interpreted(place: &Workplace, folder: &Path, args: &[&str]) -> Result<Json, String> {
    result_of(&watched(place, folder, &[args, &["--backend", "interp"]].concat())?)
}
