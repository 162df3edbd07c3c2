//! Lines of the core that stand for harnesses under `tests/` and in the crates: they run them, and count what they ran.

use super::suites::{count, harness, output_of_tests, tests};
use super::{Line, Measured, Workplace};
use crate::faults::FAULTS;
use crate::files::workspace_file;
use std::process::Command;

pub(super) const LINES: &[Line] = &[
    Line {
        title: "failures of other systems (tests/run/field) and the shapes of loops (tests/run/loops)",
        bar: "all pass on every engine, at least one program each",
        measure: field,
    },
    Line {
        title: "programs with several possible run-time errors (tests/run/errors): one code and place everywhere",
        bar: "at least 50 programs, all pass, interpreter and 1-4 threads",
        measure: errors,
    },
    Line { title: "diagnostics as ui tests", bar: "at least 80 programs, all pass", measure: ui },
    Line {
        title: "random bytes, truncated and mutated programs never panic",
        bar: "the bounded fuzz run passes",
        measure: fuzz,
    },
    Line {
        title: "size and cost of derivatives of nests of depth 1-6, and a ten-line snapshot of at most 40 statements",
        bar: "the tests that bound them pass",
        measure: sizes,
    },
    Line {
        title: "faults seeded into the derivative crate",
        bar: "at least 20, each found within 1,000 random programs",
        measure: seeded_faults,
    },
    Line {
        title: "no U code can come from derivatives, the interpreter or the CPU backend",
        bar: "none in their source",
        measure: unsupported,
    },
];

fn field(place: &Workplace) -> Result<Measured, String> {
    let n = count("tests/run/field").min(count("tests/run/loops"));
    harness(
        place,
        count("tests/run"),
        if n == 0 { usize::MAX } else { 1 },
        "cotan-testkit",
        &["--test", "all", "run::"],
    )
}

fn errors(place: &Workplace) -> Result<Measured, String> {
    harness(place, count("tests/run/errors"), 50, "cotan-testkit", &["--test", "all", "run::"])
}

fn ui(place: &Workplace) -> Result<Measured, String> {
    harness(place, count("tests/ui"), 80, "cotan-testkit", &["--test", "all", "ui::"])
}

fn fuzz(place: &Workplace) -> Result<Measured, String> {
    Ok(Measured::new(true, tests(place, "cotan-testkit", &["--test", "all", "fuzz::"], "")?))
}

fn sizes(place: &Workplace) -> Result<Measured, String> {
    let costs = output_of_tests(
        place,
        "cotan-ad",
        &["--test", "all", "costs::", "--", "--nocapture", "--test-threads", "1"],
        "",
    )?;
    let nests: Vec<&str> = costs.lines().filter(|line| line.starts_with("depth ")).collect();
    tests(place, "cotan-ad", &["--test", "all", "snapshots::"], "")?;
    let snapshot = tests(place, "cotan-testkit", &["--test", "all", "emit::"], "")?;
    let depths = (1..=6).filter(|d| nests.iter().any(|line| line.starts_with(&format!("depth {d} ")))).count();
    Ok(Measured::new(depths == 6, format!("{}; snapshot: {snapshot}", nests.join("; "))))
}

fn seeded_faults(place: &Workplace) -> Result<Measured, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let out = Command::new(cargo)
        .current_dir(&place.root)
        .args(["run", "--release", "-q", "-p", "cotan-testkit", "--bin", "faults", "--", "1000"])
        .output()
        .map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&out.stdout);
    let n_found = text.lines().filter(|line| line.contains("found after")).count();
    let missed: Vec<&str> = text.lines().filter(|line| line.contains("NOT FOUND")).collect();
    let holds = out.status.success() && n_found >= 20;
    Ok(Measured::new(holds, format!("{n_found} of {} found {}", FAULTS.len(), missed.join("; "))))
}

fn unsupported(_: &Workplace) -> Result<Measured, String> {
    let mut found = Vec::new();
    for name in ["cotan-ad", "cotan-cpu", "cotan-interp", "cotan-loops", "cotan-llvm", "cotan-opt", "cotan-runtime"] {
        let mut files = vec![workspace_file(&format!("crates/{name}/src"))];
        while let Some(path) = files.pop() {
            if path.is_dir() {
                let entries = std::fs::read_dir(&path).map_err(|e| e.to_string())?;
                files.extend(entries.filter_map(Result::ok).map(|e| e.path()));
            } else {
                let text = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
                found.extend(text.contains("\"U0").then(|| path.display().to_string()));
            }
        }
    }
    Ok(Measured::new(found.is_empty(), format!("{} files with a U code", found.len())))
}
