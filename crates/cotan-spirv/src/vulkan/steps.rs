//! Fault injection: the steps at which a driver may refuse, counted, so that a test can have each of them refused in turn.
//! What is alive of a device's memory is counted too.

use ash::vk;
use std::sync::atomic::{AtomicU64, Ordering};

/// A step that a driver may refuse at any time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusable {
    /// Taking memory.
    Allocation,
    /// Compiling a kernel.
    Pipeline,
    /// Starting work.
    Submission,
    /// Waiting for it. Where this fails the device is lost.
    Wait,
}

impl Refusable {
    /// All of them.
    pub const ALL: [Refusable; 4] =
        [Refusable::Allocation, Refusable::Pipeline, Refusable::Submission, Refusable::Wait];

    /// What the driver says.
    fn refusal(self) -> vk::Result {
        match self {
            Refusable::Allocation | Refusable::Pipeline => vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
            Refusable::Submission => vk::Result::ERROR_OUT_OF_HOST_MEMORY,
            Refusable::Wait => vk::Result::ERROR_DEVICE_LOST,
        }
    }
}

/// What a device was asked for so far, and what of its memory is alive. It outlives the device.
#[derive(Debug)]
pub struct Meter {
    taken: [AtomicU64; 4],
    /// The number of the step of each kind that is refused.
    refused: [AtomicU64; 4],
    pieces: AtomicU64,
    bytes: AtomicU64,
}

impl Default for Meter {
    fn default() -> Meter {
        let refused = std::array::from_fn(|_| AtomicU64::new(u64::MAX));
        Meter { taken: Default::default(), refused, pieces: AtomicU64::new(0), bytes: AtomicU64::new(0) }
    }
}

impl Meter {
    /// How many steps of a kind were asked for.
    pub fn taken(&self, step: Refusable) -> u64 {
        self.taken[step as usize].load(Ordering::Relaxed)
    }

    /// Has the step of a kind refused that comes after so many others, from now on; only that one.
    pub fn refuse(&self, step: Refusable, after: u64) {
        self.refused[step as usize].store(self.taken(step).saturating_add(after), Ordering::Relaxed);
    }

    /// Refuses nothing any more; whether something was still to be refused.
    pub fn refuse_nothing(&self) -> bool {
        Refusable::ALL.into_iter().fold(false, |was_due, step| {
            let number = self.refused[step as usize].swap(u64::MAX, Ordering::Relaxed);
            was_due || number != u64::MAX && self.taken(step) <= number
        })
    }

    /// How many pieces of memory are alive, and their bytes.
    pub fn alive(&self) -> (u64, u64) {
        (self.pieces.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }

    /// Counts a step; an error if it is refused.
    pub(super) fn take(&self, step: Refusable) -> Result<(), vk::Result> {
        let number = self.taken[step as usize].fetch_add(1, Ordering::Relaxed);
        if number == self.refused[step as usize].load(Ordering::Relaxed) { Err(step.refusal()) } else { Ok(()) }
    }

    pub(super) fn count_memory(&self, bytes: u64) {
        self.pieces.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn forget_memory(&self, bytes: u64) {
        self.pieces.fetch_sub(1, Ordering::Relaxed);
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}
