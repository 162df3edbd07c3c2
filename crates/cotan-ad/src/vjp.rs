//! Reverse mode: a function to the function that also gives cotangents.
//!
//! A block is reversed as its statements again, then their cotangents from last to first. Nothing crosses a region
//! boundary except what a loop records of its own carried values.
//!
//! Note [Checks in re-executed code]: a check is copied with the code around it, also into a reverse body. There it
//! lives only if the reverse sweep itself needs the value that it guards, which mostly is the index of a scatter. It can
//! not be the first to fail: where there are checks, the reverse sweep starts *after* the value, so a caller that drops
//! the value keeps its checks, and errors come in the order of the source. Without checks the value sweep is free to go.

use crate::activity::{VarSet, active};
use crate::checkpoint::Segmented;
use crate::cotangent::{Cot, Scope, zeros};
use crate::expand::Session;
use crate::prepare::{Prepared, prepared};
use crate::regions::{Jacobian, Regions};
use crate::slopes::Slopes;
use crate::{Error, Lengths};
use cotan_ir::{Atom, Block, Builder, Checkpoint, Derived, Dim, Env, Function, Op, Stmt, Symbol, Ty, Var};
use rustc_hash::FxHashMap;

/// State of one reverse transform.
pub(crate) struct Reverse<'s, 'm> {
    pub(crate) session: &'s mut Session<'m>,
    /// The name of the derivative, for messages.
    pub(crate) name: &'s Symbol,
    pub(crate) src: &'s Function,
    pub(crate) active: VarSet,
    pub(crate) segmented: Segmented,
    /// The loops that do not run backwards.
    pub(crate) regions: Regions,
    /// The partial derivatives that are statements of the source.
    pub(crate) slopes: Slopes,
    /// How often the code that is being reversed runs in all, if that is known and records may be kept for it.
    pub(crate) runs: Option<u64>,
    /// Whether an enclosing loop keeps the records of those inside.
    pub(crate) keeps_all: bool,
    /// Writes the target.
    pub(crate) b: Builder,
}

/// Where the forward copy of a loop is, so that its reverse can have it record more.
#[derive(Debug)]
pub(crate) struct Twin {
    /// Position among the statements of the innermost open block. Only appending happens there meanwhile.
    pub(crate) at: usize,
    /// Source variables to those of the copy, the loop's body included.
    pub(crate) env: Env,
}

/// The copy of a loop in front of its reverse.
#[derive(Debug)]
pub(crate) enum LoopCopy {
    /// The loop alone.
    Plain(Twin),
    /// The loop with its derivatives.
    Pushed(Jacobian),
}

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

/// Whether a loop is to be run again in part.
fn has_checkpoints(block: &Block) -> bool {
    block.stmts.iter().any(|s| {
        let here = match &s.op {
            Op::Loop(l) => l.kept.recompute || l.kept.checkpoint.is_some_and(|c| c != Checkpoint::All),
            Op::Prim { .. }
            | Op::Tensor { .. }
            | Op::Index { .. }
            | Op::Update { .. }
            | Op::AccAdd { .. }
            | Op::Par(_)
            | Op::Switch { .. }
            | Op::Call { .. }
            | Op::Check { .. } => false,
        };
        here || s.op.blocks().iter().any(has_checkpoints)
    })
}

