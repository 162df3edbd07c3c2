//! Work that threads share while it lasts: who comes late finds it closed, and nobody waits for those who never came.
//!
//! A thread that sleeps takes tens of microseconds to wake, which is as long as many loops run. So whoever shares out work
//! does it himself until nothing is left, and then waits for the helpers that have begun, not for those that were called.

use std::any::Any;
use std::hint::spin_loop;
use std::mem::transmute;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Thread, current, park};

/// How often the caller looks whether all helpers are done before it sleeps, which is some microseconds.
const LOOKS: u32 = 1 << 10;
/// Stands beside the number of helpers when nobody may join them any more.
const CLOSED: u32 = 1 << 31;

/// Those who work on something together.
pub(super) struct Crew {
    /// How many helpers are at work, and [`CLOSED`].
    helpers: AtomicU32,
    /// What each of them does, with a number of its own. It lives until the crew is closed and nobody is at work.
    share: &'static (dyn Fn(u64) + Sync),
    caller: Thread,
    /// What a helper panicked with.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Crew {
    /// Does the share with this number, unless the crew is closed.
    pub(super) fn take_part(&self, number: u64) {
        let join = |helpers: u32| (helpers & CLOSED == 0).then_some(helpers + 1);
        if self.helpers.fetch_update(Ordering::Acquire, Ordering::Relaxed, join).is_err() {
            return;
        }
        // The caller waits for this share to end, and a panic that left a thread of the pool would end the process.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (self.share)(number))) {
            *self.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
        }
        if self.helpers.fetch_sub(1, Ordering::Release) == CLOSED + 1 {
            self.caller.unpark();
        }
    }

    /// Lets nobody join any more, and waits for those at work.
    fn close(&self) {
        self.helpers.fetch_or(CLOSED, Ordering::Relaxed);
        let is_over = || self.helpers.load(Ordering::Acquire) == CLOSED;
        for _ in 0..LOOKS {
            if is_over() {
                return;
            }
            spin_loop();
        }
        while !is_over() {
            park();
        }
    }
}

/// Runs share 0 here, and others on all that `call` has take part meanwhile. A panic of any of them ends in this one.
pub(super) fn shared_out(share: &(dyn Fn(u64) + Sync), call: impl FnOnce(&Arc<Crew>)) {
    // SAFETY: helpers call it between joining and leaving. Nobody joins behind `close`, which waits for all to leave, and
    // which is reached: nothing between here and there panics.
    let share: &'static (dyn Fn(u64) + Sync) = unsafe { transmute::<&(dyn Fn(u64) + Sync), _>(share) };
    let crew = Arc::new(Crew { helpers: AtomicU32::new(0), share, caller: current(), panic: Mutex::default() });
    // What helpers refer to lives on this stack: it is not unwound before they have left.
    let own = catch_unwind(AssertUnwindSafe(|| {
        call(&crew);
        share(0);
    }));
    crew.close();
    let others = crew.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(panic) = own.err().or(others) {
        resume_unwind(panic);
    }
}

#[cfg(test)]
mod tests {
    use super::super::guard::guarded;
    use super::*;
    use std::sync::Barrier;
    use std::sync::mpsc::channel;
    use std::thread::scope;

    #[test]
    fn who_comes_late_finds_it_closed() {
        let (send, receive) = channel();
        let shares = AtomicU32::new(0);
        let share = |_: u64| _ = shares.fetch_add(1, Ordering::Relaxed);
        shared_out(&share, |crew| send.send(crew.clone()).unwrap());
        receive.recv().unwrap().take_part(1);
        assert_eq!(shares.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn the_caller_waits_for_who_has_begun() {
        let both = Barrier::new(2);
        let done = AtomicU32::new(0);
        let share = |number: u64| {
            both.wait();
            if number == 1 {
                std::thread::sleep(std::time::Duration::from_millis(20));
                done.store(1, Ordering::Relaxed);
            }
        };
        scope(|scope| {
            shared_out(&share, |crew| {
                let crew = crew.clone();
                scope.spawn(move || crew.take_part(1));
            });
            assert_eq!(done.load(Ordering::Relaxed), 1);
        });
    }

    #[test]
    fn a_panic_of_a_helper_ends_in_the_caller() {
        let both = Barrier::new(2);
        let share = |number: u64| {
            both.wait();
            assert!(number == 0, "a share is broken");
        };
        scope(|scope| {
            let run = || {
                shared_out(&share, |crew| {
                    let crew = crew.clone();
                    scope.spawn(move || crew.take_part(1));
                });
            };
            let error = guarded(run).unwrap_err();
            assert!(error.bug_text().contains("a share is broken"), "{}", error.bug_text());
        });
    }
}
