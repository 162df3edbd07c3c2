//! A stack for walks over what nests. The parser bounds the nesting of programs, and this stack holds that bound for
//! every walk, whatever stack the caller has.

use std::cell::Cell;
use std::thread::{Builder, scope};

/// Reserved, not used: pages are taken as the stack grows.
const BYTES: usize = 512 << 20;

thread_local! {
    static IS_DEEP: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` on a deep stack: this one, if it is one. A panic goes on in the caller.
pub fn on_deep_stack<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    if IS_DEEP.get() {
        return work();
    }
    // The thread may not be had, and then the work is still here.
    let mut work = Some(work);
    let mut run = || {
        IS_DEEP.set(true);
        work.take().map(|work| work())
    };
    let result = scope(|scope| {
        let thread = Builder::new().stack_size(BYTES).spawn_scoped(scope, &mut run).ok()?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    // No thread to be had: most programs fit the stack that there is.
    match result {
        Some(result) => result,
        None => work.take().expect("invariant: a thread that ran has given a result")(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth(n: u32) -> u64 {
        let frame = [u64::from(n); 64];
        if n == 0 { 0 } else { 1 + depth(n - 1) + std::hint::black_box(frame)[0] - u64::from(n) }
    }

    #[test]
    fn deep_recursion_returns() {
        assert_eq!(on_deep_stack(|| on_deep_stack(|| depth(100_000))), 100_000);
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        let caught = std::panic::catch_unwind(|| on_deep_stack(|| -> u8 { panic!("seen") }));
        assert_eq!(caught.err().and_then(|e| e.downcast_ref::<&str>().copied()), Some("seen"));
    }
}
