//! Idiom recognition: sums that three nested parallel loops add up become matrix products.
//!
//! The reverse sweep of a product that was written as loops adds to the cotangent of each factor, `a_cot[i, k] += c_cot[i, j]
//! b[k, j]`, in loops over `i`, `j` and `k`. That is a matrix product: the sum over one index, of two factors of which each
//! depends on that index and on one index of the element. It is made one where each side of it may be large; a matrix that
//! is not in memory as it is needed, because a factor is computed in the loops, is made first, which takes as many steps as
//! it has elements. What else the loops do they go on doing.
//!
//! Only products in which an exact zero wins ([`cotan_ops::MULZ`]) are taken: they belong to derivatives, whose order of adding up is
//! free. The sums of `+/` have a documented order, and loops of values round each product. The order is that of the loops
//! anyway, unless a sum does not start from zero or is long.

use super::nested_sums::{Level, Path, Write, drop_writes, element, writes};
use crate::analysis::splats::Splats;
use crate::pass::{Pass, Promise};
use cotan_ir::{Acc, AccKind, Atom, Const, Dim, Elem, Function, Monoid, Op, Par, Stmt, Ty};
use cotan_ops::{ADD, MATMUL, STRONG, TRANSPOSE};
use rustc_hash::FxHashSet;

/// The record of the pass.
pub static PASS: Pass = Pass {
    name: "recognize_matmul",
    doc: "Sums of products in three nested parallel loops become matrix products.",
    promise: Promise::Bits,
    is_idempotent: true,
    run: |f, _| recognize_matmul(f),
};

/// Products of two numbers below which loops are as good, where that is known.
const LEAST_WORK: i64 = 1 << 14;
/// The least extent of a product that is made.
const LEAST_SIDE: i64 = 4;

/// The function with matrix products in the place of sums in nests of its own block.
pub fn recognize_matmul(mut f: Function) -> Function {
    let mut at = 0;
    while at < f.body.stmts.len() {
        while let Some(found) = find(&f, &f.body.stmts[at]) {
            take_out(&mut f, at, &found);
        }
        at += 1;
    }
    f
}

/// A sum in a nest that is a matrix product.
struct Found {
    /// Which accumulator of the nest.
    acc: usize,
    /// Rows, columns, terms.
    levels: [Level; 3],
    /// The factors of a term, of which the first belongs to a row and the second to a column.
    factors: [Atom; 2],
    /// What the loops compute of scalars and rows, in order.
    computed: Vec<Stmt>,
}

fn find(f: &Function, nest: &Stmt) -> Option<Found> {
    let Op::Par(p) = &nest.op else { return None };
    p.accs.iter().enumerate().find_map(|(number, acc)| product_of(f, p, number, acc))
}

fn product_of(f: &Function, p: &Par, number: usize, acc: &Acc) -> Option<Found> {
    let ty = f.ty(acc.var);
    let is_sum = acc.kind == AccKind::Reduce(Monoid::Add) && matches!(ty.elem, Elem::F32 | Elem::F64);
    if !is_sum || ty.rank() != 2 || writes(&p.body, acc.var) != 1 {
        return None;
    }
    let mut path = Path::default();
    path.follow(p, acc.var)?;
    let (indices, value) = path.written.clone()?;
    let [first, second] = indices[..] else { return None };
    let level = |a: Atom| path.levels.iter().copied().find(|level| Atom::Var(level.index) == a);
    let (row, column) = (level(first)?, level(second)?);
    let [term] = path.levels.iter().filter(|l| l.index != row.index && l.index != column.index).collect::<Vec<_>>()[..]
    else {
        return None;
    };
    let levels = [row, column, *term];
    let is_whole = ty.dims[0].atom() == row.extent && ty.dims[1].atom() == column.extent;
    let are_outside = |a: &Atom| a.var().is_none_or(|v| !path.defines(v));
    if path.levels.len() != 3 || !is_whole || !levels.iter().all(|l| are_outside(&l.extent)) || is_small(&levels) {
        return None;
    }
    let side = |side: Level| FxHashSet::from_iter([side.index, term.index]);
    let factors = path.factors(f, value, [side(row), side(column)])?;
    Some(Found { acc: number, levels, factors, computed: path.computed })
}

/// Whether it is known that loops are as good.
fn is_small(levels: &[Level; 3]) -> bool {
    let known = levels.map(|l| l.extent.constant().and_then(Const::as_i64));
    let work = known.iter().try_fold(1_i64, |work, n| Some(work.saturating_mul((*n)?)));
    known.iter().flatten().any(|n| *n < LEAST_SIDE) || work.is_some_and(|work| work < LEAST_WORK)
}

/// Takes a sum out of the nest at a position, and writes the product behind the nest.
fn take_out(f: &mut Function, at: usize, found: &Found) {
    let span = f.body.stmts[at].span;
    let nest = &mut f.body.stmts[at];
    let Op::Par(p) = &mut nest.op else { return };
    let acc = p.accs.remove(found.acc);
    let result = nest.results.remove(p.kinds.len() + found.acc);
    drop_writes(&mut p.body, acc.var);
    let [row, column, term] = found.levels;
    let splats = Splats::of(&f.body);
    let mut write = Write { f, written: Vec::new(), span };
    let left = matrix(&mut write, [row, term], found.factors[0], &found.computed);
    let right = matrix(&mut write, [term, column], found.factors[1], &found.computed);
    let op = Op::Tensor { op: MATMUL.op(), args: vec![left, right], attrs: STRONG.to_vec() };
    match acc.init.filter(|init| !splats.is_zero(*init)) {
        None => write.push(result, op),
        Some(init) => {
            let ty = write.f.ty(result).clone();
            let product = write.define("product", ty, op);
            write.push(result, Op::Prim { prim: ADD.prim(), args: vec![init, product.into()] });
        }
    }
    let written = write.written;
    f.body.stmts.splice(at + 1..at + 1, written);
}

/// The matrix of what a factor is at two indices: an array, one with its axes exchanged, or one that is made.
fn matrix(write: &mut Write<'_>, levels: [Level; 2], factor: Atom, computed: &[Stmt]) -> Atom {
    if let Some((array, indices)) = element(factor, computed)
        && indices == [levels[1], levels[0]].map(|l| Atom::Var(l.index))
    {
        let ty =
            |levels: [Level; 2]| Ty::new(write.f.atom_ty(array).elem, levels.map(|l| Dim::from_atom(l.extent)).into());
        let (whole, turned) = (ty(levels), ty([levels[1], levels[0]]));
        if write.f.atom_ty(array) == turned {
            let op = Op::Tensor { op: TRANSPOSE.op(), args: vec![array], attrs: vec![1, 0] };
            return write.define("transposed", whole, op).into();
        }
    }
    write.array(&levels, factor, computed)
}

#[cfg(test)]
mod tests;
