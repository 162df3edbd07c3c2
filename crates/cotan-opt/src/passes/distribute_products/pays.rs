//! When a loop is split: the matrices are large, there are some rows, and what is kept of all iterations is not too much.
//!
//! The bounds are measured. With 4 x 4 matrices the value takes less time in the loop, with 8 x 8 the gradient takes 2.3 times the split
//! one's, with 32 x 32 and more both take three times or more.

use super::plan::Plan;
use cotan_ir::{Atom, Builder, Const, Par, Ty};
use cotan_ops::{ADD, AND, GE, LE, MUL, OR, PrimRow};

/// Elements of a matrix from which on products with it are taken together.
const LEAST_ELEMENTS: i64 = 64;
/// The least side of such a matrix, where it is known.
const LEAST_SIDE: i64 = 4;
/// Iterations from which on a loop is split.
const LEAST_ROWS: i64 = 16;
/// Numbers that are kept of all iterations, at most.
const MOST_KEPT: i64 = 1 << 24;

/// Whether it is known that products with a matrix are better off in the loop.
pub(super) fn is_small(matrix: &Ty) -> bool {
    let known: Vec<i64> = matrix.dims.iter().filter_map(|d| d.atom().constant()?.as_i64()).collect();
    let has_short_side = known.iter().any(|n| *n < LEAST_SIDE);
    let elements = known.iter().fold(1_i64, |n, d| n.saturating_mul(*d));
    has_short_side || known.len() == matrix.rank() && elements < LEAST_ELEMENTS
}

/// The condition under which the loop is split, as statements.
pub(super) fn test(b: &mut Builder, p: &Par, plan: &Plan<'_>) -> Atom {
    let count = p.extents[0];
    let mut is_large: Option<Atom> = None;
    for matrix in plan.matrices() {
        let elements = elements(b, &matrix);
        let this = apply(b, &GE, elements, Const::i64(LEAST_ELEMENTS).into());
        is_large = Some(is_large.map_or(this, |others| apply(b, &OR, others, this)));
    }
    // A count that passes this cannot overflow when it is multiplied with what an iteration has in memory.
    let mut all = apply(b, &LE, count, Const::i64(MOST_KEPT).into());
    let mut width: Option<Atom> = None;
    for ty in plan.kept() {
        let this = elements(b, &ty);
        width = Some(width.map_or(this, |others| apply(b, &ADD, others, this)));
    }
    if let Some(width) = width {
        let kept = apply(b, &MUL, count, width);
        let fits = apply(b, &LE, kept, Const::i64(MOST_KEPT).into());
        all = apply(b, &AND, all, fits);
    }
    let has_rows = apply(b, &GE, count, Const::i64(LEAST_ROWS).into());
    all = apply(b, &AND, all, has_rows);
    is_large.map_or(all, |is_large| apply(b, &AND, is_large, all))
}

/// The number of elements of a type.
fn elements(b: &mut Builder, ty: &Ty) -> Atom {
    let dims = ty.dims.iter().map(|d| d.atom());
    dims.reduce(|n, d| apply(b, &MUL, n, d)).unwrap_or(Const::i64(1).into())
}

fn apply(b: &mut Builder, row: &'static PrimRow, x: Atom, y: Atom) -> Atom {
    b.prim(row.prim(), &[x, y]).into()
}
