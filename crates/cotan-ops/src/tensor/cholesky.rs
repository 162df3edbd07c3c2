//! `cholesky(a)`: the lower triangular `l` with `l l^T = a`, for a symmetric positive definite `a`, of which the lower
//! triangle is read.
//!
//! `da = dl l^T + l dl^T` gives `dl = l F(l^-1 da l^-T)`, where `F` takes the lower triangle with half the diagonal; the
//! cotangent of `a` is the symmetric part of `l^-T F(l^T l_cot) l^-1` (Murray, Differentiation of the Cholesky
//! decomposition, 2016, sections 3.1 and 3.2).

use super::algebra::Algebra;
use super::matrices::{FLOATS, by_float, last_two, result, square};
use super::triangular_solve::{SOLVE, TRANSPOSED, solved};
use super::{
    Batching, Derivative, Evaluation, Like, RoutineCall, Sampled, ShapeRule, Shapes, StableHlo, TensorRow,
    TensorSample, TensorUse,
};
use crate::{Group, Operand, Proof};
use cotan_ir::{Atom, Builder, CheckKind, TensorSig};

/// Cholesky factors.
pub static CHOLESKY: TensorRow = TensorRow {
    sig: TensorSig { name: "cholesky", prints: false, record: &CHOLESKY },
    group: Group::LinearAlgebra,
    operands: &[Operand::smooth_where("a", "T[.., n, n]", "`a` is positive definite")],
    result: "T[.., n, n]",
    elems: FLOATS,
    doc: "`cholesky(a)`: the lower triangular factor `l` of `l l^T = a`; of `a` the lower triangle is read.",
    shape: ShapeRule::Checked,
    check,
    evaluation: Evaluation::Routine(routine),
    derivative: Derivative::Rule { push, pull },
    batching: Batching::Leading,
    stablehlo: StableHlo::Operation("stablehlo.cholesky"),
    failure: Some(CheckKind::NotPositiveDefinite),
    samples: &[
        TensorSample { args: &[Sampled { dims: &[3, 3], like: Like::Definite }], attrs: &[], dims: &[3, 3] },
        TensorSample { args: &[Sampled { dims: &[2, 2, 2], like: Like::Definite }], attrs: &[], dims: &[2, 2, 2] },
        TensorSample { args: &[Sampled { dims: &[1, 1], like: Like::Definite }], attrs: &[], dims: &[1, 1] },
    ],
    proof: Proof::Unproved { reason: "the proofs have no theory of matrix factorisations" },
};

fn check(shapes: &Shapes) -> Result<(), String> {
    shapes.n_args(1)?;
    shapes.n_attrs(0)?;
    let (batch, n) = square(shapes, 0)?;
    result(shapes, batch, &[n, n])
}

fn routine(call: &mut RoutineCall) {
    let (n, _) = last_two(call.dims);
    by_float!(call, |args, to| cotan_kernels::cholesky(n, args[0], to));
}

fn push(b: &mut Builder, _: &TensorUse, l: Atom, tangents: &[Option<Atom>]) -> Atom {
    let mut m = Algebra { b };
    let Some(Some(a_tan)) = tangents.first() else { return l };
    // Of the operand the lower triangle is read, so of its tangent as well.
    let a_tan = m.mirrored(*a_tan);
    let left = solved(&mut m, l, a_tan, SOLVE);
    let left = m.transposed(left);
    let inner = solved(&mut m, l, left, SOLVE);
    let inner = m.half(inner);
    m.product(l, inner)
}

fn pull(b: &mut Builder, _: &TensorUse, l: Atom, l_cot: Atom, _: usize) -> Atom {
    let mut m = Algebra { b };
    let l_transposed = m.transposed(l);
    let inner = m.product(l_transposed, l_cot);
    let inner = m.half(inner);
    let left = solved(&mut m, l, inner, TRANSPOSED);
    let left = m.transposed(left);
    let both = solved(&mut m, l, left, TRANSPOSED);
    m.folded(both)
}
