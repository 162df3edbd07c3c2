//! What a region that moves keeps for the one that stays: of the values that both need, one per iteration, those that
//! are dearer to compute again than to read.

use crate::analysis::integer_facts::IntegerFacts;
use crate::analysis::uses::needs;
use crate::cost::{self, COSTS, elements, extent, known};
use cotan_ir::{Atom, Block, Dim, Function, Op, Stmt, Ty, Var};
use cotan_ops::MATMUL;

use rustc_hash::{FxHashMap, FxHashSet};

/// What reading a kept value costs beside its elements.
const READ: u64 = 8;
/// What reading an element costs.
const READ_ELEMENT: u64 = 2;
/// Elements that may be kept whatever the function takes and gives.
const FEW_ELEMENTS: u64 = 1 << 16;
/// How many times the elements of a parameter or result what is kept may take.
const GROWTH: u64 = 16;

/// A block of which a part moves.
pub(super) struct Divided<'a> {
    pub(super) f: &'a Function,
    pub(super) facts: &'a IntegerFacts,
    pub(super) stays: &'a FxHashSet<Var>,
    pub(super) block: &'a Block,
    /// How many iterations keep a value each; none if the block runs once.
    pub(super) extents: &'a [Atom],
    /// What the operation binds for the block.
    pub(super) binders: &'a [Var],
    /// Carried values that move and what they become.
    pub(super) next: &'a FxHashMap<Var, Atom>,
    /// Results of the block that stay.
    pub(super) results: &'a [Atom],
    /// The variables that types name.
    pub(super) lengths: &'a FxHashSet<Var>,
}

impl Divided<'_> {
    /// The variables of the block to keep, in the order of the block.
    pub(super) fn kept(&self) -> Vec<Var> {
        let mut search = Search { at: self, made: FxHashMap::default(), costs: FxHashMap::default() };
        for s in &self.block.stmts {
            if moves(self.stays, s) {
                search.made.extend(s.results.iter().map(|r| (*r, s)));
            }
        }
        search.run()
    }
}

/// Whether all results of a statement can be had before the region.
pub(super) fn moves(stays: &FxHashSet<Var>, s: &Stmt) -> bool {
    !s.results.is_empty() && s.results.iter().all(|r| !stays.contains(r))
}

struct Search<'a> {
    at: &'a Divided<'a>,
    /// The statements that move, by their results.
    made: FxHashMap<Var, &'a Stmt>,
    /// What computing a variable costs the region that stays, where all that it needs is kept that is worth it.
    costs: FxHashMap<Var, u64>,
}

impl Search<'_> {
    fn run(&mut self) -> Vec<Var> {
        let at = self.at;
        let mut wanted: Vec<Var> = at.results.iter().filter_map(|a| a.var()).collect();
        for s in at.block.stmts.iter().filter(|s| !moves(at.stays, s)) {
            wanted.extend(needs(at.f, s));
        }
        let mut seen: FxHashSet<Var> = FxHashSet::default();
        let mut kept: FxHashSet<Var> = FxHashSet::default();
        while let Some(v) = wanted.pop() {
            if !seen.insert(v) {
                continue;
            }
            wanted.extend(at.next.get(&v).and_then(|a| a.var()));
            let Some(s) = self.made.get(&v).copied() else { continue };
            if self.may_keep(v) && self.cost(v) > self.read(v) {
                kept.insert(v);
            } else {
                wanted.extend(needs(at.f, s));
            }
        }
        at.block.stmts.iter().flat_map(|s| &s.results).copied().filter(|v| kept.contains(v)).collect()
    }

    fn cost(&mut self, v: Var) -> u64 {
        if let Some(cost) = self.costs.get(&v) {
            return *cost;
        }
        let Some(s) = self.made.get(&v).copied() else { return 0 };
        // A type may name a length that the same statement gives, which is no reason to count the statement again.
        self.costs.insert(v, 0);
        let mut cost = work(self.at.f, s);
        for u in needs(self.at.f, s) {
            let again = self.cost(u);
            cost = cost.saturating_add(if self.may_keep(u) { again.min(self.read(u)) } else { again });
        }
        self.costs.insert(v, cost);
        cost
    }

    fn read(&self, v: Var) -> u64 {
        elements(self.at.f.ty(v)).saturating_mul(READ_ELEMENT).saturating_add(READ)
    }

    fn may_keep(&self, v: Var) -> bool {
        let at = self.at;
        let ty = at.f.ty(v);
        let is_bound_here = |d: Var| self.made.contains_key(&d) || at.binders.contains(&d) || at.stays.contains(&d);
        let lead = || at.extents.iter().map(|e| Dim::from_atom(*e));
        self.made.contains_key(&v)
            && !at.lengths.contains(&v)
            && !ty.dim_vars().any(is_bound_here)
            && at.extents.iter().all(|e| at.facts.is_length(*e))
            && (at.extents.is_empty() || is_bounded(at.f, &ty.stacked(lead())))
    }
}

/// What a statement costs; other than what derivatives assume, a product of matrices costs all its products.
fn work(f: &Function, s: &Stmt) -> u64 {
    if let Op::Tensor { op, args, .. } = &s.op
        && *op == MATMUL.op()
    {
        let inner = args[0].var().and_then(|v| f.ty(v).dims.last()).map_or(1, |d| extent(d.atom()));
        elements(f.ty(s.results[0])).saturating_mul(inner).saturating_mul(COSTS.step)
    } else {
        cost::stmt(&f.vars, s)
    }
}

/// Whether a tensor takes no more than a small multiple of something that the function takes or gives, or little at all.
fn is_bounded(f: &Function, ty: &Ty) -> bool {
    let (vars, number) = sizes(ty);
    if vars.is_empty() {
        return number <= FEW_ELEMENTS;
    }
    let results = f.body.results.iter().filter_map(|a| a.var());
    f.params.iter().copied().chain(results).any(|v| {
        let (mut others, other_number) = sizes(f.ty(v));
        let is_part =
            vars.iter().all(|d| others.iter().position(|o| o == d).map(|at| others.swap_remove(at)).is_some());
        is_part && number <= other_number.saturating_mul(GROWTH)
    })
}

/// The extents of a type that only the run knows, and the product of the others.
fn sizes(ty: &Ty) -> (Vec<Var>, u64) {
    let number = ty.dims.iter().filter_map(|d| known(d.atom())).fold(1, u64::saturating_mul);
    (ty.dim_vars().collect(), number)
}
