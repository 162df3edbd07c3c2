//! What reverse mode says of the loops that it reversed, for people to read. Nothing is compiled by it.

use cotan_ir::{Span, Symbol};

/// A loop of a function that was reversed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReversedLoop {
    /// Its source text.
    pub span: Span,
    /// What became of it.
    pub how: Reversal,
}

/// What a reverse sweep does with a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reversal {
    /// It runs backwards. Its carried values by name, and how its reverse has them.
    Backwards(Vec<(Symbol, Restored)>),
    /// Tangents are carried beside its values, and nothing runs backwards.
    Forward(Pushed),
    /// That was asked for and can't be done: it runs backwards, and says so in a note of its own.
    Refused(Refusal),
}

/// A loop that is differentiated forward inside a reverse sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pushed {
    /// The scalars that it has tangents for, by name: values that it carries, for what they start from, and others.
    pub inputs: Vec<Symbol>,
    /// What an iteration costs, in the units of the cost model. Partial derivatives, which both modes need, are left out.
    pub forward: u64,
    /// What it would cost in reverse.
    pub reverse: u64,
    /// Whether the author of the program asked for it.
    pub is_asked_for: bool,
}

/// Why a loop can't be differentiated forward inside a reverse sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It depends on this array, or gives it, and derivatives flow through it.
    Array(Symbol),
    /// It calls this function, which has a rule of its own.
    Rule(Symbol),
}

/// How a reverse loop has a carried value of the iteration that it reverses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Restored {
    /// Not at all: nothing in the reverse of the iteration reads it.
    Unread,
    /// It is the same in all iterations.
    Unchanged,
    /// It grows by a constant, and is computed from the number of the iteration.
    Counted,
    /// Not itself: the scalars that the iteration read from it were recorded.
    Reads,
    /// Not itself: results made of it were recorded.
    Replaced,
    /// By undoing the updates of the iteration, which were recorded.
    Undone,
    /// It was recorded.
    Recorded,
    /// By running the loop again from one of the states that a store keeps.
    Replayed,
}
