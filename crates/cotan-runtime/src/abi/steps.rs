//! Step budgets: what compiled code counts so that a call can be stopped.

use std::sync::atomic::AtomicI64;

/// The steps that a call has left.
#[derive(Debug)]
#[repr(C)]
pub struct StepBudget {
    /// Compiled code takes its steps off while there are enough, and polls where there are not.
    pub left: AtomicI64,
}
