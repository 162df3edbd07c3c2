//! `svd(a)`: the thin singular value decomposition `a = u diag(s) v^T`, with as many columns as the smaller side. The result
//! holds the rows of `u`, then a row of singular values in descending order, then the rows of `v`. The entry of largest
//! modulus of each column of `u` is positive.
//!
//! With `p = u^T a_tan v` and `f = 1 / (s[j]^2 - s[i]^2)` off the diagonal, the tangents are
//! `u (f (p s + s p^T)) + (1 - u u^T) a_tan v s^-1`, `diag(p)` and `v (f (s p + p^T s)) + (1 - v v^T) a_tan^T u s^-1`
//! (Townsend, Differentiating the singular value decomposition, 2016). The vectors of equal singular values, and those of
//! singular values that are 0 where the matrix is not square, have no derivative.

use super::algebra::Algebra;
use super::matrices::{FLOATS, by_float, last_two, matrix, result};
use super::sample::numbers;
use super::{
    Batching, Derivative, Evaluation, RoutineCall, ShapeRule, Shapes, StableHlo, TensorRow, TensorSample, TensorUse,
};
use crate::{Group, Operand, Proof};
use cotan_ir::{Atom, Builder, CheckKind, Dim, TensorSig};

/// Singular value decompositions.
pub static SVD: TensorRow = TensorRow {
    sig: TensorSig { name: "svd", prints: false, record: &SVD },
    group: Group::LinearAlgebra,
    operands: &[Operand::smooth_where(
        "a",
        "T[.., m, n]",
        "the singular values are positive and differ from one another",
    )],
    result: "T[.., m + 1 + n, min(m, n)]",
    elems: FLOATS,
    doc: "`svd(a)`: the rows of `u`, a row of singular values in descending order and the rows of `v`.",
    shape: ShapeRule::Checked,
    check,
    evaluation: Evaluation::Routine(routine),
    derivative: Derivative::Rule { push, pull },
    batching: Batching::Leading,
    stablehlo: StableHlo::CustomCall("lapack_gesdd"),
    failure: Some(CheckKind::NotConverged),
    samples: &[
        TensorSample { args: &[numbers(&[4, 2])], attrs: &[], dims: &[7, 2] },
        TensorSample { args: &[numbers(&[2, 3])], attrs: &[], dims: &[6, 2] },
        TensorSample { args: &[numbers(&[3, 3])], attrs: &[], dims: &[7, 3] },
        TensorSample { args: &[numbers(&[2, 2, 1])], attrs: &[], dims: &[2, 4, 1] },
    ],
    proof: Proof::Unproved { reason: "the proofs have no theory of matrix factorisations" },
};

fn check(shapes: &Shapes) -> Result<(), String> {
    shapes.n_args(1)?;
    shapes.n_attrs(0)?;
    let (batch, rows, columns) = matrix(shapes, 0)?;
    result(shapes, batch, &[rows + 1 + columns, rows.min(columns)])
}

fn routine(call: &mut RoutineCall) {
    let (m, n) = call.args.first().map_or((0, 0), |a| last_two(a.dims));
    by_float!(call, |args, to| cotan_kernels::svd(m, n, args[0], to));
}

/// The parts of a result or of a derivative of it.
struct Parts {
    u: Atom,
    s: Atom,
    v: Atom,
}

/// The rows and columns of the operand.
fn sides(m: &Algebra, at: &TensorUse) -> (Dim, Dim) {
    let dims = m.b.ty(at.args[0]).dims;
    (dims[dims.len() - 2], dims[dims.len() - 1])
}

fn parts(m: &mut Algebra, packed: Atom, (rows, columns): (Dim, Dim)) -> Parts {
    let after = m.prim(&crate::ADD, &[rows.atom(), Atom::i64(1)]);
    let (u, s) = (m.rows(packed, Atom::i64(0), rows), m.row(packed, rows.atom()));
    Parts { u, s, v: m.rows(packed, after, columns) }
}

