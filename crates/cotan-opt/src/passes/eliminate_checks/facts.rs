//! What is known of the integers of a function where code stands.

use super::prove::{PolyOf, Prover};
use cotan_ir::{Atom, Elem, Function, Prim, Stmt, Var};
use cotan_ops::{ADD, ADD_FITS, AND, EQ, GE, GT, IN_RANGE, LE, LT, MUL, MUL_FITS, NOT, OR, PrimRow, SUB, SUB_FITS};
use rustc_hash::{FxHashMap, FxHashSet};

/// What an integer is, in terms of variables.
pub(super) type Poly = PolyOf<Var>;

/// A polynomial that is not negative, and the check that says so, if it is one.
struct Fact {
    poly: Poly,
    check: Option<Var>,
}

/// Facts in scope, and what integers and truth values are made of.
pub(super) struct Facts<'a> {
    f: &'a Function,
    prover: &'a mut Prover,
    facts: Vec<Fact>,
    /// Those among the facts that no check says.
    unconditional: FxHashSet<Poly>,
    values: FxHashMap<Var, Poly>,
    conditions: FxHashMap<Var, (Prim, Vec<Atom>)>,
    /// Integers that are the greater one of two, by their unknowns.
    maxima: FxHashMap<Var, [Poly; 2]>,
    /// The same of the lesser one.
    minima: FxHashMap<Var, [Poly; 2]>,
    /// Checks that may not be relied on.
    refused: &'a FxHashSet<Var>,
    /// Checks that were relied on.
    pub(super) relied_on: FxHashSet<Var>,
}

/// The questions whether a result fits.
const FITS: [&PrimRow; 3] = [&ADD_FITS, &SUB_FITS, &MUL_FITS];

const GREATEST: i128 = i64::MAX as i128;

/// How many maxima and minima a proof looks through, one inside the other.
const MOST_CASES: u32 = 2;

