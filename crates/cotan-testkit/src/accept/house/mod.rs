//! Lines of the house: what an addition costs, measured on copies of the tree.

mod scalar_operation;
mod tree;

use super::Line;

pub(super) const LINES: &[Line] = &[scalar_operation::LINE];
