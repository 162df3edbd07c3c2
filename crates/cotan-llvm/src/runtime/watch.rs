//! What may stop a call before it is done.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use crate::abi::{ErrorSlot, code};

/// A cancel flag and a step budget, shared by a running call and whoever watches it.
#[derive(Debug)]
pub struct Watch {
    cancelled: AtomicBool,
    steps_left: AtomicI64,
}

impl Watch {
    /// A watch that allows `max_steps` steps; without a number, as many as there are.
    #[must_use]
    pub fn new(max_steps: Option<i64>) -> Self {
        Self { cancelled: AtomicBool::new(false), steps_left: AtomicI64::new(max_steps.unwrap_or(i64::MAX)) }
    }

    /// Asks the call to stop at its next poll.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Counts `steps` steps; the error is the reason to stop.
    pub(super) fn poll(&self, steps: i64) -> Result<(), ErrorSlot> {
        let stop = |code| ErrorSlot { code, ..ErrorSlot::default() };
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(stop(code::CANCELLED));
        }
        // Saturating, so that polling on after the end cannot wrap round to a fresh budget.
        self.steps_left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| (left >= steps).then(|| left - steps))
            .map(drop)
            .map_err(|_| stop(code::OUT_OF_STEPS))
    }
}
