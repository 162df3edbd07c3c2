//! Which results of an iteration a loop keeps, instead of computing them again in its reverse.
//!
//! The re-executed part of a reverse body is a graph: its statements, what they need, and at the bottom what the plain
//! record gives (Note [What a loop records]). What the cotangents read must be there: a value is there if it is
//! recorded, or if its statement is executed again and what that needs is there. So the cheapest choice, by the figures
//! of `cost.rs`, is a minimum cut; a recorded value may take the place of the carried one that it was made of.
//!
//! A loop inside is a statement like any other: keeping its results and its record spares running it again (`inner.rs`).
//! Its record is so much more than the carried values of the loop around it that this is left to the author of the
//! program (`@checkpoint(all)`), but for records known to be small.
//!
//! Where that records too much, the results that save least for their bytes are given up, and the choice is made again.

use crate::cut::Network;
use crate::inner::{InnerLoop, Shape, is_closed};
use crate::record::ReverseLoop;
use crate::undo;
use crate::vjp::Reverse;
use cotan_ir::{Atom, Block, Env, Op, Record, Stmt, Ty, Var};
use cotan_opt::cost::{self, COSTS, Size};
use cotan_opt::passes::dce::dce_block;
use rustc_hash::{FxHashMap, FxHashSet};

/// Something that the plain record of a loop holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf {
    /// What it stands for in the reverse body.
    pub(crate) var: Var,
    pub(crate) size: Size,
}

/// A result that is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Residual {
    /// In the reverse body.
    pub(crate) var: Var,
    /// In the forward loop.
    pub(crate) forward: Var,
    /// The carried value of which it is the next one. If that is recorded, so is this.
    pub(crate) carried: Option<usize>,
    pub(crate) record: Record,
}

/// How a result would be recorded.
#[derive(Clone, Copy, Debug)]
struct Storable {
    size: Size,
    /// The carried value of which it is the next one, with what stands for that.
    carried: Option<(usize, Var)>,
}

impl Storable {
    fn cost(&self) -> u64 {
        match self.carried {
            Some(_) => self.size.elements.saturating_mul(COSTS.shifted),
            None => self.size.cost(),
        }
    }
}

/// The re-executed part of a reverse body before dead code went.
#[derive(Debug, Default)]
pub(crate) struct Again {
    /// What its statements bind.
    bound: FxHashSet<Var>,
    /// The loops in it that may be run by the forward loop instead.
    loops: Vec<Stmt>,
}

/// What a loop keeps beside its plain record or in place of it.
#[derive(Debug, Default)]
pub(crate) struct Keeps {
    pub(crate) residuals: Vec<Residual>,
    pub(crate) loops: Vec<InnerLoop>,
}

/// The statements of a body that repeat the source's, with what they need.
struct Graph<'a> {
    /// Those to be executed again, in order.
    stmts: Vec<Executed<'a>>,
    /// The statement that binds each of their results.
    by_result: FxHashMap<Var, usize>,
    leaves: Vec<Leaf>,
    /// What may be recorded.
    storable: FxHashMap<Var, Storable>,
    /// What the rest of the body reads.
    roots: Vec<Var>,
}

struct Executed<'a> {
    stmt: &'a Stmt,
    cost: u64,
    weight: u64,
    /// Leaves and results of other statements.
    needs: Vec<Var>,
    /// Those other statements.
    reads: Vec<usize>,
}

/// What is executed again, by statement, and the results that are recorded.
struct Choice {
    executed: Vec<bool>,
    stored: Vec<Var>,
    /// Those of the plain record included.
    bytes: u64,
}

/// The weight of executing a loop again under `@checkpoint(all)`.
const AVOIDED: u64 = 1 << 20;