/// What of `x` lies outside of the space that the columns of `u` span: `x - u (u^T x)`.
fn outside(m: &mut Algebra, u: Atom, x: Atom) -> Atom {
    let u_transposed = m.transposed(u);
    let inside = m.product(u_transposed, x);
    let inside = m.product(u, inside);
    m.sub(x, inside)
}

fn push(b: &mut Builder, at: &TensorUse, y: Atom, tangents: &[Option<Atom>]) -> Atom {
    let mut m = Algebra { b };
    let Some(Some(a_tan)) = tangents.first().copied() else { return y };
    let sides = sides(&m, at);
    let Parts { u, s, v } = parts(&mut m, y, sides);
    let moved = m.product(a_tan, v);
    let u_transposed = m.transposed(u);
    let p = m.product(u_transposed, moved);
    let p_transposed = m.transposed(p);
    let squares = m.square(s);
    let gaps = m.gaps(squares);
    let inverse = m.inverse(s);
    let s_tan = m.of_diagonal(p);
    // `p s` and `s p^T` are transposes of each other, as are `s p` and `p^T s`.
    let ps = m.columns_times(p, s);
    let sp = m.transposed(ps);
    let u_turn = m.add(ps, sp);
    let u_turn = m.times(gaps, u_turn);
    let u_inside = m.product(u, u_turn);
    let u_outside = outside(&mut m, u, moved);
    let u_outside = m.columns_times(u_outside, inverse);
    let u_tan = m.add(u_inside, u_outside);
    let qs = m.columns_times(p_transposed, s);
    let sq = m.transposed(qs);
    let v_turn = m.add(qs, sq);
    let v_turn = m.times(gaps, v_turn);
    let v_inside = m.product(v, v_turn);
    let a_tan_transposed = m.transposed(a_tan);
    let moved = m.product(a_tan_transposed, u);
    let v_outside = outside(&mut m, v, moved);
    let v_outside = m.columns_times(v_outside, inverse);
    let v_tan = m.add(v_inside, v_outside);
    let s_tan = m.as_row(s_tan);
    let n_rows = at.result.dims[at.result.rank() - 2];
    m.stacked(&[u_tan, s_tan, v_tan], n_rows)
}

fn pull(b: &mut Builder, at: &TensorUse, y: Atom, y_cot: Atom, _: usize) -> Atom {
    let mut m = Algebra { b };
    let sides = sides(&m, at);
    let Parts { u, s, v } = parts(&mut m, y, sides);
    let cot = parts(&mut m, y_cot, sides);
    let squares = m.square(s);
    let gaps = m.gaps(squares);
    let inverse = m.inverse(s);
    let turn = |m: &mut Algebra, x: Atom, x_cot: Atom| {
        let x_transposed = m.transposed(x);
        let k = m.product(x_transposed, x_cot);
        let k_transposed = m.transposed(k);
        let turned = m.sub(k, k_transposed);
        m.times(gaps, turned)
    };
    let u_turn = turn(&mut m, u, cot.u);
    let u_turn = m.columns_times(u_turn, s);
    let v_turn = turn(&mut m, v, cot.v);
    // `s` times the rows: the transpose of the columns of the transpose.
    let v_turn = m.transposed(v_turn);
    let v_turn = m.columns_times(v_turn, s);
    let v_turn = m.transposed(v_turn);
    let diagonal = m.diagonal(cot.s);
    let inner = m.add(u_turn, v_turn);
    let inner = m.add(diagonal, inner);
    let left = m.product(u, inner);
    let u_outside = outside(&mut m, u, cot.u);
    let u_outside = m.columns_times(u_outside, inverse);
    let left = m.add(left, u_outside);
    let v_transposed = m.transposed(v);
    let first = m.product(left, v_transposed);
    let v_outside = outside(&mut m, v, cot.v);
    let v_outside = m.columns_times(v_outside, inverse);
    let v_outside = m.transposed(v_outside);
    let second = m.product(u, v_outside);
    m.add(first, second)
}
