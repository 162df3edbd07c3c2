//! A scalar operation is one file: a prepared one, a bell curve.

use super::tree::{Addition, Tree};

pub(super) const ADDITION: Addition = Addition { add, is_own };

/// The operation.
const NAME: &str = "gauss";
/// Its file.
const FILE: &str = "crates/cotan-ops/src/scalar/gauss.rs";
/// What stands in its file.
const TEXT: &str = include_str!("gauss.rs.in");
/// Where `new-op` registers it.
const LIST: &str = "crates/cotan-ops/src/scalar/mod.rs";
/// Where the pages of operations lie, and the rules as the proofs read them: both are written by commands.
const WRITTEN: [&str; 2] = ["docs/operations/", "proofs/generated/"];

fn add(tree: &Tree) -> Result<(), String> {
    tree.cargo(&["xtask", "new-op", "--scalar", NAME])?;
    tree.write(FILE, TEXT)
}

fn is_own(name: &str) -> bool {
    name == FILE || name == LIST || WRITTEN.iter().any(|folder| name.starts_with(folder))
}