impl Reverse<'_, '_> {
    /// What there is to know of the re-executed statements of a reverse body, before dead code goes.
    pub(crate) fn again(&self, reverse: &ReverseLoop<'_>, stmts: &[Stmt]) -> Again {
        let bound = stmts.iter().flat_map(|s| s.results.iter().copied()).collect();
        if !self.keeps_all && self.runs.is_none() {
            return Again { bound, loops: Vec::new() };
        }
        let source = reverse.source.body.stmts.iter();
        let closed: FxHashSet<Var> =
            source.filter(|s| is_closed(s)).filter_map(|s| reverse.env.get(s.results.first()?)?.var()).collect();
        let may_move = |s: &&Stmt| match &s.op {
            Op::Loop(l) => !l.kept.recompute && s.results.iter().any(|r| closed.contains(r)),
            Op::Prim { .. }
            | Op::Tensor { .. }
            | Op::Index { .. }
            | Op::Update { .. }
            | Op::AccAdd { .. }
            | Op::Par(_)
            | Op::Switch { .. }
            | Op::Call { .. }
            | Op::Check { .. } => false,
        };
        Again { bound, loops: stmts.iter().filter(may_move).cloned().collect() }
    }

    /// What the loop keeps; it is no longer computed in the body that is given back. `names` says what the variables of
    /// that body are called in the forward loop.
    pub(crate) fn keep(
        &self,
        reverse: &ReverseLoop<'_>,
        names: &Env,
        again: Again,
        body: Block,
        leaves: &[Leaf],
    ) -> (Block, Keeps) {
        let plain = leaves.iter().fold(0, |n: u64, leaf| n.saturating_add(leaf.size.bytes));
        let limit = self.limit(plain, leaves);
        if limit == 0 {
            return (body, Keeps::default());
        }
        let mut graph = self.graph(reverse, names, &again, &body, leaves);
        let choice = graph.choice_within(limit);
        let stored: FxHashSet<Var> = choice.stored.iter().copied().collect();
        let mut keeps = Keeps::default();
        let mut visits = Visits::default();
        for v in &choice.stored {
            if let Some(Atom::Var(forward)) = names.get(v) {
                keeps.residuals.push(Residual {
                    var: *v,
                    forward: *forward,
                    carried: graph.storable[v].carried.map(|(q, _)| q),
                    record: graph.reason(*v, &choice, &mut visits),
                });
            }
        }
        for again in again.loops {
            let is_recorded = |r: &&Var| stored.contains(r) && !names.contains_key(r);
            let recorded: Vec<Var> = again.results.iter().filter(is_recorded).copied().collect();
            if !recorded.is_empty() {
                keeps.loops.push(InnerLoop { again, recorded });
            }
        }
        let is_replaced = |s: &Stmt| s.results.iter().any(|v| stored.contains(v));
        let stmts = body.stmts.iter().filter(|s| !is_replaced(s)).cloned().collect();
        (Block { stmts, results: body.results }, keeps)
    }

    /// The bytes that an iteration may record, beside so many of the plain record.
    fn limit(&self, plain: u64, leaves: &[Leaf]) -> u64 {
        if self.keeps_all {
            return u64::MAX;
        }
        let is_known = |leaf: &Leaf| self.b.var_ty(leaf.var).dims.iter().all(|d| d.var().is_none());
        let small =
            self.runs.filter(|_| leaves.iter().all(is_known)).map_or(0, |runs| COSTS.small_record / runs.max(1));
        COSTS.growth.saturating_mul(plain).max(small)
    }

    /// How much dearer than its cost executing a statement again is taken to be.
    fn weight(&self, s: &Stmt) -> u64 {
        match &s.op {
            Op::Loop(_) if self.keeps_all => AVOIDED,
            Op::Loop(_)
            | Op::Prim { .. }
            | Op::Tensor { .. }
            | Op::Index { .. }
            | Op::Update { .. }
            | Op::AccAdd { .. }
            | Op::Par(_)
            | Op::Switch { .. }
            | Op::Call { .. }
            | Op::Check { .. } => 1,
        }
    }

