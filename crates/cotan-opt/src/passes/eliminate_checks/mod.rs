//! Check elimination by range analysis: conditions on integers that are known to hold become true.
//!
//! Integers are polynomials of others, of which it is known what is not negative: indices lie in their extents,
//! extents are lengths, a branch has its condition, a check that was passed has held. What follows from that
//! (`prove.rs`) needs no check. So no check is left in a loop but where data decide.
//!
//! A condition that follows from a check needs that check, and so does one that is about the value of a check. Where
//! folding would leave a check without anybody who needs it, which would make it dead code, nothing is concluded from it.

mod facts;
mod prove;
#[cfg(test)]
mod tests;

use super::dce::dce;
use super::rename::retyped;
use crate::context::KnownExtents;
use crate::pass::{Pass, Promise};
use cotan_ir::{Atom, Block, Const, Elem, Function, Loop, Op, Par, Prim, Stmt, Var};
use cotan_ops::{ADD, AFTER, DIV, MAX, MIN, MUL, NEG, REM, SUB};
use facts::{Facts, Poly};
use prove::Prover;
use rustc_hash::{FxHashMap, FxHashSet};

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "eliminate_checks",
    doc: "Range analysis: conditions on integers that hold for certain become true, and their checks go.",
    promise: Promise::Bits,
    is_idempotent: false,
    run: |f, context| eliminate_checks(f, context.known_extents),
};

impl KnownExtents {
    fn poly(&self, f: &Function) -> Option<Poly> {
        self.terms.iter().try_fold(Poly::number(0), |sum, (coefficient, factors)| {
            let product = factors.iter().try_fold(Poly::number((*coefficient).into()), |product, k| {
                product.times(&Poly::unknown(*f.params.get(*k)?))
            });
            sum.plus(&product?)
        })
    }
}

/// The function with conditions that hold for certain replaced by true. Its callers make sure of `known`.
pub fn eliminate_checks(f: Function, given: &[KnownExtents]) -> Function {
    let (mut prover, mut refused) = (Prover::default(), FxHashSet::default());
    loop {
        let facts = Facts::new(&f, &mut prover, &refused);
        let mut pass = Ranges {
            facts,
            made: FxHashMap::default(),
            folded: FxHashMap::default(),
            checks: FxHashMap::default(),
            needless: FxHashSet::default(),
        };
        for given in given {
            if let (Some(param), Some(value)) = (f.params.get(given.param), given.poly(&f)) {
                // It is a length, and the sizes that it is made of are, too.
                pass.facts.natural(Some(value.clone()), None);
                pass.facts.define(*param, value);
            }
        }
        f.params.iter().for_each(|p| pass.facts.exists(*p));
        let body = pass.block(&f.body);
        if pass.folded.is_empty() {
            return f;
        }
        let (relied_on, needless) = (pass.facts.relied_on, pass.needless);
        let folded = dce(Function { body, ..f.clone() });
        let mut left = needless;
        checks(&folded.body, &mut left);
        let lost: Vec<Var> = relied_on.into_iter().filter(|c| !left.contains(c)).collect();
        if lost.is_empty() {
            return folded;
        }
        refused.extend(lost);
    }
}

/// Finds the values that come of checks.
pub(super) fn checks(block: &Block, out: &mut FxHashSet<Var>) {
    for s in &block.stmts {
        if let Op::Check { .. } = s.op {
            out.extend(&s.results);
        }
        s.op.blocks().iter().for_each(|b| checks(b, out));
    }
}

struct Ranges<'a> {
    facts: Facts<'a>,
    /// The arithmetic that integers are made by.
    made: FxHashMap<Var, &'a Stmt>,
    /// Truth values that are known.
    folded: FxHashMap<Var, bool>,
    /// The checks that a value comes through.
    checks: FxHashMap<Var, FxHashSet<Var>>,
    /// The checks that hold for certain.
    needless: FxHashSet<Var>,
}

impl<'a> Ranges<'a> {
    fn block(&mut self, block: &'a Block) -> Block {
        let mark = self.facts.mark();
        let stmts = block.stmts.iter().map(|s| self.stmt(s)).collect();
        self.facts.forget(mark);
        Block { stmts, results: block.results.clone() }
    }

    fn stmt(&mut self, s: &'a Stmt) -> Stmt {
        let op = if let Op::Prim { prim, args } = &s.op {
            self.prim(s, *prim, args)
        } else if let Op::Check { cond, value, .. } = &s.op {
            self.check(s.results[0], *cond, *value);
            // What the message would show is not needed any more.
            if self.is_true(*cond) {
                self.needless.extend(&s.results);
                retyped(*value)
            } else {
                s.op.clone()
            }
        } else if let Op::Par(p) = &s.op {
            let mark = self.facts.mark();
            for (i, n) in p.indices.iter().zip(&p.extents) {
                self.facts.index(*i, *n);
            }
            let body = self.block(&p.body);
            self.facts.forget(mark);
            Op::Par(Box::new(Par { body, ..p.as_ref().clone() }))
        } else if let Op::Loop(l) = &s.op {
            let mark = self.facts.mark();
            self.enter_loop(l);
            let body = self.block(&l.body);
            self.facts.forget(mark);
            Op::Loop(Box::new(Loop { body, ..l.as_ref().clone() }))
        } else if let Op::Switch { selector, arms } = &s.op {
            let arms = arms.iter().enumerate().map(|(k, arm)| self.arm(*selector, k == 0, arm)).collect();
            Op::Switch { selector: *selector, arms }
        } else {
            s.op.clone()
        };
        s.results.iter().for_each(|r| self.facts.exists(*r));
        Stmt { results: s.results.clone(), op, span: s.span }
    }

