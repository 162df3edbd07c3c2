//! One thread that stops calls when their time is over. It sleeps until the first of them is due, so that a call with a
//! deadline costs an entry in a list and no look at a clock.

use cotan_ops::stop::Reason;
use cotan_runtime::Watch;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread::Builder;
use std::time::Instant;

/// A call and when it is to stop. Calls that are over are gone.
struct Due {
    at: Instant,
    watch: Weak<Watch>,
}

impl PartialEq for Due {
    fn eq(&self, other: &Due) -> bool {
        self.at == other.at
    }
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Due) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Due) -> std::cmp::Ordering {
        self.at.cmp(&other.at)
    }
}

/// The calls that are to stop, the first one on top.
#[derive(Default)]
struct Waiting {
    calls: BinaryHeap<Reverse<Due>>,
    /// How many calls there may be before those that are over are looked for.
    most: usize,
}

#[derive(Default)]
struct Timer {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

/// Calls that are over are looked for from so many on.
const FEW: usize = 64;

/// Has a call stopped at a time; false where the system refuses the thread for it.
pub(super) fn stop_at(at: Instant, watch: &Arc<Watch>) -> bool {
    static TIMER: OnceLock<Option<Arc<Timer>>> = OnceLock::new();
    let start = || {
        let timer = Arc::new(Timer::default());
        let own = Arc::clone(&timer);
        let thread = Builder::new().name("cotan-timer".to_owned()).spawn(move || own.run());
        thread.is_ok().then_some(timer)
    };
    let Some(timer) = TIMER.get_or_init(start) else { return false };
    let mut waiting = timer.lock();
    if waiting.calls.len() >= waiting.most.max(FEW) {
        waiting.calls.retain(|Reverse(due)| due.watch.strong_count() > 0);
        waiting.most = 2 * waiting.calls.len();
    }
    let is_first = waiting.calls.peek().is_none_or(|Reverse(first)| at < first.at);
    waiting.calls.push(Reverse(Due { at, watch: Arc::downgrade(watch) }));
    drop(waiting);
    if is_first {
        timer.changed.notify_one();
    }
    true
}

impl Timer {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut waiting = self.lock();
        loop {
            let now = Instant::now();
            while waiting.calls.peek().is_some_and(|Reverse(due)| due.at <= now) {
                if let Some(watch) = waiting.calls.pop().and_then(|Reverse(due)| due.watch.upgrade()) {
                    watch.stop(Reason::TimedOut);
                }
            }
            waiting = match waiting.calls.peek() {
                None => self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner),
                Some(Reverse(due)) => {
                    let time = due.at.saturating_duration_since(now);
                    self.changed.wait_timeout(waiting, time).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}
