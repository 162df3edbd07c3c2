//! A pass is one file and one line of a pipeline: a prepared one is added to a copy of the tree.

use super::super::{Line, Measured, Workplace};
use super::tree::Tree;

pub(super) const LINE: Line = Line {
    title: "a pass is its file and one line of a pipeline (strength reduction of differences, in a copy of the tree)",
    bar: "file tests, properties and `emit --stage passes` take it; only its file, its file tests, that line and lines of \
          `new-pass` differ",
    measure,
};

/// The pass.
const NAME: &str = "subtract_negated";
/// Its file.
const FILE: &str = "crates/cotan-opt/src/passes/subtract_negated.rs";
/// What stands in its file.
const TEXT: &str = include_str!("subtract_negated.rs.in");
/// Where `new-pass` registers it.
const LIST: &str = "crates/cotan-opt/src/passes/mod.rs";
/// Where its one line goes, and the line in front of it.
const PIPELINES: &str = "crates/cotan-opt/src/pipelines.rs";
const BEFORE: &str = "        Run(&contract_fma::PASS),\n";
/// The folder of its file tests.
const TESTS: &str = "tests/ir/subtract_negated/";

const FIRES: &str = "\
// A difference from a negated float is a sum.
fn f(x: f64, y: f64) {
  n: f64 = neg y
  d: f64 = sub x, n
  return d
}
// ---
fn f(x: f64, y: f64) {
  n: f64 = neg y
  d: f64 = add x, y
  return d
}
";

const KEEPS: &str = "\
// The negation of an integer may not be representable.
fn f(x: i64, y: i64) {
  n: i64 = neg y
  d: i64 = sub x, n
  return d
}
// ---
fn f(x: i64, y: i64) {
  n: i64 = neg y
  d: i64 = sub x, n
  return d
}
";

/// The tests that it reaches: the properties of all passes, and the file tests.
const REACHED: [&[&str]; 2] = [
    &["test", "--release", "-q", "-p", "cotan-opt"],
    &["test", "--release", "-q", "-p", "cotan-testkit", "--test", "all", "ir::"],
];

/// Shows the passes that a program goes through.
const SHOW: &[&str] = &[
    "run",
    "--release",
    "-q",
    "-p",
    "cotan-cli",
    "--",
    "emit",
    "examples/gmm/gmm.cot",
    "--fn",
    "gmm",
    "--stage",
    "passes",
];

fn measure(place: &Workplace) -> Result<Measured, String> {
    let tree = Tree::copy(place)?;
    tree.cargo(&["xtask", "new-pass", NAME])?;
    tree.write(FILE, TEXT)?;
    for (skeleton, name, text) in
        [("fires_on_what.cir", "fires_on_floats.cir", FIRES), ("keeps_what.cir", "keeps_integers.cir", KEEPS)]
    {
        tree.remove(&format!("{TESTS}{skeleton}"))?;
        tree.write(&format!("{TESTS}{name}"), text)?;
    }
    let pipelines = tree.read(PIPELINES)?;
    let with_it = format!("{BEFORE}        Run(&crate::passes::{NAME}::PASS),\n");
    tree.write(PIPELINES, &pipelines.replacen(BEFORE, &with_it, 1))?;
    for test in REACHED {
        tree.cargo(test)?;
    }
    let is_shown = tree.cargo(SHOW)?.contains(NAME);
    let n_lines = tree.read(PIPELINES)?.lines().count() - pipelines.lines().count();
    let changed = tree.changed()?;
    let is_expected = |name: &&String| [FILE, LIST, PIPELINES].contains(&name.as_str()) || name.starts_with(TESTS);
    let others: Vec<&String> = changed.iter().filter(|name| !is_expected(name)).collect();
    let text = format!(
        "{} files differ, others than expected: {others:?}; lines in pipelines: {n_lines}; shown by `emit`: {is_shown}",
        changed.len()
    );
    Ok(Measured::new(others.is_empty() && n_lines == 1 && is_shown, text))
}
