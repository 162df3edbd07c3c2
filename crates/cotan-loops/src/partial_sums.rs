//! Partial results of blocked reductions: what happens where a block ends.
//!
//! A reduction in the order of [`cotan_ops::reduce`] that may fill a block keeps partial results of
//! [`LEVELS`](cotan_ops::reduce::LEVELS) levels, [`LANES`](cotan_ops::reduce::LANES) each, the lowest level first. A value
//! is taken up by code in line. What happens where a block ends is rare and the same for all reductions, so it is one
//! node, and a function that the host has. The partial results that no value has gone to are
//! [neutral](cotan_ops::reduce::neutral).

use crate::node::{Operand, Place};
use cotan_ir::Monoid;

/// What is done with the partial results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockWork {
    /// Closes the blocks of which value number `number` is the last one: it is the last of a block of the lowest level.
    /// The total of a block is combined with its partial result of the level above, and its own are neutral again.
    Close,
    /// Combines the totals of all levels of `number` values, which filled a block. The first partial result of the lowest
    /// level is then the total of all; the others are used up.
    Combine,
}

/// Work on the partial results of a reduction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartialSums {
    /// Which.
    pub work: BlockWork,
    /// How values are combined.
    pub monoid: Monoid,
    /// The first partial result of the lowest level.
    pub lanes: Place,
    /// How many elements a partial result has, i64.
    pub size: Operand,
    /// How many elements of the buffer lie from one of these to the next: more than one where there are partial results
    /// of several iterations of a loop, element by element beside each other.
    pub stride: u32,
    /// The number of the last value, or of all of them, i64.
    pub number: Operand,
}
