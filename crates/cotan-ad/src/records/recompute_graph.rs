//! Min-cut rematerialization: which results of an iteration are recorded, and which are recomputed.
//!
//! Where the cheapest choice records too much, the results that save least for their bytes are given up, and the choice is
//! made again.

use super::min_cut::Network;
use cotan_ir::{Record, Stmt, Var};
use cotan_opt::cost::{COSTS, Size};
use rustc_hash::FxHashMap;

/// A part of the plain record of a loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf {
    /// The variable of the reverse body that it restores.
    pub(crate) var: Var,
    pub(crate) size: Size,
}

/// How a result would be recorded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Storable {
    pub(crate) size: Size,
    /// The carried value whose next value it is, with its placeholder.
    pub(crate) carried: Option<(usize, Var)>,
}

impl Storable {
    fn cost(&self) -> u64 {
        match self.carried {
            Some(_) => self.size.elements.saturating_mul(COSTS.shifted),
            None => self.size.cost(),
        }
    }
}

/// The statements of a body that re-execute the source's, with their operands.
pub(crate) struct Graph<'a> {
    /// The statements, in order.
    pub(crate) stmts: Vec<Recomputation<'a>>,
    /// The statement that binds each of their results.
    pub(crate) by_result: FxHashMap<Var, usize>,
    pub(crate) leaves: Vec<Leaf>,
    /// The results that may be recorded.
    pub(crate) storable: FxHashMap<Var, Storable>,
    /// The values that the rest of the body reads.
    pub(crate) roots: Vec<Var>,
}

pub(crate) struct Recomputation<'a> {
    pub(crate) stmt: &'a Stmt,
    pub(crate) cost: u64,
    pub(crate) weight: u64,
    /// Leaves and results of other statements.
    pub(crate) needs: Vec<Var>,
    /// Those other statements.
    pub(crate) reads: Vec<usize>,
}

/// Which statements are recomputed, and which results are recorded.
pub(crate) struct Choice {
    pub(crate) executed: Vec<bool>,
    pub(crate) stored: Vec<Var>,
    /// The bytes of all records, the plain record included.
    pub(crate) bytes: u64,
}

impl Graph<'_> {
    /// A cheap choice that records no more than some bytes, which the plain record does not exceed.
    pub(crate) fn choice_within(&mut self, limit: u64) -> Choice {
        loop {
            let choice = self.choice();
            let mut excess = choice.bytes.saturating_sub(limit);
            if excess == 0 {
                return choice;
            }
            let mut visits = Visits::default();
            let mut saved_by_byte = |v: &Var| {
                let saved = self.recompute_cost(*v, &choice, &mut visits).saturating_mul(COSTS.unknown_extent);
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
        for ((stmt, at), k) in self.stmts.iter().zip(&executed).zip(0..) {
            network.edge(*at, sink, stmt.cost.saturating_mul(stmt.weight));
            stmt.needs.iter().for_each(|v| network.tie(*at, there[v]));
            for v in &stmt.stmt.results {
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
        let results = self.stmts.iter().flat_map(|stmt| &stmt.stmt.results);
        let stored: Vec<Var> = results.filter(is_stored).copied().collect();
        let leaves = self.leaves.iter().filter(|leaf| is_needed[there[&leaf.var]]).map(|leaf| leaf.size.bytes);
        let is_there = |storable: &Storable| storable.carried.is_some_and(|(_, p)| is_needed[there[&p]]);
        let recorded = stored.iter().map(|v| &self.storable[v]).filter(|s| !is_there(s)).map(|s| s.size.bytes);
        let bytes = leaves.chain(recorded).fold(0, u64::saturating_add);
        Choice { executed, stored, bytes }
    }

    /// The cost of recording a value against that of recomputing it.
    pub(crate) fn reason(&self, v: Var, choice: &Choice, visits: &mut Visits) -> Record {
        let rounded = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        Record::Kept {
            recompute: rounded(self.recompute_cost(v, choice, visits)),
            store: rounded(self.storable[&v].cost()),
        }
    }

    /// The cost of recomputing a recorded value.
    fn recompute_cost(&self, v: Var, choice: &Choice, visits: &mut Visits) -> u64 {
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
pub(crate) struct Visits {
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
