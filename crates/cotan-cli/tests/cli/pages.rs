//! `cotan explain` has a page for every code, and the mended examples of run-time errors run.

use crate::Case;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The codes that stand between quotes in the sources of the crates, wherever they are reported.
fn codes_in_sources() -> BTreeSet<String> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("..")];
    let mut found = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).expect("a folder");
        let paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
        for path in paths {
            let is_tests = path.file_stem().is_some_and(|name| name == "tests");
            if path.is_dir() && !is_tests {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") && !is_tests {
                let text = fs::read_to_string(&path).expect("a file");
                let text = text.split("#[cfg(test)]").next().unwrap_or_default();
                found.extend(text.split('"').filter(|part| is_code(part)).map(str::to_owned));
            }
        }
    }
    found
}

fn is_code(text: &str) -> bool {
    let is_kind = text.starts_with(['E', 'W', 'N', 'R', 'A', 'U', 'B']);
    text.len() == 5 && is_kind && text[1..].bytes().all(|b| b.is_ascii_digit())
}

#[test]
fn every_code_that_a_crate_reports_is_explained() {
    let codes = codes_in_sources();
    assert!(codes.contains("E0101") && codes.contains("R0001") && codes.contains("A0001"), "{codes:?}");
    let missing: Vec<&String> = codes.iter().filter(|code| cotan::codes::page(code).is_none()).collect();
    assert!(missing.is_empty(), "no page for {missing:?}");
    let case = Case::new("");
    for code in ["E0101", "E0670", "W0501", "N0501", "R0003", "A0001", "U0001", "B0001"] {
        let run = case.run(&["explain", code]);
        assert_eq!((run.status, run.stdout.starts_with(&format!("{code}: "))), (Some(0), true), "{}", run.stderr);
    }
}

#[test]
fn the_mended_examples_of_run_time_errors_run() {
    for info in cotan::codes::RUN_TIME.iter().filter(|info| !info.failing_example.is_empty()) {
        let (_, mended) = info.explanation.split_once("Mended:\n\n").unwrap_or_else(|| panic!("{}", info.code));
        let run = Case::new(mended).run(&["run", "program.cot", "--backend", "interp", "--json"]);
        assert_eq!(run.status, Some(0), "{}\n{mended}\n{}", info.code, run.stdout);
    }
}
