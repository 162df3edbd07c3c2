//! `tests/language.tsv`: what the language promises, section by section, and the tests that hold it to that.

use cotan_testkit::files::workspace_file;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;

/// The sections of the specification of the language.
const SECTIONS: [&str; 10] = [
    "0 The surface",
    "1 Lexical",
    "2 Operators",
    "3 Types",
    "4 Declarations",
    "5 Expressions and statements",
    "6 Derivatives",
    "7 Numeric conventions",
    "8 Determinism",
    "9 Second round",
];

/// One promise.
struct Row<'a> {
    section: &'a str,
    promise: &'a str,
    tests: Vec<&'a str>,
}

fn row(line: &str) -> Row<'_> {
    let mut cells = line.split('\t');
    let (Some(section), Some(promise), Some(tests), None) = (cells.next(), cells.next(), cells.next(), cells.next())
    else {
        panic!("expected a section, a promise and its tests between tabs: {line}");
    };
    Row { section, promise, tests: tests.split_whitespace().collect() }
}

/// What is wrong with a test that is named: a file of the repository, or `file.rs::function` with `#[test]` above it.
fn misnamed<'a>(test: &'a str, sources: &mut HashMap<&'a str, Option<String>>) -> Option<String> {
    let (path, function) = test.split_once("::").map_or((test, None), |(path, function)| (path, Some(function)));
    // Not all programs are text: one has bytes that are no UTF-8.
    let read = || Some(String::from_utf8_lossy(&fs::read(workspace_file(path)).ok()?).into_owned());
    let source = sources.entry(path).or_insert_with(read);
    let Some(source) = source else { return Some(format!("`{path}` is no file")) };
    match function {
        None if path.ends_with(".cot") => None,
        None => Some(format!("`{test}` names no program of the tests, and no function")),
        Some(function) => {
            let is_there = source.match_indices(&format!("fn {function}(")).any(|(at, _)| {
                source[..at].trim_end().rsplit('\n').take_while(|line| line.trim_start().starts_with("#[")).count() > 0
            });
            (!is_there).then(|| format!("`{path}` has no test `{function}`"))
        }
    }
}

#[expect(clippy::print_stdout, reason = "the counts are shown by `-- --nocapture`")]
fn print(counts: &BTreeMap<&str, usize>) {
    for (section, count) in counts {
        println!("section {section}: {count} promises");
    }
}

#[test]
fn every_promise_of_the_language_names_tests_that_are_there() {
    let table = fs::read_to_string(workspace_file("tests/language.tsv")).expect("the table");
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("section\tpromise\ttests"));
    let mut wrong = Vec::new();
    let mut counts = BTreeMap::from(SECTIONS.map(|section| (section, 0)));
    let (mut promises, mut sources) = (HashSet::new(), HashMap::new());
    for Row { section, promise, tests } in lines.map(row) {
        match counts.get_mut(section) {
            Some(count) => *count += 1,
            None => wrong.push(format!("{section}: not a section")),
        }
        if promise.is_empty() || tests.is_empty() {
            wrong.push(format!("{section}: `{promise}` has no test"));
        }
        if !promises.insert((section, promise)) {
            wrong.push(format!("{section}: `{promise}` stands there twice"));
        }
        for test in tests {
            wrong.extend(misnamed(test, &mut sources).map(|what| format!("{section}: {promise}: {what}")));
        }
    }
    let empty = counts.iter().filter(|(_, count)| **count == 0);
    wrong.extend(empty.map(|(section, _)| format!("{section}: no promise")));
    print(&counts);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// How many defects of other systems the reference numbers.
const DEFECTS: usize = 16;

#[test]
fn every_defect_of_others_names_tests_that_are_there() {
    let table = fs::read_to_string(workspace_file("tests/defects.tsv")).expect("the table");
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("number\tdefect\ttests"));
    let mut wrong = Vec::new();
    let numbers: Vec<String> = (1..=DEFECTS).map(|n| n.to_string()).collect();
    let mut counts: Vec<usize> = vec![0; DEFECTS];
    let mut sources = HashMap::new();
    for Row { section: number, promise: defect, tests } in lines.map(row) {
        match numbers.iter().position(|n| n == number) {
            Some(at) => counts[at] += tests.len(),
            None => wrong.push(format!("{number}: no number of a defect")),
        }
        if defect.is_empty() || tests.is_empty() {
            wrong.push(format!("{number}: `{defect}` has no test"));
        }
        for test in tests {
            wrong.extend(misnamed(test, &mut sources).map(|what| format!("{number}: {defect}: {what}")));
        }
    }
    let empty = counts.iter().zip(&numbers).filter(|(count, _)| **count == 0);
    wrong.extend(empty.map(|(_, number)| format!("{number}: no test")));
    print_defects(&counts);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_defect_that_was_found_from_outside_names_tests_that_are_there() {
    let table = fs::read_to_string(workspace_file("tests/sound.tsv")).expect("the table");
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("defect\twhat\ttests"));
    let (mut wrong, mut sources) = (Vec::new(), HashMap::new());
    for Row { section: defect, promise: what, tests } in lines.map(row) {
        if what.is_empty() || tests.is_empty() {
            wrong.push(format!("{defect}: `{what}` has no test"));
        }
        for test in tests {
            wrong.extend(misnamed(test, &mut sources).map(|it| format!("{defect}: {what}: {it}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[expect(clippy::print_stdout, reason = "the counts are shown by `-- --nocapture`")]
fn print_defects(counts: &[usize]) {
    for (at, count) in counts.iter().enumerate() {
        println!("defect {}: {count} tests", at + 1);
    }
}