/// In whose variables the types of the given cotangents are written.
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
    let Prepared { f: src, active, segmented, regions, slopes } = prepared(session, &original, d.mode, |f| {
        let wrt: Vec<Var> = d.wrt.iter().map(|k| f.params[*k]).collect();
        let outs: Vec<Var> = d.outs.iter().filter_map(|k| f.body.results[*k].var()).collect();
        active(f, &wrt, &outs)
    });
    // Where somebody asked for checkpoints, nothing is kept that they make to be run again.
    let runs = if has_checkpoints(&original.body) { None } else { Some(1) };
    let b = Builder::new();
    let mut r = Reverse { session, name, src: &src, active, segmented, regions, slopes, runs, keeps_all: false, b };
    let mut scope = Scope::default();
    for p in &src.params {
        let ty = scope.env.ty(src.ty(*p));
        let new = r.b.param(src.name_of(*p), ty);
        scope.env.insert(*p, new.into());
    }
    let copies = r.forward(&src.body.stmts, &mut scope.env)?;
    let n_forward = r.b.stmts().len();
    let results = scope.env.atoms(&src.body.results);

    let mut seed_tys: Vec<Ty> = d.outs.iter().map(|k| r.b.ty(results[*k]).tangent()).collect();
    if seed_types == SeedTypes::OfCaller {
        let lengths = Lengths::of(&original, &d.outs);
        let vars: Vec<Var> = lengths.names.iter().map(|n| r.b.param(n, Ty::scalar(cotan_ir::Elem::I64))).collect();
        for (ty, axes) in seed_tys.iter_mut().zip(&lengths.axes) {
            for (dim, axis) in ty.dims.iter_mut().zip(axes) {
                if let Some(n) = axis {
                    *dim = Dim::Var(vars[*n]);
                }
            }
        }
    }
    let mut seeds = Vec::new();
    for (k, ty) in d.outs.iter().zip(seed_tys) {
        let base = match src.body.results[*k] {
            Atom::Var(v) => r.cot_name(v),
            Atom::Const(_) => "cot".to_owned(),
        };
        let seed = match seed_types {
            SeedTypes::OfCaller => r.b.param(&base, ty),
            SeedTypes::OfValueSweep => r.b.var(&base, ty),
        };
        seeds.push(seed);
        let start = match (seed_types, results[*k]) {
            (SeedTypes::OfCaller, Atom::Var(value)) if r.session.values_first || r.session.has_checks(&src.body) => {
                let computed = r.b.var_ty(seed).elem;
                let value = if r.b.var_ty(value).elem == computed {
                    value
                } else {
                    r.b.prim(cotan_ops::cast_to(computed).prim(), &[value.into()])
                };
                r.b.named(&base).prim(cotan_ops::AFTER.prim(), &[seed.into(), value.into()])
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
    /// Copies statements, and says where the copies of loops are. Writes to accumulators of a region under reversal
    /// are erased: nothing can depend on them.
    pub(crate) fn forward(&mut self, stmts: &[Stmt], env: &mut Env) -> Result<Vec<Option<LoopCopy>>, Error> {
        let copy = |s: &Stmt| match &s.op {
            Op::Loop(l) if self.regions.is_one(s) => Ok(Some(LoopCopy::Pushed(self.push_forward(s, l, env)?))),
            Op::Loop(_) => Ok(Some(LoopCopy::Plain(self.twin(s, env)))),
            Op::Prim { .. }
            | Op::Tensor { .. }
            | Op::Index { .. }
            | Op::Update { .. }
            | Op::AccAdd { .. }
            | Op::Par(_)
            | Op::Switch { .. }
            | Op::Call { .. }
            | Op::Check { .. } => {
                self.b.copy_stmt(self.src, s, env);
                Ok(None)
            }
        };
        stmts.iter().map(copy).collect()
    }

    /// Copies a loop that is to run backwards.
    fn twin(&mut self, s: &Stmt, env: &mut Env) -> Twin {
        let mut inner = env.clone();
        let op = self.b.copy_op(self.src, &s.op, env, &mut inner, &mut |_, _, _| {});
        let at = self.b.stmts().len();
        self.b.push_copy(self.src, s, op, env);
        Twin { at, env: inner }
    }

    /// The cotangents of statements, last to first.
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
                    LoopCopy::Pushed(jacobian) => self.multiply(s, l, jacobian, scope),
                    // A loop to be run again is copied once more, and its record belongs to that copy.
                    LoopCopy::Plain(_) if l.kept.recompute => {
                        let twin = self.twin(s, &mut scope.env.clone());
                        self.reverse_loop(s, l, &twin, scope)?;
                    }
                    LoopCopy::Plain(twin) => self.reverse_loop(s, l, twin, scope)?,
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

    /// The scope of a region's reverse body: like the scope around it, but no variable has a cotangent that is a
    /// value, because such a one would have to be carried in and out.
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

    /// The type of a source variable's cotangent.
    pub(crate) fn cot_ty(&self, x: Var, scope: &Scope) -> Ty {
        scope.env.ty(self.src.ty(x)).tangent()
    }

    /// The cotangents of variables as operands, zeros made explicit; for those not active there is nothing to give.
    pub(crate) fn zeros_like(&mut self, a: Atom, scope: &Scope) -> Atom {
        let ty = scope.env.ty(&self.src.atom_ty(a)).tangent();
        zeros(&mut self.b, &ty)
    }
}

/// Whether a statement writes to one of these accumulators, at any depth.
fn writes_any<T>(s: &Stmt, accs: &FxHashMap<Var, T>) -> bool {
    if accs.is_empty() {
        return false;
    }
    match &s.op {
        Op::AccAdd { acc, .. } => accs.contains_key(acc),
        Op::Par(_)
        | Op::Loop(_)
        | Op::Switch { .. }
        | Op::Prim { .. }
        | Op::Tensor { .. }
        | Op::Index { .. }
        | Op::Update { .. }
        | Op::Call { .. }
        | Op::Check { .. } => s.op.blocks().iter().flat_map(|b| &b.stmts).any(|inner| writes_any(inner, accs)),
    }
}
