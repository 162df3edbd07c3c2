//! Hosts and devices: what a program is lowered for once, what a device lacks, and a host over the library alone.

use super::super::suites::tests;
use super::super::{Line, Measured, Workplace};
use crate::files::workspace_file;
use std::fs;

pub(super) const LINES: &[Line] = &[
    Line {
        title: "how many times `cotan grad` lowers its program: with a cache and without one, and on the interpreter",
        bar: "once each",
        measure: lowerings,
    },
    Line {
        title: "constructs that a device lacks: which one, where, and the nearest that works",
        bar: "told before code is made; output, loops, routines and element types",
        measure: lacks,
    },
    Line {
        title: "a test host over the library alone beside the command: values, gradients, messages and places; an array of 64 MiB",
        bar: "at most 200 lines; at least 30 programs; the array is not copied",
        measure: host,
    },
];

fn lowerings(place: &Workplace) -> Result<Measured, String> {
    let test = "derivative_at::tests::a_gradient_lowers_its_program_once";
    let result = tests(place, "cotan-cli", &["--bin", "cotan", test], "")?;
    Ok(Measured::new(true, format!("once in each of three ways; {result}")))
}

fn lacks(place: &Workplace) -> Result<Measured, String> {
    let result = tests(place, "cotan", &["--test", "all", "backends::"], "")?;
    Ok(Measured::new(true, result))
}

/// The test host.
const HOST: &str = "crates/cotan-cli/tests/host.rs";

fn host(place: &Workplace) -> Result<Measured, String> {
    let text = fs::read_to_string(workspace_file(HOST)).map_err(|e| format!("{HOST}: {e}"))?;
    let (lines, asks_for_30) = (text.lines().count(), text.contains("chosen.len() >= 30"));
    let result = tests(place, "cotan-cli", &["--test", "host"], "")?;
    Ok(Measured::new(
        lines <= 200 && asks_for_30,
        format!("{lines} lines, at least 30 programs: {asks_for_30}; {result}"),
    ))
}
