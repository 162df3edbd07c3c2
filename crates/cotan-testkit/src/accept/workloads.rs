//! Lines of workloads: programs of many kinds beside tools that differentiate and hand-written C++, on one thread.
//!
//! One run of `cotan-bench workloads` for each instruction set serves all lines about it; those that are held out have runs of
//! their own. What tools were there is said with their ratios.

use super::command::{cotan, json, number, output};
use super::{Line, Measured, Workplace, house, speed};
use serde_json::Value as Json;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// The lines of the list.
pub(super) fn lines() -> Vec<Line> {
    [&house::GRADIENTS_BESIDE_START[..1], &speed::LINES[..1], LINES].concat()
}

/// Which workloads, and on which instruction set.
#[derive(Clone, Copy)]
enum Set {
    OpenAvx2,
    OpenAvx512,
    HeldOutAvx2,
    HeldOutAvx512,
}

const BY_TOOLS: &str = "at most 0.6 in the geometric mean, where less than 0.2 counts as that; none above 1.2";
const BY_HAND: &str = "at most 1.6 in the geometric mean, none above 3";
const VALUES: &str = "at most 1.0 in the geometric mean, none above 1.3";
const TIMES_VALUE: &str = "at most 3.5 in the geometric mean, none above 6";

const LINES: &[Line] = &[
    Line {
        title: "AVX2: gradients of workloads over those of the best tool",
        bar: BY_TOOLS,
        measure: |p| tools(p, Set::OpenAvx2),
    },
    Line {
        title: "AVX2: gradients of workloads over hand-written C++",
        bar: BY_HAND,
        measure: |p| by_hand(p, Set::OpenAvx2),
    },
    Line {
        title: "AVX2: values of workloads over those of the best tool",
        bar: VALUES,
        measure: |p| values(p, Set::OpenAvx2),
    },
    Line {
        title: "AVX2: gradients of workloads over their values",
        bar: TIMES_VALUE,
        measure: |p| times_value(p, Set::OpenAvx2),
    },
    Line {
        title: "AVX-512: gradients of workloads over those of the best tool",
        bar: BY_TOOLS,
        measure: |p| tools(p, Set::OpenAvx512),
    },
    Line {
        title: "AVX-512: gradients of workloads over hand-written C++",
        bar: BY_HAND,
        measure: |p| by_hand(p, Set::OpenAvx512),
    },
    Line {
        title: "AVX-512: values of workloads over those of the best tool",
        bar: VALUES,
        measure: |p| values(p, Set::OpenAvx512),
    },
    Line {
        title: "AVX-512: gradients of workloads over their values",
        bar: TIMES_VALUE,
        measure: |p| times_value(p, Set::OpenAvx512),
    },
    Line {
        title: "held out, AVX2: gradients over those of the best tool",
        bar: BY_TOOLS,
        measure: |p| tools(p, Set::HeldOutAvx2),
    },
    Line {
        title: "held out, AVX2: gradients over hand-written C++",
        bar: BY_HAND,
        measure: |p| by_hand(p, Set::HeldOutAvx2),
    },
    Line {
        title: "held out, AVX2: values over those of the best tool",
        bar: VALUES,
        measure: |p| values(p, Set::HeldOutAvx2),
    },
    Line {
        title: "held out, AVX2: gradients over values",
        bar: TIMES_VALUE,
        measure: |p| times_value(p, Set::HeldOutAvx2),
    },
    Line {
        title: "held out, AVX-512: gradients over those of the best tool",
        bar: BY_TOOLS,
        measure: |p| tools(p, Set::HeldOutAvx512),
    },
    Line {
        title: "held out, AVX-512: gradients over hand-written C++",
        bar: BY_HAND,
        measure: |p| by_hand(p, Set::HeldOutAvx512),
    },
    Line {
        title: "held out, AVX-512: values over those of the best tool",
        bar: VALUES,
        measure: |p| values(p, Set::HeldOutAvx512),
    },
    Line {
        title: "held out, AVX-512: gradients over values",
        bar: TIMES_VALUE,
        measure: |p| times_value(p, Set::HeldOutAvx512),
    },
    Line {
        title: "compile times of workloads, value and gradient, with nothing cached",
        bar: "none above 500 ms",
        measure: compile_times,
    },
    Line {
        title: "a product and a network written for a sample, over the same written for all (tests/speed)",
        bar: "values and gradients at most 1.15",
        measure: per_sample,
    },
    Line {
        title: "w @ x, x @ w and their gradients, over the rows' sums, n = 16 to 2000 (tests/speed)",
        bar: "at most 1.5 times; a term at most 1.3 times as dear as at the size before",
        measure: vector_products,
    },
    Line {
        title: "two threads on workloads above 1 ms that have a parallel loop",
        bar: "at least 1.6 times as fast as one",
        measure: two_threads,
    },
];

