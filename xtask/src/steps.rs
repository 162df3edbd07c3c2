//! Steps of a long command, and how many seconds each of them took.

use anyhow::{Result, bail};
use std::time::{Duration, Instant};

/// The steps that were taken.
#[derive(Default)]
pub(crate) struct Steps {
    taken: Vec<(String, Duration)>,
    failed: Vec<String>,
}

impl Steps {
    /// Takes a step; without it there is no sense in going on.
    pub(crate) fn take<T>(&mut self, name: &str, step: impl FnOnce() -> Result<T>) -> Result<T> {
        let start = Instant::now();
        let outcome = step();
        self.taken.push((name.to_owned(), start.elapsed()));
        outcome.map_err(|e| e.context(format!("the step `{name}`")))
    }

    /// Takes a step that others need not wait for: that it failed is said in the end.
    pub(crate) fn attempt(&mut self, name: &str, step: impl FnOnce() -> Result<()>) {
        if let Err(error) = self.take(name, step) {
            self.failed.push(format!("{error:#}"));
        }
    }

    /// Prints the seconds of each step; fails if one of them failed.
    #[expect(clippy::print_stdout, reason = "the output of a command line tool")]
    pub(crate) fn end(self) -> Result<()> {
        let sum: Duration = self.taken.iter().map(|(_, time)| *time).sum();
        println!("\nseconds of each step:");
        for (name, time) in self.taken.iter().map(|(name, time)| (name.as_str(), *time)).chain([("in all", sum)]) {
            println!("{:>8.1}  {name}", time.as_secs_f64());
        }
        if self.failed.is_empty() {
            return Ok(());
        }
        bail!("{} failed:\n{}", self.failed.len(), self.failed.join("\n"))
    }
}
