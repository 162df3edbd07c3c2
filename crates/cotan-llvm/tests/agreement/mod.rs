//! Compiled programs against the interpreter: same values to the bit, same errors, on any number of threads.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod accumulators;
mod blocks;
mod checks;
mod derivatives;
mod harness;
mod lanes;
mod long_blocks;
mod loops;
mod memory;
mod pars;
mod products;
mod records;
mod scalars;
mod strips;
mod switches;
mod tensors;
mod threads;
mod wavefronts;
