//! Lines of the first ten minutes: what a newcomer writes, what is said of it, and what goes in and out.

mod book;
mod checks;
mod data;
mod literals;
mod messages;
mod words;

use super::Line;

/// The lines.
pub(super) fn lines() -> Vec<Line> {
    let parts: [&[Line]; 6] = [literals::LINES, messages::LINES, words::LINES, data::LINES, checks::LINES, book::LINES];
    parts.concat()
}