    fn arm(&mut self, selector: Atom, truth: bool, arm: &'a Block) -> Block {
        let mark = self.facts.mark();
        self.facts.learn(selector, truth, None);
        let arm = self.block(arm);
        self.facts.forget(mark);
        arm
    }

    /// A primitive, or the truth value that it is known to be.
    fn prim(&mut self, s: &'a Stmt, prim: Prim, args: &[Atom]) -> Op {
        let result = s.results[0];
        if !self.facts.is_scalar(result) {
            return s.op.clone();
        }
        let checks = self.checks_of(args);
        match self.facts.elem(result) {
            Elem::Bool => {
                // A question about what a refused check lets through stays: without it, the check may go.
                let may_fold = !checks.iter().any(|c| self.facts.is_refused(*c));
                let known = if may_fold { self.facts.known(prim, args) } else { None };
                self.facts.define_condition(result, prim, args);
                if let Some(truth) = known {
                    self.facts.relied_on.extend(checks);
                    self.folded.insert(result, truth);
                    return retyped(Const::bool(truth).into());
                }
            }
            Elem::I64 => {
                self.made.insert(result, s);
                self.integer(result, prim, args);
            }
            Elem::I8
            | Elem::I16
            | Elem::I32
            | Elem::U8
            | Elem::U16
            | Elem::U32
            | Elem::U64
            | Elem::F16
            | Elem::BF16
            | Elem::F32
            | Elem::F64 => {}
        }
        self.comes_through(result, checks);
        s.op.clone()
    }

    fn checks_of(&self, args: &[Atom]) -> FxHashSet<Var> {
        args.iter().filter_map(|a| self.checks.get(&a.var()?)).flatten().copied().collect()
    }

    fn comes_through(&mut self, v: Var, checks: FxHashSet<Var>) {
        if !checks.is_empty() {
            self.checks.insert(v, checks);
        }
    }

    fn check(&mut self, result: Var, cond: Atom, value: Atom) {
        // What is known without the check is known if it is gone.
        let check = (!self.is_true(cond)).then_some(result);
        let mut checks = self.checks_of(&[cond, value]);
        checks.extend(check);
        let is_refused = checks.iter().any(|c| self.facts.is_refused(*c));
        self.comes_through(result, checks);
        if self.facts.is_i64(value) && !is_refused {
            let made = value.var().and_then(|v| self.made.get(&v));
            let exact = made.and_then(|s| self.facts.checked(cond, s));
            let value = exact.unwrap_or_else(|| self.facts.value(value));
            self.facts.define(result, value);
        }
        self.facts.learn(cond, true, check);
    }

    fn is_true(&self, cond: Atom) -> bool {
        cond.var().is_some_and(|c| self.folded.get(&c) == Some(&true))
    }

    /// What is known of an integer that a primitive gives.
    fn integer(&mut self, result: Var, prim: Prim, args: &[Atom]) {
        if !args.iter().all(|a| self.facts.is_i64(*a)) {
            return;
        }
        let value = |k: usize| self.facts.value(args[k]);
        if [ADD.prim(), SUB.prim(), MUL.prim()].contains(&prim) {
            if let Some(exact) = self.facts.exact(prim, args)
                && self.facts.fits(&exact)
            {
                self.facts.define(result, exact);
            }
        } else if prim == AFTER.prim() {
            let value = value(0);
            self.facts.define(result, value);
        } else if prim == NEG.prim() {
            let negative = Poly::number(0).minus(&value(0));
            if let Some(exact) = negative
                && self.facts.fits(&exact)
            {
                self.facts.define(result, exact);
            }
        } else if prim == MAX.prim() || prim == MIN.prim() {
            self.extreme(result, prim == MAX.prim(), value(0), value(1));
        } else if prim == DIV.prim() || prim == REM.prim() {
            self.division(result, prim == DIV.prim(), value(0), value(1));
        }
    }

