//! How far a long campaign is, on stderr.

use std::io::{IsTerminal, Write, stderr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Counts what is done. A terminal shows the count as it grows, anything else gets a line for each thousand.
pub struct Progress {
    what: &'static str,
    total: u64,
    done: AtomicU64,
    failed: AtomicU64,
    is_terminal: bool,
    start: Instant,
}

impl Progress {
    /// Nothing is done yet of `total` of these things.
    pub fn new(what: &'static str, total: u64) -> Progress {
        let is_terminal = stderr().is_terminal();
        let (done, failed) = (AtomicU64::new(0), AtomicU64::new(0));
        Progress { what, total, done, failed, is_terminal, start: Instant::now() }
    }

    /// One more is done.
    pub fn step(&self, has_failed: bool) {
        let failed = self.failed.fetch_add(u64::from(has_failed), Ordering::Relaxed) + u64::from(has_failed);
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let is_last = done == self.total;
        let every = if self.is_terminal { 20 } else { 1_000 };
        if !done.is_multiple_of(every) && !is_last {
            return;
        }
        let seconds = self.start.elapsed().as_secs();
        let line = format!("{done} of {} {}, {failed} failures, {seconds} s", self.total, self.what);
        // Progress that cannot be shown is no reason to stop.
        let _ = match (self.is_terminal, is_last) {
            (true, false) => write!(stderr(), "\r{line}"),
            (true, true) => writeln!(stderr(), "\r{line}"),
            (false, _) => writeln!(stderr(), "{line}"),
        };
    }
}
