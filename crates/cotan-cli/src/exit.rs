//! Exit codes.

/// The command did its job.
pub(crate) const DONE: u8 = 0;
/// The program has errors, or a check failed.
pub(crate) const PROGRAM: u8 = 1;
/// Wrong usage, unreadable input, arguments that do not fit.
pub(crate) const USAGE: u8 = 2;
/// A run-time error of the program.
pub(crate) const RUN_TIME: u8 = 3;
/// Cotan itself failed, which is nobody's error but its own.
pub(crate) const BUG: u8 = 70;
