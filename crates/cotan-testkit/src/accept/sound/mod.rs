//! Lines of "Sound": nothing that is fed to Cotan breaks it.

mod fuzz;
mod memcheck;
mod mutated;
mod promises;

use super::Line;

pub(super) const LINES: &[Line] = &[mutated::LINE, fuzz::LINE, memcheck::LINE, promises::LINE];
