//! Which results of an iteration a loop keeps, instead of computing them again in its reverse.
//!
//! The re-executed part of a reverse body is a graph: its statements, what they need, and at the bottom what the plain
//! record gives (Note [What a loop records]). What the cotangents read must be there: a value is there if it is
//! recorded, or if its statement is executed again and what that needs is there. So the cheapest choice, by the figures
//! of `cost.rs`, is a minimum cut; a recorded value may take the place of the carried one that it was made of.
//!
//! Where that records too much, the results that save least for their bytes are given up, and the choice is made again.

use crate::cost::{self, COSTS, Size};
use crate::cut::{NEVER, Network};
use crate::record::ReverseLoop;
use crate::undo;
use crate::vjp::Reverse;
use cotan_ir::{Atom, Block, Record, Stmt, Ty, Var};
use cotan_opt::passes::dce::dce_block;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

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

/// The statements of a body that repeat the source's, with what they need.
struct Graph<'a> {
    /// Those to be executed again, in order.
    stmts: Vec<Again<'a>>,
    /// The statement that binds each of their results.
    by_result: FxHashMap<Var, usize>,
    leaves: BTreeMap<Var, Size>,
    /// What may be recorded.
    storable: FxHashMap<Var, Storable>,
    /// What the rest of the body reads.
    roots: Vec<Var>,
}

struct Again<'a> {
    stmt: &'a Stmt,
    cost: u64,
    /// Leaves and results of other statements.
    needs: Vec<Var>,
}

/// What is executed again, by statement, and the results that are recorded.
struct Choice {
    executed: Vec<bool>,
    stored: Vec<Var>,
    /// Those of the plain record included.
    bytes: u64,
}

impl Reverse<'_, '_> {
    /// The results that the loop keeps; they are no longer computed in the body that is given back.
    /// `again` are the variables bound by the statements that repeat the source's.
    pub(crate) fn keep(
        &self,
        reverse: &ReverseLoop<'_>,
        again: &FxHashSet<Var>,
        body: Block,
        leaves: &[Leaf],
    ) -> (Block, Vec<Residual>) {
        let plain = leaves.iter().fold(0, |n: u64, leaf| n.saturating_add(leaf.size.bytes));
        if plain == 0 {
            return (body, Vec::new());
        }
        let forward = self.forward_vars(reverse);
        let mut graph = self.graph(reverse, again, &body, leaves, &forward);
        let limit = COSTS.growth.saturating_mul(plain);
        let choice = graph.choice_within(limit);
        let residual = |v: &Var| Residual {
            var: *v,
            forward: forward[v],
            carried: graph.storable[v].carried.map(|(q, _)| q),
            record: graph.reason(*v, &choice),
        };
        let residuals: Vec<Residual> = choice.stored.iter().map(residual).collect();
        let replaced: FxHashSet<Var> = residuals.iter().map(|r| r.var).collect();
        let is_replaced = |s: &Stmt| s.results.iter().any(|v| replaced.contains(v));
        let stmts = body.stmts.iter().filter(|s| !is_replaced(s)).cloned().collect();
        (Block { stmts, results: body.results }, residuals)
    }

    /// The results of the source's statements: what they are called in the reverse body and in the forward loop.
    fn forward_vars(&self, reverse: &ReverseLoop<'_>) -> FxHashMap<Var, Var> {
        let source = reverse.source.body.stmts.iter().flat_map(|s| &s.results);
        let both = |v: &Var| Some((reverse.env.get(v)?.var()?, reverse.twin.env.get(v)?.var()?));
        source.filter_map(both).collect()
    }

