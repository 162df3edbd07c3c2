//! Cooperative cancellation: asking a call to stop before it is done.
//!
//! Loops ask at their polls whether they are to stop. What cannot ask, a routine of a library or an operation on whole
//! tensors, runs [`aside`]: the call does not wait for its end once it is to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::Builder;
use std::time::Duration;

/// Why a call is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Whoever called it asked for that.
    Cancelled,
    /// Its time is over.
    TimedOut,
    /// It is made again with better code.
    Superseded,
}

impl Reason {
    const ALL: [Reason; 3] = [Reason::Cancelled, Reason::TimedOut, Reason::Superseded];

    fn number(self) -> u8 {
        match self {
            Reason::Cancelled => 1,
            Reason::TimedOut => 2,
            Reason::Superseded => 3,
        }
    }
}

/// Whether a call is to stop, and why. Clones speak of the same call.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicU8>);

impl Stop {
    /// Asks the call to stop. What was asked before stays the reason, but for [`Reason::Superseded`].
    pub fn request(&self, reason: Reason) {
        let may_change = |now: u8| (now == 0 || now == Reason::Superseded.number()).then_some(reason.number());
        // A reason that stays is no failure.
        let _ = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, may_change);
    }

    /// Why the call is to stop, if it is.
    pub fn reason(&self) -> Option<Reason> {
        let number = self.0.load(Ordering::Relaxed);
        Reason::ALL.into_iter().find(|reason| reason.number() == number)
    }

    /// Whether the call is to stop.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    /// Lets a call that was superseded begin again; whether it was.
    pub fn begin_again(&self) -> bool {
        self.0.compare_exchange(Reason::Superseded.number(), 0, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }
}

/// Operations on fewer elements take no longer than a poll may wait; in the worst case, the eigenvectors of a matrix, this
/// many elements are 20 ms of work.
pub const ASIDE: usize = 1 << 15;

/// How many pieces of work may run on though nobody waits for them. Where there are as many, the next one is waited for.
const MOST_ABANDONED: usize = 16;

/// The stack of such a thread, which is reserved, not used: as much as threads of parallel loops have.
const STACK: usize = 16 << 20;

/// How often a call that waits looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(2);

static ABANDONED: AtomicUsize = AtomicUsize::new(0);

/// Does work on a thread of its own and waits for it; `None` once the call is to stop. The work then runs on to its end,
/// on what it owns, and its result is dropped.
pub fn aside<T: Send + 'static>(stop: &Stop, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    if stop.is_requested() {
        return None;
    }
    if ABANDONED.load(Ordering::Relaxed) >= MOST_ABANDONED {
        return Some(work());
    }
    // The work is given to the thread when there is one: the system may refuse it, and then the work is still here.
    let (give, take) = mpsc::sync_channel::<Box<dyn FnOnce() -> T + Send>>(1);
    // It is handed over, or the one that waits is gone: nothing lies in between.
    let (done, result) = mpsc::sync_channel(0);
    let run = move || {
        if let Ok(work) = take.recv()
            && done.send(work()).is_err()
        {
            ABANDONED.fetch_sub(1, Ordering::Relaxed);
        }
    };
    let Ok(thread) = Builder::new().stack_size(STACK).spawn(run) else { return Some(work()) };
    if let Err(refused) = give.send(Box::new(work)) {
        return Some((refused.0)());
    }
    loop {
        match result.recv_timeout(LOOK) {
            Ok(result) => return Some(result),
            Err(RecvTimeoutError::Timeout) if stop.is_requested() => {
                ABANDONED.fetch_add(1, Ordering::Relaxed);
                return None;
            }
            Err(RecvTimeoutError::Timeout) => {}
            // It has panicked, and so does who waits for it.
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Ok(()) => return None,
                Err(panic) => std::panic::resume_unwind(panic),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn the_first_reason_stays_unless_it_was_better_code() {
        let stop = Stop::default();
        assert_eq!(stop.reason(), None);
        stop.request(Reason::Superseded);
        assert!(stop.is_requested() && stop.begin_again() && !stop.is_requested() && !stop.begin_again());
        stop.request(Reason::Superseded);
        stop.request(Reason::TimedOut);
        stop.request(Reason::Cancelled);
        assert_eq!(stop.reason(), Some(Reason::TimedOut));
        assert!(!stop.begin_again());
    }

    #[test]
    fn nobody_waits_for_work_aside_of_a_call_that_is_to_stop() {
        let stop = Stop::default();
        assert_eq!(aside(&stop, || 7), Some(7));
        let other = stop.clone();
        let asks = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            other.request(Reason::Cancelled);
        });
        let start = Instant::now();
        let waited = aside(&stop, || std::thread::sleep(Duration::from_secs(3)));
        assert_eq!(waited, None);
        assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
        assert_eq!(aside(&stop, || 7), None);
        asks.join().expect("the thread ends");
    }
}
