//! What an addition costs: a scalar operation, a tensor routine and a pass are added to one copy of the tree, which then is built
//! and tested once.

use super::super::{Line, Measured, Workplace};
use super::tree::{Addition, Tree};
use super::{pass, scalar_operation, tensor_routine};
use std::sync::OnceLock;

pub(super) const LINES: &[Line] = &[
    Line {
        title: "a scalar operation is one file (a bell curve, in a copy of the tree)",
        bar: "battery, random programs and pages take it; only its file, lines of `new-op` and pages differ",
        measure: |place| of(place, scalar_operation::ADDITION, |copy| copy.has_scalar_page),
    },
    Line {
        title: "a tensor routine is its file and its kernel (coefficients of splines, in the same copy)",
        bar: "battery, random programs and pages take it; only these, `mod` lines, lines of `new-op` and pages differ",
        measure: |place| of(place, tensor_routine::ADDITION, |copy| copy.has_tensor_page),
    },
    Line {
        title: "a pass is one file and one line of a pipeline (double negations, in the same copy)",
        bar: "harness, file tests and `cotan emit` take it; only its file, that line, lines of `new-pass` and its tests differ",
        measure: |place| of(place, pass::ADDITION, |copy| copy.is_listed),
    },
];

const ADDITIONS: [Addition; 3] = [scalar_operation::ADDITION, tensor_routine::ADDITION, pass::ADDITION];

/// The tests that they reach: of the op table and its kernels, of the passes, the battery, the files of passes, and random
/// programs.
const TESTS: [&[&str]; 3] = [
    &["test", "--release", "-q", "-p", "cotan-ops", "-p", "cotan-kernels"],
    &["test", "--release", "-q", "-p", "cotan-opt"],
    &["test", "--release", "-q", "-p", "cotan-testkit", "--test", "all", "--", "battery::", "ir::", "generated::"],
];
/// Lists the passes, as the command does.
const LISTED: &[&str] =
    &["run", "--release", "-q", "-p", "cotan-cli", "--bin", "cotan", "--", "emit", "--stage", "passes", PROGRAM];
/// A program of the tree.
const PROGRAM: &str = "crates/cotan-cli/src/commands/new/program.cot";

/// What became of the copy.
struct Copy {
    changed: Vec<String>,
    has_scalar_page: bool,
    has_tensor_page: bool,
    is_listed: bool,
}

/// The copy, made by the first line that asks.
fn copy(place: &Workplace) -> Result<&'static Copy, String> {
    static COPY: OnceLock<Result<Copy, String>> = OnceLock::new();
    COPY.get_or_init(|| made(place)).as_ref().map_err(Clone::clone)
}

fn made(place: &Workplace) -> Result<Copy, String> {
    let tree = Tree::copy(place)?;
    ADDITIONS.iter().try_for_each(|addition| (addition.add)(&tree))?;
    tree.cargo(&["xtask", "ops"])?;
    tree.cargo(&["xtask", "export-rules"])?;
    for test in TESTS {
        tree.cargo(test)?;
    }
    let has_page = |page: &str, name: &str| {
        tree.read(&format!("docs/operations/{page}.md")).map(|text| text.contains(&format!("\n## {name}\n")))
    };
    Ok(Copy {
        has_scalar_page: has_page("elementary", "gauss")?,
        has_tensor_page: has_page("linear-algebra", "spline_coefficients")?,
        is_listed: tree.cargo(LISTED)?.lines().any(|line| line.split_whitespace().next() == Some(pass::NAME)),
        changed: tree.changed()?,
    })
}

/// The files of one addition, and those that belong to none.
fn of(place: &Workplace, addition: Addition, is_taken: fn(&Copy) -> bool) -> Result<Measured, String> {
    let copy = copy(place)?;
    let own: Vec<&String> = copy.changed.iter().filter(|name| (addition.is_own)(name)).collect();
    let is_nobodys = |name: &&String| !ADDITIONS.iter().any(|addition| (addition.is_own)(name));
    let others: Vec<&String> = copy.changed.iter().filter(is_nobodys).collect();
    let text =
        format!("{own:?} differ; files of no addition: {others:?}; told on its page or list: {}", is_taken(copy));
    Ok(Measured::new(others.is_empty() && is_taken(copy), text))
}
