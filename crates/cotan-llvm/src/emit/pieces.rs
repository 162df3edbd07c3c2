//! Which loops become LLVM functions of their own.

use cotan_loops::node::{For, Threads};

/// Whether this machine has a mode in which subnormal results become zero, and the emitter knows how to set it.
const FLUSHES: bool = cfg!(target_arch = "x86_64");

/// Whether the iterations of a loop run in a function of their own, as work for threads.
pub(super) fn is_split_off(l: &For) -> bool {
    match l.threads {
        Threads::Each | Threads::Wave(_) => true,
        Threads::One | Threads::May(_) => false,
    }
}

/// Whether a loop runs in a function of its own because subnormal results become zero in it.
pub(super) fn is_flushing(l: &For) -> bool {
    l.may_flush && FLUSHES
}
