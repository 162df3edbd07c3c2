//! Statements with blocks.

use super::{Generator, Pool};
use crate::generate::Construct;
use cotan_ir::{Acc, AccKind, Atom, Block, Const, Elem, Loop, Monoid, ParResult, ReversePolicy, Ty, Var};
use cotan_ops::{ABS, ADD, AND, EQ, LT, MUL, SIN, SUB, TANH, TO_F64};

impl Generator<'_> {
    fn new_var(&mut self, name: &str, elem: Elem) -> Var {
        self.b.var(name, Ty::scalar(elem))
    }

    /// Accumulators with start values from the scope.
    fn new_accs(&mut self, pool: &Pool, monoids: &[Monoid], construct: Construct) -> Vec<Acc> {
        let n = self.rng.choice(&[0, 0, 1, 1, 2]);
        let mut accs = Vec::new();
        for _ in 0..n {
            let init = match self.rng.below(if pool.matrices.is_empty() { 2 } else { 3 }) {
                0 => self.scalar(pool),
                1 => self.vector(pool),
                _ => self.matrix(pool),
            };
            let monoid = self.rng.choice(monoids);
            self.has(if monoid == Monoid::Add { construct } else { Construct::ExtremeAccumulator });
            let ty = self.b.ty(init);
            let var = self.b.var("acc", ty);
            accs.push(Acc { var, kind: AccKind::Reduce(monoid), init: Some(init) });
        }
        accs
    }

    fn take_accs(&mut self, pool: &mut Pool, finals: &[Var]) {
        for v in finals {
            let rank = self.b.var_ty(*v).rank();
            if !(self.size.in_place && rank > 0) {
                let bounded = self.prim(&SIN, &[(*v).into()]);
                pool.add(rank, bounded);
            }
        }
    }

    pub(super) fn par(&mut self, pool: &mut Pool, depth: usize) {
        self.has(Construct::Par);
        let levels = if self.rng.chance(0.3) { 2 } else { 1 };
        let extents = vec![self.n; levels];
        let accs =
            self.new_accs(pool, &[Monoid::Add, Monoid::Add, Monoid::Max, Monoid::Min], Construct::ParAccumulator);
        let indices: Vec<Var> = (0..levels).map(|_| self.new_var("i", Elem::I64)).collect();
        self.b.open_block();
        let mut inner = pool.clone();
        inner.integers.extend(indices.iter().map(|i| Atom::from(*i)));
        inner.indices.extend(indices.iter().map(|i| Atom::from(*i)));
        inner.accs.extend(accs.iter().map(|a| a.var));
        let k = 2 + self.rng.below(3);
        self.fill(&mut inner, k, depth + 1);
        let (mut results, mut kinds) = (Vec::new(), Vec::new());
        for _ in 0..1 + self.rng.below(3) {
            let (result, kind) = self.par_result(pool, &inner, levels, indices[0]);
            results.push(result);
            kinds.push(kind);
        }
        let body = self.b.close_block(results);
        let n = kinds.len();
        let outs = self.b.finish_par(indices, extents, kinds, accs, body);
        for v in &outs[..n] {
            pool.add(self.b.var_ty(*v).rank(), (*v).into());
        }
        self.take_accs(pool, &outs[n..]);
    }

    fn par_result(&mut self, outer: &Pool, inner: &Pool, levels: usize, index: Var) -> (Atom, ParResult) {
        let monoid = match self.rng.below(6) {
            0 | 1 if levels == 1 && self.rng.chance(0.2) => return (self.vector(inner), ParResult::Stacked),
            0 | 1 => return (self.scalar(inner), ParResult::Stacked),
            2 => Monoid::Add,
            3 => Monoid::Max,
            4 => Monoid::Min,
            _ => Monoid::Mul,
        };
        self.has(Construct::ParReduced);
        let mut value = self.scalar(inner);
        if monoid == Monoid::Mul {
            // A product of numbers around 1 stays bounded.
            let bounded = self.tame(value);
            let small = self.prim(&MUL, &[Const::f64(0.3).into(), bounded]);
            value = self.prim(&ADD, &[Const::f64(1.0).into(), small]);
        } else if monoid != Monoid::Add && value.constant().is_some() {
            // A constant would tie with itself at every index, which differences of arguments do not see.
            let number = self.prim(&TO_F64, &[index.into()]);
            value = self.prim(&SIN, &[number]);
        }
        (value, ParResult::Reduced { monoid, init: self.scalar(outer) })
    }

    /// Start values of carried variables.
    fn carried(&mut self, pool: &Pool) -> Vec<Atom> {
        let mut inits: Vec<Atom> = (0..1 + self.rng.below(2)).map(|_| self.scalar(pool)).collect();
        if self.size.in_place {
            inits.push(pool.vectors[pool.vectors.len() - 1]);
        } else if self.rng.chance(0.6) {
            inits.push(self.vector(pool));
        }
        if !pool.matrices.is_empty() && self.rng.chance(0.2) {
            inits.push(self.matrix(pool));
        }
        inits
    }

    fn params(&mut self, inits: &[Atom]) -> Vec<Var> {
        let mut params = Vec::new();
        for init in inits {
            let ty = self.b.ty(*init);
            params.push(self.b.var("p", ty));
        }
        params
    }

    /// The scope of a loop's body.
    fn enter(&mut self, pool: &Pool, params: &[Var], index: Var, accs: &[Acc], is_index: bool) -> Pool {
        let mut inner = pool.clone();
        inner.integers.push(index.into());
        if is_index {
            inner.indices.push(index.into());
        }
        if self.size.in_place {
            inner.vectors.clear();
            inner.matrices.clear();
        }
        inner.accs.extend(accs.iter().map(|a| a.var));
        for p in params {
            inner.add(self.b.var_ty(*p).rank(), (*p).into());
        }
        inner
    }

    /// The next values of carried variables.
    fn next(&mut self, inner: &Pool, params: &[Var]) -> Vec<Atom> {
        let mut out = Vec::new();
        for p in params {
            out.push(match self.b.var_ty(*p).rank() {
                0 => match self.rng.below(10) {
                    0 | 1 => {
                        let scaled = self.prim(&MUL, &[Const::f64(0.9).into(), (*p).into()]);
                        self.prim(&ADD, &[scaled, Const::f64(0.1).into()])
                    }
                    2 => self.scalar(inner),
                    _ => {
                        let x = self.scalar(inner);
                        self.tame(x)
                    }
                },
                1 => inner.vectors[inner.vectors.len() - 1],
                _ => inner.matrices[inner.matrices.len() - 1],
            });
        }
        out
    }

    fn add_carried(&mut self, pool: &mut Pool, finals: &[Var]) {
        for v in finals {
            pool.add(self.b.var_ty(*v).rank(), (*v).into());
        }
    }

    pub(super) fn counted_loop(&mut self, pool: &mut Pool, depth: usize) {
        self.has(Construct::Loop);
        let (count, inits) = (self.count(pool), self.carried(pool));
        let accs = self.new_accs(pool, &[Monoid::Add], Construct::LoopAccumulator);
        let (index, params) = (self.new_var("i", Elem::I64), self.params(&inits));
        let is_over_size = count == self.n;
        self.b.open_block();
        let mut inner = self.enter(pool, &params, index, &accs, is_over_size);
        let k = 2 + self.rng.below(3);
        self.fill(&mut inner, k, depth + 1);
        let mut results = self.next(&inner, &params);
        if self.rng.chance(0.5) {
            self.has(Construct::LoopStacked);
            results.push(self.scalar(&inner));
        }
        let body = self.b.close_block(results);
        let l = Loop { index, count: Some(count), params, inits, accs, body, kept: ReversePolicy::default() };
        let outs = self.b.finish_loop(l.clone(), &[]);
        let outs = l.split(&outs);
        self.add_carried(pool, outs.carried);
        self.take_accs(pool, outs.accs);
        for v in outs.stacked {
            if is_over_size && !self.size.in_place {
                pool.vectors.push((*v).into());
            } else {
                let sum = self.total((*v).into());
                let bounded = self.prim(&TANH, &[sum]);
                pool.scalars.push(bounded);
            }
        }
    }

    /// Whether a while goes on: a counter and the size of a value decide.
    fn goes_on(&mut self, counter: Atom, bound: Atom, value: Atom, level: f64) -> Atom {
        let counts = self.prim(&LT, &[counter, bound]);
        let size = self.prim(&ABS, &[value]);
        let is_small = self.prim(&LT, &[size, Const::f64(level).into()]);
        self.prim(&AND, &[counts, is_small])
    }

    pub(super) fn while_loop(&mut self, pool: &mut Pool, depth: usize) {
        self.has(Construct::WhileLoop);
        let any = *self.rng.recent(&pool.integers);
        let bound = self.modulo(any, Atom::i64(5));
        let level = self.rng.span(0.3, 1.5);
        let values = self.carried(pool);
        let accs = self.new_accs(pool, &[Monoid::Add], Construct::LoopAccumulator);
        let first = self.goes_on(Atom::i64(0), bound, values[0], level);
        let (go, counter) = (self.new_var("go", Elem::Bool), self.new_var("j", Elem::I64));
        let (index, value_params) = (self.new_var("i", Elem::I64), self.params(&values));
        let inits = [vec![first, Atom::i64(0)], values].concat();
        let params = [vec![go, counter], value_params.clone()].concat();
        self.b.open_block();
        let mut inner = self.enter(pool, &value_params, index, &accs, false);
        let k = 2 + self.rng.below(3);
        self.fill(&mut inner, k, depth + 1);
        let next = self.next(&inner, &value_params);
        let count = self.prim(&ADD, &[counter.into(), Atom::i64(1)]);
        let again = self.goes_on(count, bound, next[0], level);
        let mut results = [vec![again, count], next].concat();
        if self.rng.chance(0.5) {
            self.has(Construct::WhileStacked);
            results.push(self.scalar(&inner));
        }
        let body = self.b.close_block(results);
        let l = Loop { index, count: None, params, inits, accs, body, kept: ReversePolicy::default() };
        let outs = self.b.finish_loop(l.clone(), &[]);
        let outs = l.split(&outs);
        self.add_carried(pool, &outs.carried[2..]);
        self.take_accs(pool, outs.accs);
        if let Some(trips) = outs.trips {
            pool.integers.push(trips.into());
            outs.stacked.iter().for_each(|v| self.par_over_record(pool, trips, *v));
        }
    }

    /// A parallel loop over a stacked result of run-time length.
    fn par_over_record(&mut self, pool: &mut Pool, trips: Var, stacked: Var) {
        let i = self.new_var("i", Elem::I64);
        self.b.open_block();
        let last = self.prim(&SUB, &[trips.into(), Atom::i64(1)]);
        let mirrored = self.prim(&SUB, &[last, i.into()]);
        let (x, y) = (self.b.index(stacked.into(), &[i.into()]), self.b.index(stacked.into(), &[mirrored]));
        let bounded = self.tame(y.into());
        let product = self.prim(&MUL, &[x.into(), bounded]);
        let body = self.b.close_block(vec![product]);
        let kind = ParResult::Reduced { monoid: Monoid::Add, init: self.scalar(pool) };
        let sum = self.b.finish_par(vec![i], vec![trips.into()], vec![kind], Vec::new(), body)[0];
        let bounded = self.prim(&TANH, &[sum.into()]);
        pool.scalars.push(bounded);
    }

    pub(super) fn switch(&mut self, pool: &mut Pool, depth: usize) {
        let by_number = self.rng.chance(0.3);
        let (selector, n_arms) = if by_number {
            self.has(Construct::SwitchByNumber);
            let any = *self.rng.recent(&pool.integers);
            (self.modulo(any, Atom::i64(3)), 3)
        } else {
            self.has(Construct::Switch);
            let (x, y) = (self.scalar(pool), self.scalar(pool));
            let row = if self.rng.chance(0.05) { &EQ } else { &LT };
            (self.prim(row, &[x, y]), 2)
        };
        let mut vectors = vec![false];
        if self.size.in_place {
            vectors.push(true);
        } else if self.rng.chance(0.5) {
            vectors.push(self.rng.chance(0.5));
        }
        let arms: Vec<Block> = (0..n_arms).map(|_| self.arm(pool, &vectors, depth)).collect();
        let outs = self.b.finish_switch(selector, arms);
        for v in outs {
            pool.add(self.b.var_ty(v).rank(), v.into());
        }
    }

    fn arm(&mut self, pool: &Pool, vectors: &[bool], depth: usize) -> Block {
        self.b.open_block();
        let mut inner = pool.clone();
        let k = self.rng.below(4);
        self.fill(&mut inner, k, depth + 1);
        let mut results = Vec::new();
        for is_vector in vectors {
            results.push(if *is_vector { inner.vectors[inner.vectors.len() - 1] } else { self.scalar(&inner) });
        }
        self.b.close_block(results)
    }
}
