//! What has to stay in a region: everything that depends on what it binds, and what may not run where it would not have
//! run, or not so early.
//!
//! A check moves out only of a region that is known to run, and only if no check that stays comes before it: so the first
//! one to fail is the same. An element is read early only if it is known to be there. What gives a tensor
//! moves if its extents are known to be lengths, or if the region runs; and what relies on sizes that are equal under different
//! names only if the region runs.

use super::super::equal_dims::relies_on_equal_dims;
use super::Moves;
use crate::analysis::integer_facts::IntegerFacts;
use cotan_ir::{Acc, Atom, Block, Effects, Function, Loop, Op, Par, ParResult, Stmt, Var, written_accs};
use rustc_hash::FxHashSet;

/// The variables bound in a region that can't be had before it.
pub(super) struct Stays<'a> {
    f: &'a Function,
    facts: &'a IntegerFacts,
    moves: Moves,
    /// Whether a statement of the body is sure to run if the region is reached: the body runs once at least, and nothing
    /// before the statement stays that may fail.
    runs: bool,
    /// Whether it may be a waste to compute in front of the region what takes a loop.
    is_while: bool,
    moves_checks: bool,
    vars: FxHashSet<Var>,
}

/// Asks what stays in a region; `moves_checks` allows checks to move, if the region is known to run.
pub(super) fn stays(
    f: &Function,
    facts: &IntegerFacts,
    moves: Moves,
    region: &Stmt,
    moves_checks: bool,
) -> FxHashSet<Var> {
    let runs = runs(facts, &region.op);
    let is_while = region.op.as_loop().is_some_and(|l| l.count.is_none());
    let vars = region.op.binders().into_iter().collect();
    let mut stays = Stays { f, facts, moves, runs, is_while, moves_checks: moves_checks && runs, vars };
    for s in region.op.blocks().iter().flat_map(|b| &b.stmts) {
        stays.outermost(s);
    }
    stays.vars
}

/// Whether the body of a region runs if the region is reached.
pub(super) fn runs(facts: &IntegerFacts, op: &Op) -> bool {
    op.is_loop_nest() && op.indices().into_iter().all(|(_, n)| n.is_some_and(|n| facts.is_positive(n)))
}

/// Whether a region can be had as two: results that move, and the rest. The lengths of its results must not be results
/// of its own, which also leaves out logs and loops whose length nobody knows before.
pub(super) fn is_divisible(f: &Function, s: &Stmt) -> bool {
    let is_counted = s.op.as_loop().is_none_or(|l| l.count.is_some());
    is_counted && s.results.iter().all(|r| f.ty(*r).dim_vars().all(|d| !s.results.contains(&d)))
}

/// Whether a statement writes to an accumulator from outside of it.
pub(super) fn writes_outside(s: &Stmt) -> bool {
    let written: FxHashSet<Var> = s.op.blocks().iter().flat_map(written_accs).collect();
    if written.is_empty() {
        return false;
    }
    let own: FxHashSet<Var> = s.walk().flat_map(|s| s.op.accs()).map(|acc| acc.var).collect();
    !written.is_subset(&own)
}

