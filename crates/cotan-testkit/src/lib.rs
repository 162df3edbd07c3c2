//! What the tests of the workspace share: random programs, oracles that judge them, tolerances, and the harnesses of the
//! folders under `tests/`.
//!
//! For development only; nothing that is shipped depends on it.

pub mod accept;
pub mod battery;
pub mod behaviour;
pub mod bisection;
pub mod book;
pub mod campaign;
pub mod certificates;
pub mod compile;
pub mod degenerate;
pub mod derived_case;
pub mod engines;
pub mod evaluator;
pub mod exact;
pub mod faults;
pub mod files;
pub mod frontend;
pub mod fuzz;
pub mod generate;
pub mod gradient_checks;
pub mod header;
pub mod hostile;
pub mod idioms;
pub mod kinks;
pub mod library;
pub mod memory;
pub mod model;
pub mod nests_backend;
pub mod oracles;
pub mod parallel;
pub mod pass_files;
pub mod progress;
pub mod random;
pub mod refusals;
pub mod shrink;
pub mod shuffle;
pub mod signatures;
pub mod single;
pub mod texts;
pub mod tier;
pub mod tolerances;
pub mod variant;
pub mod zeros;
