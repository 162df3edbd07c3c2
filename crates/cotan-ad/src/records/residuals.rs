//! Selection of residuals: the results of an iteration that are recorded to save their recomputation.
//!
//! The re-executed part of a reverse body is a graph: statements, their operands, and at the bottom the plain record (Note
//! [What a loop records]). Values that the cotangents read must be available: a value is available if it is recorded, or if its
//! statement is recomputed from available operands. So the cheapest choice, by the figures of `cotan_opt::cost`, is a minimum
//! cut (`recompute_graph.rs`); a recorded value may replace the carried one that it was computed from.
//!
//! An inner loop is a statement like any other: recording its results and its record saves running it again
//! (`inner_records.rs`). Its record is so much larger than the carried values of the outer loop that this is left to the
//! author of the program (`@checkpoint(all)`), except for records known to be small.

use super::inner_records::{InnerLoop, Shape};
use super::recompute_graph::{Graph, Leaf, Recomputation, Storable, Visits};
use crate::analysis::accumulators::is_closed;
use crate::analysis::lineage::log_size;
use crate::state::{Reverse, ReverseLoop};
use cotan_ir::{Atom, Block, Env, Record, Stmt, Ty, Var};
use cotan_opt::cost::{self, COSTS, Size};
use cotan_opt::passes::dce::dce_block;
use rustc_hash::{FxHashMap, FxHashSet};

/// A recorded result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Residual {
    /// In the reverse body.
    pub(crate) var: Var,
    /// In the forward loop.
    pub(crate) forward: Var,
    /// The carried value whose next value it is. If that is recorded, so is this.
    pub(crate) carried: Option<usize>,
    pub(crate) record: Record,
}

/// The re-executed part of a reverse body before dead code elimination.
#[derive(Debug, Default)]
pub(crate) struct Recomputed {
    /// The variables that its statements bind.
    bound: FxHashSet<Var>,
    /// Its loops that may move to the forward loop.
    loops: Vec<Stmt>,
}

/// The records beside the plain record or in place of it.
#[derive(Debug, Default)]
pub(crate) struct Residuals {
    pub(crate) values: Vec<Residual>,
    pub(crate) loops: Vec<InnerLoop>,
}

/// The weight of recomputing a loop under `@checkpoint(all)`.
const AVOIDED: u64 = 1 << 20;

impl Reverse<'_, '_> {
    /// The re-executed part of a reverse body, before dead code elimination.
    pub(crate) fn recomputed(&self, reverse: &ReverseLoop<'_>, stmts: &[Stmt]) -> Recomputed {
        let bound = stmts.iter().flat_map(|s| s.results.iter().copied()).collect();
        if !self.records_all && self.runs.is_none() {
            return Recomputed { bound, loops: Vec::new() };
        }
        let source = reverse.source.body.stmts.iter();
        let closed: FxHashSet<Var> =
            source.filter(|s| is_closed(s)).filter_map(|s| reverse.env.get(s.results.first()?)?.var()).collect();
        let may_move = |s: &&Stmt| {
            s.op.as_loop().is_some_and(|l| !l.kept.recompute) && s.results.iter().any(|r| closed.contains(r))
        };
        Recomputed { bound, loops: stmts.iter().filter(may_move).cloned().collect() }
    }

    /// Chooses residuals, and gives the body without their computation. `names` maps the variables of the body to those of
    /// the forward loop.
    pub(crate) fn choose_residuals(
        &self,
        reverse: &ReverseLoop<'_>,
        names: &Env,
        recomputed: Recomputed,
        body: Block,
        leaves: &[Leaf],
    ) -> (Block, Residuals) {
        let plain = leaves.iter().fold(0, |n: u64, leaf| n.saturating_add(leaf.size.bytes));
        let limit = self.limit(plain, leaves);
        if limit == 0 {
            return (body, Residuals::default());
        }
        let mut graph = self.graph(reverse, names, &recomputed, &body, leaves);
        let choice = graph.choice_within(limit);
        let stored: FxHashSet<Var> = choice.stored.iter().copied().collect();
        let mut residuals = Residuals::default();
        let mut visits = Visits::default();
        for v in &choice.stored {
            if let Some(Atom::Var(forward)) = names.get(v) {
                residuals.values.push(Residual {
                    var: *v,
                    forward: *forward,
                    carried: graph.storable[v].carried.map(|(q, _)| q),
                    record: graph.reason(*v, &choice, &mut visits),
                });
            }
        }
        for inner in recomputed.loops {
            let is_recorded = |r: &&Var| stored.contains(r) && !names.contains_key(r);
            let recorded: Vec<Var> = inner.results.iter().filter(is_recorded).copied().collect();
            if !recorded.is_empty() {
                residuals.loops.push(InnerLoop { recomputed: inner, recorded });
            }
        }
        let is_replaced = |s: &Stmt| s.results.iter().any(|v| stored.contains(v));
        let stmts = body.stmts.iter().filter(|s| !is_replaced(s)).cloned().collect();
        (Block { stmts, results: body.results }, residuals)
    }

    /// The bytes that an iteration may record if its plain record has `plain` bytes.
    fn limit(&self, plain: u64, leaves: &[Leaf]) -> u64 {
        if self.records_all {
            return u64::MAX;
        }
        let is_known = |leaf: &Leaf| self.b.var_ty(leaf.var).dims.iter().all(|d| d.var().is_none());
        let small =
            self.runs.filter(|_| leaves.iter().all(is_known)).map_or(0, |runs| COSTS.small_record / runs.max(1));
        COSTS.growth.saturating_mul(plain).max(small)
    }

