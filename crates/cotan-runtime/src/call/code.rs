//! Machine code, as whatever compiled it hands it over to be called.

use super::reports::Reports;
use crate::InstructionSet;
use crate::abi::Entry;
use std::sync::Arc;

/// Memory with machine code in it, which stays where it is while this lives.
pub trait CodeMemory: Send + Sync {
    /// How many bytes of code and constants there are.
    fn n_bytes(&self) -> usize;
}

/// The machine code of a function, and what its host has to know of it.
#[derive(Clone)]
pub struct MachineCode {
    /// Where it begins.
    pub entry: Entry,
    /// What it lies in.
    pub memory: Arc<dyn CodeMemory>,
    /// Where it came from.
    pub origin: CodeOrigin,
    /// What the numbers in its error reports stand for.
    pub reports: Arc<Reports>,
    /// The instruction set that it keeps to; `None` for all that the machine has.
    pub instructions: Option<InstructionSet>,
    /// Whether it adds in another order than the program, or adds products of derivatives without rounding them first.
    pub regroups_sums: bool,
    /// The results that a call looks through for NaN, if it does; the code itself watches the others.
    pub unwatched: Option<Vec<usize>>,
}

/// Where machine code came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeOrigin {
    /// A compiler generated it now.
    Compiler,
    /// It was read from the cache.
    Cache,
}
