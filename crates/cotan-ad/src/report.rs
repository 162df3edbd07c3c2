//! What reverse mode says of the loops that it reversed, for people to read. Nothing is compiled by it.

use cotan_ir::{Span, Symbol};

/// A loop that was reversed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReversedLoop {
    /// Its source text.
    pub span: Span,
    /// Its carried values by name, and how its reverse has them.
    pub carried: Vec<(Symbol, Restored)>,
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
