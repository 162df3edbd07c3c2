//! Which tensors become scalars.

use super::moved::{Parts, parts};
use crate::passes::small_tensors::{elements, extents};
use cotan_ir::{AccKind, Atom, Block, Function, Loop, Op, Stmt, Var};
use rustc_hash::{FxHashMap, FxHashSet};

/// Elements that all tensors of a function may become.
const MOST_ELEMENTS_OF_FUNCTION: usize = 20_000;

/// What is to be done.
#[derive(Default)]
pub(super) struct Plan {
    /// The tensors whose elements are scalars, wherever they are bound.
    pub(super) split: FxHashSet<Var>,
    /// The others whose elements are read one by one where they are bound, because something split is made of them.
    pub(super) read: FxHashSet<Var>,
    /// How the results of structural operations are made of elements.
    pub(super) parts: FxHashMap<Var, Parts>,
    /// The accumulators that are logs.
    pub(super) logs: FxHashSet<Var>,
}

impl Plan {
    /// Decides what becomes scalars.
    pub(super) fn of(f: &Function) -> Plan {
        let mut whole = FxHashSet::default();
        loop {
            let mut walk = Walk {
                f,
                whole: &whole,
                plan: Plan::default(),
                carried: FxHashSet::default(),
                found: Vec::new(),
                left: MOST_ELEMENTS_OF_FUNCTION,
            };
            walk.block(&f.body);
            let Walk { plan, found, .. } = walk;
            if found.is_empty() {
                return plan;
            }
            whole.extend(found);
        }
    }

    /// Whether the elements of an operand are scalars.
    pub(super) fn splits(&self, a: Atom) -> bool {
        a.var().is_some_and(|v| self.split.contains(&v))
    }
}

/// The position of the first element that constant leading indices select, if they are in range.
pub(super) fn known_offset(f: &Function, array: Atom, indices: &[Atom]) -> Option<usize> {
    let ty = f.atom_ty(array);
    let n_elements = elements(&ty)?;
    let mut size = n_elements;
    let mut offset = 0;
    for (i, n) in indices.iter().zip(extents(&ty)) {
        let i = i.constant()?.as_i64().filter(|i| (0..n).contains(i))?;
        size /= n as usize;
        offset += i as usize * size;
    }
    Some(offset)
}

struct Walk<'a> {
    f: &'a Function,
    /// The carried tensors that must stay whole.
    whole: &'a FxHashSet<Var>,
    plan: Plan,
    /// The carried tensors that are taken to be split.
    carried: FxHashSet<Var>,
    /// Those of them that turned out to be better off whole.
    found: Vec<Var>,
    /// Elements that may still become scalars.
    left: usize,
}

impl Walk<'_> {
    /// Whether a variable may become scalars. What is recorded is what its mark says, and stays.
    fn may_split(&self, v: Var) -> bool {
        let info = &self.f.vars[v.index()];
        info.record.is_none() && elements(&info.ty).is_some_and(|n| n <= self.left)
    }

    /// Whether operands have the extents of a small tensor, by the same names. Constants have any.
    fn are_like<'v>(&self, v: Var, operands: impl IntoIterator<Item = &'v Atom>) -> bool {
        let dims = &self.f.ty(v).dims;
        operands.into_iter().filter_map(|a| a.var()).all(|u| self.f.ty(u).dims == *dims)
    }

    fn split(&mut self, v: Var) {
        self.left -= elements(self.f.ty(v)).unwrap_or(0).min(self.left);
        self.plan.split.insert(v);
    }

    /// The elements of an operand are needed.
    fn need(&mut self, a: Atom) {
        if let Atom::Var(v) = a
            && !self.plan.split.contains(&v)
            && !self.f.ty(v).is_scalar()
        {
            self.plan.read.insert(v);
        }
    }

    fn block(&mut self, block: &Block) {
        block.stmts.iter().for_each(|s| self.stmt(s));
    }

    fn stmt(&mut self, s: &Stmt) {
        match &s.op {
            Op::Prim { args, .. } => {
                if self.may_split(s.results[0]) && self.are_like(s.results[0], args) {
                    args.iter().for_each(|a| self.need(*a));
                    self.split(s.results[0]);
                }
            }
            Op::Tensor { op, args, attrs } => {
                let result = s.results[0];
                let is_scalar = self.f.ty(result).is_scalar();
                if (is_scalar || self.may_split(result))
                    && let Some(parts) = parts(self.f, result, *op, args, attrs)
                {
                    args.iter().for_each(|a| self.need(*a));
                    self.plan.parts.insert(result, parts);
                    if !is_scalar {
                        self.split(result);
                    }
                }
            }
            Op::Index { array, indices } => {
                let result = s.results[0];
                let is_small = self.may_split(result) && self.fits(*array, indices, result.into());
                if self.reaches_elements(*array, indices) && is_small {
                    self.split(result);
                }
            }
            Op::Update { array, indices, value } => {
                let result = s.results[0];
                let is_small = self.may_split(result) && self.are_like(result, [array]);
                if self.reaches_elements(*array, indices) && is_small && self.fits(*array, indices, *value) {
                    self.need(*value);
                    self.split(result);
                }
            }
            Op::Switch { arms, .. } => {
                arms.iter().for_each(|arm| self.block(arm));
                for (k, result) in s.results.iter().enumerate() {
                    let values = || arms.iter().map(|arm| &arm.results[k]);
                    let is_small = self.may_split(*result) && self.are_like(*result, values());
                    if is_small && values().any(|a| self.plan.splits(*a)) {
                        arms.iter().for_each(|arm| self.need(arm.results[k]));
                        self.split(*result);
                    }
                }
            }
            Op::Loop(l) => self.sequential(l, s),
            Op::Par(p) => self.block(&p.body),
            Op::AccAdd { .. } | Op::Call { .. } | Op::Check { .. } => {}
        }
    }

    /// Whether indices select known elements of a split tensor. A carried one that is accessed otherwise would be built
    /// in every iteration.
    fn reaches_elements(&mut self, array: Atom, indices: &[Atom]) -> bool {
        if !self.plan.splits(array) {
            return false;
        }
        let is_known = known_offset(self.f, array, indices).is_some();
        if !is_known {
            self.found.extend(array.var().filter(|v| self.carried.contains(v)));
        }
        is_known
    }

    /// Whether a value has the extents of the part of a tensor that so many indices select.
    fn fits(&self, array: Atom, indices: &[Atom], value: Atom) -> bool {
        self.f.atom_ty(value).dims == self.f.atom_ty(array).inner(indices.len()).dims
    }

    fn sequential(&mut self, l: &Loop, s: &Stmt) {
        let logs = l.accs.iter().filter(|acc| acc.kind == AccKind::Log);
        self.plan.logs.extend(logs.map(|acc| acc.var));
        let carried = l.split(&s.results).carried;
        for (((p, init), next), result) in l.params.iter().zip(&l.inits).zip(&l.body.results).zip(carried) {
            let changes = *next != Atom::Var(*p);
            let is_small = self.may_split(*p) && self.are_like(*p, [init, next, &Atom::Var(*result)]);
            if changes && is_small && !self.whole.contains(p) {
                self.need(*init);
                self.split(*p);
                self.carried.insert(*p);
            } else {
                self.found.extend(init.var().filter(|v| self.carried.contains(v)));
            }
        }
        self.block(&l.body);
        for ((p, next), result) in l.params.iter().zip(&l.body.results).zip(carried) {
            if !self.carried.contains(p) {
                continue;
            }
            if self.plan.splits(*next) {
                self.split(*result);
            } else {
                self.found.push(*p);
            }
        }
    }
}
