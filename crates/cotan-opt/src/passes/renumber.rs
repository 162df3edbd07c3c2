//! Renumbering of variables: drops those that nothing binds any more, and numbers the others in order of binding.

use super::rename::{rename_block, rename_ty};
use crate::pass::{Pass, Promise};
use cotan_ir::{Block, Function, Var, VarInfo};

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "renumber",
    doc: "Variables are numbered in order of binding, and those that nothing binds are dropped.",
    promise: Promise::Bits,
    is_idempotent: true,
    run: |f, _| renumber(f),
};

/// The same function with a table of just its own variables.
pub fn renumber(mut f: Function) -> Function {
    let mut bound = f.params.clone();
    collect_bound(&f.body, &mut bound);
    let mut numbers = vec![None; f.vars.len()];
    for (number, v) in bound.iter().enumerate() {
        numbers[v.index()] = Some(Var(number as u32));
    }
    let name = |v: Var| numbers[v.index()].expect("invariant: what is used is bound");
    let mut infos: Vec<Option<VarInfo>> = f.vars.into_iter().map(Some).collect();
    let mut info = |v: &Var| infos[v.index()].take().expect("invariant: a variable is bound once");
    f.vars = bound.iter().map(&mut info).collect();
    f.vars.iter_mut().for_each(|info| rename_ty(&mut info.ty, &|d| name(d).into()));
    f.params = (0..f.params.len() as u32).map(Var).collect();
    rename_block(&mut f.body, &name);
    f
}

fn collect_bound(block: &Block, bound: &mut Vec<Var>) {
    for s in &block.stmts {
        bound.extend(s.op.binders());
        s.op.blocks().iter().for_each(|b| collect_bound(b, bound));
        bound.extend(&s.results);
    }
}
