//! The source of one transform, with the decisions made about its loops.

use crate::analysis::activity::VarSet;
use crate::analysis::region_cost::RegionCost;
use cotan_ir::{Atom, Function, Loop, Stmt, Var};
use rustc_hash::{FxHashMap, FxHashSet};

/// The copy of a function that is differentiated in its place.
pub(crate) struct Prepared {
    pub(crate) f: Function,
    pub(crate) active: VarSet,
    /// The records of its loops over segments.
    pub(crate) segmented: Segmented,
    /// The loops that are differentiated forward in a reverse sweep.
    pub(crate) regions: ForwardRegions,
    /// The partial derivatives that are statements of it.
    pub(crate) slopes: Slopes,
}

/// Rules for the records of loops with checkpoints.
#[derive(Clone, Debug, Default)]
pub(crate) struct Segmented {
    /// Carried arrays without an undo log.
    pub(crate) whole: FxHashSet<Var>,
    /// Loops that record only what they carry, by index variable.
    pub(crate) plain: FxHashSet<Var>,
    /// The bytes for the states of loops over segments, by index variable.
    pub(crate) budgets: FxHashMap<Var, i64>,
}

impl Segmented {
    /// Whether a carried array is recorded whole.
    pub(crate) fn is_whole(&self, p: Var) -> bool {
        self.whole.contains(&p)
    }

    /// Whether a loop records only what it carries.
    pub(crate) fn is_plain(&self, l: &Loop) -> bool {
        self.plain.contains(&l.index)
    }

    /// The bytes that the states of a loop may take, if there is a limit.
    pub(crate) fn budget(&self, l: &Loop) -> Option<i64> {
        self.budgets.get(&l.index).copied()
    }
}

/// The loops of a function that are differentiated forward inside its reverse sweep, by index variable.
#[derive(Clone, Debug, Default)]
pub(crate) struct ForwardRegions(pub(crate) FxHashMap<Var, RegionCost>);

impl ForwardRegions {
    /// Whether a statement is such a loop.
    pub(crate) fn contains(&self, s: &Stmt) -> bool {
        s.op.as_loop().is_some_and(|l| self.0.contains_key(&l.index))
    }
}

/// The partial derivatives that are statements, by the result of the primitive and the position of the operand.
#[derive(Debug, Default)]
pub(crate) struct Slopes {
    pub(crate) of: FxHashMap<(Var, usize), Atom>,
    /// Those through the operand's own definition, see Note [Chains of partials].
    pub(crate) through: FxHashMap<(Var, usize), Slope>,
}

/// The partial derivative of something with respect to an operand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slope {
    pub(crate) operand: Atom,
    pub(crate) partial: Atom,
}

impl Slopes {
    /// The partial with respect to operand `k` of the primitive with this result, if it is a statement.
    pub(crate) fn of(&self, result: Var, k: usize) -> Option<Atom> {
        self.of.get(&(result, k)).copied()
    }

    /// The slope that replaces operand `k` in the reverse of the primitive with this result.
    pub(crate) fn through(&self, result: Var, k: usize) -> Option<Slope> {
        self.through.get(&(result, k)).copied()
    }
}
