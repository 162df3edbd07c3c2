//! Lines of the house: what the middle of the compiler looks like, counted on the tree as it is, and that its parts do what
//! they are for.

mod nests;
mod tree;

use super::Line;

/// The lines: what is counted first, what runs suites last.
pub(super) fn lines() -> Vec<Line> {
    [tree::LINES, nests::LINES].concat()
}
