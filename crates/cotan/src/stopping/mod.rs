//! Calls that stop before they are done: a limit on steps, a time, and a token to cancel them by.

mod running;
mod timer;

pub(crate) use running::Running;

use cotan_ops::stop::Reason;
use cotan_runtime::Watch;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// What may stop the calls of a function. By default nothing does.
///
/// A call that is stopped gives an error, soon after: loops look every few milliseconds. A routine of a library that is
/// at work then, such as a factorisation, is not waited for; it runs to its end on copies. The function can be called
/// again.
#[derive(Clone, Debug, Default)]
pub struct CallLimits {
    /// How many steps a call may take, about one for each iteration of a loop. The interpreter counts statements and
    /// elements too.
    pub steps: Option<u64>,
    /// When a call has to be over.
    pub deadline: Option<Deadline>,
    /// What cancels calls.
    pub cancel: Option<CancelToken>,
}

/// When a call has to be over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deadline {
    /// So long after it began.
    After(Duration),
    /// At this time; a call that begins later is over at once.
    At(Instant),
}

/// Cancels the calls of all functions that have it among their limits, those that are running and those to come, until
/// it is reset. Clones are the same token.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<Mutex<Cancelling>>);

#[derive(Debug, Default)]
struct Cancelling {
    is_cancelled: bool,
    running: Vec<Weak<Watch>>,
}

impl CancelToken {
    /// A token that cancels nothing yet.
    pub fn new() -> CancelToken {
        CancelToken::default()
    }

    /// Cancels calls, from any thread.
    pub fn cancel(&self) {
        let mut state = self.lock();
        state.is_cancelled = true;
        state.running.drain(..).filter_map(|watch| watch.upgrade()).for_each(|watch| watch.stop(Reason::Cancelled));
    }

    /// Lets functions be called again.
    pub fn reset(&self) {
        self.lock().is_cancelled = false;
    }

    /// Whether calls are cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.lock().is_cancelled
    }

    /// Has a call cancelled by this token.
    fn attach(&self, watch: &Arc<Watch>) {
        let mut state = self.lock();
        if state.is_cancelled {
            watch.stop(Reason::Cancelled);
        } else {
            state.running.push(Arc::downgrade(watch));
        }
    }

    /// Forgets a call that is over.
    fn detach(&self, watch: &Arc<Watch>) {
        self.lock().running.retain(|other| other.as_ptr() != Arc::as_ptr(watch));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Cancelling> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_stops_what_runs_and_what_comes_until_it_is_reset() {
        let token = CancelToken::new();
        let limits = CallLimits { cancel: Some(token.clone()), ..CallLimits::default() };
        let is_stopped = |running: &Running| running.watch().is_some_and(|watch| watch.stopping().is_requested());
        let (first, over) = (limits.start(), limits.start());
        drop(over);
        assert_eq!(token.lock().running.len(), 1);
        assert!(!is_stopped(&first));
        token.cancel();
        assert!(is_stopped(&first) && is_stopped(&limits.start()));
        token.reset();
        assert!(!token.is_cancelled() && !is_stopped(&limits.start()));
        assert!(CallLimits::default().start().watch().is_none());
    }

    #[test]
    fn a_deadline_stops_a_call_in_time_and_a_past_one_at_once() {
        let after =
            |ms| CallLimits { deadline: Some(Deadline::After(Duration::from_millis(ms))), ..Default::default() };
        let reason = |running: &Running| running.watch().and_then(|watch| watch.stopping().reason());
        let (late, soon) = (after(60_000).start(), after(30).start());
        let begin = Instant::now();
        while reason(&soon).is_none() && begin.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!((reason(&soon), reason(&late)), (Some(Reason::TimedOut), None));
        let past = CallLimits { deadline: Some(Deadline::At(begin)), ..Default::default() };
        assert_eq!(reason(&past.start()), Some(Reason::TimedOut));
    }
}
