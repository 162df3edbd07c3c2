//! Targets of lowering: all in which nests for one kind of machine differ from those for another, as data.

use crate::pass::NestPipeline;
use crate::{buffer_reuse, flush};

/// What nests are lowered for.
#[derive(Debug)]
pub struct TargetKind {
    /// What people and commands call it.
    pub name: &'static str,
    /// Whether a reduction stays one node, [`Node::Reduce`](crate::Node::Reduce); else it is cut into the partial results of
    /// its order.
    pub keeps_reductions: bool,
    /// Whether the outermost parallel loops say how much work an iteration is, for a plan that cuts them for threads.
    pub estimates_work: bool,
    /// Whether loops follow the order in which memory lies, for caches; else a thread has an element of the result.
    pub reads_through_caches: bool,
    /// Whether a formula gets zero for an operand that is left to the host, so that a backend knows how large operands are.
    pub bounds_formulas: bool,
    /// What every nest goes through when it is written.
    pub after_lowering: NestPipeline,
}

/// A CPU: few threads, each with lanes, which cut what is outermost.
pub static CPU: TargetKind = TargetKind {
    name: "cpu",
    keeps_reductions: false,
    estimates_work: true,
    reads_through_caches: true,
    bounds_formulas: false,
    after_lowering: &[&flush::PASS, &buffer_reuse::PASS],
};

/// A device: more threads than a plan can name. It finds its own cuts, so nests say what is independent and what is
/// reduced, and nothing is cut.
pub static DEVICE: TargetKind = TargetKind {
    name: "device",
    keeps_reductions: true,
    estimates_work: false,
    reads_through_caches: false,
    bounds_formulas: true,
    after_lowering: &[&buffer_reuse::PASS],
};
