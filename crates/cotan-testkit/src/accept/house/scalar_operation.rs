//! A scalar operation is one file: a prepared one is added to a copy of the tree.

use super::super::{Line, Measured, Workplace};
use super::tree::Tree;

pub(super) const LINE: Line = Line {
    title: "a scalar operation is one file (a bell curve, in a copy of the tree)",
    bar: "battery, random programs and pages take it; only its file, lines of `new-op` and pages differ",
    measure,
};

/// The operation.
const NAME: &str = "gauss";
/// Its file.
const FILE: &str = "crates/cotan-ops/src/scalar/gauss.rs";
/// What stands in its file.
const TEXT: &str = include_str!("gauss.rs.in");
/// Where `new-op` registers it.
const LIST: &str = "crates/cotan-ops/src/scalar/mod.rs";
/// Where the pages of operations lie.
const PAGES: &str = "docs/operations/";

/// The tests that it reaches: of the op table, the battery, and the words that occur in random programs.
const TESTS: [&[&str]; 2] = [
    &["test", "--release", "-q", "-p", "cotan-ops"],
    &["test", "--release", "-q", "-p", "cotan-testkit", "--test", "all", "battery::", "generated::every_word"],
];

fn measure(place: &Workplace) -> Result<Measured, String> {
    let tree = Tree::copy(place)?;
    tree.cargo(&["xtask", "new-op", "--scalar", NAME])?;
    tree.write(FILE, TEXT)?;
    tree.cargo(&["xtask", "ops"])?;
    for test in TESTS {
        tree.cargo(test)?;
    }
    let changed = tree.changed()?;
    let is_expected = |name: &&String| *name == FILE || *name == LIST || name.starts_with(PAGES);
    let others: Vec<&String> = changed.iter().filter(|name| !is_expected(name)).collect();
    let has_page = tree.read(&format!("{PAGES}elementary.md"))?.contains(&format!("\n## {NAME}\n"));
    let text = format!("{} files differ, others than expected: {others:?}; on its page: {has_page}", changed.len());
    Ok(Measured::new(others.is_empty() && has_page, text))
}
