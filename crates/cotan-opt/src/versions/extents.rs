//! Which sizes of a function are worth a version: those that inner loops are as long as.

use cotan_ir::{Atom, Block, Function, Op, Stmt, Var};
use rustc_hash::FxHashSet;

/// The positions of the parameters, i64s, that are extents of loops or of tensors inside of loops.
pub fn inner_extents(f: &Function) -> Vec<usize> {
    let mut inner = FxHashSet::default();
    collect(f, &f.body, false, &mut inner);
    (0..f.params.len()).filter(|k| inner.contains(&f.params[*k])).collect()
}

/// The variables that are such extents in a block, which stands in a loop or not.
fn collect(f: &Function, block: &Block, is_inside: bool, found: &mut FxHashSet<Var>) {
    for s in &block.stmts {
        if is_inside {
            found.extend(s.results.iter().flat_map(|r| f.ty(*r).dim_vars()));
        }
        found.extend(inner_counts(s, is_inside).into_iter().filter_map(Atom::var));
        let is_inside = is_inside || s.op.is_loop_nest();
        s.op.blocks().iter().for_each(|b| collect(f, b, is_inside, found));
    }
}

/// The numbers of iterations of a loop that run inside another one; of several indices the first is outermost.
fn inner_counts(s: &Stmt, is_inside: bool) -> Vec<Atom> {
    let n_outer = usize::from(!is_inside);
    if let Op::Par(p) = &s.op {
        p.extents.iter().copied().skip(n_outer).collect()
    } else if let Op::Loop(l) = &s.op {
        l.count.into_iter().skip(n_outer).collect()
    } else {
        Vec::new()
    }
}
