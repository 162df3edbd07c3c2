//! Speed and compile times beside those of the start, samples of both interleaved.

use super::super::command::{json, number, output};
use super::super::compile_times::GRADIENTS;
use super::super::{Line, Measured, Workplace};
use serde_json::Value as Json;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

pub(in crate::accept) const LINES: &[Line] = &[
    Line {
        title: "gradients of ADBench's objectives beside those of the start (`--start DIR`), the least of 20 samples each",
        bar: "at most 3 % slower in the geometric mean, none by more than 5 %",
        measure: |place| ratios(place, "obj_min", 1.05),
    },
    Line {
        title: "compile times of the same",
        bar: "at most 3 % slower in the geometric mean",
        measure: |place| ratios(place, "compile_s", f64::INFINITY),
    },
];

/// Samples of each command.
const SAMPLES: usize = 20;

/// What `cotan bench` says of each gradient, by the two commands in turn: that of the start first.
type Reports = Vec<(&'static str, Vec<[Json; 2]>)>;

/// The reports, made by the first line that asks.
fn reports(place: &Workplace) -> Result<&'static Reports, String> {
    static REPORTS: OnceLock<Result<Reports, String>> = OnceLock::new();
    REPORTS.get_or_init(|| sampled(place)).as_ref().map_err(Clone::clone)
}

fn sampled(place: &Workplace) -> Result<Reports, String> {
    let commands = [place.of_start("cotan")?, place.built.join("cotan")];
    let mut reports: Reports = GRADIENTS.iter().map(|(_, function, _)| (*function, Vec::new())).collect();
    for _ in 0..SAMPLES {
        for (gradient, (_, samples)) in GRADIENTS.iter().zip(&mut reports) {
            let [start, now] = &commands;
            samples.push([sample(place, start, *gradient)?, sample(place, now, *gradient)?]);
        }
    }
    Ok(reports)
}

fn sample(place: &Workplace, command: &Path, (file, function, args): (&str, &str, &str)) -> Result<Json, String> {
    let mut command = Command::new(command);
    command.current_dir(place.root.join("examples")).args(["bench", file, "--fn", function, "--args", args]);
    command.args(["--threads", "1", "--budget", "0.1", "--repeat", "3", "--json"]);
    json(&output(&mut command)?)
}

/// The ratios of the least of a figure, now and at the start.
fn ratios(place: &Workplace, figure: &str, most: f64) -> Result<Measured, String> {
    let mut ratios = Vec::new();
    for (function, samples) in reports(place)? {
        let mut least = [f64::INFINITY; 2];
        for sample in samples {
            for (least, report) in least.iter_mut().zip(sample) {
                *least = least.min(number(report, figure)?);
            }
        }
        ratios.push((*function, least[1] / least[0]));
    }
    let mean = f64::exp(ratios.iter().map(|(_, ratio)| ratio.ln()).sum::<f64>() / ratios.len() as f64);
    let parts: Vec<String> = ratios.iter().map(|(function, ratio)| format!("{function} {ratio:.3}")).collect();
    let holds = mean <= 1.03 && ratios.iter().all(|(_, ratio)| *ratio <= most);
    Ok(Measured::new(holds, format!("{mean:.3} in the geometric mean: {}", parts.join(", "))))
}
