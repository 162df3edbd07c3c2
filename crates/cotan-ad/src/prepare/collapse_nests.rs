//! Loop collapsing: perfect nests of counted loops become one loop, before they are reversed.
//!
//! The reverse of a nest runs the inner loop again in every iteration of the outer one; the reverse of one loop over all
//! iterations does not. An inner loop over the rows of a table that is filled element by element then reads scalars at the
//! top of its body, and records nothing else. Iterations and their order stay the same.
//!
//! It is done where the reverse reads carried values, else nothing is saved; where these are scalars or arrays that change
//! in every iteration, because the loop then records them once for each iteration of the nest; and where no checkpoint is
//! asked for, because a nest is a kind of checkpoint.

use super::forward_regions::choose_regions;
use super::pass::Pass;
use crate::analysis::activity::VarSet;
use crate::analysis::lineage::straight_updates;
use crate::analysis::linearity::is_linear_in_carried;
use crate::state::ForwardRegions;
use cotan_ir::{Atom, Block, Checkpoint, Const, Elem, Function, Loop, Mode, Op, Span, Stmt, Ty, Var, VarInfo, bug};
use cotan_ops::{DIV, MAX, MIN, MUL, PrimRow, REM};
use cotan_opt::cost::{self, COSTS};
use cotan_opt::passes::licm::{Moves, licm};

/// The record of the pass.
pub(super) static PASS: Pass = Pass {
    name: "collapse_nests",
    doc: "A perfect nest of counted loops becomes one loop where that saves re-execution or records.",
    modes: &[Mode::Vjp],
    is_idempotent: true,
    run: |f, preparation| {
        let f = licm(f, Moves::Integers);
        // Before any loop changes, so that neither nests nor checkpoints change the choice.
        let active = preparation.active(&f);
        preparation.regions = choose_regions(preparation.session, &f, &active);
        collapse_nests(f, &preparation.regions, |f| preparation.active(f))
    },
};

/// The function with perfect nests as single loops where that helps its reverse; `regions` are the loops without a reverse.
fn collapse_nests(mut f: Function, regions: &ForwardRegions, active: impl Fn(&Function) -> VarSet) -> Function {
    loop {
        f = licm(f, Moves::Integers);
        let active = active(&f);
        let body = std::mem::take(&mut f.body);
        let mut nests = Nests { f: &mut f, active: &active, regions, changed: false };
        let body = nests.block(body);
        let changed = nests.changed;
        f.body = body;
        if !changed {
            return f;
        }
    }
}

struct Nests<'a> {
    f: &'a mut Function,
    active: &'a VarSet,
    regions: &'a ForwardRegions,
    changed: bool,
}

