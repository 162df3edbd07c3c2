//! Reverse mode: from a function to its vector-Jacobian product, which gives the results and the cotangents of parameters.
//!
//! The reverse of a block repeats its statements and then emits their cotangents from last to first. Nothing crosses a region
//! boundary except what a loop records of its own carried values.
//!
//! Note [Checks in re-executed code]: a check is copied with the code around it, also into a reverse body. There it
//! lives only if the reverse sweep needs the value that it guards, which usually is the index of a scatter. It cannot be the
//! first to fail: where there are checks, the reverse sweep starts *after* the value, so a caller that drops the value keeps
//! its checks, and errors come in the order of the source. Without checks the value sweep may be dropped.

use crate::error::Error;
use crate::lengths::Lengths;
use crate::prepare::prepared;
use crate::state::{Cot, ForwardCopy, LoopCopy, Prepared, Reverse, Scope, Session};
use cotan_ir::{Atom, Block, Builder, Checkpoint, Derived, Dim, Elem, Env, Function, Loop, Op, Stmt, Symbol, Ty, Var};
use rustc_hash::FxHashMap;

/// A function and its reverse sweep, in one body.
pub(crate) struct Swept {
    /// Parameters are those of the source and, of a `vjp`, the lengths and cotangents.
    pub(crate) b: Builder,
    /// How many of the statements are the value sweep.
    pub(crate) n_forward: usize,
    pub(crate) results: Vec<Atom>,
    /// The given cotangents of `outs`.
    pub(crate) seeds: Vec<Var>,
    /// The cotangents of `wrt`.
    pub(crate) cots: Vec<Atom>,
}

/// The reverse derivative that `d` asks for.
pub(crate) fn vjp(session: &mut Session<'_>, d: &Derived, name: &Symbol) -> Result<Function, Error> {
    let swept = sweep(session, d, name, SeedTypes::OfCaller)?;
    let results = swept.results.into_iter().chain(swept.cots).collect();
    Ok(swept.b.finish(name, results))
}

/// Whether a loop asks for partial re-execution.
fn has_checkpoints(block: &Block) -> bool {
    let asks = |l: &Loop| l.kept.recompute || l.kept.checkpoint.is_some_and(|c| c != Checkpoint::All);
    block.walk().filter_map(|s| s.op.as_loop()).any(asks)
}

/// The variables that the types of the given cotangents name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeedTypes {
    /// The caller's: lengths that the function computes are parameters next to the cotangents.
    OfCaller,
    /// Those of the value sweep, which the record holds; the cotangents are no parameters of the common body.
    OfValueSweep,
}

/// The value sweep and the reverse sweep of a function.
pub(crate) fn sweep(
    session: &mut Session<'_>,
    d: &Derived,
    name: &Symbol,
    seed_types: SeedTypes,
) -> Result<Swept, Error> {
    let original = session.source(d)?;
    let Prepared { f: src, active, segmented, regions, slopes } = prepared(session, &original, d);
    // Checkpoints ask for re-execution, so no inner loop is recorded in its place.
    let runs = if has_checkpoints(&original.body) { None } else { Some(1) };
    let b = Builder::new();
    let mut r = Reverse { session, name, src: &src, active, segmented, regions, slopes, runs, records_all: false, b };
    let mut scope = Scope::default();
    for p in &src.params {
        let ty = scope.env.ty(src.ty(*p));
        let new = r.b.param(src.name_of(*p), ty);
        scope.env.insert(*p, new.into());
    }
    let copies = r.forward(&src.body.stmts, &mut scope.env)?;
    let n_forward = r.b.stmts().len();
    let results = scope.env.atoms(&src.body.results);

    let lengths = Lengths::of(&original, &d.outs);
    let mut seeds = Vec::new();
    for (k, ty) in d.outs.iter().zip(r.seed_tys(&lengths, d, seed_types, &results)) {
        let seed = r.seed(src.body.results[*k], ty, seed_types);
        seeds.push(seed);
        let start = match (seed_types, results[*k]) {
            (SeedTypes::OfCaller, Atom::Var(value)) if r.session.values_first || r.session.has_checks(&src.body) => {
                r.after(seed, value)
            }
            (SeedTypes::OfCaller | SeedTypes::OfValueSweep, Atom::Var(_) | Atom::Const(_)) => seed,
        };
        r.add(src.body.results[*k], start.into(), &mut scope);
    }

    r.reverse(&src.body.stmts, &copies, &mut scope)?;
    let cots = d.wrt.iter().map(|k| r.value(src.params[*k], &scope)).collect();
    Ok(Swept { b: r.b, n_forward, results, seeds, cots })
}

impl Reverse<'_, '_> {
    /// The types of the given cotangents. Lengths of the caller become parameters.
    fn seed_tys(&mut self, lengths: &Lengths, d: &Derived, seed_types: SeedTypes, results: &[Atom]) -> Vec<Ty> {
        let mut tys: Vec<Ty> = d.outs.iter().map(|k| self.b.ty(results[*k]).tangent()).collect();
        if seed_types == SeedTypes::OfValueSweep {
            return tys;
        }
        let vars: Vec<Var> = lengths.names.iter().map(|n| self.b.param(n, Ty::scalar(Elem::I64))).collect();
        for (ty, axes) in tys.iter_mut().zip(&lengths.axes) {
            for (dim, axis) in ty.dims.iter_mut().zip(axes) {
                if let Some(n) = axis {
                    *dim = Dim::Var(vars[*n]);
                }
            }
        }
        tys
    }

