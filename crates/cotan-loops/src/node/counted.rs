//! Counted loops, and which of their iterations are independent or run on several threads.

use super::{Local, Node, Operand, Target};
use cotan_ir::Monoid;

/// A counted loop: `index` from 0 up to `count`, not at all if that is negative.
#[derive(Clone, Debug, PartialEq)]
pub struct For {
    /// The iteration number, an i64 defined here.
    pub index: Local,
    /// An i64.
    pub count: Operand,
    /// Whether iterations may run on several threads.
    pub threads: Threads,
    /// Which iterations may run side by side.
    pub independence: Independence,
    /// How many iterations of the loop that this was made of run side by side in one of these.
    pub lanes: u32,
    /// Whether subnormal results in it may become zero.
    pub may_flush: bool,
    /// Run once per iteration.
    pub body: Vec<Node>,
}

/// Which iterations of a loop do not depend on each other, but for what they [`Node::Combine`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Independence {
    /// Nothing is known: one after the other.
    None,
    /// Those whose numbers, counted as the elements of a reduction, have the same quotient by
    /// [`LANES`](cotan_ops::reduce::LANES).
    Block,
    /// All, but for elements that they change in turn: the order of the iterations shows there. Nothing else in the loop
    /// touches the buffer of such an element, which each iteration changes once: it combines it with a value, or it loads it,
    /// takes one instruction on it and stores the result, which nobody else reads. None of this stands in a branch or in a
    /// loop whose trips differ between iterations.
    Ordered,
    /// All.
    All,
}

/// Whether iterations of a loop run on several threads.
#[derive(Clone, Debug, PartialEq)]
pub enum Threads {
    /// One after the other.
    One,
    /// They may; the plan for a machine decides how.
    May(Sharing),
    /// Each iteration is a piece of work for a thread.
    Each,
    /// Each iteration is a piece of work for a thread, once those that it needs are done.
    Wave(Wave),
}

/// Which iterations of a loop need others. Iteration `n` is stage `n % stages` of
/// tile `n / stages`. It needs the stage before of its tile, its stage of the tile before, and, if it is the first of its
/// tile, all stages of the tile `slots` earlier, whose memory it takes over. So these, and what they need, are over when
/// it starts; others may run at the same time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wave {
    /// How many stages a tile has, i64.
    pub stages: Operand,
    /// How many tiles have memory of their own, i64.
    pub slots: Operand,
}

/// What is known of a loop whose iterations may run on several threads.
#[derive(Clone, Debug, PartialEq)]
pub struct Sharing {
    /// How many scalar steps an iteration is, roughly, an f64. It follows from sizes alone, so that where a loop is cut
    /// does not depend on the number of threads.
    pub steps: Operand,
    /// What iterations combine values into that other iterations may combine into as well. No iteration reads it.
    pub sums: Vec<Sum>,
}

/// Something that iterations combine values into.
#[derive(Clone, Debug, PartialEq)]
pub struct Sum {
    /// How.
    pub monoid: Monoid,
    /// A mutable local, or the first element of a whole buffer.
    pub target: Target,
    /// Of a buffer the extents, i64; nothing for a local.
    pub extents: Vec<Operand>,
}
