//! Reuse of iteration values: a parallel loop stores what a later loop over the same indices computes again.
//!
//! A reverse sweep inside of a parallel loop has a twin that it cannot be joined with: it needs a sum of what the other
//! computes. But the loops in both that take long are the same. A number is kept for each of them, for as long as an
//! iteration of the loop around takes; outside of all parallel loops it would be kept for a whole array, so it is not.

use super::candidates::is_alike;
use super::{Known, Names, Twins};
use crate::pass::{Pass, Promise};
use crate::passes::dce::dce;
use cotan_ir::{Atom, Block, Dim, Function, Op, Par, ParResult, Stmt, Ty, Var, VarInfo, bug, print_stmt};

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "reuse_iteration_values",
    doc: "Values that an inner loop computes again are stored by the earlier loop of the same iteration.",
    promise: Promise::Bits,
    is_idempotent: true,
    run: |f, _| reuse_iteration_values(f),
};

/// The function with long computations kept inside of its parallel loops.
pub fn reuse_iteration_values(mut f: Function) -> Function {
    let mut body = std::mem::take(&mut f.body);
    in_block(&mut f, &mut body, false);
    // What computed it again.
    dce(Function { body, ..f })
}

fn in_block(f: &mut Function, block: &mut Block, is_inside: bool) {
    for s in &mut block.stmts {
        let is_inside = is_inside || matches!(s.op, Op::Par(_));
        s.op.blocks_mut().iter_mut().for_each(|b| in_block(f, b, is_inside));
    }
    if !is_inside {
        return;
    }
    for later in 1..block.stmts.len() {
        for earlier in 0..later {
            let (Op::Par(p), Op::Par(q)) = (&block.stmts[earlier].op, &block.stmts[later].op) else { continue };
            if p.extents != q.extents {
                continue;
            }
            // From behind, so that the positions of the others stay what they are.
            for again in Twins::of(f, &Block::default(), &[]).computed_again(p, q).iter().rev() {
                let kept = keep(f, &mut block.stmts[earlier], &again.first, again.value);
                read(f, &mut block.stmts[later], again, &again.second, kept, Vec::new());
            }
        }
    }
}

/// Makes a value in a loop, or in loops inside of it, a result of the loop.
fn keep(f: &mut Function, s: &mut Stmt, inner: &[usize], value: Var) -> Var {
    let Op::Par(p) = &mut s.op else {
        bug!("reuse_iteration_values", print_stmt(f, s), "only parallel loops keep values")
    };
    let element = match inner {
        [] => value,
        [first, inner @ ..] => keep(f, &mut p.body.stmts[*first], inner, value),
    };
    let is_it = |k: &usize| p.kinds[*k] == ParResult::Stacked && p.body.results[*k] == Atom::Var(element);
    if let Some(k) = (0..p.kinds.len()).find(is_it) {
        return s.results[k];
    }
    let info = &f.vars[element.index()];
    let dims = p.extents.iter().map(|e| Dim::from_atom(*e)).chain(info.ty.dims.iter().copied());
    let info = VarInfo { name: info.name.clone(), ty: Ty::new(info.ty.elem, dims.collect()), record: None };
    let kept = f.add_var(info);
    s.results.insert(p.kinds.len(), kept);
    p.kinds.push(ParResult::Stacked);
    p.body.results.push(element.into());
    kept
}

/// Reads what was kept, under the name of what computes it again.
fn read(f: &mut Function, s: &mut Stmt, again: &Again, path: &[usize], kept: Var, mut indices: Vec<Atom>) {
    let Op::Par(p) = &mut s.op else {
        bug!("reuse_iteration_values", print_stmt(f, s), "only parallel loops read kept values")
    };
    indices.extend(p.indices.iter().map(|i| Atom::Var(*i)));
    match path {
        [] => bug!("reuse_iteration_values", print_stmt(f, s), "a value that is computed again stands in a loop"),
        [at] => {
            let again_there = f.add_var(f.vars[again.result.index()].clone());
            let computing = &mut p.body.stmts[*at];
            computing.results.iter_mut().filter(|r| **r == again.result).for_each(|r| *r = again_there);
            let op = Op::Index { array: kept.into(), indices };
            let read = Stmt { results: vec![again.result], op, span: computing.span };
            p.body.stmts.insert(at + 1, read);
        }
        [at, path @ ..] => read(f, &mut p.body.stmts[*at], again, path, kept, indices),
    }
}

