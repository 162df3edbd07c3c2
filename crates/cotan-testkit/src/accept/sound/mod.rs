//! Lines of "sound": nothing that is fed to Cotan breaks it, and no value is silently wrong.

mod signatures;

use super::Line;

/// The lines.
pub(super) const LINES: &[Line] = &[signatures::LINE];
