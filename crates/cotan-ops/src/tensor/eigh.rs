//! `eigh(a)`: eigenvalues and eigenvectors of a symmetric `a`, of which the lower triangle is read. The first row of the
//! result holds the eigenvalues in ascending order, the rows after it the matrix `v` whose columns are the vectors. The
//! entry of largest modulus of each vector is positive.
//!
//! With `p = v^T a_tan v`, the tangents are `diag(p)` and `v (f p)`, where `f = 1 / (w[j] - w[i])` off the diagonal;
//! `a_cot = v (diag(w_cot) + f (v^T v_cot)) v^T` (Giles, Collected matrix derivative results for forward and reverse mode
//! algorithmic differentiation, 2008, section 3.1). The vectors of equal eigenvalues have no derivative: it is infinite,
//! unless what it is multiplied with is 0.

use super::algebra::Algebra;
use super::matrices::{FLOATS, by_float, result, square};
use super::sample::numbers;
use super::{
    Batching, Derivative, Evaluation, RoutineCall, ShapeRule, Shapes, StableHlo, TensorRow, TensorSample, TensorUse,
};
use crate::{Group, Operand, Proof};
use cotan_ir::{Atom, Builder, CheckKind, Dim, TensorSig};

/// Eigenvalues and eigenvectors of symmetric matrices.
pub static EIGH: TensorRow = TensorRow {
    sig: TensorSig { name: "eigh", prints: false, record: &EIGH },
    group: Group::LinearAlgebra,
    operands: &[Operand::smooth_where("a", "T[.., n, n]", "the eigenvalues differ from one another")],
    result: "T[.., n + 1, n]",
    elems: FLOATS,
    doc: "`eigh(a)`: a row of eigenvalues in ascending order, then the matrix whose columns are the eigenvectors.",
    shape: ShapeRule::Checked,
    check,
    evaluation: Evaluation::Routine(routine),
    derivative: Derivative::Rule { push, pull },
    batching: Batching::Leading,
    stablehlo: StableHlo::CustomCall("lapack_syevd"),
    failure: Some(CheckKind::NotConverged),
    samples: &[
        TensorSample { args: &[numbers(&[3, 3])], attrs: &[], dims: &[4, 3] },
        TensorSample { args: &[numbers(&[2, 2, 2])], attrs: &[], dims: &[2, 3, 2] },
    ],
    proof: Proof::Unproved { reason: "the proofs have no theory of matrix factorisations" },
};

fn check(shapes: &Shapes) -> Result<(), String> {
    shapes.n_args(1)?;
    shapes.n_attrs(0)?;
    let (batch, n) = square(shapes, 0)?;
    result(shapes, batch, &[n + 1, n])
}

fn routine(call: &mut RoutineCall) {
    let n = call.dims.last().map_or(0, |n| *n as usize);
    by_float!(call, |args, to| cotan_kernels::eigh(n, args[0], to));
}

/// Eigenvalues as a vector, and eigenvectors.
fn parts(m: &mut Algebra, packed: Atom, n: Dim) -> (Atom, Atom) {
    (m.row(packed, Atom::i64(0)), m.rows(packed, Atom::i64(1), n))
}

/// The number of rows and columns, and of rows of the result.
fn sides(at: &TensorUse) -> (Dim, Dim) {
    let rank = at.result.rank();
    (at.result.dims[rank - 1], at.result.dims[rank - 2])
}

fn push(b: &mut Builder, at: &TensorUse, y: Atom, tangents: &[Option<Atom>]) -> Atom {
    let (mut m, (n, n_rows)) = (Algebra { b }, sides(at));
    let Some(Some(a_tan)) = tangents.first() else { return y };
    let a_tan = m.mirrored(*a_tan);
    let (w, v) = parts(&mut m, y, n);
    let v_transposed = m.transposed(v);
    let p = m.product(v_transposed, a_tan);
    let p = m.product(p, v);
    let w_tan = m.of_diagonal(p);
    let gaps = m.gaps(w);
    let turned = m.times(gaps, p);
    let v_tan = m.product(v, turned);
    let w_tan = m.as_row(w_tan);
    m.stacked(&[w_tan, v_tan], n_rows)
}

fn pull(b: &mut Builder, at: &TensorUse, y: Atom, y_cot: Atom, _: usize) -> Atom {
    let (mut m, (n, _)) = (Algebra { b }, sides(at));
    let (w, v) = parts(&mut m, y, n);
    let (w_cot, v_cot) = parts(&mut m, y_cot, n);
    let v_transposed = m.transposed(v);
    let inner = m.product(v_transposed, v_cot);
    let gaps = m.gaps(w);
    let turned = m.times(gaps, inner);
    let diagonal = m.diagonal(w_cot);
    let inner = m.add(diagonal, turned);
    let left = m.product(v, inner);
    let a_cot = m.product(left, v_transposed);
    m.folded(a_cot)
}
