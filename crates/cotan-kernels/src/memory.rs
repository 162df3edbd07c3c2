//! Memory that kernels work in, beside what they read and write.
//!
//! Kernels are called through plain function pointers, by engines that differ in what a call may hold. So the one who calls
//! says it for all that runs [`within`] a memory, on its thread, and learns there whether a kernel was refused: its result is
//! then not written. Outside of any, memory is taken from the machine as by all of Rust: a refusal ends the process.

use std::alloc::{Layout, handle_alloc_error};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// What counts the bytes that kernels hold.
pub trait Memory: Send + Sync {
    /// Counts so many more, unless that would be too many.
    fn take(&self, bytes: usize) -> bool;

    /// Counts so many less.
    fn give_back(&self, bytes: usize);
}

/// A kernel had no memory to work in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// How many bytes it asked for.
    pub bytes: usize,
    /// Whether it may not hold as much; else the machine has no more.
    pub is_limit: bool,
}

thread_local! {
    static MEMORY: RefCell<Option<Arc<dyn Memory>>> = const { RefCell::new(None) };
    static REFUSED: Cell<Option<Refused>> = const { Cell::new(None) };
}

/// Does work whose kernels count what they hold. After an error results are not all written.
pub fn within<R>(memory: Arc<dyn Memory>, work: impl FnOnce() -> R) -> Result<R, Refused> {
    let _outer = Outer { memory: MEMORY.replace(Some(memory)), refused: REFUSED.take() };
    let result = work();
    match REFUSED.take() {
        None => Ok(result),
        Some(refused) => Err(refused),
    }
}

/// What was there before, and will be again, whatever happens.
struct Outer {
    memory: Option<Arc<dyn Memory>>,
    refused: Option<Refused>,
}

impl Drop for Outer {
    fn drop(&mut self) {
        MEMORY.set(self.memory.take());
        REFUSED.set(self.refused);
    }
}

/// Bytes that are counted while it lives.
struct Counted {
    memory: Option<Arc<dyn Memory>>,
    bytes: usize,
}

impl Drop for Counted {
    fn drop(&mut self) {
        if let Some(memory) = &self.memory {
            memory.give_back(self.bytes);
        }
    }
}

/// Calls `body` with memory of so many bytes, if there is as much.
pub(crate) fn with<T>(bytes: usize, allocate: impl FnOnce() -> Option<T>, body: impl FnOnce(&mut T)) {
    let memory = MEMORY.with_borrow(Clone::clone);
    if memory.as_ref().is_some_and(|memory| !memory.take(bytes)) {
        REFUSED.set(Some(Refused { bytes, is_limit: true }));
        return;
    }
    let is_counted = memory.is_some();
    let _counted = Counted { memory, bytes };
    match allocate() {
        Some(mut memory) => body(&mut memory),
        None if is_counted => REFUSED.set(Some(Refused { bytes, is_limit: false })),
        None => handle_alloc_error(Layout::from_size_align(bytes, 1).unwrap_or(Layout::new::<u8>())),
    }
}

/// Calls `body` with `n` elements, if there is memory for them.
pub(crate) fn with_elements<T: Clone>(n: usize, element: T, body: impl FnOnce(&mut [T])) {
    let allocate = || {
        let mut elements = Vec::new();
        elements.try_reserve_exact(n).ok()?;
        elements.resize(n, element);
        Some(elements)
    };
    with(n.saturating_mul(size_of::<T>()), allocate, |elements| body(elements));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A limit of so many bytes, and what is left of it.
    struct Limit(AtomicUsize);

    impl Memory for Limit {
        fn take(&self, bytes: usize) -> bool {
            let left = self.0.load(Ordering::Relaxed);
            let fits = bytes <= left;
            if fits {
                self.0.store(left - bytes, Ordering::Relaxed);
            }
            fits
        }

        fn give_back(&self, bytes: usize) {
            self.0.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    #[test]
    fn what_kernels_hold_is_counted_and_given_back() {
        let limit = Arc::new(Limit(AtomicUsize::new(1000)));
        let left = || limit.0.load(Ordering::Relaxed);
        let used = within(limit.clone(), || {
            let mut seen = 0;
            with_elements(100, 0u64, |_| seen = left());
            seen
        });
        assert_eq!((used, left()), (Ok(200), 1000));
        let refused = within(limit.clone(), || with_elements(126, 0u64, |_| unreachable!("there is no memory")));
        assert_eq!((refused, left()), (Err(Refused { bytes: 1008, is_limit: true }), 1000));
        // Nothing of it is left for the next one.
        assert_eq!(within(limit.clone(), || 5), Ok(5));
    }

    #[test]
    fn a_refusal_of_the_machine_is_told_apart() {
        let limit = Arc::new(Limit(AtomicUsize::new(usize::MAX)));
        let n = usize::MAX / 16;
        let refused = within(limit, || with_elements(n, 0u64, |_| unreachable!("there is no memory")));
        assert_eq!(refused, Err(Refused { bytes: 8 * n, is_limit: false }));
    }
}
