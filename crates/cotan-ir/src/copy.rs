//! Renamed copies of code.

use crate::{Acc, Atom, Block, Builder, Dim, Function, Loop, Op, Par, ParResult, Stmt, Ty, Var, VarInfo};
use rustc_hash::FxHashMap;
use std::ops::{Deref, DerefMut};

/// What variables of a source function are called in the target: the environment of a copy.
#[derive(Clone, Debug, Default)]
pub struct Env(FxHashMap<Var, Atom>);

impl Env {
    /// No variables.
    pub fn new() -> Env {
        Env::default()
    }

    /// An operand in the target; a variable that is not known stays what it is.
    pub fn atom(&self, a: Atom) -> Atom {
        match a {
            Atom::Var(v) => self.0.get(&v).copied().unwrap_or(a),
            Atom::Const(_) => a,
        }
    }

    /// Several operands in the target.
    pub fn atoms(&self, atoms: &[Atom]) -> Vec<Atom> {
        atoms.iter().map(|a| self.atom(*a)).collect()
    }

    /// A type in the target.
    pub fn ty(&self, ty: &Ty) -> Ty {
        Ty::new(ty.elem, ty.dims.iter().map(|d| Dim::from_atom(self.atom(d.atom()))).collect())
    }

    /// The variable that a known variable stands for.
    ///
    /// Panics if it stands for a constant or is not known: binders are always copied to variables.
    pub fn var(&self, v: Var) -> Var {
        self.0[&v].var().expect("invariant: a binder is copied to a variable")
    }
}

impl Deref for Env {
    type Target = FxHashMap<Var, Atom>;
    fn deref(&self) -> &FxHashMap<Var, Atom> {
        &self.0
    }
}

impl DerefMut for Env {
    fn deref_mut(&mut self) -> &mut FxHashMap<Var, Atom> {
        &mut self.0
    }
}

impl FromIterator<(Var, Atom)> for Env {
    fn from_iter<I: IntoIterator<Item = (Var, Atom)>>(pairs: I) -> Env {
        Env(pairs.into_iter().collect())
    }
}

/// What becomes of a write to an accumulator that the environment does not know.
pub type OnUnknownAcc<'a> = &'a mut dyn FnMut(&mut Builder, &Op, &Env);

impl Builder {
    /// A new variable like `v` of `source`, entered into `env`.
    pub fn copy_var(&mut self, source: &Function, v: Var, env: &mut Env) -> Var {
        let VarInfo { name, ty, record } = &source.vars[v.index()];
        let ty = env.ty(ty);
        let new = self.var(name, ty);
        self.info_mut(new).record = *record;
        env.insert(v, new.into());
        new
    }

    /// Appends a renamed copy of a statement of `source`; `env` gains its results. A write to an accumulator that
    /// `env` does not know is erased.
    pub fn copy_stmt(&mut self, source: &Function, s: &Stmt, env: &mut Env) {
        self.copy_stmt_with(source, s, env, &mut |_, _, _| {});
    }

    /// Like [`Builder::copy_stmt`], but unknown writes are handed to `on_unknown`, which may append statements.
    pub fn copy_stmt_with(&mut self, source: &Function, s: &Stmt, env: &mut Env, on_unknown: OnUnknownAcc<'_>) {
        if let Op::AccAdd { acc, .. } = &s.op
            && !env.contains_key(acc)
        {
            return on_unknown(self, &s.op, env);
        }
        // Only regions bind names of their own; copying the environment for every statement would be quadratic.
        let mut inner = if s.op.blocks().is_empty() { Env::new() } else { env.clone() };
        let op = self.copy_op(source, &s.op, env, &mut inner, on_unknown);
        self.push_copy(source, s, op, env);
    }

    /// Appends `op` with copies of the results of `s`, at the source position of `s`.
    pub fn push_copy(&mut self, source: &Function, s: &Stmt, op: Op, env: &mut Env) {
        let results = s.results.iter().map(|r| self.copy_var(source, *r, env)).collect();
        self.stmts().push(Stmt { results, op, span: s.span });
    }

    /// A renamed copy of an operation. `inner` is the environment of its inner blocks, made from `env`, and gains the
    /// binders (for a loop or par, also everything bound in the body).
    pub fn copy_op(
        &mut self,
        source: &Function,
        op: &Op,
        env: &Env,
        inner: &mut Env,
        on_unknown: OnUnknownAcc<'_>,
    ) -> Op {
        match op {
            Op::Prim { .. }
            | Op::Tensor { .. }
            | Op::Index { .. }
            | Op::Update { .. }
            | Op::Call { .. }
            | Op::Check { .. } => {
                let mut new = op.clone();
                new.map_operands(&mut |a| env.atom(a));
                new
            }
            Op::AccAdd { acc, indices, value } => {
                Op::AccAdd { acc: env.var(*acc), indices: env.atoms(indices), value: env.atom(*value) }
            }
            Op::Switch { selector, arms } => {
                let copy_arm = |b: &Block| self.copy_block(source, b, &mut env.clone(), &mut *on_unknown);
                Op::Switch { selector: env.atom(*selector), arms: arms.iter().map(copy_arm).collect() }
            }
            Op::Par(p) => {
                let indices = p.indices.iter().map(|v| self.copy_var(source, *v, inner)).collect();
                let accs = self.copy_accs(source, &p.accs, env, inner);
                Op::Par(Box::new(Par {
                    indices,
                    extents: env.atoms(&p.extents),
                    kinds: p.kinds.iter().map(|k| k.renamed(env)).collect(),
                    accs,
                    body: self.copy_block(source, &p.body, inner, on_unknown),
                }))
            }
            Op::Loop(l) => {
                let index = self.copy_var(source, l.index, inner);
                let params = l.params.iter().map(|v| self.copy_var(source, *v, inner)).collect();
                let accs = self.copy_accs(source, &l.accs, env, inner);
                Op::Loop(Box::new(Loop {
                    index,
                    count: l.count.map(|n| env.atom(n)),
                    params,
                    inits: env.atoms(&l.inits),
                    accs,
                    body: self.copy_block(source, &l.body, inner, on_unknown),
                    kept: l.kept,
                }))
            }
        }
    }

    /// Copies of accumulators: the names enter `inner`, the start values are read in `env`.
    pub fn copy_accs(&mut self, source: &Function, accs: &[Acc], env: &Env, inner: &mut Env) -> Vec<Acc> {
        let copy =
            |a: &Acc| Acc { var: self.copy_var(source, a.var, inner), kind: a.kind, init: a.init.map(|i| env.atom(i)) };
        accs.iter().map(copy).collect()
    }

    /// A renamed copy of a block; `env` gains everything that it binds at its top.
    pub fn copy_block(&mut self, source: &Function, b: &Block, env: &mut Env, on_unknown: OnUnknownAcc<'_>) -> Block {
        self.open_block();
        for s in &b.stmts {
            self.copy_stmt_with(source, s, env, &mut *on_unknown);
        }
        let results = env.atoms(&b.results);
        self.close_block(results)
    }
}

impl ParResult {
    /// The same under an environment.
    pub fn renamed(&self, env: &Env) -> ParResult {
        match self {
            ParResult::Stacked => ParResult::Stacked,
            ParResult::Reduced { monoid, init } => ParResult::Reduced { monoid: *monoid, init: env.atom(*init) },
        }
    }
}
