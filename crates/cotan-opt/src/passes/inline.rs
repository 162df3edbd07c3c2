//! Calls replaced by the bodies of their callees.
//!
//! A function with a custom derivative rule stays a call, so that the rule is found when the caller is differentiated.

use cotan_ir::{Block, Builder, Env, Function, Item, Module, Op, Stmt};

/// How large a caller may grow by inlining; calls that would make it larger stay calls.
#[derive(Clone, Copy, Debug)]
pub struct InlineLimit {
    /// Statements of one callee, its own inlined calls included.
    pub callee_stmts: usize,
}

impl Default for InlineLimit {
    fn default() -> InlineLimit {
        InlineLimit { callee_stmts: 20_000 }
    }
}

/// The function with its calls inlined, and the calls of those, as far as the module holds their bodies.
pub fn inline(module: &Module, f: &Function, limit: InlineLimit) -> Function {
    let mut pass = Inline { module, limit, b: Builder::new() };
    let mut env = Env::new();
    for p in &f.params {
        let ty = env.ty(f.ty(*p));
        let new = pass.b.param(f.name_of(*p), ty);
        env.insert(*p, new.into());
    }
    pass.stmts(f, &f.body.stmts, &mut env);
    let results = env.atoms(&f.body.results);
    let mut new = pass.b.finish(&f.name, results);
    new.custom_vjp = f.custom_vjp.clone();
    new.custom_jvp = f.custom_jvp.clone();
    new
}

struct Inline<'a> {
    module: &'a Module,
    limit: InlineLimit,
    b: Builder,
}

impl Inline<'_> {
    fn stmts(&mut self, f: &Function, stmts: &[Stmt], env: &mut Env) {
        for s in stmts {
            self.stmt(f, s, env);
        }
    }

    fn block(&mut self, f: &Function, block: &Block, env: &mut Env) -> Block {
        self.b.open_block();
        self.stmts(f, &block.stmts, env);
        let results = env.atoms(&block.results);
        self.b.close_block(results)
    }

    fn stmt(&mut self, f: &Function, s: &Stmt, env: &mut Env) {
        match &s.op {
            Op::Call { callee, args } => {
                let body = match self.module.items.get(callee) {
                    Some(Item::Function(g)) if self.is_inlined(g) => g.clone(),
                    Some(Item::Function(_) | Item::Derived(_)) | None => return self.b.copy_stmt(f, s, env),
                };
                let mut inner: Env = body.params.iter().copied().zip(env.atoms(args)).collect();
                self.stmts(&body, &body.body.stmts, &mut inner);
                let results = inner.atoms(&body.body.results);
                env.extend(s.results.iter().copied().zip(results));
            }
            Op::Par(_) | Op::Loop(_) | Op::Switch { .. } => {
                let op = self.region(f, &s.op, env);
                self.b.push_copy(f, s, op, env);
            }
            Op::Prim { .. }
            | Op::Tensor { .. }
            | Op::Index { .. }
            | Op::Update { .. }
            | Op::AccAdd { .. }
            | Op::Check { .. } => self.b.copy_stmt(f, s, env),
        }
    }

    fn is_inlined(&self, g: &Function) -> bool {
        g.custom_vjp.is_none() && g.custom_jvp.is_none() && g.n_stmts() <= self.limit.callee_stmts
    }

    /// A copy of a region with the calls inside inlined: the shell is copied with empty blocks, then they are filled.
    fn region(&mut self, f: &Function, op: &Op, env: &Env) -> Op {
        let mut shell = op.clone();
        for b in shell.blocks_mut() {
            *b = Block::default();
        }
        let mut inner = env.clone();
        let mut new = self.b.copy_op(f, &shell, env, &mut inner, &mut |_, _, _| {});
        for (target, source) in new.blocks_mut().iter_mut().zip(op.blocks()) {
            *target = self.block(f, source, &mut inner.clone());
        }
        new
    }
}
