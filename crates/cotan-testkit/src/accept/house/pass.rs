//! A pass is one file and one line of a pipeline: a prepared one is added to a copy of the tree.

use super::super::{Line, Measured, Workplace};
use super::tree::Tree;

pub(super) const LINE: Line = Line {
    title: "a pass is one file and one line of a pipeline (double negations, in a copy of the tree)",
    bar: "harness, file tests and `cotan emit` take it; only its file, that line, lines of `new-pass` and its tests differ",
    measure,
};

/// The pass.
const NAME: &str = "cancel_negations";
/// Its file.
const FILE: &str = "crates/cotan-opt/src/passes/cancel_negations.rs";
/// What stands in its file.
const TEXT: &str = include_str!("cancel_negations.rs.in");
/// Where `new-pass` registers it.
const LIST: &str = "crates/cotan-opt/src/passes/mod.rs";
/// Where the pipelines are.
const PIPELINES: &str = "crates/cotan-opt/src/pipelines.rs";
/// The line that it stands behind, the first of those that are the same.
const BEFORE: &str = "        Run(&passes::contract_fma::PASS),\n";
/// Its file tests, with what is in them.
const FILES: [(&str, &str); 2] = [
    (
        "tests/ir/cancel_negations/fires_on_what.cir",
        "fn f(x: f64) {\n  a: f64 = neg x\n  b: f64 = neg a\n  c: f64 = sin b\n  return c\n}\n// ---\n\
         fn f(x: f64) {\n  a: f64 = neg x\n  b: f64 = neg a\n  c: f64 = sin x\n  return c\n}\n",
    ),
    (
        "tests/ir/cancel_negations/keeps_what.cir",
        "fn f(x: f64) {\n  a: f64 = neg x\n  return a\n}\n// ---\nfn f(x: f64) {\n  a: f64 = neg x\n  return a\n}\n",
    ),
];

/// The tests that it reaches.
const TESTS: [&[&str]; 2] = [
    &["test", "--release", "-q", "-p", "cotan-opt"],
    &["test", "--release", "-q", "-p", "cotan-testkit", "--test", "all", "ir::"],
];
/// Lists the passes, as the command does.
const LISTED: &[&str] =
    &["run", "--release", "-q", "-p", "cotan-cli", "--bin", "cotan", "--", "emit", "--stage", "passes", PROGRAM];
/// A program of the tree.
const PROGRAM: &str = "crates/cotan-cli/src/commands/new/program.cot";

fn measure(place: &Workplace) -> Result<Measured, String> {
    let tree = Tree::copy(place)?;
    tree.cargo(&["xtask", "new-pass", NAME])?;
    tree.write(FILE, TEXT)?;
    for (file, text) in FILES {
        tree.write(file, text)?;
    }
    let line = format!("        Run(&passes::{NAME}::PASS),\n");
    let pipelines = tree.read(PIPELINES)?;
    if !pipelines.contains(BEFORE) {
        return Err(format!("{PIPELINES} has no line `{}`", BEFORE.trim()));
    }
    tree.write(PIPELINES, &pipelines.replacen(BEFORE, &format!("{BEFORE}{line}"), 1))?;
    for test in TESTS {
        tree.cargo(test)?;
    }
    let is_listed = tree.cargo(LISTED)?.lines().any(|listed| listed.split_whitespace().next() == Some(NAME));
    let changed = tree.changed()?;
    let is_expected = |name: &&String| {
        [FILE, LIST, PIPELINES].contains(&name.as_str()) || FILES.iter().any(|(file, _)| name.as_str() == *file)
    };
    let others: Vec<&String> = changed.iter().filter(|name| !is_expected(name)).collect();
    let text = format!("{} files differ, others than expected: {others:?}; listed: {is_listed}", changed.len());
    Ok(Measured::new(others.is_empty() && is_listed, text))
}
