//! Full unrolling of small loops.
//!
//! A `par` or counted `loop` of a small constant number of iterations becomes one copy of its body for each of them, with
//! the indices as constants, from the inside out. Reductions are combined in the order of [`cotan_ops::reduce`],
//! accumulators become values that each write replaces, stacked results are tensors of what the copies give. Iterations
//! keep their order, so the first check that fails stays the first.
//!
//! A loop stays if what comes out would be long; if another loop stays in it, which takes the time; if it gives something
//! that is not small (rows of unknown length, a carried array); if it keeps a record or a log; or if a branch writes to
//! one of its accumulators.
//!
//! Not for code that is still to be differentiated: a reduced maximum shares among ties otherwise than its steps.

mod plan;

use crate::pass::{Pass, Promise};
use crate::versions::accumulated_product;
use cotan_ir::{
    AccKind, Atom, Block, Builder, Const, Dim, Env, Function, Loop, Monoid, Op, Par, ParResult, Prim, Stmt, Ty, Var,
};
use cotan_ops::reduce::{LANES, monoid_row, reduce};
use cotan_ops::{CONCAT, FILL, FMA, FROM_ELEMENTS, MULC, RESHAPE};
use plan::{number, written_out};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "unroll",
    doc: "Small loops with a constant number of iterations are written out.",
    promise: Promise::Bits,
    is_idempotent: false,
    run: |f, context| unroll(f, context.is_version),
};

/// Statements up to which a function may grow.
const MOST_STMTS_OF_FUNCTION: usize = 3000;

/// The function with small loops written out. Loops of a version for known sizes stay if they have checks that may fail: an
/// iteration whose values nobody needs would not fail any more.
pub fn unroll(f: Function, is_version: bool) -> Function {
    let mut written_out = written_out(&f);
    if is_version {
        for s in f.body.walk().filter(|s| s.has_effect(|effects| effects.may_fail())) {
            written_out.remove(&std::ptr::from_ref(s));
        }
    }
    if written_out.is_empty() {
        return f;
    }
    let mut pass = Unroll {
        f: &f,
        written_out,
        b: Builder::new(),
        accs: FxHashMap::default(),
        products: is_version.then(FxHashMap::default),
        left: MOST_STMTS_OF_FUNCTION.saturating_sub(f.n_stmts()),
        is_inside: false,
    };
    let mut env = Env::new();
    for p in &f.params {
        let new = pass.b.param(f.name_of(*p), env.ty(f.ty(*p)));
        env.insert(*p, new.into());
    }
    pass.stmts(&f.body, &mut env);
    let results = env.atoms(&f.body.results);
    let new = pass.b.finish(&f.name, results);
    Function { custom_vjp: f.custom_vjp, custom_jvp: f.custom_jvp, ..new }
}

struct Unroll<'a> {
    f: &'a Function,
    written_out: FxHashMap<*const Stmt, usize>,
    b: Builder,
    /// What the accumulators of loops that are written out are so far.
    accs: FxHashMap<Var, (Monoid, Atom)>,
    /// The factors of products that wait to be contracted with what they are added to, where there are such.
    products: Option<FxHashMap<Var, [Atom; 2]>>,
    /// Statements that may still come of loops.
    left: usize,
    /// Whether the statement stands in a loop that is written out.
    is_inside: bool,
}

