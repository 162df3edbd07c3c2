//! Benchmark method: how a function and its derivative are timed, and how their results are compared with others.
//!
//! An [`Instance`] is a program with arguments; [`measure()`] times the function and its derivative by one method, on
//! operands that are [`Perturbed`] between samples; [`profile()`] shows in which loop nests the time goes. Nothing here reads files: shells do.

mod agreement;
mod instance;
mod measure;
mod parameter_blocks;
mod perturb;
mod profile;
mod reference;

pub use agreement::{Found, Tolerance, agreement};
pub use instance::Instance;
pub use measure::{
    Beside, DeviceUse, Measured, SHORTEST_SAMPLE, Settings, Turn, Version, check, evaluate, evaluate_by_tape, function,
    measure, measure_beside,
};
pub use parameter_blocks::Block;
pub use perturb::Perturbed;
pub use profile::{NestFigures, Peak, Profile, profile, profile_table};
pub use reference::{BlockError, compare_blocks};
