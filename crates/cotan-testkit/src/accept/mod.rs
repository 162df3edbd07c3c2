//! Acceptance: every line of a list with the measured value, the bar, and whether it holds.
//!
//! A line measures the thing itself: it runs the built command, the engines and the test programs. Nothing here loosens
//! a test; where a line stands for a harness under `tests/`, it runs that harness.

mod adbench;
mod command;
mod compile_times;
mod first_use;
mod folder;
mod gpu;
mod gpu_times;
mod harness;
mod hosts;
mod house;
mod jacobians;
mod language;
mod limits;
mod loops;
mod operations;
mod operations_speed;
mod programs;
mod proofs;
mod scale;
pub mod sound;
mod sparse;
mod speed;
mod stacks;
mod suites;
mod workloads;

use crate::files::workspace_file;
use serde_json::Value as Json;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Instant;

/// What a line found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// The figures.
    pub text: String,
    /// Whether they meet the bar.
    pub holds: bool,
}

impl Measured {
    /// Figures that meet the bar or not.
    pub fn new(holds: bool, text: impl Into<String>) -> Measured {
        Measured { text: text.into(), holds }
    }
}

/// One line of a list. An error of the measurement counts as a failure.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// What is measured.
    pub title: &'static str,
    /// What is asked for.
    pub bar: &'static str,
    /// Measures it.
    pub measure: fn(&Workplace) -> Result<Measured, String>,
}

/// Where things are.
#[derive(Clone, Debug)]
pub struct Workplace {
    /// The folder of the workspace.
    pub root: PathBuf,
    /// The folder of the built commands: that of this process.
    pub built: PathBuf,
    /// The folder of ADBench's inputs and reference values.
    pub adbench: PathBuf,
    /// What the revision left that a change starts from: the command `cotan`, and the folder `texts` of its generated code.
    pub start: Option<PathBuf>,
    /// What the benchmark command says of every case; measured by the first line that asks.
    cases: OnceLock<Result<Vec<Json>, String>>,
}

impl Workplace {
    /// The workplace of this process. ADBench lies in `adbench`, or beside the workspace.
    pub fn find(adbench: Option<PathBuf>, start: Option<PathBuf>) -> Result<Workplace, String> {
        let root = workspace_file("");
        let built = std::env::current_exe().map_err(|e| e.to_string())?;
        let built = built.parent().ok_or("the path of this process has no folder")?.to_owned();
        let adbench = adbench.unwrap_or_else(|| root.join("../shared/data/adbench"));
        Ok(Workplace { root, built, adbench, start, cases: OnceLock::new() })
    }

    /// Something that the revision left that a change starts from.
    fn of_start(&self, name: &str) -> Result<PathBuf, String> {
        let start = self.start.as_ref().ok_or("no start was given, as `--start DIR`")?;
        let path = start.join(name);
        if path.exists() { Ok(path) } else { Err(format!("there is no {}", path.display())) }
    }
}

/// The lines of a list.
type Lines = fn() -> Vec<Line>;

/// The lists by their names.
pub const LISTS: &[(&str, Lines)] = &[
    ("core", || [command::LINES, adbench::LINES, programs::LINES, scale::LINES, harness::LINES].concat()),
    ("first-use", first_use::lines),
    ("gpu", || gpu::LINES.to_vec()),
    ("hosts", || hosts::LINES.to_vec()),
    ("house", house::lines),
    ("language", || [language::LINES, jacobians::LINES, limits::LINES].concat()),
    ("loops", || loops::LINES.to_vec()),
    ("operations", || [operations::LINES, sparse::LINES, operations_speed::LINES].concat()),
    ("proofs", || proofs::LINES.to_vec()),
    ("sound", sound::lines),
    ("speed", || [speed::LINES, compile_times::LINES].concat()),
    ("workloads", workloads::lines),
];

/// Measures the lines and prints each as it is done; gives how many fail.
pub fn run(lines: &[Line], place: &Workplace, print: &mut dyn FnMut(&str)) -> usize {
    let mut failed = 0;
    for (k, line) in lines.iter().enumerate() {
        let start = Instant::now();
        let measured = (line.measure)(place).unwrap_or_else(|e| Measured::new(false, format!("not measured: {e}")));
        let verdict = if measured.holds { "PASS" } else { "FAIL" };
        failed += usize::from(!measured.holds);
        print(&format!("{:>2}. {verdict}  {}", k + 1, line.title));
        print(&format!("          measured: {}", measured.text));
        print(&format!("          bar:      {}   [{:.1} s]", line.bar, start.elapsed().as_secs_f64()));
    }
    print(&format!("{} of {} lines hold", lines.len() - failed, lines.len()));
    failed
}
