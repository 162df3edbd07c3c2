//! Use lists: the statements of a block that read each variable, and the variables that a statement reads.

use cotan_ir::{Atom, Block, Function, Stmt, Var, free_vars};
use rustc_hash::FxHashMap;

/// The positions of the statements that read each variable, inside blocks of theirs too. The results of the block
/// count as one behind the last.
pub(crate) fn uses(f: &Function, block: &Block) -> FxHashMap<Var, Vec<usize>> {
    let mut uses: FxHashMap<Var, Vec<usize>> = FxHashMap::default();
    let mut add = |a: Atom, k: usize| {
        if let Atom::Var(v) = a {
            uses.entry(v).or_default().push(k);
        }
    };
    for (k, s) in block.stmts.iter().enumerate() {
        s.op.each_operand(&mut |a| add(a, k));
        let binders = s.op.binders();
        for b in s.op.blocks() {
            free_vars(f, b, &binders).into_iter().for_each(|v| add(v.into(), k));
        }
    }
    block.results.iter().for_each(|a| add(*a, block.stmts.len()));
    uses
}

/// The variables that a statement needs.
pub(crate) fn needs(f: &Function, s: &Stmt) -> Vec<Var> {
    let mut all: Vec<Var> = s.op.operands().iter().filter_map(|a| a.var()).collect();
    let binders = s.op.binders();
    for b in s.op.blocks() {
        all.extend(free_vars(f, b, &binders));
    }
    all.extend(binders.iter().chain(&s.results).flat_map(|v| f.ty(*v).dim_vars()));
    all
}
