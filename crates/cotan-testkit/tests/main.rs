//! All tests of this crate through its public interface, in one program: what they share is built and linked once.
//!
//! `memory` and `own_operation` are programs of their own, as they change what the whole process sees.

mod battery;
mod certificates;
mod coverage;
mod degenerate;
mod docs;
mod emit;
mod format;
mod fuzz;
mod generated;
mod gradient_checks;
mod hostile;
mod ir;
mod kinks;
mod large_positions;
mod literals;
mod mistakes;
mod nests;
mod operations;
mod partials;
mod refusals;
mod run;
mod sentences;
mod signatures;
mod single;
mod ui;
mod zero_warnings;
