//! `solve(a, b){transposed}`: the `x` with `a x = b`, or with `a^T x = b`.
//!
//! `x_tan = a^-1 (b_tan - a_tan x)`; `b_cot = a^-T x_cot` and `a_cot = -b_cot x^T`; with `transposed` the matrix is `a^T`
//! in all of it.

use super::algebra::Algebra;
use super::matrices::{FLOATS, by_float, last_two, matrix, result, same_batch, square};
use super::sample::{numbers, regular};
use super::{
    Batching, Derivative, Evaluation, RoutineCall, ShapeRule, Shapes, StableHlo, TensorRow, TensorSample, TensorUse,
};
use crate::{Group, Operand, Proof};
use cotan_ir::{Atom, Builder, CheckKind, TensorSig};

/// Solutions of linear systems.
pub static SOLVE: TensorRow = TensorRow {
    sig: TensorSig { name: "solve", prints: false, record: &SOLVE },
    group: Group::LinearAlgebra,
    operands: &[Operand::smooth_where("a", "T[.., n, n]", "`a` is regular"), Operand::smooth("b", "T[.., n, k]")],
    result: "T[.., n, k]",
    elems: FLOATS,
    doc: "`solve(a, b){transposed}`: the `x` with `a x = b`, or with `a^T x = b` if the attribute is 1.",
    shape: ShapeRule::Checked,
    check,
    evaluation: Evaluation::Routine(routine),
    derivative: Derivative::Rule { push, pull },
    batching: Batching::Leading,
    stablehlo: StableHlo::CustomCall("lapack_gesv"),
    failure: Some(CheckKind::Singular),
    samples: &[
        TensorSample { args: &[regular(&[3, 3]), numbers(&[3, 2])], attrs: &[0], dims: &[3, 2] },
        TensorSample { args: &[regular(&[3, 3]), numbers(&[3, 2])], attrs: &[1], dims: &[3, 2] },
        TensorSample { args: &[regular(&[2, 2, 2]), numbers(&[2, 2, 1])], attrs: &[0], dims: &[2, 2, 1] },
    ],
    proof: Proof::Unproved { reason: "the proofs have no theory of matrix factorisations" },
};

/// The solution of `a x = b`, or of `a^T x = b`.
pub(super) fn solved(m: &mut Algebra, a: Atom, b: Atom, transposed: i64) -> Atom {
    let ty = m.b.ty(b);
    m.b.tensor(SOLVE.op(), &[a, b], &[transposed], ty).into()
}

fn check(shapes: &Shapes) -> Result<(), String> {
    shapes.n_args(2)?;
    shapes.n_attrs(1)?;
    let ((batch, n), (other, rows, k)) = (square(shapes, 0)?, matrix(shapes, 1)?);
    same_batch(batch, other)?;
    if rows != n || !(0..=1).contains(&shapes.attrs[0]) {
        return Err(format!("expected {n} rows and a flag that is 0 or 1, found {rows} and {:?}", shapes.attrs));
    }
    result(shapes, batch, &[n, k])
}

fn routine(call: &mut RoutineCall) {
    let (n, k) = last_two(call.dims);
    let is_transposed = call.attrs == [1];
    by_float!(call, |args, to| cotan_kernels::solve(n, k, args[0], args[1], to, is_transposed));
}

fn push(b: &mut Builder, at: &TensorUse, x: Atom, tangents: &[Option<Atom>]) -> Atom {
    let (mut m, transposed) = (Algebra { b }, at.attrs[0]);
    let moved = tangents.first().copied().flatten().map(|a_tan| {
        let a_tan = if transposed == 1 { m.transposed(a_tan) } else { a_tan };
        let moved = m.product(a_tan, x);
        m.neg(moved)
    });
    let right = match (tangents.get(1).copied().flatten(), moved) {
        (Some(b_tan), Some(moved)) => m.add(b_tan, moved),
        (Some(b_tan), None) => b_tan,
        (None, Some(moved)) => moved,
        (None, None) => return x,
    };
    solved(&mut m, at.args[0], right, transposed)
}

fn pull(b: &mut Builder, at: &TensorUse, x: Atom, x_cot: Atom, operand: usize) -> Atom {
    let (mut m, transposed) = (Algebra { b }, at.attrs[0]);
    let b_cot = solved(&mut m, at.args[0], x_cot, 1 - transposed);
    if operand == 1 {
        return b_cot;
    }
    let (left, right) = if transposed == 1 { (x, b_cot) } else { (b_cot, x) };
    let right = m.transposed(right);
    let a_cot = m.product(left, right);
    m.neg(a_cot)
}
