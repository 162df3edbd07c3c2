//! The description of statements: the parts of each kind of operation, in one table.
//!
//! [`Op::each_part`] and [`Op::each_part_mut`] are the same table, read and written. Operands, binders, accumulators,
//! writes and inner blocks all follow from it, so a new kind of operation is described here and nowhere else.

use super::{Acc, Block, Loop, Op, Par, ParResult};
use crate::{Atom, Var};

/// What an operand is to its operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperandRole {
    /// An operand of a primitive or a tensor operation.
    Argument,
    /// The tensor that `index` reads.
    Array,
    /// The tensor that `update` replaces.
    Updated,
    /// A leading index.
    Index,
    /// What is stored, added or passed through a check.
    Value,
    /// The length of one level of a parallel loop.
    Extent,
    /// The start value of a reduction.
    ReductionInit,
    /// The number of iterations of a counted loop.
    Count,
    /// The start value of what a loop carries.
    CarriedInit,
    /// The start value of an accumulator.
    AccInit,
    /// What chooses the arm of a branch.
    Selector,
    /// An argument of a function.
    Passed,
    /// The condition of a check.
    Condition,
    /// What the message of a failing check shows.
    Shown,
}

impl OperandRole {
    /// Whether the operation may take over the storage of an operand in this role and overwrite it.
    pub fn may_be_overwritten(self) -> bool {
        matches!(self, OperandRole::Updated | OperandRole::CarriedInit | OperandRole::AccInit | OperandRole::Passed)
    }

    /// Whether an operand in this role decides where or how often something is done, and is no part of a value.
    pub fn is_control(self) -> bool {
        matches!(self, OperandRole::Index | OperandRole::Extent | OperandRole::Count | OperandRole::Selector)
    }
}

