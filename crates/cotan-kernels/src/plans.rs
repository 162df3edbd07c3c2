//! Plans of Fourier transforms: what a length needs, kept from one call to the next.

use std::collections::BTreeSet;

use realfft::RealFftPlanner;
use rustfft::FftPlanner;

/// Lengths whose plans are kept, added up, as a plan grows with its length. A single one may be longer.
const MOST_PLANNED: usize = 1 << 20;

/// The plans of a thread for one element type.
pub struct Plans<T: rustfft::FftNum> {
    pub(crate) complex: FftPlanner<T>,
    pub(crate) real: RealFftPlanner<T>,
    lengths: BTreeSet<usize>,
}

impl<T: rustfft::FftNum> Plans<T> {
    /// No plans yet.
    pub(crate) fn new() -> Self {
        Self { complex: FftPlanner::new(), real: RealFftPlanner::new(), lengths: BTreeSet::new() }
    }

    /// The plans, with room for one of this length: the others go if they are too many.
    pub(crate) fn with_room(&mut self, n: usize) -> &mut Self {
        if self.lengths.insert(n) && self.lengths.iter().fold(0, |sum: usize, n| sum.saturating_add(*n)) > MOST_PLANNED
        {
            *self = Self::new();
            self.lengths.insert(n);
        }
        self
    }
}
