//! The gate itself: what CI runs, in a fresh clone, and the defects that were found from outside.

use super::super::suites::output_of_tests;
use super::super::{Line, Measured, Workplace};
use crate::files::workspace_file;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

pub(super) const LINES: &[Line] = &[
    Line {
        title: "every defect that was found from outside has a test named after it",
        bar: "all of D1-D11, F1-F9, P1, P2 and the slow compilations (section 5)",
        measure: defects,
    },
    Line {
        title: "programs, cases, oracles and random programs of the gate, and the variants in which they are compiled",
        bar: "at least 486, 1,765 and 16; 2,000 of which 300 compiled; every variant occurs",
        measure: counts,
    },
    GATE,
];

/// The gate's time.
pub(in super::super) const GATE: Line = Line {
    title: "`.ci/run` in a fresh clone, from nothing and then where the dependencies are built",
    bar: "at most 20 and 15 minutes on two cores",
    measure: gate,
};

/// The names of the defects.
fn names() -> Vec<String> {
    let numbered = |letter: &'static str, n: u32| (1..=n).map(move |k| format!("{letter}{k}"));
    numbered("D", 11).chain(numbered("F", 9)).chain(numbered("P", 2)).chain(["section 5".to_owned()]).collect()
}

fn defects(place: &Workplace) -> Result<Measured, String> {
    let table = fs::read_to_string(workspace_file("tests/sound.tsv")).map_err(|e| format!("tests/sound.tsv: {e}"))?;
    let mut tests: BTreeMap<&str, usize> = BTreeMap::new();
    for line in table.lines().skip(1) {
        let mut cells = line.split('\t');
        let (defect, named) = (cells.next().unwrap_or_default(), cells.nth(1).unwrap_or_default());
        *tests.entry(defect).or_insert(0) += named.split_whitespace().count();
    }
    let named: BTreeSet<&str> = tests.iter().filter(|(_, n)| **n > 0).map(|(defect, _)| *defect).collect();
    let without: Vec<String> = names().into_iter().filter(|name| !named.contains(name.as_str())).collect();
    // That the tests are there and named as the table says is a test of its own.
    output_of_tests(place, "cotan-testkit", &["--test", "all", "sentences::"], "")?;
    let text =
        format!("{} tests of {} defects; without: {}", tests.values().sum::<usize>(), named.len(), without.join(" "));
    Ok(Measured::new(without.is_empty(), text))
}

fn counts(place: &Workplace) -> Result<Measured, String> {
    let text = output_of_tests(place, "cotan-testkit", &["--test", "all", "run::counts::", "--", "--nocapture"], "")?;
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("programs")).collect();
    Ok(Measured::new(!lines.is_empty(), lines.join("; ")))
}

/// Seconds from nothing, and where dependencies are built.
const FROM_NOTHING: f64 = 20.0 * 60.0;
const DEPENDENCIES_BUILT: f64 = 15.0 * 60.0;

fn gate(place: &Workplace) -> Result<Measured, String> {
    let clone = place.root.join("target/gate");
    let _ = fs::remove_dir_all(&clone);
    let done = Command::new("git").args(["clone", "-q"]).arg(&place.root).arg(&clone).status();
    if !done.map_err(|e| format!("git: {e}"))?.success() {
        return Err("the clone failed".to_owned());
    }
    let first = seconds_of_gate(&clone)?;
    // Our own crates are built again: their sources are newer than what was made of them.
    for folder in ["crates", "xtask"] {
        touch(&clone.join(folder))?;
    }
    let second = seconds_of_gate(&clone)?;
    let holds = first.0 <= FROM_NOTHING && second.0 <= DEPENDENCIES_BUILT;
    let text = format!("{:.0} s and {:.0} s; of the first: {}", first.0, second.0, first.1);
    Ok(Measured::new(holds, text))
}

/// How long the gate takes, and its steps.
fn seconds_of_gate(clone: &Path) -> Result<(f64, String), String> {
    let start = Instant::now();
    let mut command = Command::new("bash");
    command.arg(".ci/run").env("CI", "true").env_remove("CARGO_TARGET_DIR").current_dir(clone);
    let out = command.output().map_err(|e| format!("bash: {e}"))?;
    let seconds = start.elapsed().as_secs_f64();
    let text = String::from_utf8_lossy(&out.stdout);
    if !out.status.success() {
        let last: Vec<&str> = text.lines().rev().take(30).collect();
        return Err(format!("the gate fails: {}", last.into_iter().rev().collect::<Vec<_>>().join("\n")));
    }
    let steps = text.lines().skip_while(|line| !line.starts_with("seconds of each step")).skip(1);
    let steps: Vec<String> = steps.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    Ok((seconds, steps.join(", ")))
}

fn touch(folder: &Path) -> Result<(), String> {
    for path in crate::files::files(folder, ".rs") {
        let file = fs::File::options().append(true).open(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        file.set_modified(std::time::SystemTime::now()).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}
