//! Free variables, written accumulators and use counts.

use crate::{Atom, Block, Function, Var, VarInfo};
use rustc_hash::FxHashSet;

/// The variables that `block` uses and does not bind, in order of first use; `bound` are taken as bound. Variables
/// named by types of inner results and accumulators that are written count as used.
pub fn free_vars(f: &Function, block: &Block, bound: &[Var]) -> Vec<Var> {
    let mut walk = FreeVars { f, seen: bound.iter().copied().collect(), free: Vec::new() };
    walk.block(block);
    walk.free
}

struct FreeVars<'a> {
    f: &'a Function,
    seen: FxHashSet<Var>,
    free: Vec<Var>,
}

impl FreeVars<'_> {
    fn using(&mut self, v: Var) {
        if self.seen.insert(v) {
            self.free.push(v);
        }
    }

    fn binding(&mut self, v: Var) {
        self.seen.insert(v);
        let f = self.f;
        f.ty(v).dim_vars().for_each(|d| self.using(d));
    }

    fn block(&mut self, block: &Block) {
        for s in &block.stmts {
            s.op.each_operand(&mut |a| {
                if let Atom::Var(v) = a {
                    self.using(v);
                }
            });
            s.op.written().into_iter().for_each(|acc| self.using(acc));
            for v in s.op.binders() {
                self.binding(v);
            }
            for b in s.op.blocks() {
                self.block(b);
            }
            for v in &s.results {
                self.binding(*v);
            }
        }
        for v in block.results.iter().filter_map(|a| a.var()) {
            self.using(v);
        }
    }
}

/// The accumulators that a block writes, at any depth, those introduced inside it included.
pub fn written_accs(block: &Block) -> FxHashSet<Var> {
    block.walk().filter_map(|s| s.op.written()).collect()
}

/// How often each variable of a function is an operand or a result of a block in its body, by the variable's index.
pub fn count_uses(body: &Block, vars: &[VarInfo]) -> Vec<u32> {
    let mut uses = vec![0; vars.len()];
    let mut using = |a: Atom| {
        if let Atom::Var(v) = a {
            uses[v.index()] += 1;
        }
    };
    body.results.iter().copied().for_each(&mut using);
    for s in body.walk() {
        s.op.each_operand(&mut using);
        s.op.blocks().iter().flat_map(|b| &b.results).copied().for_each(&mut using);
    }
    uses
}