impl Unroll<'_> {
    fn stmts(&mut self, block: &Block, env: &mut Env) {
        block.stmts.iter().for_each(|s| self.stmt(s, env));
    }

    fn stmt(&mut self, s: &Stmt, env: &mut Env) {
        self.b.set_span(s.span);
        if let Op::Par(p) = &s.op
            && self.opens(s)
        {
            self.inside(|this| this.par(p, s, env))
        } else if let Op::Loop(l) = &s.op
            && self.opens(s)
        {
            self.inside(|this| this.sequential(l, s, env))
        } else if let Op::AccAdd { acc, indices, value } = &s.op
            && self.accs.contains_key(acc)
        {
            self.write(*acc, &env.atoms(indices), env.atom(*value));
        } else {
            self.copy(s, env)
        }
    }

    /// Whether the loop is written out. One inside of another that is has been counted with it.
    fn opens(&mut self, s: &Stmt) -> bool {
        let Some(size) = self.written_out.get(&std::ptr::from_ref(s)) else { return false };
        if self.is_inside {
            return true;
        }
        let left = self.left.checked_sub(*size);
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    fn inside(&mut self, write: impl FnOnce(&mut Self)) {
        let was_inside = std::mem::replace(&mut self.is_inside, true);
        write(self);
        self.is_inside = was_inside;
    }

    /// A copy, the blocks inside written out. What blocks bind stays known, but nobody asks for it behind them.
    fn copy(&mut self, s: &Stmt, env: &mut Env) {
        let mut copied = s.op.without_blocks();
        copied.map_operands(&mut |a| env.atom(a));
        let written = s.op.written();
        copied.map_names(&mut |v| if written == Some(v) { env.var(v) } else { self.b.copy_var(self.f, v, env) });
        for (block, new) in s.op.blocks().iter().zip(copied.blocks_mut()) {
            self.b.open_block();
            self.stmts(block, env);
            *new = self.b.close_block(env.atoms(&block.results));
        }
        self.b.set_span(s.span);
        let product = accumulated_product(&copied);
        self.b.push_copy(self.f, s, copied, env);
        if let Some((products, factors)) = self.products.as_mut().zip(product) {
            products.extend(s.results.first().map(|result| (env.var(*result), factors)));
        }
    }

    // ---- loops

    fn par(&mut self, p: &Par, s: &Stmt, env: &mut Env) {
        self.open_accs(&s.op, env);
        let extents: Vec<i64> = p.extents.iter().filter_map(|e| number(*e)).collect();
        let mut given: Vec<Vec<Atom>> = vec![Vec::new(); p.kinds.len()];
        for trip in 0..extents.iter().map(|n| (*n).max(0)).product() {
            let mut rest = trip;
            for (index, n) in p.indices.iter().zip(&extents).rev() {
                env.insert(*index, Atom::i64(rest % n));
                rest /= n;
            }
            self.stmts(&p.body, env);
            for (column, r) in given.iter_mut().zip(&p.body.results) {
                column.push(env.atom(*r));
            }
        }
        self.b.set_span(s.span);
        let (results, accs) = s.results.split_at(p.kinds.len());
        for ((kind, column), result) in p.kinds.iter().zip(given).zip(results) {
            let value = match kind {
                ParResult::Stacked => self.stacked(*result, &column),
                ParResult::Reduced { monoid, init } => {
                    let ty = self.f.ty(*result).clone();
                    let column = if *monoid == Monoid::Add { self.contracted(column, &ty) } else { column };
                    let builder = RefCell::new(&mut self.b);
                    let combine = |x, y| combined(&mut builder.borrow_mut(), *monoid, x, y, &ty);
                    reduce(&column, env.atom(*init), combine)
                }
            };
            env.insert(*result, value);
        }
        self.close_accs(&s.op, accs, env);
    }

    fn sequential(&mut self, l: &Loop, s: &Stmt, env: &mut Env) {
        self.open_accs(&s.op, env);
        let results = l.split(&s.results);
        let mut carried = env.atoms(&l.inits);
        let mut given: Vec<Vec<Atom>> = vec![Vec::new(); results.stacked.len()];
        for trip in 0..l.count.and_then(number).unwrap_or(0) {
            env.insert(l.index, Atom::i64(trip));
            env.extend(l.params.iter().copied().zip(carried));
            self.stmts(&l.body, env);
            let next = env.atoms(&l.body.results);
            carried = next[..l.params.len()].to_vec();
            for (column, element) in given.iter_mut().zip(&next[l.params.len()..]) {
                column.push(*element);
            }
        }
        self.b.set_span(s.span);
        env.extend(results.carried.iter().copied().zip(carried));
        for (column, result) in given.iter().zip(results.stacked) {
            let value = self.stacked(*result, column);
            env.insert(*result, value);
        }
        self.close_accs(&s.op, results.accs, env);
    }

    /// The tensor of what iterations gave.
    fn stacked(&mut self, result: Var, column: &[Atom]) -> Atom {
        let ty = self.f.ty(result).clone();
        let name = self.f.name_of(result);
        let Some(first) = column.first() else {
            let zero = Const::zero(ty.elem).into();
            return self.b.named(name).tensor(FILL.op(), &[zero], &[], ty).into();
        };
        let element = self.b.ty(*first);
        if element.is_scalar() {
            return self.b.named(name).tensor(FROM_ELEMENTS.op(), column, &[], ty).into();
        }
        let row = element.stacked([Dim::Const(1)]);
        let rows: Vec<Atom> =
            column.iter().map(|part| self.b.tensor(RESHAPE.op(), &[*part], &[], row.clone()).into()).collect();
        let all = element.stacked([Dim::Const(column.len() as i64)]);
        let joined = self.b.tensor(CONCAT.op(), &rows, &[0], all);
        self.b.named(name).tensor(RESHAPE.op(), &[joined.into()], &[], ty).into()
    }

    // ---- sums

    /// The values of a sum, no more than it has partial results: what follows is in there, products contracted.
    fn contracted(&mut self, column: Vec<Atom>, ty: &Ty) -> Vec<Atom> {
        if self.products.is_none() {
            return column;
        }
        let mut partial: Vec<Atom> = Vec::with_capacity(LANES);
        for (k, value) in column.into_iter().enumerate() {
            let factors = self.factors(value);
            let sum = match (partial.get(k % LANES).copied(), factors) {
                (Some(sum), _) => self.added(sum, value, ty),
                (None, Some(factors)) => self.prim(MULC.prim(), factors.to_vec(), ty),
                (None, None) => value,
            };
            match partial.get_mut(k % LANES) {
                Some(old) => *old = sum,
                None => partial.push(sum),
            }
        }
        partial
    }

    /// The factors of a product that waits to be contracted.
    fn factors(&self, value: Atom) -> Option<[Atom; 2]> {
        self.products.as_ref()?.get(&value.var()?).copied()
    }

    /// A sum with a value added.
    fn added(&mut self, sum: Atom, value: Atom, ty: &Ty) -> Atom {
        match self.factors(value) {
            Some([a, b]) => self.prim(FMA.prim(), vec![a, b, sum], ty),
            None => combined(&mut self.b, Monoid::Add, sum, value, ty),
        }
    }

    fn prim(&mut self, prim: Prim, args: Vec<Atom>, ty: &Ty) -> Atom {
        let result = self.b.var(prim.name(), ty.clone());
        self.b.push(vec![result], Op::Prim { prim, args });
        result.into()
    }

    // ---- accumulators

    fn open_accs(&mut self, op: &Op, env: &Env) {
        for acc in op.accs() {
            if let (AccKind::Reduce(monoid), Some(init)) = (acc.kind, acc.init) {
                self.accs.insert(acc.var, (monoid, env.atom(init)));
            }
        }
    }

    fn write(&mut self, acc: Var, indices: &[Atom], value: Atom) {
        let Some((monoid, whole)) = self.accs.get(&acc).copied() else { return };
        let part = self.f.ty(acc).inner(indices.len());
        let new = if indices.is_empty() {
            self.accumulated(monoid, whole, value, &part)
        } else {
            let old = self.b.index(whole, indices).into();
            let new = self.accumulated(monoid, old, value, &part);
            self.b.update(whole, indices, new).into()
        };
        self.accs.insert(acc, (monoid, new));
    }

    fn accumulated(&mut self, monoid: Monoid, old: Atom, value: Atom, ty: &Ty) -> Atom {
        match monoid {
            Monoid::Add => self.added(old, value, ty),
            Monoid::Mul | Monoid::Max | Monoid::Min | Monoid::And | Monoid::Or => {
                combined(&mut self.b, monoid, old, value, ty)
            }
        }
    }

    fn close_accs(&mut self, op: &Op, results: &[Var], env: &mut Env) {
        for (acc, result) in op.accs().iter().zip(results) {
            if let Some((_, value)) = self.accs.remove(&acc.var) {
                env.insert(*result, value);
            }
        }
    }
}

/// Two values of a type combined, element by element. Both may be constants that stand for a tensor.
fn combined(b: &mut Builder, monoid: Monoid, x: Atom, y: Atom, ty: &Ty) -> Atom {
    let prim = monoid_row(monoid).prim();
    let result = b.var(prim.name(), ty.clone());
    b.push(vec![result], Op::Prim { prim, args: vec![x, y] });
    result.into()
}
