//! What may stop a call before it is done.

use std::sync::atomic::{AtomicI64, Ordering};

use crate::abi::{ErrorSlot, code};

/// A step budget, shared by a running call and whoever watches and may cancel it.
#[derive(Debug)]
#[repr(C)]
pub struct Watch {
    /// Compiled code takes its steps off while there are enough, and polls where there are not.
    pub(crate) steps_left: AtomicI64,
}

/// The steps that a cancelled call has: so few that it stays cancelled though threads that are late take some more off,
/// and so many that these do not wrap round.
const CANCELLED: i64 = i64::MIN / 2;

impl Watch {
    /// A watch that allows `max_steps` steps; without a number, as many as there are.
    #[must_use]
    pub fn new(max_steps: Option<i64>) -> Self {
        Self { steps_left: AtomicI64::new(max_steps.unwrap_or(i64::MAX)) }
    }

    /// Asks the call to stop at its next poll.
    pub fn cancel(&self) {
        self.steps_left.store(CANCELLED, Ordering::Relaxed);
    }

    /// Counts `steps` steps; the error is the reason to stop.
    pub(super) fn poll(&self, steps: i64) -> Result<(), ErrorSlot> {
        // Fewer steps than none would give some back.
        let steps = steps.max(0);
        // Saturating, so that polling on after the end cannot wrap round to a fresh budget.
        let taken = self
            .steps_left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| (left >= steps).then(|| left - steps));
        taken.map(drop).map_err(|left| {
            let code = if left <= CANCELLED / 2 { code::CANCELLED } else { code::OUT_OF_STEPS };
            ErrorSlot { code, ..ErrorSlot::default() }
        })
    }
}