    /// The greater or the lesser one of two integers.
    fn extreme(&mut self, result: Var, is_max: bool, a: Poly, b: Poly) {
        let (a_less, b_less) = (b.minus(&a), a.minus(&b));
        let known = if self.facts.is_natural(a_less) {
            Some(if is_max { &b } else { &a })
        } else if self.facts.is_natural(b_less) {
            Some(if is_max { &a } else { &b })
        } else {
            None
        };
        if let Some(known) = known {
            return self.facts.define(result, known.clone());
        }
        if is_max {
            return self.facts.define_maximum(result, a, b);
        }
        let is_natural = self.facts.is_natural(Some(a.clone())) && self.facts.is_natural(Some(b.clone()));
        self.facts.define_minimum(result, a, b);
        if is_natural {
            self.facts.natural(Some(Poly::unknown(result)), None);
        }
    }

    /// A quotient without remainder, or the quotient or remainder of a natural number and a positive one.
    fn division(&mut self, result: Var, is_quotient: bool, a: Poly, b: Poly) {
        if let Some(n) = b.as_number().filter(|n| *n > 0)
            && is_quotient
            && a.is_multiple(n)
        {
            if let Some(exact) = a.over(n) {
                self.facts.define(result, exact);
            }
            return;
        }
        let one = Poly::number(1);
        if !self.facts.is_natural(Some(a.clone())) || !self.facts.is_natural(b.minus(&one)) {
            return;
        }
        let unknown = Poly::unknown(result);
        let least = Some(unknown.clone());
        match (is_quotient, b.as_number()) {
            (true, Some(n)) => {
                self.facts.natural(least, None);
                self.facts.natural(a.over(n).and_then(|most| most.minus(&unknown)), None);
                let above = a.minus(&Poly::number(n - 1)).and_then(|low| low.over(n));
                self.facts.natural(above.and_then(|low| unknown.minus(&low)), None);
            }
            (true, None) => {
                self.facts.natural(least, None);
                self.facts.natural(a.minus(&unknown), None);
            }
            (false, _) => {
                self.facts.natural(least, None);
                self.facts.natural(a.minus(&unknown), None);
                self.facts.natural(b.minus(&unknown).and_then(|rest| rest.minus(&one)), None);
            }
        }
    }

    /// What is known of the index and the carried values of a loop.
    fn enter_loop(&mut self, l: &'a Loop) {
        match l.count {
            Some(n) => self.facts.index(l.index, n),
            None => {
                // Nobody sees a loop end that ran so often that its number of iterations is no i64.
                let index = Poly::unknown(l.index);
                let left = Poly::number(i128::from(i64::MAX) - 1).minus(&index);
                self.facts.natural(Some(index), None);
                self.facts.natural(left, None);
            }
        }
        for ((p, init), next) in l.params.iter().zip(&l.inits).zip(&l.body.results) {
            if let Some(value) = self.counter(l, *p, *init, *next) {
                self.facts.define(*p, value);
                let mut checks = self.checks_of(&[*init]);
                checks.extend(next.var().filter(|next| is_check(l, *next)));
                self.comes_through(*p, checks);
            }
        }
    }

    /// A carried integer to which every iteration adds the same number, exactly: after `k` iterations it is its
    /// start value and `k` times that number.
    fn counter(&mut self, l: &Loop, p: Var, init: Atom, next: Atom) -> Option<Poly> {
        if !self.facts.is_i64(p.into()) {
            return None;
        }
        let made = |a: Atom| a.var().and_then(|v| l.body.stmts.iter().find(|s| s.results.contains(&v)));
        let (sum, cond) = if let Op::Check { cond, value, .. } = &made(next)?.op {
            (made(*value)?, Some(*cond))
        } else {
            (made(next)?, None)
        };
        let Op::Prim { prim, args } = &sum.op else { return None };
        let number = |a: &Atom| a.constant().and_then(|c| c.as_i64()).map(i128::from);
        let step = match args.as_slice() {
            [a, b] if *prim == ADD.prim() && *a == Atom::Var(p) => number(b)?,
            [a, b] if *prim == ADD.prim() && *b == Atom::Var(p) => number(a)?,
            [a, b] if *prim == SUB.prim() && *a == Atom::Var(p) => -number(b)?,
            _ => return None,
        };
        let steps = Poly::unknown(l.index).times(&Poly::number(step))?;
        let value = self.facts.value(init).plus(&steps)?;
        // That no sum overflows is checked by every iteration, or it follows if none before did.
        let is_checked = cond.and_then(made).is_some_and(|c| is_fit_of(c, *prim, args));
        let is_exact = is_checked || {
            let next = value.plus(&Poly::number(step))?;
            self.facts.fits(&next)
        };
        is_exact.then_some(value)
    }
}

/// Whether the body of a loop checks a value.
fn is_check(l: &Loop, value: Var) -> bool {
    l.body.stmts.iter().any(|s| s.results.contains(&value) && matches!(s.op, Op::Check { .. }))
}

/// Whether a statement tells whether a sum or difference fits.
fn is_fit_of(cond: &Stmt, prim: Prim, operands: &[Atom]) -> bool {
    let fit = if prim == ADD.prim() { cotan_ops::ADD_FITS.prim() } else { cotan_ops::SUB_FITS.prim() };
    cond.op.args_of(fit) == Some(operands)
}
