//! Work on all cores, on stacks that deep programs fit.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The interpreter uses the stack of its caller.
const STACK: usize = 64 << 20;

/// The number of threads that work at once.
pub fn n_threads() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// Runs `work` on every core until it returns.
pub fn on_all_cores(work: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        for _ in 0..n_threads() {
            let builder = std::thread::Builder::new().stack_size(STACK);
            builder.spawn_scoped(scope, &work).expect("invariant: the system gives a thread");
        }
    });
}

/// `f` of every item, in order.
pub fn map<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    on_all_cores(|| {
        loop {
            let k = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(k) else { return };
            let result = f(item);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((k, result));
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(k, _)| *k);
    done.into_iter().map(|(_, result)| result).collect()
}

/// What `f` gives, or the message of its panic.
pub fn guarded<R>(f: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
        format!("panic: {}", text.unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..100).collect();
        assert_eq!(map(&items, |n| n * n), items.iter().map(|n| n * n).collect::<Vec<_>>());
    }

    #[test]
    fn panics_become_messages() {
        assert_eq!(guarded(|| 1), Ok(1));
        assert_eq!(guarded(|| -> u8 { panic!("no {}", "way") }), Err("panic: no way".to_owned()));
    }
}
