//! Lines of loops at scale: their shapes, their memory, their cost, NaN traps and the chapter of the book.

use super::command::{cotan, json, number, output};
use super::suites::{count, output_of_tests, tests};
use super::{Line, Measured, Workplace};
use serde_json::Value as Json;
use std::process::Command;
use std::time::Instant;

pub(super) const LINES: &[Line] = &[
    Line {
        title: "every shape of a loop (tests/loops.tsv), alone and inside a parallel loop, on every engine and level",
        bar: "f64 and f32; reverse, forward, forward over reverse; f64 within 1e-10",
        measure: shapes,
    },
    Line {
        title: "1,000,000 steps of Runge-Kutta on Lotka-Volterra, in reverse, without checkpoints",
        bar: "16 MB, measured and predicted within 5 %",
        measure: all_steps,
    },
    Line {
        title: "the same with `@checkpoint(levels = 3)`",
        bar: "under 200 kB measured, at most 4 times the time without; predicted within 5 %",
        measure: levels,
    },
    Line {
        title: "the same with `@checkpoint(budget = 20000)`",
        bar: "all memory of the call at most 20,000 bytes; predicted within 5 %",
        measure: budget,
    },
    Line {
        title: "a dynamic-programming loop over 100,000 and 1,000,000 elements",
        bar: "O(n): ten times the elements take at most 10.5 times the memory; records predicted within 5 %",
        measure: chain,
    },
    Line {
        title: "an inner while of 1 to 50 trips over 100,000 parallel elements",
        bar: "all memory of the call at most 1.25 times 8 bytes per trip, on 1 and 2 threads",
        measure: ragged,
    },
    Line { title: "a linear recurrence of 1,000,000 steps", bar: "no record", measure: linear },
    Line {
        title: "a histogram into 10,000,000 bins; a scatter of 1,000,000 values into 1,000,000 points",
        bar: "all memory of the call, the input included, under 3 times the input's",
        measure: scattered,
    },
    Line {
        title: "10 and 1,000,000 trips, written in the program: size of the IR and compile time of the gradient",
        bar: "the same size; times within 10 %",
        measure: trip_counts,
    },
    Line {
        title: "cost of the gradient of nests of 1 to 6 sequential loops, by re-execution and with records moved out",
        bar: "a nest of four at most 8 and at most 5 times the function",
        measure: nests,
    },
    Line {
        title: "gradients with checkpoints have the bits of those without",
        bar: "every scheme on every shape, counted and while, nested",
        measure: checkpoints,
    },
    Line {
        title: "programs that make a NaN, under --trap-nan",
        bar: "at least 20, all located, and no clean program traps",
        measure: nans,
    },
    Line {
        title: "zero trips, one, and other counts in each call of one compiled function",
        bar: "the tests pass",
        measure: differing_trips,
    },
    Line {
        title: "the chapter on loops, and its figures made again",
        bar: "its programs are tests; a command makes its figures",
        measure: chapter,
    },
];

/// How often each is compiled; the shortest time counts.
const COMPILATIONS: usize = 15;

fn shapes(place: &Workplace) -> Result<Measured, String> {
    let table = std::fs::read_to_string(place.root.join("tests/loops.tsv")).map_err(|e| e.to_string())?;
    let n_shapes = table.lines().filter(|line| !line.starts_with('#')).count();
    let result = tests(place, "cotan-testkit", &["--test", "all", "run::"], "loops/")?;
    Ok(Measured::new(n_shapes > 0, format!("{n_shapes} shapes, {} programs; {result}", count("tests/run/loops"))))
}

/// `cotan bench` of the gradient of a function of `tests/memory`.
fn bench(place: &Workplace, file: &str, name: &str, wrt: &str, more: &[&str]) -> Result<Json, String> {
    let mut command = cotan(place);
    command.current_dir(place.root.join("tests/memory"));
    command.args(["bench", file, "--fn", name, "--grad", wrt, "--budget", "2", "--json"]).args(more);
    json(&output(&mut command)?)
}

fn predicts(predicted: f64, measured: f64) -> bool {
    (predicted - measured).abs() <= 0.05 * measured
}

const STEPS: [&str; 8] = ["--set", "x=1.0", "--set", "y=0.5", "--set", "n=1000000", "--args", "parameters.json"];

fn steps(place: &Workplace, name: &str) -> Result<Json, String> {
    bench(place, "lotka_volterra.cot", name, "x", &STEPS)
}

