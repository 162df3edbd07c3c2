//! What a sum over points is a linear map of.

use super::nest::{Level, Nest, Place};
use cotan_ir::{Acc, AccKind, Atom, Elem, Monoid, Op, Stmt, Var};
use cotan_ops::{ADD, MUL, MULZ, NEG, SUB};

/// Something that goes into the map.
pub(super) struct Source {
    pub(super) var: Var,
    /// The loops that it is computed in, but for those over points.
    pub(super) levels: Vec<Level>,
}

/// A linear map that is the same for all points.
pub(super) struct Slice {
    pub(super) sources: Vec<Source>,
}

/// The map that gives what is added to an accumulator, if it is one and worth to be done once.
pub(super) fn slice_of(nest: &Nest<'_>, acc: &Acc) -> Option<Slice> {
    let ty = nest.f.ty(acc.var);
    if acc.kind != AccKind::Reduce(Monoid::Add) || !matches!(ty.elem, Elem::F32 | Elem::F64) {
        return None;
    }
    let [written] = nest.written(acc.var) else { return None };
    if !written.place.is_plain || written.indices.iter().any(|a| nest.varies(*a)) {
        return None;
    }
    let mut search = Search { nest, sources: Vec::new(), depth: 0 };
    search.linear(written.value)?;
    let ranks = search.sources.iter().map(|s| s.levels.len() + nest.f.ty(s.var).rank());
    let rank = ranks.max()?;
    // No more numbers in a sum than in the result, roughly.
    (rank < search.depth && rank <= ty.rank()).then_some(Slice { sources: search.sources })
}

struct Search<'a> {
    nest: &'a Nest<'a>,
    sources: Vec<Source>,
    /// The loops around the deepest product with a coefficient, the axes of the product counted.
    depth: usize,
}

impl Search<'_> {
    /// Takes a value apart; `None` if it is not linear in what varies.
    fn linear(&mut self, a: Atom) -> Option<()> {
        if self.nest.is_zero(a) {
            return Some(());
        }
        let v = a.var().filter(|_| self.nest.varies(a))?;
        let (s, place) = self.nest.definition(v)?;
        let (place, before) = (place.clone(), (self.sources.len(), self.depth));
        if place.is_plain && self.through(v, s, &place).is_some() {
            return Some(());
        }
        self.sources.truncate(before.0);
        self.depth = before.1;
        self.source(v, &place)
    }

    /// Goes on to what a statement combines linearly.
    fn through(&mut self, v: Var, s: &Stmt, place: &Place) -> Option<()> {
        if let Op::Prim { prim, args } = &s.op {
            match args[..] {
                [x] if *prim == NEG.prim() => self.linear(x),
                [x, y] if *prim == ADD.prim() || *prim == SUB.prim() => {
                    self.linear(x)?;
                    self.linear(y)
                }
                [x, y] if *prim == MULZ.prim() => {
                    let (x, c) = if self.nest.varies(x) { (x, y) } else { (y, x) };
                    self.scaled(v, x, c, place)
                }
                [x, Atom::Const(c)] | [Atom::Const(c), x] if *prim == MUL.prim() => {
                    c.as_float().filter(|c| c.is_finite())?;
                    self.linear(x)
                }
                _ => None,
            }
        } else if let Op::Index { array, indices } = &s.op {
            let are_same = indices.iter().all(|a| !self.nest.varies(*a));
            if are_same { self.linear(*array) } else { None }
        } else if let Op::Par(p) = &s.op {
            let at = s.results.iter().position(|r| *r == v)?;
            if p.extents.iter().any(|a| self.nest.varies(*a)) {
                return None;
            }
            match p.kinds.get(at) {
                Some(cotan_ir::ParResult::Stacked) => self.linear(p.body.results[at]),
                Some(cotan_ir::ParResult::Reduced { .. }) => None,
                None => self.added(&p.accs[at - p.kinds.len()]),
            }
        } else if let Op::Loop(l) = &s.op {
            let result = l.split(&s.results).accs.iter().position(|r| *r == v)?;
            let is_same = l.params.is_empty() && l.count.is_some_and(|n| !self.nest.varies(n));
            if is_same { self.added(&l.accs[result]) } else { None }
        } else {
            None
        }
    }

    /// A product with a coefficient.
    fn scaled(&mut self, product: Var, x: Atom, coefficient: Atom, place: &Place) -> Option<()> {
        if self.nest.varies(coefficient) {
            return None;
        }
        let ty = self.nest.f.ty(product);
        self.depth = self.depth.max(place.levels.len() + ty.rank());
        let v = x.var()?;
        if ty.is_scalar() {
            let (_, place) = self.nest.definition(v)?;
            return self.source(v, &place.clone());
        }
        self.linear(x)
    }

    /// The final value of an accumulator inside.
    fn added(&mut self, acc: &Acc) -> Option<()> {
        if acc.kind != AccKind::Reduce(Monoid::Add) {
            return None;
        }
        self.linear(acc.init?)?;
        for written in self.nest.written(acc.var) {
            if !written.place.is_plain || written.indices.iter().any(|a| self.nest.varies(*a)) {
                return None;
            }
            self.linear(written.value)?;
        }
        Some(())
    }

    /// Something that is added up by itself.
    fn source(&mut self, var: Var, place: &Place) -> Option<()> {
        if self.sources.iter().any(|s| s.var == var) {
            return Some(());
        }
        let ty = self.nest.f.ty(var);
        let is_float = matches!(ty.elem, Elem::F32 | Elem::F64);
        let extents = place.levels.iter().map(|l| l.extent).chain(ty.dims.iter().map(|d| d.atom()));
        let mut extents = extents.collect::<Vec<_>>().into_iter();
        let fits = is_float && place.is_plain && extents.all(|a| self.nest.is_outside(a));
        fits.then(|| self.sources.push(Source { var, levels: place.levels.clone() }))
    }
}
