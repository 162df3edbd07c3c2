//! Statements without blocks.

use super::{Generator, Pool};
use crate::generate::Construct;
use cotan_ir::{Atom, Const, Dim, Elem, Monoid, ParResult, Ty};
use cotan_ops::{
    ABS, ADD, CONCAT, COS, DIV, EXP, FILL, FROM_ELEMENTS, LOG, LT, MATMUL, MAX, MIN, MUL, PrimRow, REVERSE, SELECT,
    SIN, SLICE, SQRT, SUB, TANH, TRANSPOSE,
};

/// A kind of statement.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Scalar,
    Read,
    Update,
    Overwrite,
    Tensor,
    Accumulate,
    Par,
    Loop,
    While,
    Switch,
    Call,
}

impl Generator<'_> {
    /// Adds up to `k` statements.
    pub(super) fn fill(&mut self, pool: &mut Pool, k: usize, depth: usize) {
        for _ in 0..k {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            match self.kind(pool, depth) {
                Kind::Scalar => self.scalar_statement(pool),
                Kind::Read => self.read(pool),
                Kind::Update => self.update(pool),
                Kind::Overwrite => self.overwrite(pool),
                Kind::Tensor => self.tensor(pool),
                Kind::Accumulate => self.accumulate(pool),
                Kind::Par => self.par(pool, depth),
                Kind::Loop => self.counted_loop(pool, depth),
                Kind::While => self.while_loop(pool, depth),
                Kind::Switch => self.switch(pool, depth),
                Kind::Call => self.call(pool),
            }
        }
    }

    fn kind(&mut self, pool: &Pool, depth: usize) -> Kind {
        use Kind::*;
        let mut kinds = Vec::new();
        let may_nest = depth < self.size.depth;
        if self.size.in_place && depth > 0 {
            kinds.extend([Scalar, Read, Update, Overwrite]);
            if may_nest {
                kinds.extend([Loop, While, Switch]);
            }
        } else {
            kinds.extend([Scalar, Scalar, Scalar, Scalar, Read, Read, Read, Update, Overwrite, Tensor]);
            if !pool.accs.is_empty() {
                kinds.extend([Accumulate; 4]);
            }
            if may_nest {
                kinds.extend([Par, Par, Par, Loop, Loop, Loop, While, While, Switch, Switch]);
                if self.callee.is_some() {
                    kinds.push(Call);
                }
            }
        }
        self.rng.choice(&kinds)
    }

    pub(super) fn prim(&mut self, row: &'static PrimRow, args: &[Atom]) -> Atom {
        self.b.prim(row.prim(), args).into()
    }

    /// A bounded function of a value.
    pub(super) fn tame(&mut self, x: Atom) -> Atom {
        let row = self.rng.choice(&[&SIN, &TANH, &COS]);
        self.prim(row, &[x])
    }

    fn scalar_statement(&mut self, pool: &mut Pool) {
        let (x, y) = (self.scalar(pool), self.scalar(pool));
        let c = |value: f64| Atom::Const(Const::f64(value));
        let result = match self.rng.below(13) {
            0 => self.prim(&ADD, &[x, y]),
            1 => self.prim(&SUB, &[x, y]),
            2 => self.prim(&MUL, &[x, y]),
            3 => self.tame(x),
            4 => {
                let product = self.prim(&MUL, &[x, y]);
                self.tame(product)
            }
            5 => {
                let square = self.prim(&MUL, &[y, y]);
                let above = self.prim(&ADD, &[square, c(2.0)]);
                self.prim(&DIV, &[x, above])
            }
            6 => {
                let t = self.prim(&TANH, &[x]);
                self.prim(&EXP, &[t])
            }
            7 => {
                let square = self.prim(&MUL, &[x, x]);
                let above = self.prim(&ADD, &[square, c(1.0)]);
                self.prim(&SQRT, &[above])
            }
            8 => {
                let row = self.rng.choice(&[&MAX, &MIN]);
                let scaled = self.prim(&MUL, &[y, c(0.7)]);
                self.prim(row, &[x, scaled])
            }
            9 => {
                let less = self.prim(&LT, &[x, y]);
                let product = self.prim(&MUL, &[x, y]);
                self.prim(&SELECT, &[less, product, y])
            }
            10 => {
                let moved = self.prim(&ADD, &[x, c(0.1)]);
                self.prim(&ABS, &[moved])
            }
            11 => {
                let scaled = self.prim(&MUL, &[x, c(0.95)]);
                self.prim(&ADD, &[scaled, c(0.01)])
            }
            _ => {
                let square = self.prim(&MUL, &[x, x]);
                let above = self.prim(&ADD, &[square, c(1.5)]);
                self.prim(&LOG, &[above])
            }
        };
        pool.scalars.push(result);
    }

    fn read(&mut self, pool: &mut Pool) {
        let p = self.rng.unit();
        if p < 0.65 || pool.matrices.is_empty() {
            let (a, i) = (self.vector(pool), self.at(pool));
            let x = self.b.index(a, &[i]);
            pool.scalars.push(x.into());
        } else if p < 0.8 {
            let (m, i, j) = (self.matrix(pool), self.at(pool), self.at(pool));
            let x = self.b.index(m, &[i, j]);
            pool.scalars.push(x.into());
        } else {
            let (m, i) = (self.matrix(pool), self.at(pool));
            let row = self.b.index(m, &[i]);
            pool.vectors.push(row.into());
        }
    }

    fn update(&mut self, pool: &mut Pool) {
        self.has(Construct::Update);
        if self.rng.chance(0.7) || pool.matrices.is_empty() {
            let latest = pool.vectors[pool.vectors.len() - 1];
            let a = if self.size.in_place || self.rng.chance(0.7) { latest } else { self.vector(pool) };
            let (i, x) = (self.at(pool), self.scalar(pool));
            let value = self.tame(x);
            let a = self.b.update(a, &[i], value);
            pool.vectors.push(a.into());
        } else if self.rng.chance(0.5) && !self.size.in_place {
            let (m, i, row) = (self.matrix(pool), self.at(pool), self.vector(pool));
            let m = self.b.update(m, &[i], row);
            pool.matrices.push(m.into());
        } else {
            let (m, i, j, x) = (self.matrix(pool), self.at(pool), self.at(pool), self.scalar(pool));
            let value = self.tame(x);
            let m = self.b.update(m, &[i, j], value);
            pool.matrices.push(m.into());
        }
    }

    /// Reads, then overwrites the same place.
    fn overwrite(&mut self, pool: &mut Pool) {
        self.has(Construct::Update);
        let (a, i) = (pool.vectors[pool.vectors.len() - 1], self.at(pool));
        let old = self.b.index(a, &[i]).into();
        let (factor, j) = (self.scalar(pool), self.at(pool));
        let other = self.b.index(a, &[j]).into();
        let product = self.prim(&MUL, &[old, factor]);
        let sum = self.prim(&ADD, &[product, other]);
        let new = self.prim(&SIN, &[sum]);
        let a = self.b.update(a, &[i], new);
        pool.vectors.push(a.into());
        pool.scalars.push(old);
    }

    fn tensor(&mut self, pool: &mut Pool) {
        self.has(Construct::TensorOperation);
        let n = Dim::from_atom(self.n);
        let (vector_ty, matrix_ty) = (Ty::new(Elem::F64, vec![n]), Ty::new(Elem::F64, vec![n, n]));
        match self.rng.below(8) {
            0 => {
                let v = self.vector(pool);
                let sum = self.total(v);
                let bounded = self.prim(&TANH, &[sum]);
                pool.scalars.push(bounded);
            }
            1 => {
                let (a, b) = (self.matrix(pool), self.matrix(pool));
                let product = self.b.tensor(MATMUL.op(), &[a, b], &[0], matrix_ty);
                let bounded = self.prim(&SIN, &[product.into()]);
                pool.matrices.push(bounded);
            }
            2 => {
                let m = self.matrix(pool);
                let transposed = self.b.tensor(TRANSPOSE.op(), &[m], &[1, 0], matrix_ty);
                pool.matrices.push(transposed.into());
            }
            3 => {
                let v = self.vector(pool);
                let reversed = self.b.tensor(REVERSE.op(), &[v], &[0], vector_ty);
                pool.vectors.push(reversed.into());
            }
            4 => {
                let x = self.scalar(pool);
                let filled = self.b.tensor(FILL.op(), &[x], &[], vector_ty);
                pool.vectors.push(filled.into());
            }
            5 => {
                let (v, w) = (self.vector(pool), self.vector(pool));
                let product = self.prim(&MUL, &[v, w]);
                let bounded = self.prim(&SIN, &[product]);
                pool.vectors.push(bounded);
            }
            6 => {
                let elements = [self.scalar(pool), self.scalar(pool), self.scalar(pool)];
                let ty = Ty::new(Elem::F64, vec![Dim::Const(3)]);
                let v = self.b.tensor(FROM_ELEMENTS.op(), &elements, &[], ty);
                let squared = self.b.tensor(MATMUL.op(), &[v.into(), v.into()], &[0], Ty::scalar(Elem::F64));
                let sum = self.total(v.into());
                let both = self.prim(&MUL, &[squared.into(), sum]);
                let bounded = self.prim(&TANH, &[both]);
                pool.scalars.push(bounded);
            }
            _ => {
                let (v, w, lo) = (self.vector(pool), self.vector(pool), self.at(pool));
                let two = self.prim(&ADD, &[self.n, self.n]);
                let ty = Ty::new(Elem::F64, vec![Dim::from_atom(two)]);
                let both = self.b.tensor(CONCAT.op(), &[v, w], &[0], ty);
                let part = self.b.tensor(SLICE.op(), &[both.into(), lo], &[0], vector_ty);
                pool.vectors.push(part.into());
            }
        }
    }

    /// The sum of a vector.
    pub(super) fn total(&mut self, v: Atom) -> Atom {
        let length = self.b.ty(v).dims[0].atom();
        let i = self.b.var("i", Ty::scalar(Elem::I64));
        self.b.open_block();
        let x = self.b.index(v, &[i.into()]);
        let body = self.b.close_block(vec![x.into()]);
        let kind = ParResult::Reduced { monoid: Monoid::Add, init: Const::f64(0.0).into() };
        self.b.finish_par(vec![i], vec![length], vec![kind], Vec::new(), body)[0].into()
    }

    fn accumulate(&mut self, pool: &mut Pool) {
        self.has(Construct::AccAdd);
        let acc = *self.rng.recent(&pool.accs);
        let rank = self.b.var_ty(acc).rank();
        if rank == 2 && self.rng.chance(0.3) {
            let (i, row) = (self.at(pool), self.vector(pool));
            self.b.acc_add(acc, &[i], row);
        } else if rank > 0 && self.rng.chance(0.1) {
            let whole = if rank == 1 { self.vector(pool) } else { self.matrix(pool) };
            self.b.acc_add(acc, &[], whole);
        } else {
            let indices: Vec<Atom> = (0..rank).map(|_| self.at(pool)).collect();
            let x = self.scalar(pool);
            let value = self.tame(x);
            self.b.acc_add(acc, &indices, value);
        }
    }

    fn call(&mut self, pool: &mut Pool) {
        let Some(callee) = self.callee else { return };
        self.has(Construct::CallOfFunction);
        let (x, y) = (self.scalar(pool), self.scalar(pool));
        let (a, c, m) = (self.vector(pool), self.vector(pool), self.matrix(pool));
        let results = self.b.call(callee, &[self.n, x, y, a, c, m, self.index_array]);
        let bounded = self.prim(&TANH, &[results[0].into()]);
        pool.scalars.push(bounded);
        let bounded = self.prim(&SIN, &[results[2].into()]);
        pool.vectors.push(bounded);
    }
}