fn all_steps(place: &Workplace) -> Result<Measured, String> {
    let report = steps(place, "all")?;
    let (peak, predicted) = (number(&report, "peak_bytes")?, number(&report, "predicted_record_bytes")?);
    let holds = (peak / 16e6 - 1.0).abs() <= 0.05 && predicts(predicted, peak);
    Ok(Measured::new(holds, format!("peak {peak} bytes, predicted {predicted}")))
}

fn levels(place: &Workplace) -> Result<Measured, String> {
    let (plain, report) = (steps(place, "all")?, steps(place, "levels")?);
    let (peak, predicted) = (number(&report, "peak_bytes")?, number(&report, "predicted_record_bytes")?);
    let ratio = number(&report, "grad_min")? / number(&plain, "grad_min")?;
    let holds = peak < 200e3 && ratio <= 4.0 && predicts(predicted, peak);
    Ok(Measured::new(holds, format!("peak {peak} bytes, predicted {predicted}, {ratio:.2} times the time")))
}

fn budget(place: &Workplace) -> Result<Measured, String> {
    let (plain, report) = (steps(place, "all")?, steps(place, "budget")?);
    let (records, predicted) = (number(&report, "record_bytes")?, number(&report, "predicted_record_bytes")?);
    let ratio = number(&report, "grad_min")? / number(&plain, "grad_min")?;
    let peak = number(&report, "peak_bytes")?;
    let text =
        format!("records {records} bytes, predicted {predicted}, all memory {peak}, {ratio:.2} times the time without");
    Ok(Measured::new(peak <= 20e3 && predicts(predicted, peak), text))
}

fn chain(place: &Workplace) -> Result<Measured, String> {
    let run = |n: &str| bench(place, "arrays.cot", "prefix_sums", "s", &["--set", "s=0.3", "--set", n]);
    let (small, large) = (run("n=100000")?, run("n=1000000")?);
    let (less, more) = (number(&small, "peak_bytes")?, number(&large, "peak_bytes")?);
    let (records, predicted) = (number(&large, "record_bytes")?, number(&large, "predicted_record_bytes")?);
    let text = format!(
        "{:.2} times, {:.1} bytes per element of which {:.1} records, predicted {:.1}",
        more / less,
        more / 1e6,
        records / 1e6,
        predicted / 1e6
    );
    Ok(Measured::new(more / less <= 10.5 && predicts(predicted, records), text))
}

fn ragged(place: &Workplace) -> Result<Measured, String> {
    let sizes = ["--set", "s=0.3", "--set", "n=100000"];
    let mut command = cotan(place);
    command.current_dir(place.root.join("tests/memory"));
    command.args(["run", "arrays.cot", "--fn", "trips", "--json"]).args(sizes);
    let trips = number(&json(&output(&mut command)?)?, "result")?;
    let mut peaks = Vec::new();
    for threads in ["1", "2"] {
        let more = [sizes.as_slice(), &["--threads", threads]].concat();
        peaks.push(number(&bench(place, "arrays.cot", "elements", "s", &more)?, "peak_bytes")?);
    }
    let bar = 1.25 * 8.0 * trips;
    let text = format!("{trips} trips, bar {bar} bytes; peak {} on one thread, {} on two", peaks[0], peaks[1]);
    Ok(Measured::new(peaks.iter().all(|peak| *peak <= bar), text))
}

fn linear(place: &Workplace) -> Result<Measured, String> {
    let report = bench(place, "arrays.cot", "linear", "v", &["--set", "v=0.3", "--set", "n=1000000"])?;
    let (records, peak) = (number(&report, "record_bytes")?, number(&report, "peak_bytes")?);
    Ok(Measured::new(records == 0.0 && peak == 0.0, format!("records {records} bytes, all memory {peak}")))
}

fn scattered(place: &Workplace) -> Result<Measured, String> {
    let mut parts = Vec::new();
    let mut holds = true;
    // A value and a position for each of 1,000,000, and the array that they go to.
    for (name, size, input) in
        [("histogram_of", "bins=10000000", 8.0 * 12e6), ("scatter_of", "points=1000000", 8.0 * 3e6)]
    {
        let more = ["--set", "s=0.3", "--set", "n=1000000", "--set", size];
        let peak = number(&bench(place, "arrays.cot", name, "s", &more)?, "peak_bytes")?;
        holds &= peak < 3.0 * input;
        parts.push(format!("{name}: {:.2} times {input} bytes", peak / input));
    }
    Ok(Measured::new(holds, parts.join("; ")))
}

