//! What in a nest differs from point to point, and where everything is defined.

use crate::analysis::splats::Splats;
use cotan_ir::{Atom, Block, Function, Loop, Op, Par, ParResult, Stmt, Var, free_vars};
use rustc_hash::{FxHashMap, FxHashSet};

/// A loop that a statement stands in: its index and extent.
#[derive(Clone, Copy)]
pub(super) struct Level {
    pub(super) index: Var,
    pub(super) extent: Atom,
}

/// Where a statement stands in a nest.
#[derive(Clone)]
pub(super) struct Place {
    /// The loops around it, those over points left out, outermost first.
    pub(super) levels: Vec<Level>,
    /// Whether it runs once for every index of these loops, which are the same for all points.
    pub(super) is_plain: bool,
}

/// A write to an accumulator.
pub(super) struct Written<'a> {
    pub(super) indices: &'a [Atom],
    pub(super) value: Atom,
    pub(super) place: Place,
}

/// A nest, looked through.
pub(super) struct Nest<'a> {
    pub(super) f: &'a Function,
    defined: FxHashMap<Var, (&'a Stmt, Place)>,
    written: FxHashMap<Var, Vec<Written<'a>>>,
    /// Variables bound in the nest.
    bound: FxHashSet<Var>,
    /// Those whose value may differ from point to point.
    varying: FxHashSet<Var>,
    splats: &'a Splats,
}

impl<'a> Nest<'a> {
    pub(super) fn of(f: &'a Function, p: &'a Par, points: &FxHashSet<Var>, splats: &'a Splats) -> Nest<'a> {
        let mut nest = Nest {
            f,
            defined: FxHashMap::default(),
            written: FxHashMap::default(),
            bound: p.indices.iter().chain(p.accs.iter().map(|acc| &acc.var)).copied().collect(),
            varying: points.clone(),
            splats,
        };
        let levels = p.indices.iter().zip(&p.extents).map(|(index, extent)| Level { index: *index, extent: *extent });
        let levels = levels.filter(|l| !points.contains(&l.index)).collect();
        nest.block(&p.body, &Place { levels, is_plain: true });
        nest
    }

    /// The statement that defines a variable of the nest.
    pub(super) fn definition(&self, v: Var) -> Option<(&'a Stmt, &Place)> {
        self.defined.get(&v).map(|(s, place)| (*s, place))
    }

    /// What is written to an accumulator of the nest.
    pub(super) fn written(&self, acc: Var) -> &[Written<'a>] {
        self.written.get(&acc).map_or(&[], |written| written)
    }

    pub(super) fn varies(&self, a: Atom) -> bool {
        a.var().is_some_and(|v| self.varying.contains(&v))
    }

    /// Whether an operand is there in front of the nest.
    pub(super) fn is_outside(&self, a: Atom) -> bool {
        a.var().is_none_or(|v| !self.bound.contains(&v))
    }

    pub(super) fn is_zero(&self, a: Atom) -> bool {
        self.splats.is_zero(a)
    }

    fn block(&mut self, block: &'a Block, place: &Place) {
        for s in &block.stmts {
            self.stmt(s, place);
        }
    }

    fn stmt(&mut self, s: &'a Stmt, place: &Place) {
        let operands_vary = s.op.operands().iter().any(|a| self.varies(*a));
        self.bound.extend(s.op.binders());
        let mut vary: Vec<bool> = vec![operands_vary; s.results.len()];
        if let Op::AccAdd { acc, indices, value } = &s.op {
            let written = Written { indices, value: *value, place: place.clone() };
            self.written.entry(*acc).or_default().push(written);
        } else if let Op::Par(p) = &s.op {
            let extents_vary = p.extents.iter().any(|a| self.varies(*a));
            let body_varies = extents_vary || self.touches(&s.op);
            self.enter(&p.indices, &p.extents, !extents_vary, &p.body, place);
            for (k, kind) in p.kinds.iter().enumerate() {
                let init = match kind {
                    ParResult::Stacked => None,
                    ParResult::Reduced { monoid: _, init } => Some(*init),
                };
                let parts = [Some(p.body.results[k]), init];
                vary[k] = extents_vary || parts.into_iter().flatten().any(|a| self.varies(a));
            }
            vary[p.kinds.len()..].iter_mut().for_each(|v| *v |= body_varies);
        } else if let Op::Loop(l) = &s.op {
            self.sequential(s, l, place, &mut vary)
        } else if matches!(s.op, Op::Switch { .. }) {
            let touches = self.touches(&s.op);
            let inside = Place { is_plain: false, ..place.clone() };
            s.op.blocks().iter().for_each(|b| self.block(b, &inside));
            vary.iter_mut().for_each(|v| *v |= touches);
        }
        for (v, varies) in s.results.iter().zip(vary) {
            self.bound.insert(*v);
            if varies || self.f.ty(*v).dim_vars().any(|d| self.varying.contains(&d)) {
                self.varying.insert(*v);
            }
            self.defined.insert(*v, (s, place.clone()));
        }
    }

    /// The loops with carried values are no part of linear maps, but what they give may be the same for all points.
    fn sequential(&mut self, s: &'a Stmt, l: &'a Loop, place: &Place, vary: &mut [bool]) {
        let touches = self.touches(&s.op) || s.op.operands().iter().any(|a| self.varies(*a));
        match l.count {
            Some(count) if l.params.is_empty() => {
                self.enter(&[l.index], &[count], !self.varies(count), &l.body, place);
            }
            Some(_) | None => {
                if touches {
                    self.varying.extend(l.params.iter().chain([&l.index]));
                }
                self.block(&l.body, &Place { is_plain: false, ..place.clone() });
            }
        }
        vary.iter_mut().for_each(|v| *v |= touches);
    }

    fn enter(&mut self, indices: &[Var], extents: &[Atom], is_same: bool, body: &'a Block, place: &Place) {
        if !is_same {
            self.varying.extend(indices);
        }
        let mut inside = place.clone();
        inside.is_plain &= is_same;
        inside
            .levels
            .extend(indices.iter().zip(extents).map(|(index, extent)| Level { index: *index, extent: *extent }));
        self.block(body, &inside);
    }

    /// Whether a region reads anything from outside that varies.
    fn touches(&self, op: &Op) -> bool {
        let binders = op.binders();
        op.blocks().iter().any(|b| free_vars(self.f, b, &binders).iter().any(|v| self.varying.contains(v)))
    }
}

/// The indices of the one write to an accumulator; `None` if there are several.
pub(super) fn indices_of_write(block: &Block, acc: Var) -> Option<Vec<Atom>> {
    let mut found = Vec::new();
    collect(block, acc, &mut found);
    let [indices] = &mut found[..] else { return None };
    Some(std::mem::take(indices))
}

fn collect(block: &Block, acc: Var, found: &mut Vec<Vec<Atom>>) {
    for s in &block.stmts {
        if let Op::AccAdd { acc: to, indices, value: _ } = &s.op
            && *to == acc
        {
            found.push(indices.clone());
        }
        s.op.blocks().iter().for_each(|b| collect(b, acc, found));
    }
}
