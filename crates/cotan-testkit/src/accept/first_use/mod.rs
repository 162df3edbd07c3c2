//! Lines of the first ten minutes: what a newcomer writes, what is said of it, and what goes in and out.

mod data;
mod literals;
mod messages;

use super::Line;

/// The lines.
pub(super) fn lines() -> Vec<Line> {
    let parts: [&[Line]; 3] = [literals::LINES, data::LINES, messages::LINES];
    parts.concat()
}
