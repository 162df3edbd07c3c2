//! What may stop a call before it is done.

use std::sync::atomic::{AtomicI64, Ordering};

use cotan_ops::stop::{Reason, Stop};

use crate::abi::{ErrorSlot, StepBudget, code};

/// A step budget, shared by a running call and whoever watches and may stop it. The budget comes first, because compiled
/// code is given a pointer to it.
#[derive(Debug)]
#[repr(C)]
pub struct Watch {
    budget: StepBudget,
    max_steps: i64,
    stop: Stop,
}

/// The steps that a stopped call has: so few that it stays stopped though threads that are late take some more off, and
/// so many that these do not wrap round.
const STOPPED: i64 = i64::MIN / 2;

impl Watch {
    /// A watch that allows `max_steps` steps; without a number, as many as there are.
    #[must_use]
    pub fn new(max_steps: Option<i64>) -> Self {
        let max_steps = max_steps.unwrap_or(i64::MAX);
        Self { budget: StepBudget { left: AtomicI64::new(max_steps) }, max_steps, stop: Stop::default() }
    }

    /// Asks the call to stop at its next poll.
    pub fn cancel(&self) {
        self.stop(Reason::Cancelled);
    }

    /// Asks the call to stop at its next poll, for this reason.
    pub fn stop(&self, reason: Reason) {
        // Whoever sees the steps sees the reason.
        self.stop.request(reason);
        self.budget.left.store(STOPPED, Ordering::SeqCst);
    }

    /// Whether the call is to stop, and why.
    #[must_use]
    pub fn stopping(&self) -> &Stop {
        &self.stop
    }

    /// Lets a call that was superseded, and is over, begin again with all its steps; whether it was.
    pub fn begin_again(&self) -> bool {
        if !self.stop.begin_again() {
            return false;
        }
        self.budget.left.store(self.max_steps, Ordering::SeqCst);
        // Who asked in between has found the old steps.
        if self.stop.is_requested() {
            self.budget.left.store(STOPPED, Ordering::SeqCst);
        }
        true
    }

    /// The reason to stop, if there is one.
    pub(super) fn look(&self) -> Result<(), ErrorSlot> {
        if self.budget.left.load(Ordering::Relaxed) < 0 { self.poll(0) } else { Ok(()) }
    }

    /// Counts `steps` steps; the error is the reason to stop.
    pub(super) fn poll(&self, steps: i64) -> Result<(), ErrorSlot> {
        // Fewer steps than none would give some back.
        let steps = steps.max(0);
        // Saturating, so that polling on after the end cannot wrap round to a fresh budget.
        let taken = self
            .budget
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| (left >= steps).then(|| left - steps));
        taken.map(drop).map_err(|_| self.error())
    }

    /// Why a call stops that is to stop, or has too few steps left.
    pub(super) fn error(&self) -> ErrorSlot {
        let code = match self.stop.reason() {
            Some(Reason::Cancelled | Reason::Superseded) => code::CANCELLED,
            Some(Reason::TimedOut) => code::TIMED_OUT,
            None => code::OUT_OF_STEPS,
        };
        ErrorSlot { code, ..ErrorSlot::default() }
    }
}
