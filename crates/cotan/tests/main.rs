//! All tests of this crate through its public interface, in one program: what they share is built and linked once.

mod backends;
mod exact_zeros;
mod explain;
mod flat_operands;
mod foreign_names;
mod hosts;
mod language_words;
mod leaves;
mod memory;
mod misfits;
mod negative_sizes;
mod nested;
mod overhead;
mod panics;
mod quick_start;
mod refusals;
mod resident;
mod rounds;
mod sparse;
mod stopping;
mod versions;
mod vulkan;