    fn graph<'a>(
        &self,
        reverse: &ReverseLoop<'_>,
        again: &FxHashSet<Var>,
        body: &'a Block,
        leaves: &[Leaf],
        forward: &FxHashMap<Var, Var>,
    ) -> Graph<'a> {
        let vars = self.b.vars();
        let (again, rest): (Vec<&Stmt>, Vec<&Stmt>) =
            body.stmts.iter().partition(|s| s.results.iter().any(|v| again.contains(v)));
        let leaves: BTreeMap<Var, Size> = leaves.iter().map(|leaf| (leaf.var, leaf.size)).collect();
        let by_result: FxHashMap<Var, usize> =
            again.iter().enumerate().flat_map(|(k, s)| s.results.iter().map(move |v| (*v, k))).collect();
        let read_by = |stmts: Vec<Stmt>, results: Vec<Atom>| {
            let (_, live) = dce_block(vars, Block { stmts, results });
            let known = leaves.keys().chain(by_result.keys()).copied();
            let mut read: Vec<Var> = known.filter(|v| live.has(*v)).collect();
            read.sort_unstable();
            read
        };
        let roots = read_by(rest.into_iter().cloned().collect(), body.results.clone());

        // A tensor may be recorded where the plain record has one of its shape, so that the growth is bounded by a
        // factor whatever the extents.
        let shapes: Vec<&Ty> = leaves.keys().map(|v| &vars[v.index()].ty).collect();
        let may_be_stored = |v: &&Var| {
            let ty = &vars[v.index()].ty;
            forward.contains_key(v) && (ty.is_scalar() || shapes.iter().any(|shape| shape.dims == ty.dims))
        };
        let results = again.iter().flat_map(|s| &s.results);
        let storable = |v: &Var| Storable {
            size: Size::of(&vars[v.index()].ty),
            carried: self.carried_next(reverse, *v).filter(|(_, p)| leaves.get(p).is_some_and(|size| size.bytes > 0)),
        };
        let storable = results.filter(may_be_stored).map(|v| (*v, storable(v))).collect();
        let stmts = again
            .into_iter()
            .map(|stmt| {
                let results = stmt.results.iter().map(|v| Atom::Var(*v)).collect();
                let mut needs = read_by(vec![stmt.clone()], results);
                needs.retain(|v| !stmt.results.contains(v));
                Again { stmt, cost: cost::stmt(vars, stmt), needs }
            })
            .collect();
        Graph { stmts, by_result, leaves, storable, roots }
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

impl Graph<'_> {
    /// A cheap choice that records no more than some bytes, which the plain record does not exceed.
    fn choice_within(&mut self, limit: u64) -> Choice {
        loop {
            let choice = self.choice();
            let mut excess = choice.bytes.saturating_sub(limit);
            if excess == 0 {
                return choice;
            }
            let saved_by_byte = |v: &Var| {
                let saved = self.recomputed(*v, &choice).saturating_mul(COSTS.unknown_extent);
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
        let all = self.leaves.keys().chain(self.by_result.keys());
        all.for_each(|v| {
            there.insert(*v, network.node());
        });
        for v in &self.roots {
            network.edge(source, there[v], NEVER);
        }
        for (v, size) in &self.leaves {
            network.edge(there[v], sink, size.cost());
        }
        for ((again, at), k) in self.stmts.iter().zip(&executed).zip(0..) {
            network.edge(*at, sink, again.cost);
            again.needs.iter().for_each(|v| network.edge(*at, there[v], NEVER));
            for v in &again.stmt.results {
                debug_assert_eq!(self.by_result[v], k);
                let store = self.storable.get(v).map_or(NEVER, Storable::cost);
                network.edge(there[v], *at, store);
            }
        }
        let is_needed = network.cut(source, sink);
        let executed: Vec<bool> = executed.iter().map(|at| is_needed[*at]).collect();
        let is_stored = |v: &&Var| is_needed[there[v]] && !executed[self.by_result[v]];
        let results = self.stmts.iter().flat_map(|again| &again.stmt.results);
        let stored: Vec<Var> = results.filter(is_stored).copied().collect();
        let leaves = self.leaves.iter().filter(|(v, _)| is_needed[there[v]]).map(|(_, size)| size.bytes);
        let is_there = |storable: &Storable| storable.carried.is_some_and(|(_, p)| is_needed[there[&p]]);
        let recorded = stored.iter().map(|v| &self.storable[v]).filter(|s| !is_there(s)).map(|s| s.size.bytes);
        let bytes = leaves.chain(recorded).fold(0, u64::saturating_add);
        Choice { executed, stored, bytes }
    }

    /// What recording a value costs against what would be executed again for it.
    fn reason(&self, v: Var, choice: &Choice) -> Record {
        let rounded = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        Record::Kept { recompute: rounded(self.recomputed(v, choice)), store: rounded(self.storable[&v].cost()) }
    }

    /// What would be executed again for a recorded value.
    fn recomputed(&self, v: Var, choice: &Choice) -> u64 {
        let mut seen = FxHashSet::default();
        let mut work = vec![self.by_result[&v]];
        let mut recompute: u64 = 0;
        while let Some(k) = work.pop() {
            if !choice.executed[k] && seen.insert(k) {
                recompute = recompute.saturating_add(self.stmts[k].cost);
                work.extend(self.stmts[k].needs.iter().filter_map(|u| self.by_result.get(u)));
            }
        }
        recompute
    }
}