    fn graph<'a>(
        &self,
        reverse: &ReverseLoop<'_>,
        names: &Env,
        again: &Again,
        body: &'a Block,
        leaves: &[Leaf],
    ) -> Graph<'a> {
        let vars = self.b.vars();
        let (executed, rest): (Vec<&Stmt>, Vec<&Stmt>) =
            body.stmts.iter().partition(|s| s.results.iter().any(|v| again.bound.contains(v)));
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

        let stmts: Vec<Executed<'_>> = executed
            .iter()
            .map(|stmt| {
                let results = stmt.results.iter().map(|v| Atom::Var(*v)).collect();
                let mut needs = read_by(vec![Stmt::clone(stmt)], results);
                needs.retain(|v| !stmt.results.contains(v));
                let reads = needs.iter().filter_map(|v| by_result.get(v).copied()).collect();
                Executed { stmt, cost: cost::stmt(vars, stmt), weight: self.weight(stmt), needs, reads }
            })
            .collect();
        let has_shape_of =
            |leaves: &[Leaf], ty: &Ty| leaves.iter().any(|leaf| vars[leaf.var.index()].ty.dims == ty.dims);
        let moved: FxHashSet<Var> = again.loops.iter().flat_map(|s| s.results.iter().copied()).collect();
        let made_of_records = made_of(&stmts, leaves);
        let may_be_stored = |v: &&Var| {
            let ty = &vars[v.index()].ty;
            let shape = Shape::of(ty, |d| names.contains_key(&d) || by_result.contains_key(&d));
            let is_known = ty.dims.iter().all(|d| d.var().is_none());
            // What is counted, and not made of what is recorded, is as good as the number of the iteration.
            if !ty.is_float() && !made_of_records.contains(v) {
                return false;
            }
            match (names.contains_key(v), moved.contains(v)) {
                // A tensor may be recorded where the plain record has one of its shape, so that the growth is bounded by
                // a factor whatever the extents.
                (true, _) => ty.is_scalar() || has_shape_of(leaves, ty) || (self.keeps_all && shape == Shape::Fixed),
                (false, true) => match shape {
                    Shape::Fixed => is_known || self.keeps_all,
                    Shape::Growing(_) => self.keeps_all && vars[v.index()].record.is_some(),
                    Shape::Varying => false,
                },
                (false, false) => false,
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

    /// The carried value of which a result is the next one, if that is recorded whole.
    fn carried_next(&self, reverse: &ReverseLoop<'_>, v: Var) -> Option<(usize, Var)> {
        let l = reverse.source;
        let is_whole =
            |q: &usize| undo::logged(&l.body, l.params[*q], l.body.results[*q], self.src.ty(l.params[*q])).is_none();
        let q = (0..l.params.len()).find(|q| reverse.env.atom(l.body.results[*q]) == Atom::Var(v)).filter(is_whole)?;
        Some((q, reverse.placeholders[q]))
    }
}

/// The results that depend on something of the plain record.
fn made_of(stmts: &[Executed<'_>], leaves: &[Leaf]) -> FxHashSet<Var> {
    let mut made: FxHashSet<Var> = leaves.iter().filter(|leaf| leaf.size.bytes > 0).map(|leaf| leaf.var).collect();
    for executed in stmts {
        // What a loop or a branch counts, nothing else knows.
        let is_region = !executed.stmt.op.blocks().is_empty();
        if is_region || executed.needs.iter().any(|v| made.contains(v)) {
            made.extend(&executed.stmt.results);
        }
    }
    made
}

impl Graph<'_> {
    /// A cheap choice that records no more than some bytes, which the plain record does not exceed.
    fn choice_within(&mut self, limit: u64) -> Choice {
        loop {
            let choice = self.choice();
            let mut excess = choice.bytes.saturating_sub(limit);
            if excess == 0 {
                return choice;
            }
            let mut visits = Visits::default();
            let mut saved_by_byte = |v: &Var| {
                let saved = self.recomputed(*v, &choice, &mut visits).saturating_mul(COSTS.unknown_extent);
                saved / self.storable[v].size.bytes.max(1)
            };
            let mut recorded: Vec<(u64, Var)> = choice.stored.iter().rev().map(|v| (saved_by_byte(v), *v)).collect();
            recorded.sort_by_key(|(saved, _)| *saved);
            for (_, v) in recorded {
                if excess > 0 {
                    excess = excess.saturating_sub(self.storable[&v].size.bytes);
                    self.storable.remove(&v);
                }
            }
        }
    }

    /// The cheapest choice.
    fn choice(&self) -> Choice {
        let mut network = Network::default();
        let (source, sink) = (network.node(), network.node());
        let executed: Vec<usize> = self.stmts.iter().map(|_| network.node()).collect();
        let mut there: FxHashMap<Var, usize> = FxHashMap::default();
        let all = self.leaves.iter().map(|leaf| &leaf.var).chain(self.by_result.keys());
        all.for_each(|v| {
            there.insert(*v, network.node());
        });
        for v in &self.roots {
            network.tie(source, there[v]);
        }
        for leaf in &self.leaves {
            network.edge(there[&leaf.var], sink, leaf.size.cost());
        }
        for ((again, at), k) in self.stmts.iter().zip(&executed).zip(0..) {
            network.edge(*at, sink, again.cost.saturating_mul(again.weight));
            again.needs.iter().for_each(|v| network.tie(*at, there[v]));
            for v in &again.stmt.results {
                debug_assert_eq!(self.by_result[v], k);
                match self.storable.get(v) {
                    Some(storable) => network.edge(there[v], *at, storable.cost()),
                    None => network.tie(there[v], *at),
                }
            }
        }
        let is_needed = network.cut(source, sink);
        let executed: Vec<bool> = executed.iter().map(|at| is_needed[*at]).collect();
        let is_stored = |v: &&Var| is_needed[there[v]] && !executed[self.by_result[v]];
        let results = self.stmts.iter().flat_map(|again| &again.stmt.results);
        let stored: Vec<Var> = results.filter(is_stored).copied().collect();
        let leaves = self.leaves.iter().filter(|leaf| is_needed[there[&leaf.var]]).map(|leaf| leaf.size.bytes);
        let is_there = |storable: &Storable| storable.carried.is_some_and(|(_, p)| is_needed[there[&p]]);
        let recorded = stored.iter().map(|v| &self.storable[v]).filter(|s| !is_there(s)).map(|s| s.size.bytes);
        let bytes = leaves.chain(recorded).fold(0, u64::saturating_add);
        Choice { executed, stored, bytes }
    }

    /// What recording a value costs against what would be executed again for it.
    fn reason(&self, v: Var, choice: &Choice, visits: &mut Visits) -> Record {
        let rounded = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        Record::Kept {
            recompute: rounded(self.recomputed(v, choice, visits)),
            store: rounded(self.storable[&v].cost()),
        }
    }

    /// What would be executed again for a recorded value.
    fn recomputed(&self, v: Var, choice: &Choice, visits: &mut Visits) -> u64 {
        visits.begin(self.stmts.len());
        let mut work = vec![self.by_result[&v]];
        let mut recompute: u64 = 0;
        while let Some(k) = work.pop() {
            if !choice.executed[k] && visits.is_first(k) {
                recompute = recompute.saturating_add(self.stmts[k].cost);
                work.extend(&self.stmts[k].reads);
            }
        }
        recompute
    }
}

/// Which statements were visited, in each of many walks.
#[derive(Default)]
struct Visits {
    /// The last walk that came by each.
    last: Vec<usize>,
    walk: usize,
}

impl Visits {
    fn begin(&mut self, n_stmts: usize) {
        self.last.resize(n_stmts, 0);
        self.walk += 1;
    }

    fn is_first(&mut self, stmt: usize) -> bool {
        std::mem::replace(&mut self.last[stmt], self.walk) != self.walk
    }
}