impl<'a> Facts<'a> {
    pub(super) fn new(f: &'a Function, prover: &'a mut Prover, refused: &'a FxHashSet<Var>) -> Facts<'a> {
        Facts {
            f,
            prover,
            facts: Vec::new(),
            unconditional: FxHashSet::default(),
            values: FxHashMap::default(),
            conditions: FxHashMap::default(),
            maxima: FxHashMap::default(),
            minima: FxHashMap::default(),
            refused,
            relied_on: FxHashSet::default(),
        }
    }

    /// What is known so far, to be given to [`Facts::forget`].
    pub(super) fn mark(&self) -> usize {
        self.facts.len()
    }

    /// Forgets the facts since the mark.
    pub(super) fn forget(&mut self, mark: usize) {
        for fact in self.facts.drain(mark..).filter(|fact| fact.check.is_none()) {
            self.unconditional.remove(&fact.poly);
        }
    }

    /// Whether a check may not be relied on.
    pub(super) fn is_refused(&self, check: Var) -> bool {
        self.refused.contains(&check)
    }

    pub(super) fn is_scalar(&self, v: Var) -> bool {
        self.f.ty(v).is_scalar()
    }

    pub(super) fn elem(&self, v: Var) -> Elem {
        self.f.ty(v).elem
    }

    pub(super) fn is_i64(&self, a: Atom) -> bool {
        match a {
            Atom::Var(v) => self.f.ty(v).is_scalar() && self.f.ty(v).elem == Elem::I64,
            Atom::Const(c) => c.elem() == Elem::I64,
        }
    }

    /// What an i64 is.
    pub(super) fn value(&self, a: Atom) -> Poly {
        match a {
            Atom::Var(v) => self.values.get(&v).cloned().unwrap_or_else(|| Poly::unknown(v)),
            Atom::Const(c) => Poly::number(c.as_i64().unwrap_or(0).into()),
        }
    }

    pub(super) fn define(&mut self, v: Var, value: Poly) {
        self.values.insert(v, value);
    }

    pub(super) fn define_condition(&mut self, v: Var, prim: Prim, args: &[Atom]) {
        self.conditions.insert(v, (prim, args.to_vec()));
    }

    /// Enters that an integer of which no more is known is the greater one of two.
    pub(super) fn define_maximum(&mut self, v: Var, a: Poly, b: Poly) {
        let unknown = Poly::unknown(v);
        self.natural(unknown.minus(&a), None);
        self.natural(unknown.minus(&b), None);
        self.maxima.insert(v, [a, b]);
    }

    /// Enters that an integer of which no more is known is the lesser one of two.
    pub(super) fn define_minimum(&mut self, v: Var, a: Poly, b: Poly) {
        let unknown = Poly::unknown(v);
        self.natural(a.minus(&unknown), None);
        self.natural(b.minus(&unknown), None);
        self.minima.insert(v, [a, b]);
    }

    /// A maximum that is known to be above one of its operands is the other one: in a region that runs `max(n, 0)` times,
    /// that is `n`. Enters this for the maxima among some unknowns, of which something has just been learnt.
    fn settle_maxima(&mut self, unknowns: impl IntoIterator<Item = Var>) {
        for v in unknowns {
            let Some([a, b]) = self.maxima.get(&v).cloned() else { continue };
            let maximum = Poly::unknown(v);
            for (one, other) in [(&a, &b), (&b, &a)] {
                let above = maximum.minus(other).and_then(|p| p.minus(&Poly::number(1)));
                if self.is_natural(above) {
                    self.natural(one.minus(&maximum), None);
                }
            }
        }
    }

    /// Enters that a polynomial is not negative.
    pub(super) fn natural(&mut self, poly: Option<Poly>, check: Option<Var>) {
        if let Some(poly) = poly
            && poly.as_number().is_none()
            && check.is_none_or(|c| !self.refused.contains(&c))
            && !self.unconditional.contains(&poly)
        {
            if check.is_none() {
                self.unconditional.insert(poly.clone());
            }
            self.facts.push(Fact { poly, check });
        }
    }

    /// Enters that the extents of a variable are lengths.
    pub(super) fn exists(&mut self, v: Var) {
        for d in self.f.ty(v).dim_vars() {
            self.natural(Some(self.value(d.into())), None);
        }
    }

    /// Enters `0 <= i < n`, for an index of a region that runs `n` times.
    pub(super) fn index(&mut self, i: Var, n: Atom) {
        let (i, n) = (self.value(i.into()), self.value(n));
        let last = n.minus(&Poly::number(1));
        self.natural(last.as_ref().and_then(|n| n.minus(&i)), None);
        self.natural(last, None);
        self.natural(Some(i), None);
        self.settle_maxima(n.unknowns());
    }

    /// What an operation of two i64 gives in mathematics.
    pub(super) fn exact(&self, prim: Prim, args: &[Atom]) -> Option<Poly> {
        let (a, b) = (self.value(*args.first()?), self.value(*args.get(1)?));
        if prim == ADD.prim() || prim == ADD_FITS.prim() {
            a.plus(&b)
        } else if prim == SUB.prim() || prim == SUB_FITS.prim() {
            a.minus(&b)
        } else if prim == MUL.prim() || prim == MUL_FITS.prim() {
            a.times(&b)
        } else {
            None
        }
    }

    /// Whether `poly >= 0` is known.
    pub(super) fn is_natural(&mut self, poly: Option<Poly>) -> bool {
        let Some(used) = poly.and_then(|poly| self.proof(&poly, MOST_CASES)) else { return false };
        self.relied_on.extend(used.into_iter().filter_map(|k| self.facts[k].check));
        true
    }

    /// The facts that `poly >= 0` follows from, directly or by cases: a maximum or minimum in it is one of its operands.
    fn proof(&mut self, poly: &Poly, cases: u32) -> Option<Vec<usize>> {
        let facts: Vec<&Poly> = self.facts.iter().map(|fact| &fact.poly).collect();
        if let Some(used) = self.prover.follows(poly, &facts) {
            return Some(used);
        }
        let rest = cases.checked_sub(1)?;
        let extreme = |v: &Var| self.maxima.get(v).or(self.minima.get(v)).map(|sides| (*v, sides.clone()));
        let (v, [a, b]) = poly.unknowns().iter().rev().find_map(extreme)?;
        let mut used = self.proof(&poly.with(v, &a)?, rest)?;
        used.extend(self.proof(&poly.with(v, &b)?, rest)?);
        Some(used)
    }

    /// Whether it is known that a number is an i64.
    pub(super) fn fits(&mut self, poly: &Poly) -> bool {
        self.is_natural(Poly::number(GREATEST).minus(poly)) && self.is_natural(poly.plus(&Poly::number(GREATEST + 1)))
    }

    /// The truth value that a question about i64 is known to have.
    pub(super) fn known(&mut self, prim: Prim, args: &[Atom]) -> Option<bool> {
        if !args.iter().all(|a| self.is_i64(*a)) {
            return None;
        }
        if FITS.iter().any(|row| row.prim() == prim) {
            return self.exact(prim, args).is_some_and(|p| self.fits(&p)).then_some(true);
        }
        let parts = self.parts(prim, args);
        if !parts.is_empty() && parts.iter().all(|p| self.is_natural(p.clone())) {
            return Some(true);
        }
        parts.into_iter().any(|p| self.is_natural(p.and_then(|p| Poly::number(-1).minus(&p)))).then_some(false)
    }

    /// The polynomials that a comparison of i64 says are not negative; none if it says something else.
    fn parts(&self, prim: Prim, args: &[Atom]) -> Vec<Option<Poly>> {
        let [a, b] = args else { return Vec::new() };
        if !self.is_i64(*a) || !self.is_i64(*b) {
            return Vec::new();
        }
        let (a, b) = (self.value(*a), self.value(*b));
        let at_most = |a: &Poly, b: &Poly| b.minus(a);
        let below = |a: &Poly, b: &Poly| b.minus(a)?.minus(&Poly::number(1));
        if prim == IN_RANGE.prim() {
            vec![Some(a.clone()), below(&a, &b)]
        } else if prim == LE.prim() {
            vec![at_most(&a, &b)]
        } else if prim == LT.prim() {
            vec![below(&a, &b)]
        } else if prim == GE.prim() {
            vec![at_most(&b, &a)]
        } else if prim == GT.prim() {
            vec![below(&b, &a)]
        } else if prim == EQ.prim() {
            vec![at_most(&a, &b), at_most(&b, &a)]
        } else {
            Vec::new()
        }
    }

    /// Enters that a truth value is true or false; `check` is the check that says so.
    pub(super) fn learn(&mut self, condition: Atom, truth: bool, check: Option<Var>) {
        let Some((prim, args)) = condition.var().and_then(|c| self.conditions.get(&c)).cloned() else { return };
        if prim == NOT.prim() {
            self.learn(args[0], !truth, check);
        } else if prim == AND.prim() && truth || prim == OR.prim() && !truth {
            args.iter().for_each(|a| self.learn(*a, truth, check));
        } else if FITS.iter().any(|row| row.prim() == prim) && truth {
            if args.iter().all(|a| self.is_i64(*a)) {
                let exact = self.exact(prim, &args);
                self.natural(exact.as_ref().and_then(|p| Poly::number(GREATEST).minus(p)), check);
                self.natural(exact.and_then(|p| p.plus(&Poly::number(GREATEST + 1))), check);
            }
        } else if truth {
            let parts = self.parts(prim, &args);
            parts.iter().for_each(|p| self.natural(p.clone(), check));
            self.settle_maxima(parts.iter().flatten().flat_map(Poly::unknowns));
        } else if [LE.prim(), LT.prim(), GE.prim(), GT.prim()].contains(&prim) {
            // Of a comparison that does not hold: `-1 - part >= 0`.
            let parts = self.parts(prim, &args);
            parts.into_iter().for_each(|p| self.natural(p.and_then(|p| Poly::number(-1).minus(&p)), check));
        }
    }

    /// The number behind a checked one, if the check says that it was computed without overflow.
    pub(super) fn checked(&self, cond: Atom, value: &Stmt) -> Option<Poly> {
        let (prim, args) = self.conditions.get(&cond.var()?)?;
        let cotan_ir::Op::Prim { prim: op, args: operands } = &value.op else { return None };
        let pairs = [(ADD_FITS.prim(), ADD.prim()), (SUB_FITS.prim(), SUB.prim()), (MUL_FITS.prim(), MUL.prim())];
        let goes_with = pairs.contains(&(*prim, *op)) && args == operands && args.iter().all(|a| self.is_i64(*a));
        if goes_with { self.exact(*prim, args) } else { None }
    }
}
