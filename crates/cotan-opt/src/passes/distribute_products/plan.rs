//! The plan of a split: in which of the loops each statement runs, and what is kept of all iterations for a later one.
//!
//! The loops are numbered; a product of matrices stands between two of them. A statement runs as early as the products
//! allow from which it is computed, and then as late as those allow that need it, so that little is kept. What adds to one sum, outer
//! products aside, runs in one loop, in the order that it had; so does everything that may fail, prints, or may not end: then the first error is that of the first
//! iteration still. An access behind a check may be in range because of it, and runs in no earlier loop.

use super::body::{Body, Outer, Product, Role};
use crate::analysis::uses::needs;
use cotan_ir::{Atom, Dim, Function, OperandRole, Par, Stmt, Ty, Var};
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
        plan.as_early(&plan.joined())?;
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

    /// The types of the matrices that products are with, or that outer products are added to, each once.
    pub(super) fn matrices(&self) -> Vec<Ty> {
        let matrix = |role: &Role| match role {
            Role::Product(product) => Some(self.body.f.atom_ty(product.matrix)),
            Role::Outer(outer) => Some(self.body.f.ty(outer.acc).clone()),
            Role::Computed => None,
        };
        let mut all: Vec<Ty> = Vec::new();
        for ty in self.roles.iter().filter_map(matrix) {
            if !all.contains(&ty) {
                all.push(ty);
            }
        }
        all
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

    /// For each statement, those that have to run in the same loop as it, and those before it that may not run in a later one.
    fn joined(&self) -> Vec<[Vec<usize>; 2]> {
        let all = 0..self.levels.len();
        let sums: Vec<Vec<Var>> = all.clone().map(|k| sums(self.stmt(k))).collect();
        let pinned: Vec<usize> = all.clone().filter(|k| is_pinned(self.stmt(*k))).collect();
        let around = [(self.body.index, self.body.p.extents[0])];
        let joined = |k: usize| {
            let is_outer = |k: usize| matches!(self.roles[k], Role::Outer(_));
            let adds_too = |other: &usize| !is_outer(*other) && sums[*other].iter().any(|acc| sums[k].contains(acc));
            let mut same: Vec<usize> = all.clone().filter(adds_too).collect();
            if is_outer(k) {
                same.clear();
            }
            if pinned.contains(&k) {
                same.extend(&pinned);
            }
            let is_own = pinned.is_empty() || accesses_own(self.body.f, &around, self.stmt(k));
            let ahead = pinned.iter().copied().filter(|other| *other < k && !is_own).collect();
            [same, ahead]
        };
        all.clone().map(joined).collect()
    }

    /// Puts each statement into the first loop that it can run in. `None` if what has to be in one loop cannot be.
    fn as_early(&mut self, joined: &[[Vec<usize>; 2]]) -> Option<()> {
        let n_products = self.products().count();
        loop {
            let before = self.levels.clone();
            for (k, others) in joined.iter().enumerate() {
                let behind = usize::from(matches!(self.roles[k], Role::Product(_)));
                let needed = self.needs[k].iter().map(|v| self.level_of(*v) + behind);
                let others = others.iter().flatten().map(|other| self.levels[*other]);
                self.levels[k] = needed.chain(others).fold(self.levels[k], usize::max);
            }
            if self.levels.iter().any(|level| *level > n_products) {
                return None;
            }
            if self.levels == before {
                return Some(());
            }
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

    /// The outer products that are added to an accumulator behind the loops.
    pub(super) fn outers(&self, acc: Var) -> impl Iterator<Item = &Outer> {
        self.roles.iter().filter_map(move |role| match role {
            Role::Outer(outer) if outer.acc == acc => Some(outer),
            Role::Outer(_) | Role::Computed | Role::Product(_) => None,
        })
    }

    /// The loop that adds to an accumulator, if it is more than a sum of outer products.
    pub(super) fn level_of_sum(&self, acc: Var) -> Option<usize> {
        let writes = |k: &usize| matches!(self.roles[*k], Role::Computed) && sums(self.stmt(*k)).contains(&acc);
        let level = (0..self.roles.len()).filter(writes).map(|k| self.levels[k]).max();
        // The first loop has those that nothing is added to.
        level.or_else(|| self.outers(acc).next().is_none().then_some(0))
    }

    /// The loop that gives a result of the body.
    pub(super) fn level_of_result(&self, a: Atom) -> usize {
        a.var().map_or(0, |v| self.level_of(v))
    }
}

/// Whether a statement has a place in the order of what a run shows.
fn is_pinned(s: &Stmt) -> bool {
    s.has_effect(|effects| effects.is_sequenced() || effects.may_not_end)
}

/// Whether a statement reads and writes arrays at the indices of loops around it alone, which run over whole axes.
fn accesses_own(f: &Function, around: &[(Var, Atom)], s: &Stmt) -> bool {
    let indices = s.op.operands_as(|role| role == OperandRole::Index);
    let array = s.op.operands_as(|role| matches!(role, OperandRole::Array | OperandRole::Updated));
    let ty = array.first().map(|a| f.atom_ty(*a)).or_else(|| s.op.written().map(|acc| f.ty(acc).clone()));
    let dims = ty.map_or_else(Vec::new, |ty| ty.dims);
    let is_own = |(index, dim): (&Atom, &Dim)| index.var().is_some_and(|v| around.contains(&(v, dim.atom())));
    let mut inner = around.to_vec();
    inner.extend(s.op.indices().into_iter().filter_map(|(index, extent)| Some((index, extent?))));
    let mut stmts = s.op.blocks().iter().flat_map(|b| &b.stmts);
    indices.iter().zip(&dims).all(is_own) && stmts.all(|s| accesses_own(f, &inner, s))
}

/// The accumulators that a statement adds to, by itself or inside.
pub(super) fn sums(s: &Stmt) -> Vec<Var> {
    s.walk().filter_map(|s| s.op.written()).collect()
}