    /// The factor on the cost of recomputing a statement.
    fn weight(&self, s: &Stmt) -> u64 {
        if self.records_all && s.op.as_loop().is_some() { AVOIDED } else { 1 }
    }

    /// The graph of the re-executed part of `body`.
    fn graph<'a>(
        &self,
        reverse: &ReverseLoop<'_>,
        names: &Env,
        recomputed: &Recomputed,
        body: &'a Block,
        leaves: &[Leaf],
    ) -> Graph<'a> {
        let vars = self.b.vars();
        let (executed, rest): (Vec<&Stmt>, Vec<&Stmt>) =
            body.stmts.iter().partition(|s| s.results.iter().any(|v| recomputed.bound.contains(v)));
        let by_result: FxHashMap<Var, usize> =
            executed.iter().enumerate().flat_map(|(k, s)| s.results.iter().map(move |v| (*v, k))).collect();
        let is_leaf: FxHashSet<Var> = leaves.iter().map(|leaf| leaf.var).collect();
        let read_by = |stmts: Vec<Stmt>, results: Vec<Atom>| {
            let (_, live) = dce_block(vars, Block { stmts, results });
            let mut read: Vec<Var> = live.vars().filter(|v| is_leaf.contains(v) || by_result.contains_key(v)).collect();
            read.sort_unstable();
            read
        };
        let roots = read_by(rest.into_iter().cloned().collect(), body.results.clone());

        let stmts: Vec<Recomputation<'_>> = executed
            .iter()
            .map(|stmt| {
                let results = stmt.results.iter().map(|v| Atom::Var(*v)).collect();
                let mut needs = read_by(vec![Stmt::clone(stmt)], results);
                needs.retain(|v| !stmt.results.contains(v));
                let reads = needs.iter().filter_map(|v| by_result.get(v).copied()).collect();
                Recomputation { stmt, cost: cost::stmt(vars, stmt), weight: self.weight(stmt), needs, reads }
            })
            .collect();
        let moved: FxHashSet<Var> = recomputed.loops.iter().flat_map(|s| s.results.iter().copied()).collect();
        let depending = depending_on_record(&stmts, leaves);
        let may_be_stored = |v: &&Var| {
            let ty = &vars[v.index()].ty;
            let shape = Shape::of(ty, |d| names.contains_key(&d) || by_result.contains_key(&d));
            // Integers that do not depend on the record follow from the iteration number.
            if !ty.is_float() && !depending.contains(v) {
                return false;
            }
            if names.contains_key(v) {
                self.may_record(ty, shape, leaves)
            } else {
                moved.contains(v) && self.may_move(**v, shape)
            }
        };
        let results = executed.iter().flat_map(|s| &s.results);
        let storable = |v: &Var| Storable {
            size: Size::of(&vars[v.index()].ty),
            carried: self
                .carried_next(reverse, *v)
                .filter(|(_, p)| leaves.iter().any(|leaf| leaf.var == *p && leaf.size.bytes > 0)),
        };
        let storable = results.filter(may_be_stored).map(|v| (*v, storable(v))).collect();
        Graph { stmts, by_result, leaves: leaves.to_vec(), storable, roots }
    }

    /// Whether a result that the forward loop computes, too, may be recorded.
    fn may_record(&self, ty: &Ty, shape: Shape, leaves: &[Leaf]) -> bool {
        // A tensor may be recorded where the plain record has one of its shape: this bounds the growth by a factor for all
        // extents.
        let has_its_shape = |leaf: &Leaf| self.b.var_ty(leaf.var).dims == ty.dims;
        ty.is_scalar() || leaves.iter().any(has_its_shape) || (self.records_all && shape == Shape::Fixed)
    }

    /// Whether a result of an inner loop may be recorded once the loop has moved to the forward loop.
    fn may_move(&self, v: Var, shape: Shape) -> bool {
        match shape {
            Shape::Fixed => self.records_all || self.b.var_ty(v).dims.iter().all(|d| d.var().is_none()),
            Shape::Growing(_) => self.records_all && self.b.info(v).record.is_some(),
            Shape::Varying => false,
        }
    }

    /// The carried value whose next value is this result, if it is recorded whole.
    fn carried_next(&self, reverse: &ReverseLoop<'_>, v: Var) -> Option<(usize, Var)> {
        let l = reverse.source;
        let is_whole =
            |q: &usize| log_size(&l.body, l.params[*q], l.body.results[*q], self.src.ty(l.params[*q])).is_none();
        let q = (0..l.params.len()).find(|q| reverse.env.atom(l.body.results[*q]) == Atom::Var(v)).filter(is_whole)?;
        Some((q, reverse.placeholders[q]))
    }
}

/// The results that depend on the plain record.
fn depending_on_record(stmts: &[Recomputation<'_>], leaves: &[Leaf]) -> FxHashSet<Var> {
    let mut made: FxHashSet<Var> = leaves.iter().filter(|leaf| leaf.size.bytes > 0).map(|leaf| leaf.var).collect();
    for executed in stmts {
        // A count of a loop or a branch has no other source.
        let is_region = !executed.stmt.op.blocks().is_empty();
        if is_region || executed.needs.iter().any(|v| made.contains(v)) {
            made.extend(&executed.stmt.results);
        }
    }
    made
}
