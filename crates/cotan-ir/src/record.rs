//! What a loop records for its reverse sweep, and as what.

use std::fmt;

/// What a record holds. Like [`crate::ReversePolicy`], it tells readers and counters; values and derivatives are the same
/// whatever it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Record {
    /// A carried value, once per iteration.
    Value,
    /// A scalar that was read from a carried array, once per iteration.
    Read,
    /// What updates of a carried array overwrote, once per update.
    Old,
    /// Where they did.
    Place,
    /// Where the part of a log that belongs to an iteration begins, once per iteration.
    Start,
    /// A result that is cheaper to keep than to compute again, once per iteration.
    Kept {
        /// The estimated cost of computing it again, in an iteration.
        recompute: u32,
        /// The estimated cost of recording it and reading it back.
        store: u32,
    },
    /// The record of a loop inside, which is not run again.
    Inner,
    /// A column of a store of states, from which iterations are run again.
    State,
}

impl Record {
    /// Every kind.
    pub const ALL: [Record; 8] = [
        Record::Value,
        Record::Read,
        Record::Old,
        Record::Place,
        Record::Start,
        Record::Kept { recompute: 0, store: 0 },
        Record::Inner,
        Record::State,
    ];

    /// The word for it in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Record::Value => "value",
            Record::Read => "read",
            Record::Old => "old",
            Record::Place => "place",
            Record::Start => "start",
            Record::Kept { .. } => "kept",
            Record::Inner => "inner",
            Record::State => "state",
        }
    }
}

impl fmt::Display for Record {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Record::Kept { recompute, store } => write!(out, "kept {recompute} against {store}"),
            Record::Value
            | Record::Read
            | Record::Old
            | Record::Place
            | Record::Start
            | Record::Inner
            | Record::State => out.write_str(self.name()),
        }
    }
}