/// A number that is computed again.
struct Again {
    /// Where it is computed first: the positions of the loops inside each other.
    first: Vec<usize>,
    /// Its name there.
    value: Var,
    /// Where it is computed again: the positions of the loops and of the statement.
    second: Vec<usize>,
    /// Its name there.
    result: Var,
}

impl Twins<'_> {
    /// What the second of two loops computes again.
    fn computed_again(&self, p: &Par, q: &Par) -> Vec<Again> {
        let mut found = Vec::new();
        self.compare(p, q, &Names::default(), &mut (Vec::new(), Vec::new()), &mut found);
        found
    }

    fn compare(&self, p: &Par, q: &Par, names: &Names, at: &mut (Vec<usize>, Vec<usize>), found: &mut Vec<Again>) {
        let mut names = names.clone();
        q.indices.iter().zip(&p.indices).for_each(|(j, i)| names.set(*j, *i));
        let mut known = Known::default();
        p.body.stmts.iter().for_each(|s| _ = self.enter(&mut known, s, &names));
        for (m, original) in q.body.stmts.iter().enumerate() {
            let mut s = original.clone();
            names.in_stmt(&mut s);
            if let Some(earlier) = self.enter(&mut known, &s, &names) {
                names.set(s.results[0], earlier);
            }
            at.1.push(m);
            for (k, earlier) in p.body.stmts.iter().enumerate() {
                if takes_long(original) && self.is_equal(earlier, &s, &mut names) {
                    let is_number = |r: &&Var| self.f.ty(**r).is_scalar() && self.f.ty(**r).is_float();
                    found.extend(s.results.iter().filter(is_number).filter_map(|r| {
                        let value = names.of((*r).into()).var()?;
                        Some(Again { first: at.0.clone(), value, second: at.1.clone(), result: *r })
                    }));
                    break;
                }
                // Extents that are known outside of both.
                if let (Op::Par(inner), Op::Par(again), Op::Par(same)) = (&earlier.op, &s.op, &original.op)
                    && inner.extents == same.extents
                {
                    let n_found = found.len();
                    at.0.push(k);
                    self.compare(inner, again, &names, at, found);
                    at.0.pop();
                    if found.len() > n_found {
                        break;
                    }
                }
            }
            at.1.pop();
        }
    }

    /// Whether a region does just what an earlier one does; its results get the names of the other's.
    fn is_equal(&self, earlier: &Stmt, s: &Stmt, names: &mut Names) -> bool {
        let mut trial = names.clone();
        let is_equal = is_alike(earlier, s)
            && self.merge(earlier, s, &mut trial).is_some_and(|both| {
                let unchanged = |b: &Stmt| (b.results.len(), b.op.blocks().iter().map(size).sum::<usize>());
                unchanged(&both) == unchanged(earlier)
            });
        if is_equal {
            *names = trial;
        }
        is_equal
    }
}

/// Whether a statement gives numbers, after a number of iterations that only the run knows.
fn takes_long(s: &Stmt) -> bool {
    if let Op::Loop(l) = &s.op {
        l.count.is_none_or(|n| n.constant().is_none()) && l.accs.is_empty()
    } else if let Op::Par(p) = &s.op {
        let is_reduced = |kind: &ParResult| matches!(kind, ParResult::Reduced { .. });
        p.extents.iter().any(|n| n.constant().is_none()) && p.accs.is_empty() && p.kinds.iter().all(is_reduced)
    } else {
        false
    }
}

fn size(block: &Block) -> usize {
    block.walk().count()
}