impl Nests<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for mut s in block.stmts {
            if self.regions.contains(&s) {
                // It has no reverse.
            } else if let Some(inner) = self.perfect(&s) {
                let inner = inner.clone();
                self.changed = true;
                stmts.extend(self.merged(&mut s, inner));
            } else {
                for b in s.op.blocks_mut() {
                    *b = self.block(std::mem::take(b));
                }
            }
            stmts.push(s);
        }
        Block { stmts, results: block.results }
    }

    /// The inner loop of a nest worth collapsing. Beside it the outer body has at most arithmetic on counters.
    fn perfect<'s>(&self, s: &'s Stmt) -> Option<&'s Loop> {
        let outer = s.op.as_loop()?;
        let (last, lead) = outer.body.stmts.split_last()?;
        let inner = last.op.as_loop()?;
        let inside = inner.split(&last.results);
        let is_plain = |l: &Loop, has_stacked: bool| l.count.is_some() && !has_stacked;
        let keeps_what_is_needed = outer.kept.checkpoint.is_none_or(|c| c == Checkpoint::All) && !outer.kept.recompute;
        let hands_on = outer.params.iter().copied().map(Atom::Var).eq(inner.inits.iter().copied())
            && inside.carried.iter().copied().map(Atom::Var).eq(outer.body.results.iter().copied());
        let is_bound =
            |v: Var| v == outer.index || outer.params.contains(&v) || lead.iter().any(|s| s.results.contains(&v));
        let is_invariant = !inner.count.and_then(Atom::var).is_some_and(is_bound);
        let reads_start = || {
            let read = lead.iter().flat_map(|s| s.op.operands()).filter_map(Atom::var);
            let read: Vec<Var> = read.chain(cotan_ir::free_vars(self.f, &inner.body, &[])).collect();
            read.iter().any(|v| outer.params.contains(v))
        };
        let is_perfect = is_plain(outer, outer.split(&s.results).has_stacked())
            && is_plain(inner, inside.has_stacked())
            && inner.accs.is_empty()
            && keeps_what_is_needed
            && inner.kept.checkpoint.is_none()
            && !inner.kept.recompute
            && !self.regions.contains(last)
            && lead.iter().all(|s| self.is_counting(s))
            && hands_on
            && is_invariant
            && !reads_start();
        (is_perfect && self.is_worth_it(lead, inner)).then_some(inner)
    }

    /// Whether a statement is a primitive on integers or truth values.
    fn is_counting(&self, s: &Stmt) -> bool {
        let is_integer = |ty: &Ty| ty.is_scalar() && !ty.is_float();
        matches!(s.op, Op::Prim { .. }) && s.results.iter().all(|r| is_integer(self.f.ty(*r)))
    }

    fn is_worth_it(&self, lead: &[Stmt], inner: &Loop) -> bool {
        let carried = || (0..inner.params.len()).filter(|q| self.active.has(inner.params[*q]));
        let is_scalar = |q: usize| self.f.ty(inner.params[q]).is_scalar();
        let has_array = carried().any(|q| !is_scalar(q));
        // An undo log of updates under branches is smaller than the scalars read in all iterations.
        let is_small = carried().all(|q| is_scalar(q) || straight_updates(inner, q).is_some());
        let cost = |stmts: &[Stmt]| stmts.iter().map(|s| cost::stmt(&self.f.vars, s)).fold(0, u64::saturating_add);
        let more = cost(lead).saturating_add(2 * COSTS.division);
        is_small && (has_array || cost(&inner.body.stmts) >= more) && !is_linear_in_carried(self.f, self.active, inner)
    }

    /// Makes the outer loop one over all iterations; gives the statements that compute their number.
    fn merged(&mut self, s: &mut Stmt, inner: Loop) -> Vec<Stmt> {
        let span = s.span;
        let Op::Loop(outer) = &mut s.op else { bug!("collapse_nests", format_args!("{s:?}"), "a nest is a loop") };
        let (n, m) = (outer.count.unwrap_or(Atom::i64(0)), inner.count.unwrap_or(Atom::i64(0)));
        let mut before = Vec::new();
        // No run reaches more iterations than an i64 counts, but a wrapped count must not be smaller.
        let length = self.prim(&MAX, &[m, Atom::i64(1)], span, &mut before);
        let most = self.prim(&DIV, &[Const::i64(i64::MAX).into(), length], span, &mut before);
        let n = self.prim(&MIN, &[n, most], span, &mut before);
        let count = self.prim(&MUL, &[n, m], span, &mut before);
        // The number of iterations is a length.
        let count = self.prim(&MAX, &[count, Atom::i64(0)], span, &mut before);

        let all = self.var("i");
        let counter = |row: &'static PrimRow, v: Var| {
            let op = Op::Prim { prim: row.prim(), args: vec![all.into(), length] };
            Stmt { results: vec![v], op, span }
        };
        let mut stmts = vec![counter(&DIV, outer.index), counter(&REM, inner.index)];
        outer.body.stmts.pop();
        stmts.append(&mut outer.body.stmts);
        stmts.extend(inner.body.stmts);
        outer.index = all;
        outer.count = Some(count);
        outer.params = inner.params;
        outer.body = Block { stmts, results: inner.body.results };
        before
    }

    fn var(&mut self, name: &str) -> Var {
        self.f.add_var(VarInfo { name: name.into(), ty: Ty::scalar(Elem::I64), record: None })
    }

    fn prim(&mut self, row: &'static PrimRow, args: &[Atom], span: Span, stmts: &mut Vec<Stmt>) -> Atom {
        let constants: Option<Vec<Const>> = args.iter().map(|a| a.constant()).collect();
        if let Some(known) = constants.and_then(|c| row.eval(&c).ok()) {
            return known.into();
        }
        let v = self.var("count");
        stmts.push(Stmt { results: vec![v], op: Op::Prim { prim: row.prim(), args: args.to_vec() }, span });
        v.into()
    }
}
