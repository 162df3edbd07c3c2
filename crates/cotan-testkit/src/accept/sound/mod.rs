//! Lines on soundness: nothing that is fed to Cotan breaks it.

mod loaders;
mod memory;

use super::Line;

/// All of them.
pub(super) fn lines() -> Vec<Line> {
    [loaders::LINES, memory::LINES].concat()
}
