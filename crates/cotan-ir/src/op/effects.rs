//! Effects of statements: what an operation does beside giving its results.

use super::{Op, Stmt};
use crate::{Symbol, Var};

/// What one operation does beside giving its results, its inner blocks aside. Questions about a whole region ask every
/// statement in it: `s.walk().any(|s| s.op.effects().prints)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects<'a> {
    /// It is a check, even one whose condition is known to hold: such a check only renames dims.
    pub checks: bool,
    /// It may report a run-time error: it is a check whose condition is not known to hold.
    pub fails: bool,
    /// It writes output.
    pub prints: bool,
    /// It may run for ever: it is a loop without a count.
    pub may_not_end: bool,
    /// The accumulator that it writes.
    pub writes: Option<Var>,
    /// The function that it calls. The effects of that function are not among these.
    pub calls: Option<&'a Symbol>,
}

impl Effects<'_> {
    /// Whether the operation may end the run with an error, or calls what may.
    pub fn may_fail(&self) -> bool {
        self.fails || self.calls.is_some()
    }

    /// Whether the operation has a place in the order of what a run shows: it may fail, or it writes output. No two of
    /// these change places.
    pub fn is_sequenced(&self) -> bool {
        self.may_fail() || self.prints
    }

    /// Whether anything but its results tells that the operation has run.
    pub fn show(&self) -> bool {
        self.fails || self.prints || self.may_not_end || self.writes.is_some() || self.calls.is_some()
    }
}

impl Op {
    /// What the operation does beside giving its results, its inner blocks aside.
    pub fn effects(&self) -> Effects<'_> {
        let none = Effects::default();
        match self {
            Op::Prim { .. } | Op::Index { .. } | Op::Update { .. } | Op::Par(_) | Op::Switch { .. } => none,
            Op::Tensor { op, .. } => Effects { prints: op.prints(), ..none },
            Op::AccAdd { acc, .. } => Effects { writes: Some(*acc), ..none },
            Op::Loop(l) => Effects { may_not_end: l.count.is_none(), ..none },
            Op::Call { callee, .. } => Effects { calls: Some(callee), ..none },
            Op::Check { cond, .. } => Effects { checks: true, fails: cond.truth() != Some(true), ..none },
        }
    }
}

impl Stmt {
    /// Whether the statement or one inside it has such an effect.
    pub fn has_effect(&self, is_asked: impl Fn(Effects<'_>) -> bool) -> bool {
        self.walk().any(|s| is_asked(s.op.effects()))
    }

    /// Whether the statement or one inside it may fail, prints or calls: see [`Effects::is_sequenced`].
    pub fn is_sequenced(&self) -> bool {
        self.has_effect(|effects| effects.is_sequenced())
    }
}
