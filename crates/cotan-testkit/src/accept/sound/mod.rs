//! Lines of "Sound": nothing that is fed to Cotan breaks it.

mod bombs;
mod bombs_list;
mod stopping;

use super::Line;

pub(super) const LINES: &[Line] = &[stopping::LINE, bombs::LINE];
