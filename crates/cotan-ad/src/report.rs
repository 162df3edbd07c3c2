//! The report of reverse mode on its loops, for people to read. No decision depends on it.

use cotan_ir::{Span, Symbol};

/// A loop of a function that was reversed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReversedLoop {
    /// Its source text.
    pub span: Span,
    /// Its treatment.
    pub how: Reversal,
}

/// The treatment of a loop by a reverse sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reversal {
    /// It runs backwards. Its carried values by name, and how its reverse restores them.
    Backwards(Vec<(Symbol, Restored)>),
    /// Tangents are carried beside its values, and nothing runs backwards.
    Forward(ForwardLoop),
    /// Forward mode was asked for and is impossible: it runs backwards, and is reported as such, too.
    Refused(Refusal),
}

/// A loop that is differentiated forward inside a reverse sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardLoop {
    /// The scalars with tangents, by name: a carried value stands for its start value.
    pub inputs: Vec<Symbol>,
    /// The cost of an iteration, in the units of the cost model. Partial derivatives, which both modes need, are left out.
    pub forward: u64,
    /// Its cost in reverse.
    pub reverse: u64,
    /// Whether the author of the program asked for it.
    pub is_asked_for: bool,
}

/// Why a loop can't be differentiated forward inside a reverse sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It depends on this array, or gives it, and derivatives flow through it.
    Array(Symbol),
    /// It calls this function, which has a custom rule.
    Rule(Symbol),
}

/// How a reverse loop restores a carried value of the iteration that it reverses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Restored {
    /// Not at all: the reverse of the iteration does not read it.
    Unread,
    /// It is the same in all iterations.
    Unchanged,
    /// It grows by a constant, and is computed from the number of the iteration.
    Counted,
    /// Not the array itself: the scalars read from it in the iteration were recorded.
    Reads,
    /// Not the value itself: results computed from it were recorded.
    Replaced,
    /// By undoing the updates of the iteration, which were recorded.
    Undone,
    /// It was recorded.
    Recorded,
    /// By running the loop again from a checkpoint.
    Replayed,
}
