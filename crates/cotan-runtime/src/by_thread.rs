//! What each thread has its own of, so that threads do not wait for each other.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many threads have one of their own; of more, some share one.
const SLOTS: usize = 16;

/// A value behind a lock for each thread. A thread takes its own, which nobody else holds but for a moment.
#[derive(Debug, Default)]
pub struct ByThread<T>(Box<[Slot<T>; SLOTS]>);

/// Slots of neighbours lie in cache lines of their own: cores fetch two at a time.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Slot<T>(Mutex<T>);

static NEXT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static NUMBER: Cell<usize> = Cell::new(NEXT.fetch_add(1, Ordering::Relaxed) % SLOTS);
}

/// That of the thread. One that is ending, and has none any more, takes the first.
fn number() -> usize {
    NUMBER.try_with(Cell::get).unwrap_or(0)
}

impl<T> ByThread<T> {
    /// That of this thread.
    pub fn own(&self) -> MutexGuard<'_, T> {
        self.0[number()].0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// That of this thread, then those of others that nobody holds just now.
    pub fn each(&self) -> impl Iterator<Item = MutexGuard<'_, T>> {
        let own = number();
        let others = (0..SLOTS).filter(move |k| *k != own).filter_map(|k| match self.0[k].0.try_lock() {
            Ok(guard) => Some(guard),
            Err(std::sync::TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(std::sync::TryLockError::WouldBlock) => None,
        });
        std::iter::once_with(|| self.own()).chain(others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_have_values_of_their_own_and_see_those_of_others() {
        let all = ByThread::<Vec<usize>>::default();
        all.own().push(1);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| all.own().push(2));
            assert!(other.join().is_ok());
        });
        assert_eq!(all.own().first(), Some(&1));
        let mut found: Vec<usize> = all.each().flat_map(|values| values.clone()).collect();
        assert_eq!(found.remove(0), 1);
        assert_eq!(found, [2]);
    }
}