/// A part of an operation.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// Operands that are evaluated in the enclosing scope, start values of accumulators aside.
    Operands(OperandRole, &'a [Atom]),
    /// Variables that are bound in the inner blocks, accumulators aside.
    Binders(&'a [Var]),
    /// Accumulators that are introduced for the inner blocks, with their start values, which are operands too.
    Accs(&'a [Acc]),
    /// The accumulator that is written.
    Written(&'a Var),
    /// The inner blocks.
    Blocks(&'a [Block]),
}

/// A part of an operation, to be changed.
#[derive(Debug)]
pub enum PartMut<'a> {
    /// Operands that are evaluated in the enclosing scope, start values of accumulators aside.
    Operands(OperandRole, &'a mut [Atom]),
    /// Variables that are bound in the inner blocks, accumulators aside.
    Binders(&'a mut [Var]),
    /// Accumulators that are introduced for the inner blocks, with their start values, which are operands too.
    Accs(&'a mut Vec<Acc>),
    /// The accumulator that is written.
    Written(&'a mut Var),
    /// The inner blocks.
    Blocks(&'a mut [Block]),
}

/// The table: the parts of each kind, in the order in which the text form shows the operands.
macro_rules! parts {
    ($op:expr, $f:expr, $Part:ident, $as_ref:ident, $as_slice:ident, $one:path) => {
        match $op {
            Op::Prim { prim: _, args } | Op::Tensor { op: _, args, attrs: _ } => {
                $f($Part::Operands(OperandRole::Argument, args));
            }
            Op::Index { array, indices } => {
                $f($Part::Operands(OperandRole::Array, $one(array)));
                $f($Part::Operands(OperandRole::Index, indices));
            }
            Op::Update { array, indices, value } => {
                $f($Part::Operands(OperandRole::Updated, $one(array)));
                $f($Part::Operands(OperandRole::Index, indices));
                $f($Part::Operands(OperandRole::Value, $one(value)));
            }
            Op::AccAdd { acc, indices, value } => {
                $f($Part::Operands(OperandRole::Index, indices));
                $f($Part::Operands(OperandRole::Value, $one(value)));
                $f($Part::Written(acc));
            }
            Op::Par(p) => {
                let Par { indices, extents, kinds, accs, body } = p.$as_ref();
                $f($Part::Operands(OperandRole::Extent, extents));
                for kind in kinds {
                    if let ParResult::Reduced { monoid: _, init } = kind {
                        $f($Part::Operands(OperandRole::ReductionInit, $one(init)));
                    }
                }
                $f($Part::Binders(indices));
                $f($Part::Accs(accs));
                $f($Part::Blocks($one(body)));
            }
            Op::Loop(l) => {
                let Loop { index, count, params, inits, accs, body, kept: _ } = l.$as_ref();
                $f($Part::Operands(OperandRole::Count, count.$as_slice()));
                $f($Part::Operands(OperandRole::CarriedInit, inits));
                $f($Part::Binders($one(index)));
                $f($Part::Binders(params));
                $f($Part::Accs(accs));
                $f($Part::Blocks($one(body)));
            }
            Op::Switch { selector, arms } => {
                $f($Part::Operands(OperandRole::Selector, $one(selector)));
                $f($Part::Blocks(arms));
            }
            Op::Call { callee: _, args } => $f($Part::Operands(OperandRole::Passed, args)),
            Op::Check { cond, kind: _, args, value } => {
                $f($Part::Operands(OperandRole::Condition, $one(cond)));
                $f($Part::Operands(OperandRole::Shown, args));
                $f($Part::Operands(OperandRole::Value, $one(value)));
            }
        }
    };
}

impl Op {
    /// Visits the parts: operands in order, then what is bound, then the inner blocks.
    #[inline]
    pub fn each_part<'a>(&'a self, mut f: impl FnMut(Part<'a>)) {
        parts!(self, f, Part, as_ref, as_slice, std::slice::from_ref)
    }

    /// Visits the parts, to be changed, in the order of [`Op::each_part`].
    #[inline]
    pub fn each_part_mut<'a>(&'a mut self, mut f: impl FnMut(PartMut<'a>)) {
        parts!(self, f, PartMut, as_mut, as_mut_slice, std::slice::from_mut)
    }

    /// Visits the operands that are evaluated in the enclosing scope, with what they are to the operation.
    pub fn each_role(&self, f: &mut dyn FnMut(OperandRole, Atom)) {
        self.each_part(|part| match part {
            Part::Operands(role, atoms) => atoms.iter().for_each(|a| f(role, *a)),
            Part::Accs(accs) => accs.iter().filter_map(|acc| acc.init).for_each(|a| f(OperandRole::AccInit, a)),
            Part::Binders(_) | Part::Written(_) | Part::Blocks(_) => {}
        });
    }

    /// Visits the operands that are evaluated in the enclosing scope.
    pub fn each_operand(&self, f: &mut dyn FnMut(Atom)) {
        self.each_role(&mut |_, a| f(a));
    }

    /// The operands that are evaluated in the enclosing scope, in order.
    pub fn operands(&self) -> Vec<Atom> {
        let mut all = Vec::new();
        self.each_operand(&mut |a| all.push(a));
        all
    }

    /// The operands whose role is one of those that `is_asked` accepts, in order.
    pub fn operands_as(&self, is_asked: impl Fn(OperandRole) -> bool) -> Vec<Atom> {
        let mut all = Vec::new();
        self.each_role(&mut |role, a| all.extend(is_asked(role).then_some(a)));
        all
    }

    /// Rewrites the operands that are evaluated in the enclosing scope (not accumulator names, not inner blocks).
    pub fn map_operands(&mut self, f: &mut dyn FnMut(Atom) -> Atom) {
        self.each_part_mut(|part| match part {
            PartMut::Operands(_, atoms) => atoms.iter_mut().for_each(|a| *a = f(*a)),
            PartMut::Accs(accs) => accs.iter_mut().filter_map(|acc| acc.init.as_mut()).for_each(|a| *a = f(*a)),
            PartMut::Binders(_) | PartMut::Written(_) | PartMut::Blocks(_) => {}
        });
    }

    /// Rewrites the names that the operation binds in its inner blocks and the accumulator that it writes.
    pub fn map_names(&mut self, f: &mut dyn FnMut(Var) -> Var) {
        self.each_part_mut(|part| match part {
            PartMut::Binders(vars) => vars.iter_mut().for_each(|v| *v = f(*v)),
            PartMut::Accs(accs) => accs.iter_mut().for_each(|acc| acc.var = f(acc.var)),
            PartMut::Written(acc) => *acc = f(*acc),
            PartMut::Operands(..) | PartMut::Blocks(_) => {}
        });
    }

    /// The inner blocks.
    pub fn blocks(&self) -> &[Block] {
        let mut all: &[Block] = &[];
        self.each_part(|part| {
            if let Part::Blocks(blocks) = part {
                all = blocks;
            }
        });
        all
    }

    /// The inner blocks, to be changed.
    pub fn blocks_mut(&mut self) -> &mut [Block] {
        let mut all: &mut [Block] = &mut [];
        self.each_part_mut(|part| {
            if let PartMut::Blocks(blocks) = part {
                all = blocks;
            }
        });
        all
    }

    /// Replaces each inner block by what `f` makes of it.
    pub fn map_blocks(&mut self, mut f: impl FnMut(Block) -> Block) {
        for block in self.blocks_mut() {
            *block = f(std::mem::take(block));
        }
    }

    /// The variables that the operation binds in its inner blocks: indices, carried parameters, accumulators.
    pub fn binders(&self) -> Vec<Var> {
        let mut all = Vec::new();
        self.each_part(|part| match part {
            Part::Binders(vars) => all.extend(vars),
            Part::Accs(accs) => all.extend(accs.iter().map(|acc| acc.var)),
            Part::Operands(..) | Part::Written(_) | Part::Blocks(_) => {}
        });
        all
    }

    /// The accumulators that the operation introduces.
    pub fn accs(&self) -> &[Acc] {
        let mut all: &[Acc] = &[];
        self.each_part(|part| {
            if let Part::Accs(accs) = part {
                all = accs;
            }
        });
        all
    }

    /// The accumulators that the operation introduces, to be changed; `None` where it cannot have any.
    pub fn accs_mut(&mut self) -> Option<&mut Vec<Acc>> {
        let mut all = None;
        self.each_part_mut(|part| {
            if let PartMut::Accs(accs) = part {
                all = Some(accs);
            }
        });
        all
    }

    /// The accumulator that the operation itself writes.
    pub fn written(&self) -> Option<Var> {
        let mut acc = None;
        self.each_part(|part| {
            if let Part::Written(var) = part {
                acc = Some(*var);
            }
        });
        acc
    }
}
