//! Lines of `accept sound`.

mod calls;

use super::Line;

/// All of them.
pub(super) fn lines() -> Vec<Line> {
    [calls::LINES].concat()
}
