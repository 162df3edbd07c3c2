//! Static scheduling with work stealing: which indices of a loop a thread takes.
//!
//! Each thread has a part of its own, neighbours in memory, and takes from others when that is done. Where a loop runs
//! again and again, as in the steps of a simulation, the same thread mostly gets the same part, and finds it in its cache.

use std::sync::atomic::{AtomicU64, Ordering};

/// A part has a cache line of its own, and the one that processors fetch along with it.
#[repr(align(128))]
struct Part {
    /// What is before this was taken; it may be more than there is.
    next: AtomicU64,
    end: u64,
}

/// All indices of a loop, in parts.
pub(super) struct Parts(Vec<Part>);

impl Parts {
    /// The indices below `count` in `n` parts, as even as can be.
    pub(super) fn of(count: u64, n: u64) -> Parts {
        let (length, longer) = (count / n, count % n);
        let start = |part: u64| part * length + part.min(longer);
        Parts((0..n).map(|part| Part { next: AtomicU64::new(start(part)), end: start(part + 1) }).collect())
    }

    /// What a thread takes: what is left of its own part, then of the others.
    pub(super) fn taken_by(&self, part: u64) -> impl Iterator<Item = u64> {
        let (before, own) = self.0.split_at(part as usize);
        own.iter().chain(before).flat_map(|part| {
            std::iter::from_fn(|| Some(part.next.fetch_add(1, Ordering::Relaxed)).filter(|index| *index < part.end))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_takes_its_own_part_first_and_then_those_of_others() {
        let parts = Parts::of(7, 3);
        assert_eq!(parts.taken_by(1).take(2).collect::<Vec<_>>(), [3, 4]);
        assert_eq!(parts.taken_by(2).collect::<Vec<_>>(), [5, 6, 0, 1, 2]);
        assert_eq!(parts.taken_by(0).count(), 0);
    }
}