/// Runs `emit` on the gradient of one of the functions with few and with many trips.
fn emitted(place: &Workplace, name: &str, stage: &str) -> Result<Vec<u8>, String> {
    let mut command = cotan(place);
    command.current_dir(place.root.join("tests/memory"));
    let out = output(command.args(["emit", "trips.cot", "--stage", stage, "--fn", name, "--grad", "x"]))?;
    Ok(out.stdout)
}

fn trip_counts(place: &Workplace) -> Result<Measured, String> {
    let names = ["few", "many"];
    let mut lines = [0; 2];
    let mut least = [f64::INFINITY; 2];
    for (name, lines) in names.iter().zip(&mut lines) {
        *lines = emitted(place, name, "ir")?.iter().filter(|byte| **byte == b'\n').count();
    }
    for _ in 0..COMPILATIONS {
        for (name, least) in names.iter().zip(&mut least) {
            let start = Instant::now();
            emitted(place, name, "asm")?;
            *least = least.min(start.elapsed().as_secs_f64());
        }
    }
    let [few, many] = least;
    let text =
        format!("{} and {} lines of IR; {:.1} and {:.1} ms to machine code", lines[0], lines[1], 1e3 * few, 1e3 * many);
    Ok(Measured::new(lines[0] == lines[1] && (many / few - 1.0).abs() <= 0.1, text))
}

/// A nest as a test prints it: depth, costs in functions and recorded elements, run again and kept.
fn nests(place: &Workplace) -> Result<Measured, String> {
    let text = output_of_tests(
        place,
        "cotan-ad",
        &["--test", "all", "inner::", "--", "--nocapture", "--test-threads", "1"],
        "",
    )?;
    let rows: Vec<&str> = (1..=6).filter_map(|d| text.lines().find(|l| l.starts_with(&format!("{d}: ")))).collect();
    let costs = rows.get(3).and_then(|row| {
        let (again, kept) = row.split_once(": ")?.1.split_once("; ")?;
        let first = |text: &str| text.split(", ").next().and_then(|x| x.parse::<f64>().ok());
        Some((first(again)?, first(kept)?))
    });
    let (again, kept) = costs.ok_or("the test prints no nest of four")?;
    let text = format!("depth: cost, recorded elements by re-execution; moved out: {}", rows.join(" | "));
    Ok(Measured::new(rows.len() == 6 && again <= 8.0 && kept <= 5.0, text))
}

/// The oracle of checkpoints runs on every program with loops that has a gradient; the unit tests count records.
fn checkpoints(place: &Workplace) -> Result<Measured, String> {
    let counted = tests(place, "cotan-ad", &["--test", "all", "checkpoints::"], "")?;
    let bits = tests(place, "cotan-testkit", &["--test", "all", "run::"], "loops/")?;
    Ok(Measured::new(true, format!("records and runs counted: {counted}; bits on tests/run/loops: {bits}")))
}

fn nans(place: &Workplace) -> Result<Measured, String> {
    let located = tests(place, "cotan-testkit", &["--test", "all", "a_nan_is_located_where_it_is_made"], "")?;
    let clean = tests(place, "cotan-testkit", &["--test", "all", "a_clean_program_never_traps"], "")?;
    let n = count("tests/run/nans");
    Ok(Measured::new(n >= 20, format!("{n} programs; located: {located}; clean programs: {clean}")))
}

fn differing_trips(place: &Workplace) -> Result<Measured, String> {
    let result = tests(place, "cotan-testkit", &["--test", "all", "run::trip"], "")?;
    Ok(Measured::new(true, result))
}

fn chapter(place: &Workplace) -> Result<Measured, String> {
    let result = tests(place, "cotan-testkit", &["--test", "all", "docs::"], "")?;
    let text = std::fs::read_to_string(place.root.join("docs/loops.md")).map_err(|e| format!("docs/loops.md: {e}"))?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let made = Command::new(cargo).current_dir(&place.root).args(["xtask", "figures"]).output();
    let made = made.map_err(|e| e.to_string())?;
    if !made.status.success() {
        return Err(format!("cargo xtask figures: {}", String::from_utf8_lossy(&made.stderr)));
    }
    let figures: Vec<&str> = text.split("](figures/").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    let missing = figures.iter().filter(|name| !place.root.join("docs/figures").join(name).exists()).count();
    let text = format!("{result}; {} figures made again, {missing} missing", figures.len());
    Ok(Measured::new(!figures.is_empty() && missing == 0, text))
}
