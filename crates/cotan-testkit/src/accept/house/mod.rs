//! Lines of the house: what the middle of the compiler looks like, counted on the tree as it is, that its parts do what they
//! are for, and what an addition costs, measured on copies of the tree.

mod counts;
mod names;
mod nests;
mod pass;
mod passes;
mod scalar_operation;
mod tree;

use super::Line;

/// The lines: what is counted first, what runs suites last.
pub(super) fn lines() -> Vec<Line> {
    let counted: [&[Line]; 2] = [counts::LINES, &[names::LINE]];
    let suites: [&[Line]; 3] = [&[scalar_operation::LINE, pass::LINE], passes::LINES, nests::LINES];
    [counted.concat(), suites.concat()].concat()
}
