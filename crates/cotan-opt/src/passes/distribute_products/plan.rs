//! The plan of a split: in which of the loops each statement runs, and what is kept of all iterations for a later one.
//!
//! The loops are numbered; a product of matrices stands between two of them. A statement runs as early as the products
//! allow from which it is computed, and then as late as those allow that need it, so that little is kept. Whatever adds to one sum
//! runs in one loop, in the order that it had. What may fail, and what prints, comes before the first product, or the loop is not split:
//! then it fails in the order of the iterations, and nothing reads what a check has yet to look at.

use super::body::{Body, Product, Role};
use crate::analysis::uses::needs;
use cotan_ir::{Atom, Function, Par, Stmt, Ty, Var, written_accs};
use rustc_hash::FxHashSet;

/// How a loop is split.
pub(super) struct Plan<'a> {
    pub(super) body: Body<'a>,
    pub(super) roles: Vec<Role>,
    /// The loop in which each statement runs; of a product, the first one that may read its result.
    pub(super) levels: Vec<usize>,
    /// The variables that each statement needs.
    pub(super) needs: Vec<Vec<Var>>,
    /// What is kept of all iterations, in the order of the body.
    pub(super) expanded: Vec<Var>,
}

impl<'a> Plan<'a> {
    /// The plan for a loop with products that may be taken together, if it can be split there.
    pub(super) fn of(f: &'a Function, lengths: &FxHashSet<Var>, p: &'a Par) -> Option<Plan<'a>> {
        let body = Body::of(f, p)?;
        let has_length = lengths.contains(&body.index) || body.defined.keys().any(|v| lengths.contains(v));
        let roles = body.roles();
        if has_length || roles.iter().all(|role| matches!(role, Role::Computed)) {
            return None;
        }
        let needs: Vec<Vec<Var>> = p.body.stmts.iter().map(|s| needs(f, s)).collect();
        let mut plan = Plan { body, roles, levels: vec![0; needs.len()], needs, expanded: Vec::new() };
        plan.as_early()?;
        if (0..plan.levels.len()).any(|k| plan.levels[k] > 0 && is_pinned(plan.stmt(k))) {
            return None;
        }
        plan.as_late();
        plan.expanded = plan.expanded();
        Some(plan)
    }

    pub(super) fn stmt(&self, k: usize) -> &'a Stmt {
        &self.body.p.body.stmts[k]
    }

    /// How many loops there are.
    pub(super) fn n_loops(&self) -> usize {
        self.levels.iter().max().map_or(0, |last| last + 1)
    }

    /// The products of the body, each with the position of its statement.
    pub(super) fn products(&self) -> impl Iterator<Item = (usize, &Product)> {
        self.roles.iter().enumerate().filter_map(|(k, role)| match role {
            Role::Product(product) => Some((k, product)),
            Role::Computed | Role::Outer(_) => None,
        })
    }

    /// The types of the matrices that products are with, or that outer products are added to.
    pub(super) fn matrices(&self) -> Vec<Ty> {
        let matrix = |role: &Role| match role {
            Role::Product(product) => Some(self.body.f.atom_ty(product.matrix)),
            Role::Outer(outer) => Some(self.body.f.ty(outer.acc).clone()),
            Role::Computed => None,
        };
        self.roles.iter().filter_map(matrix).collect()
    }

    /// The types of what is kept of each iteration.
    pub(super) fn kept(&self) -> Vec<Ty> {
        let products = self.products().map(|(k, _)| self.stmt(k).results[0]);
        products.chain(self.expanded.iter().copied()).map(|v| self.body.f.ty(v).clone()).collect()
    }

    /// The loop from which on a variable is known.
    pub(super) fn level_of(&self, v: Var) -> usize {
        self.body.defined.get(&v).map_or(0, |k| self.levels[*k])
    }

    /// Puts each statement into the first loop that it can run in. `None` if what adds to one sum cannot be in one loop.
    fn as_early(&mut self) -> Option<()> {
        let n_products = self.products().count();
        loop {
            let before = self.levels.clone();
            for k in 0..self.levels.len() {
                let behind = usize::from(matches!(self.roles[k], Role::Product(_)));
                let first = self.needs[k].iter().map(|v| self.level_of(*v)).max().unwrap_or(0) + behind;
                self.levels[k] = self.levels[k].max(first);
            }
            self.join_sums();
            if self.levels.iter().any(|level| *level > n_products) {
                return None;
            }
            if self.levels == before {
                return Some(());
            }
        }
    }

    /// Brings the statements that add to one accumulator into one loop.
    fn join_sums(&mut self) {
        let sums: Vec<FxHashSet<Var>> = (0..self.levels.len()).map(|k| sums(self.stmt(k))).collect();
        for k in 0..self.levels.len() {
            if matches!(self.roles[k], Role::Outer(_)) {
                continue;
            }
            let others = sums.iter().zip(&self.levels).filter(|(others, _)| !others.is_disjoint(&sums[k]));
            self.levels[k] = others.map(|(_, level)| *level).fold(self.levels[k], usize::max);
        }
    }

    /// Puts each statement into the last loop that those allow who need it, so that less is kept.
    fn as_late(&mut self) {
        for k in (0..self.levels.len()).rev() {
            let s = self.stmt(k);
            let is_free = matches!(self.roles[k], Role::Computed) && !is_pinned(s) && sums(s).is_empty();
            let readers = (k + 1..self.levels.len()).filter(|r| s.results.iter().any(|v| self.needs[*r].contains(v)));
            let last = readers.filter_map(|r| match &self.roles[r] {
                Role::Computed => Some(self.levels[r]),
                Role::Product(_) => Some(self.levels[r] - 1),
                // It takes what is kept, whenever that was computed.
                Role::Outer(_) => None,
            });
            if let Some(last) = last.min().filter(|_| is_free) {
                self.levels[k] = self.levels[k].max(last);
            }
        }
    }

    /// The variables that are kept of all iterations: vectors of products, and what a later loop reads.
    fn expanded(&self) -> Vec<Var> {
        let mut kept: FxHashSet<Var> = FxHashSet::default();
        for (k, role) in self.roles.iter().enumerate() {
            match role {
                Role::Computed => {
                    let is_earlier = |v: &&Var| self.level_of(**v) < self.levels[k] && !self.is_again(**v);
                    kept.extend(self.needs[k].iter().filter(is_earlier));
                }
                Role::Product(product) => kept.extend([product.vector]),
                Role::Outer(outer) => kept.extend([outer.left, outer.right]),
            }
        }
        let has_rows = |v: Var| self.body.rows(v).is_some() || self.is_product(v);
        let all = self.body.p.body.stmts.iter().flat_map(|s| &s.results).copied();
        all.filter(|v| kept.contains(v) && !has_rows(*v)).collect()
    }

    /// Whether a variable is read again where it is needed.
    pub(super) fn is_again(&self, v: Var) -> bool {
        self.body.defined.get(&v).is_none_or(|k| self.body.is_view(self.stmt(*k)))
    }

    /// Whether a variable is the result of a product.
    pub(super) fn is_product(&self, v: Var) -> bool {
        self.body.defined.get(&v).is_some_and(|k| matches!(self.roles[*k], Role::Product(_)))
    }

    /// Whether an accumulator of the loop is a sum of outer products.
    pub(super) fn is_outer(&self, acc: Var) -> bool {
        self.roles.iter().any(|role| matches!(role, Role::Outer(outer) if outer.acc == acc))
    }

    /// The loop that gives a result of the body.
    pub(super) fn level_of_result(&self, a: Atom) -> usize {
        a.var().map_or(0, |v| self.level_of(v))
    }
}

/// Whether a statement has to run before the first product.
fn is_pinned(s: &Stmt) -> bool {
    s.has_effect(|effects| effects.is_sequenced() || effects.may_not_end)
}

/// The accumulators that a statement adds to.
pub(super) fn sums(s: &Stmt) -> FxHashSet<Var> {
    let mut all: FxHashSet<Var> = s.op.blocks().iter().flat_map(written_accs).collect();
    all.extend(s.op.written());
    all
}
