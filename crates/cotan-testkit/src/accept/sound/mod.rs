//! Lines of soundness: nothing that is fed to the command breaks it, and no value is silently wrong.
//!
//! A line takes the command and how much of its cases is wanted; the tests of the command run a part of each.

mod bombs;
mod bombs_list;
pub mod cache;
mod calls;
mod degenerate;
pub mod folders;
mod fuzz;
mod gate;
mod loaders;
mod memcheck;
mod memory;
pub mod messages;
mod mutated;
mod partials;
mod promises;
mod ran;
mod signatures;
mod stopping;
mod zero_warnings;

pub(super) use gate::GATE;

use super::{Line, Measured};

/// How much of the cases of a line is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of them.
    Whole,
    /// Some of each kind.
    Sample,
}

/// The lines, each with all of its cases.
pub(super) fn lines() -> Vec<Line> {
    let groups: [&[Line]; 12] = [
        cache::LINES,
        folders::LINES,
        messages::LINES,
        &[signatures::LINE, stopping::LINE, bombs::LINE],
        calls::LINES,
        partials::LINES,
        loaders::LINES,
        memory::LINES,
        degenerate::LINES,
        zero_warnings::LINES,
        &[mutated::LINE, fuzz::LINE, memcheck::LINE, promises::LINE],
        gate::LINES,
    ];
    groups.concat()
}

/// Cases that were tried, and what went wrong.
#[derive(Default)]
struct Tally {
    n_cases: usize,
    wrong: Vec<String>,
    slowest: f64,
}

impl Tally {
    /// Counts a case, which is to take less than ten seconds.
    fn count(&mut self, seconds: f64, outcome: Result<(), String>) {
        self.n_cases += 1;
        self.slowest = self.slowest.max(seconds);
        self.wrong.extend(outcome.err());
        if seconds > ran::LIMIT {
            self.wrong.push(format!("{seconds:.1} s"));
        }
    }

    fn measured(self, what: &str, remark: &str) -> Measured {
        let Tally { n_cases, wrong, slowest } = self;
        let shown: Vec<&str> = wrong.iter().take(5).map(String::as_str).collect();
        let found = if wrong.is_empty() { String::new() } else { format!(": {}", shown.join("; ")) };
        let text = format!("{n_cases} {what}, {} wrong, slowest {slowest:.2} s{remark}{found}", wrong.len());
        Measured::new(wrong.is_empty() && n_cases > 0, text)
    }
}
