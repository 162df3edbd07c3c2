//! The lines of `sound`.

mod degenerate;
mod zero_warnings;

use super::Line;

/// All of them.
pub(super) fn lines() -> Vec<Line> {
    [degenerate::LINES, zero_warnings::LINES].concat()
}