    /// A variable for the given cotangent of a result.
    fn seed(&mut self, result: Atom, ty: Ty, seed_types: SeedTypes) -> Var {
        let name = match result {
            Atom::Var(v) => self.cot_name(v),
            Atom::Const(_) => "cot".to_owned(),
        };
        match seed_types {
            SeedTypes::OfCaller => self.b.param(&name, ty),
            SeedTypes::OfValueSweep => self.b.var(&name, ty),
        }
    }

    /// The given cotangent of a result, available only after the result.
    fn after(&mut self, seed: Var, value: Var) -> Var {
        let computed = self.b.var_ty(seed).elem;
        let value = if self.b.var_ty(value).elem == computed {
            value
        } else {
            self.b.prim(cotan_ops::cast_to(computed).prim(), &[value.into()])
        };
        let name = self.b.info(seed).name.clone();
        self.b.named(&name).prim(cotan_ops::AFTER.prim(), &[seed.into(), value.into()])
    }

    /// Copies statements, and gives the places of the copies of loops. Writes to accumulators of a region under reversal
    /// are erased: nothing can depend on them.
    pub(crate) fn forward(&mut self, stmts: &[Stmt], env: &mut Env) -> Result<Vec<Option<LoopCopy>>, Error> {
        let copy = |s: &Stmt| {
            let Op::Loop(l) = &s.op else {
                self.b.copy_stmt(self.src, s, env);
                return Ok(None);
            };
            Ok(Some(if self.regions.contains(s) {
                LoopCopy::WithTangents(self.copy_with_tangents(s, l, env)?)
            } else {
                LoopCopy::Plain(self.forward_copy(s, env))
            }))
        };
        stmts.iter().map(copy).collect()
    }

    /// Copies a loop that will run backwards.
    fn forward_copy(&mut self, s: &Stmt, env: &mut Env) -> ForwardCopy {
        let mut inner = env.clone();
        let op = self.b.copy_op(self.src, &s.op, env, &mut inner, &mut |_, _, _| {});
        let at = self.b.stmts().len();
        self.b.push_copy(self.src, s, op, env);
        ForwardCopy { at, env: inner }
    }

    /// Emits the cotangents of statements, last to first.
    pub(crate) fn reverse(
        &mut self,
        stmts: &[Stmt],
        copies: &[Option<LoopCopy>],
        scope: &mut Scope,
    ) -> Result<(), Error> {
        for (s, copy) in stmts.iter().zip(copies).rev() {
            if !self.needs_reversal(s, scope) {
                continue;
            }
            self.b.set_span(s.span.cotangent());
            match &s.op {
                Op::Prim { prim, args } => self.reverse_prim(s.results[0], *prim, args, scope),
                Op::Tensor { op, args, attrs } => self.reverse_tensor(s.results[0], *op, args, attrs, scope),
                Op::Index { array, indices } => self.reverse_index(s.results[0], *array, indices, scope),
                Op::Update { array, indices, value } => {
                    self.reverse_update(s.results[0], *array, indices, *value, scope);
                }
                Op::AccAdd { acc, indices, value } => self.reverse_acc_add(*acc, indices, *value, scope),
                Op::Par(p) => self.reverse_par(s, p, scope)?,
                Op::Loop(l) => match copy.as_ref().expect("invariant: a loop that is reversed was copied") {
                    LoopCopy::WithTangents(jacobian) => self.multiply(s, l, jacobian, scope),
                    // A recomputed loop is copied once more, and its record belongs to that copy.
                    LoopCopy::Plain(_) if l.kept.recompute => {
                        let forward_copy = self.forward_copy(s, &mut scope.env.clone());
                        self.reverse_loop(s, l, &forward_copy, scope)?;
                    }
                    LoopCopy::Plain(forward_copy) => self.reverse_loop(s, l, forward_copy, scope)?,
                },
                Op::Switch { selector, arms } => self.reverse_switch(s, *selector, arms, scope)?,
                Op::Call { callee, args } => self.reverse_call(s, callee, args, scope)?,
                Op::Check { value, .. } => self.reverse_check(s.results[0], *value, scope),
            }
            self.session.check_size(self.name, &self.b)?;
        }
        Ok(())
    }

    /// Whether a statement has a result with a cotangent, or writes to an accumulator with one.
    fn needs_reversal(&self, s: &Stmt, scope: &Scope) -> bool {
        s.results.iter().any(|r| scope.cots.contains_key(r)) || writes_any(s, &scope.acc_cots)
    }

    /// The variables bound outside of some blocks that can get a cotangent there, in order of first use.
    pub(crate) fn active_free(&self, block: &Block, bound: &[Var], scope: &Scope) -> Vec<Var> {
        let mut free = cotan_ir::free_vars(self.src, block, bound);
        free.retain(|x| self.active.has(*x) && scope.env.contains_key(x));
        free
    }

    /// The scope of a region's reverse body: like the scope around it, but no variable has a cotangent value, because
    /// it would have to be carried in and out.
    pub(crate) fn inner_scope(&self, scope: &Scope, free: &[Var]) -> Scope {
        let accumulated = |x: &Var| match scope.cots.get(x) {
            Some(Cot::Acc(a)) => Some((*x, Cot::Acc(*a))),
            Some(Cot::Value(_)) | None => None,
        };
        Scope {
            env: scope.env.clone(),
            cots: free.iter().filter_map(accumulated).collect(),
            acc_cots: scope.acc_cots.clone(),
        }
    }
}

/// Whether a statement writes to one of these accumulators, at any depth.
fn writes_any<T>(s: &Stmt, accs: &FxHashMap<Var, T>) -> bool {
    !accs.is_empty() && s.walk().filter_map(|s| s.op.written()).any(|acc| accs.contains_key(&acc))
}
