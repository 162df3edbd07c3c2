//! Renamed copies of code.

use crate::{Acc, Block, Builder, Env, Function, Loop, Op, Par, ParResult, PartMut, Stmt, Var, VarInfo};

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
        let mut new = op.without_blocks();
        new.each_part_mut(|part| match part {
            PartMut::Operands(_, atoms) => atoms.iter_mut().for_each(|a| *a = env.atom(*a)),
            PartMut::Binders(vars) => vars.iter_mut().for_each(|v| *v = self.copy_var(source, *v, inner)),
            PartMut::Accs(accs) => *accs = self.copy_accs(source, accs, env, inner),
            PartMut::Written(acc) => *acc = env.var(*acc),
            PartMut::Blocks(_) => {}
        });
        // The arms of a branch do not see each other's variables.
        let are_arms = matches!(op, Op::Switch { .. });
        for (block, new) in op.blocks().iter().zip(new.blocks_mut()) {
            *new = if are_arms {
                self.copy_block(source, block, &mut inner.clone(), &mut *on_unknown)
            } else {
                self.copy_block(source, block, inner, &mut *on_unknown)
            };
        }
        new
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

impl Op {
    /// The same operation with empty inner blocks.
    pub fn without_blocks(&self) -> Op {
        if let Op::Par(p) = self {
            let Par { indices, extents, kinds, accs, body: _ } = p.as_ref();
            Op::Par(Box::new(Par {
                indices: indices.clone(),
                extents: extents.clone(),
                kinds: kinds.clone(),
                accs: accs.clone(),
                body: Block::default(),
            }))
        } else if let Op::Loop(l) = self {
            let Loop { index, count, params, inits, accs, body: _, kept } = l.as_ref();
            Op::Loop(Box::new(Loop {
                index: *index,
                count: *count,
                params: params.clone(),
                inits: inits.clone(),
                accs: accs.clone(),
                body: Block::default(),
                kept: *kept,
            }))
        } else if let Op::Switch { selector, arms } = self {
            Op::Switch { selector: *selector, arms: vec![Block::default(); arms.len()] }
        } else {
            self.clone()
        }
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
