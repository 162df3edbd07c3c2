//! Lines of the house: what the middle of the compiler looks like, counted on the tree as it is, that its parts do what they
//! are for, and what an addition costs, measured on copies of the tree.

mod counts;
mod nests;
mod pass;
mod scalar_operation;
mod tree;

use super::Line;

/// The lines: what is counted first, what runs suites last.
pub(super) fn lines() -> Vec<Line> {
    [counts::LINES, &[scalar_operation::LINE, pass::LINE], nests::LINES].concat()
}
