//! `triangular_solve(a, b){upper, transposed, unit}`: the `x` with `op(a) x = b`, where `op(a)` is a triangle of `a` or
//! its transpose, with ones on the diagonal if `unit` is 1.
//!
//! `x_tan = op(a)^-1 (b_tan - op(a_tan) x)`; `b_cot = op(a)^-T x_cot` and `a_cot` is the triangle of `-b_cot x^T`, or of
//! `-x b_cot^T`.

use super::algebra::{Algebra, Triangle};
use super::matrices::{FLOATS, by_float, last_two, matrix, result, same_batch, square};
use super::sample::{numbers, regular};
use super::{
    Batching, Derivative, Evaluation, RoutineCall, ShapeRule, Shapes, StableHlo, TensorRow, TensorSample, TensorUse,
};
use crate::{Group, Operand, Proof};
use cotan_ir::{Atom, Builder, CheckKind, TensorSig};

/// Solutions of triangular systems.
pub static TRIANGULAR_SOLVE: TensorRow = TensorRow {
    sig: TensorSig { name: "triangular_solve", prints: false, record: &TRIANGULAR_SOLVE },
    group: Group::LinearAlgebra,
    operands: &[
        Operand::smooth_where("a", "T[.., n, n]", "no element of the diagonal is 0"),
        Operand::smooth("b", "T[.., n, k]"),
    ],
    result: "T[.., n, k]",
    elems: FLOATS,
    doc: "`triangular_solve(a, b){upper, transposed, unit}`: the `x` with `op(a) x = b`, where `op(a)` is a triangle of `a`.",
    shape: ShapeRule::Checked,
    check,
    evaluation: Evaluation::Routine(routine),
    derivative: Derivative::Rule { push, pull },
    batching: Batching::Leading,
    stablehlo: StableHlo::Operation("stablehlo.triangular_solve"),
    failure: Some(CheckKind::Singular),
    samples: &[
        TensorSample { args: &[regular(&[3, 3]), numbers(&[3, 2])], attrs: &[0, 0, 0], dims: &[3, 2] },
        TensorSample { args: &[regular(&[3, 3]), numbers(&[3, 2])], attrs: &[0, 0, 1], dims: &[3, 2] },
        TensorSample { args: &[regular(&[3, 3]), numbers(&[3, 2])], attrs: &[0, 1, 0], dims: &[3, 2] },
        TensorSample { args: &[regular(&[3, 3]), numbers(&[3, 2])], attrs: &[0, 1, 1], dims: &[3, 2] },
        TensorSample { args: &[regular(&[3, 3]), numbers(&[3, 2])], attrs: &[1, 0, 0], dims: &[3, 2] },
        TensorSample { args: &[regular(&[3, 3]), numbers(&[3, 2])], attrs: &[1, 0, 1], dims: &[3, 2] },
        TensorSample { args: &[regular(&[3, 3]), numbers(&[3, 2])], attrs: &[1, 1, 0], dims: &[3, 2] },
        TensorSample { args: &[regular(&[3, 3]), numbers(&[3, 2])], attrs: &[1, 1, 1], dims: &[3, 2] },
        TensorSample { args: &[regular(&[2, 2, 2]), numbers(&[2, 2, 1])], attrs: &[1, 0, 0], dims: &[2, 2, 1] },
    ],
    proof: Proof::Unproved { reason: "the proofs have no theory of matrix factorisations" },
};

/// The attributes for the lower triangle.
pub(super) const SOLVE: [i64; 3] = [0, 0, 0];
/// The attributes for the transpose of the lower triangle.
pub(super) const TRANSPOSED: [i64; 3] = [0, 1, 0];
/// The attributes for the upper triangle.
pub(super) const UPPER: [i64; 3] = [1, 0, 0];
/// The attributes for the transpose of the upper triangle.
pub(super) const UPPER_TRANSPOSED: [i64; 3] = [1, 1, 0];

/// The solution of `op(a) x = b`.
pub(super) fn solved(m: &mut Algebra, a: Atom, b: Atom, attrs: [i64; 3]) -> Atom {
    let ty = m.b.ty(b);
    m.b.tensor(TRIANGULAR_SOLVE.op(), &[a, b], &attrs, ty).into()
}

fn check(shapes: &Shapes) -> Result<(), String> {
    shapes.n_args(2)?;
    shapes.n_attrs(3)?;
    let ((batch, n), (other, rows, k)) = (square(shapes, 0)?, matrix(shapes, 1)?);
    same_batch(batch, other)?;
    if rows != n || shapes.attrs.iter().any(|flag| !(0..=1).contains(flag)) {
        return Err(format!("expected {n} rows and flags that are 0 or 1, found {rows} and {:?}", shapes.attrs));
    }
    result(shapes, batch, &[n, k])
}

fn routine(call: &mut RoutineCall) {
    let (n, k) = last_two(call.dims);
    let is = |at: usize| call.attrs.get(at) == Some(&1);
    let triangle = cotan_kernels::Triangle { upper: is(0), transposed: is(1), unit_diagonal: is(2) };
    by_float!(call, |args, to| cotan_kernels::triangular_solve(n, k, args[0], args[1], to, triangle));
}

/// The attributes as flags.
fn flags(at: &TensorUse) -> [i64; 3] {
    [0, 1, 2].map(|k| at.attrs.get(k).copied().unwrap_or(0))
}

/// What of a matrix counts.
fn triangle(m: &mut Algebra, x: Atom, [upper, _, unit]: [i64; 3]) -> Atom {
    let which = match (upper == 1, unit == 1) {
        (false, false) => Triangle::Lower,
        (false, true) => Triangle::StrictlyLower,
        (true, false) => Triangle::Upper,
        (true, true) => Triangle::StrictlyUpper,
    };
    m.triangle(x, which)
}

fn push(b: &mut Builder, at: &TensorUse, x: Atom, tangents: &[Option<Atom>]) -> Atom {
    let (mut m, flags) = (Algebra { b }, flags(at));
    let moved = tangents.first().copied().flatten().map(|a_tan| {
        let mut a_tan = triangle(&mut m, a_tan, flags);
        if flags[1] == 1 {
            a_tan = m.transposed(a_tan);
        }
        let moved = m.product(a_tan, x);
        m.neg(moved)
    });
    let right = match (tangents.get(1).copied().flatten(), moved) {
        (Some(b_tan), Some(moved)) => m.add(b_tan, moved),
        (Some(b_tan), None) => b_tan,
        (None, Some(moved)) => moved,
        (None, None) => return x,
    };
    solved(&mut m, at.args[0], right, flags)
}

fn pull(b: &mut Builder, at: &TensorUse, x: Atom, x_cot: Atom, operand: usize) -> Atom {
    let (mut m, flags) = (Algebra { b }, flags(at));
    let b_cot = solved(&mut m, at.args[0], x_cot, [flags[0], 1 - flags[1], flags[2]]);
    if operand == 1 {
        return b_cot;
    }
    let (left, right) = if flags[1] == 1 { (x, b_cot) } else { (b_cot, x) };
    let right = m.transposed(right);
    let a_cot = m.product(left, right);
    let a_cot = m.neg(a_cot);
    triangle(&mut m, a_cot, flags)
}