/// A row for each workload, measured by the first line that asks.
fn rows(place: &Workplace, set: Set) -> Result<&'static [Json], String> {
    static ROWS: [OnceLock<Result<Vec<Json>, String>>; 4] = [const { OnceLock::new() }; 4];
    let arguments: &[&str] = match set {
        Set::OpenAvx2 => &["--cpu", "x86-64-v3"],
        Set::OpenAvx512 => &["--cpu", "x86-64-v4"],
        Set::HeldOutAvx2 => &["--held-out", "--cpu", "x86-64-v3"],
        Set::HeldOutAvx512 => &["--held-out", "--cpu", "x86-64-v4"],
    };
    ROWS[set as usize].get_or_init(|| measured(place, arguments)).as_deref().map_err(Clone::clone)
}

fn measured(place: &Workplace, arguments: &[&str]) -> Result<Vec<Json>, String> {
    let mut command = Command::new(place.built.join("cotan-bench"));
    command.current_dir(&place.root).args(["workloads", "--json"]).args(arguments);
    let text = String::from_utf8(output(&mut command)?.stdout).map_err(|e| e.to_string())?;
    text.lines().map(|line| serde_json::from_str(line).map_err(|e| e.to_string())).collect()
}

/// The shortest time of a tool that was there.
fn best(row: &Json, key: &str) -> Result<f64, String> {
    let times = row["peers"].as_array().into_iter().flatten().filter_map(|peer| peer[key].as_f64());
    times.min_by(f64::total_cmp).ok_or_else(|| format!("no tool was there for {}", name(row)))
}

fn name(row: &Json) -> &str {
    row["workload"]["name"].as_str().unwrap_or_default()
}