impl Stays<'_> {
    fn has(&self, a: Atom) -> bool {
        a.var().is_some_and(|v| self.vars.contains(&v))
    }

    /// A statement of the body itself. Of its checks all move or none, so that the first one of it to fail is the same.
    fn outermost(&mut self, s: &Stmt) {
        self.stmt(s);
        if !any_stays(&self.vars, s, |effects| effects.is_sequenced()) {
            return;
        }
        if self.moves_checks {
            self.moves_checks = false;
            self.stmt(s);
        }
    }

    fn block(&mut self, block: &Block) {
        block.stmts.iter().for_each(|s| self.stmt(s));
    }

    fn stmt(&mut self, s: &Stmt) {
        if let Op::AccAdd { acc, .. } = &s.op {
            if s.op.operands().iter().any(|a| self.has(*a)) || self.relies_on_more(s) {
                self.vars.insert(*acc);
            }
        } else if !s.op.blocks().is_empty() {
            match self.moves {
                Moves::Integers => self.vars.extend(&s.results),
                Moves::All => {
                    self.region(s);
                    self.runs &= !any_stays(&self.vars, s, |effects| effects.may_fail());
                }
            }
        } else if !self.may_move(s) {
            self.vars.extend(&s.results);
            self.runs &= !s.op.effects().may_fail();
        }
    }

    fn may_move(&self, s: &Stmt) -> bool {
        let is_outside = s.op.operands().iter().all(|a| !self.has(*a));
        let has_dims = s.results.iter().all(|r| self.f.ty(*r).dim_vars().all(|d| !self.vars.contains(&d)));
        let is_record = s.results.iter().any(|r| self.f.vars[r.index()].record.is_some());
        is_outside && has_dims && !is_record && !self.relies_on_more(s) && self.may_run_early(s)
    }

    /// Whether a statement relies on sizes that may be equal only where the region runs.
    fn relies_on_more(&self, s: &Stmt) -> bool {
        !self.runs && relies_on_equal_dims(&|v| self.f.ty(v).clone(), s)
    }

    fn may_run_early(&self, s: &Stmt) -> bool {
        let tys = || s.results.iter().map(|r| self.f.ty(*r));
        if self.moves == Moves::Integers {
            let is_whole = |v: Var| {
                let ty = self.f.ty(v);
                ty.is_scalar() && !ty.elem.is_float()
            };
            let operands = s.op.operands();
            let mut vars = s.results.iter().copied().chain(operands.iter().filter_map(|a| a.var()));
            return matches!(s.op, Op::Prim { .. }) && vars.all(is_whole);
        }
        let are_lengths = || self.runs || tys().all(|ty| ty.dims.iter().all(|d| self.facts.is_length(d.atom())));
        if matches!(s.op, Op::Prim { .. }) {
            are_lengths()
        } else if let Op::Tensor { op, .. } = &s.op {
            let is_range = *op == cotan_ops::SLICE.op() || *op == cotan_ops::PAD.op();
            !op.prints() && are_lengths() && (self.runs || !is_range)
        } else if let Op::Index { array, indices } | Op::Update { array, indices, .. } = &s.op {
            self.runs || self.are_in_range(*array, indices) && are_lengths()
        } else if matches!(s.op, Op::Check { .. }) {
            self.moves_checks
        } else {
            false
        }
    }

    fn are_in_range(&self, array: Atom, indices: &[Atom]) -> bool {
        let Some(array) = array.var() else { return false };
        let dims = &self.f.ty(array).dims;
        indices.iter().zip(dims).all(|(i, d)| self.facts.is_in_range(*i, d.atom()))
    }

    fn region(&mut self, s: &Stmt) {
        if self.relies_on_more(s) {
            return self.all_of(s);
        }
        if let Op::Par(p) = &s.op {
            self.par(p, s)
        } else if let Op::Loop(l) = &s.op {
            self.sequential(l, s)
        } else if let Op::Switch { selector, arms } = &s.op {
            self.switch(*selector, arms, s)
        }
        let is_mixed = s.results.iter().any(|r| self.vars.contains(r)) || writes_outside(s);
        if is_mixed && !is_divisible(self.f, s) {
            self.vars.extend(&s.results);
        } else if is_mixed {
            // An accumulator is written from anywhere below; it moves with its region or not at all.
            self.vars.extend(s.op.acc_results(&s.results));
        }
    }

    fn par(&mut self, p: &Par, s: &Stmt) {
        let may_run = self.runs || p.extents.iter().all(|e| self.facts.is_length(*e));
        if p.extents.iter().any(|e| self.has(*e)) || !may_run || self.is_while && !self.runs {
            return self.all_of(s);
        }
        self.block(&p.body);
        let (values, accs) = s.results.split_at(p.kinds.len());
        for ((kind, inner), outer) in p.kinds.iter().zip(&p.body.results).zip(values) {
            let start = match kind {
                ParResult::Stacked => None,
                ParResult::Reduced { init, .. } => Some(*init),
            };
            if self.has(*inner) || start.is_some_and(|a| self.has(a)) {
                self.vars.insert(*outer);
            }
        }
        self.accs(&p.accs, accs);
    }

    fn sequential(&mut self, l: &Loop, s: &Stmt) {
        // A loop that nobody counted may not end where it would not have run.
        let may_run = self.runs || l.count.is_some() && !self.is_while;
        if l.count.is_some_and(|n| self.has(n)) || !may_run {
            return self.all_of(s);
        }
        self.vars.extend(
            l.params.iter().zip(&l.inits).filter(|(_, init)| self.has(**init)).map(|(p, _)| *p).collect::<Vec<_>>(),
        );
        loop {
            self.block(&l.body);
            let next = l.params.iter().zip(&l.body.results);
            let changed: Vec<Var> =
                next.filter(|(p, next)| self.has(**next) && !self.vars.contains(p)).map(|(p, _)| *p).collect();
            if changed.is_empty() {
                break;
            }
            self.vars.extend(changed);
        }
        if l.count.is_none() && l.params.first().is_some_and(|p| self.vars.contains(p)) {
            return self.all_of(s);
        }
        let split = l.split(&s.results);
        for (p, outer) in l.params.iter().zip(split.carried) {
            if self.vars.contains(p) {
                self.vars.insert(*outer);
            }
        }
        for (inner, outer) in l.body.results[l.params.len()..].iter().zip(split.stacked) {
            if self.has(*inner) {
                self.vars.insert(*outer);
            }
        }
        self.accs(&l.accs, split.accs);
    }

    fn switch(&mut self, selector: Atom, arms: &[Block], s: &Stmt) {
        if self.has(selector) {
            return self.all_of(s);
        }
        for arm in arms {
            self.block(arm);
            for (inner, outer) in arm.results.iter().zip(&s.results) {
                if self.has(*inner) {
                    self.vars.insert(*outer);
                }
            }
        }
    }

    fn accs(&mut self, accs: &[Acc], results: &[Var]) {
        for (acc, outer) in accs.iter().zip(results) {
            if acc.init.is_some_and(|a| self.has(a)) || self.vars.contains(&acc.var) {
                self.vars.insert(*outer);
            }
        }
    }

    /// A region that stays as a whole, with all that it writes.
    fn all_of(&mut self, s: &Stmt) {
        self.vars.extend(s.op.binders());
        for b in s.op.blocks() {
            self.vars.extend(written_accs(b));
            b.stmts.iter().for_each(|s| self.all_of(s));
        }
        self.vars.extend(&s.results);
    }
}

/// Whether a statement, or one inside it, has such an effect and stays.
pub(super) fn any_stays(stays: &FxHashSet<Var>, s: &Stmt, is_asked: impl Fn(Effects<'_>) -> bool) -> bool {
    s.walk().any(|s| is_asked(s.op.effects()) && s.results.iter().any(|r| stays.contains(r)))
}