/// The tools that a set was measured with.
fn tools_there(rows: &[Json]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for peer in rows.iter().flat_map(|row| row["peers"].as_array()).flatten() {
        let name = peer["peer"].as_str().unwrap_or_default();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() { "no tool".to_owned() } else { names.join(", ") }
}

/// The mean of ratios that are at least `least`, and those above `most`.
fn judged(rows: &[Json], limits: Limits, ratio: impl Fn(&Json) -> Result<f64, String>) -> Result<Measured, String> {
    let ratios: Vec<(&str, f64)> =
        rows.iter().map(|row| Ok((name(row), ratio(row)?))).collect::<Result<_, String>>()?;
    let logarithms = ratios.iter().map(|(_, ratio)| ratio.max(limits.least).ln());
    let mean = f64::exp(logarithms.sum::<f64>() / ratios.len() as f64);
    let above: Vec<String> = ratios
        .iter()
        .filter(|(_, ratio)| *ratio > limits.most)
        .map(|(name, ratio)| format!("{name} {ratio:.2}"))
        .collect();
    let text = format!("{mean:.2} in the mean of {}; above {}: [{}]", ratios.len(), limits.most, above.join(", "));
    Ok(Measured::new(!ratios.is_empty() && mean <= limits.mean && above.is_empty(), text))
}

/// What a ratio counts at least, and what its mean and each may be.
#[derive(Clone, Copy)]
struct Limits {
    least: f64,
    mean: f64,
    most: f64,
}

fn tools(place: &Workplace, set: Set) -> Result<Measured, String> {
    let rows = rows(place, set)?;
    let limits = Limits { least: 0.2, mean: 0.6, most: 1.2 };
    let found = judged(rows, limits, |row| Ok(number(&row["measured"], "grad_min")? / best(row, "grad_min")?))?;
    Ok(Measured { text: format!("beside {}: {}", tools_there(rows), found.text), ..found })
}

fn by_hand(place: &Workplace, set: Set) -> Result<Measured, String> {
    judged(rows(place, set)?, Limits { least: 0.0, mean: 1.6, most: 3.0 }, |row| {
        Ok(number(&row["measured"], "grad_min")? / number(&row["by_hand"], "grad_min")?)
    })
}

fn values(place: &Workplace, set: Set) -> Result<Measured, String> {
    let rows = rows(place, set)?;
    let limits = Limits { least: 0.0, mean: 1.0, most: 1.3 };
    let found = judged(rows, limits, |row| Ok(number(&row["measured"], "obj_min")? / best(row, "obj_min")?))?;
    Ok(Measured { text: format!("beside {}: {}", tools_there(rows), found.text), ..found })
}

fn times_value(place: &Workplace, set: Set) -> Result<Measured, String> {
    judged(rows(place, set)?, Limits { least: 0.0, mean: 3.5, most: 6.0 }, |row| {
        Ok(number(&row["measured"], "grad_min")? / number(&row["measured"], "obj_min")?)
    })
}

fn compile_times(place: &Workplace) -> Result<Measured, String> {
    let rows = rows(place, Set::OpenAvx512).or_else(|_| rows(place, Set::OpenAvx2))?;
    let mut slow = Vec::new();
    let mut longest: f64 = 0.0;
    for row in rows {
        let seconds = number(&row["compiled"], "first_s")?;
        longest = longest.max(seconds);
        if seconds > 0.5 {
            slow.push(format!("{} {:.0} ms", name(row), 1e3 * seconds));
        }
    }
    let text = format!("{:.0} ms at most; above: [{}]", 1e3 * longest, slow.join(", "));
    Ok(Measured::new(slow.is_empty(), text))
}

fn two_threads(place: &Workplace) -> Result<Measured, String> {
    let [one, two] = ["1", "2"].map(|n| measured(place, &["--no-peers", "--threads", n]));
    let (mut slow, mut all) = (Vec::new(), 0);
    for (one, two) in one?.iter().zip(&two?) {
        let [before, after] = [one, two].map(|row| number(&row["measured"], "grad_min"));
        let gain = before.clone()? / after?;
        if before? < 1e-3 {
            continue;
        }
        all += 1;
        if gain < 1.6 {
            slow.push(format!("{} {gain:.2}", name(one)));
        }
    }
    Ok(Measured::new(
        slow.is_empty(),
        format!("{all} above 1 ms; less than 1.6, or without such a loop: [{}]", slow.join(", ")),
    ))
}

/// The arguments of a function as `--args` takes them: files with numbers between -0.5 and 0.5.
struct Arguments {
    folder: PathBuf,
    words: Vec<String>,
}

impl Arguments {
    fn new(arrays: &[(&str, &[usize])]) -> Result<Arguments, String> {
        let folder = std::env::temp_dir().join(format!("cotan-products-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
        let mut words = Vec::new();
        for (name, extents) in arrays {
            let file = folder.join(name).with_extension("npy");
            std::fs::write(&file, npy(extents)).map_err(|e| e.to_string())?;
            words.push(format!("{name}={}", file.display()));
        }
        Ok(Arguments { folder, words })
    }
}

impl Drop for Arguments {
    fn drop(&mut self) {
        // What is left in a folder for such files does no harm.
        let _left = std::fs::remove_dir_all(&self.folder);
    }
}

/// An array of f64 as NumPy writes it to a file, version 1.0 of the format.
fn npy(extents: &[usize]) -> Vec<u8> {
    const START: usize = 10;
    let shape: String = extents.iter().map(|n| format!("{n},")).collect();
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}");
    header += &" ".repeat(63 - (START + header.len()) % 64);
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    let elements = (0..extents.iter().product::<usize>() as u64).map(|k| (k * 7919 % 1000) as f64 / 1000.0 - 0.5);
    elements.for_each(|element| bytes.extend(element.to_le_bytes()));
    bytes
}

/// What `cotan bench` says of a function of `tests/speed/products.cot`, or of its gradient, in seconds of code.
fn timed(place: &Workplace, function: &str, arguments: &Arguments, wrt: Option<&str>) -> Result<f64, String> {
    let mut command = cotan(place);
    command.current_dir(place.root.join("tests/speed"));
    command.args(["bench", "products.cot", "--fn", function, "--threads", "1", "--budget", "0.3", "--json"]);
    arguments.words.iter().for_each(|word| {
        command.args(["--args", word]);
    });
    if let Some(wrt) = wrt {
        command.args(["--grad", wrt]);
    }
    let report = json(&output(&mut command)?)?;
    number(&report, if wrt.is_some() { "grad_code_min" } else { "obj_code_min" })
}

fn per_sample(place: &Workplace) -> Result<Measured, String> {
    let arguments = Arguments::new(&[("x", &[512, 64]), ("w", &[64, 64]), ("v", &[64])])?;
    let mut parts = Vec::new();
    let mut holds = true;
    for (each, all) in [("each_row", "all_rows"), ("each_sample", "all_samples")] {
        for wrt in [None, Some("w,v")] {
            let ratio = timed(place, each, &arguments, wrt)? / timed(place, all, &arguments, wrt)?;
            holds &= ratio <= 1.15;
            parts.push(format!("{each}{} {ratio:.2}", if wrt.is_some() { ", gradient" } else { "" }));
        }
    }
    Ok(Measured::new(holds, parts.join("; ")))
}

/// How many times as dear a term is with `n` rows and columns as at the size before, and the same of the rows' sums.
struct Jump {
    n: usize,
    ours: f64,
    plain: f64,
}

fn vector_products(place: &Workplace) -> Result<Measured, String> {
    const SIDES: [usize; 8] = [16, 32, 64, 128, 256, 500, 1000, 2000];
    const CASES: [(&str, &str, Option<&str>); 4] = [
        ("columns", "summed", None),
        ("combined", "summed", None),
        ("sum_of_columns", "sum_of_summed", Some("w,x")),
        ("sum_of_combined", "sum_of_summed", Some("w,x")),
    ];
    let mut parts = Vec::new();
    let mut holds = true;
    for (function, plain, wrt) in CASES {
        let (mut worst, mut jumps): (f64, Vec<Jump>) = (0.0, Vec::new());
        let mut before = None;
        for n in SIDES {
            let arguments = Arguments::new(&[("w", &[n, n]), ("x", &[n])])?;
            let times = [timed(place, function, &arguments, wrt)?, timed(place, plain, &arguments, wrt)?];
            worst = worst.max(times[0] / times[1]);
            let terms = times.map(|time| time / (n * n) as f64);
            jumps.extend(before.replace(terms).map(|[ours, plain]| Jump {
                n,
                ours: terms[0] / ours,
                plain: terms[1] / plain,
            }));
        }
        let jump = jumps.iter().max_by(|a, b| a.ours.total_cmp(&b.ours)).ok_or("there is one size alone")?;
        holds &= worst <= 1.5 && jump.ours <= 1.3;
        parts.push(format!(
            "{function}{}: {worst:.2} times, jump {:.2} at {}, where the rows' sums have {:.2}",
            if wrt.is_some() { ", gradient" } else { "" },
            jump.ours,
            jump.n,
            jump.plain
        ));
    }
    Ok(Measured::new(holds, parts.join("; ")))
}
