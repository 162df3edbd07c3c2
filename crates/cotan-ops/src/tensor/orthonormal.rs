//! `orthonormal(a)`: the factor `q` of `a = q r` whose columns are orthonormal, for an `a` with at least as many rows as
//! columns; the upper triangular `r` has no negative element on its diagonal, and is `q^T a`. Where columns are linearly
//! dependent `q` is one of many, and has no derivative: it is NaN.
//!
//! With `x = a_tan r^-1` and `p = q^T x`, `q_tan = x - q p + q (s - s^T)` where `s` is what of `p` lies below the diagonal.
//! The transpose of that gives the cotangent (Walter and Lehmann, Algorithmic differentiation of linear algebra functions
//! with application in optimum experimental design, 2010, section 3).

use super::algebra::{Algebra, Triangle};
use super::matrices::{FLOATS, by_float, last_two, matrix, result};
use super::sample::numbers;
use super::triangular_solve::{UPPER, UPPER_TRANSPOSED, solved};
use super::{
    Batching, Derivative, Evaluation, RoutineCall, ShapeRule, Shapes, StableHlo, TensorRow, TensorSample, TensorUse,
};
use crate::{Group, Operand, Proof};
use cotan_ir::{Atom, Builder, TensorSig};

/// Orthonormal factors.
pub static ORTHONORMAL: TensorRow = TensorRow {
    sig: TensorSig { name: "orthonormal", prints: false, record: &ORTHONORMAL },
    group: Group::LinearAlgebra,
    operands: &[Operand::smooth_where("a", "T[.., m, n]", "the columns are linearly independent")],
    result: "T[.., m, n]",
    elems: FLOATS,
    doc: "`orthonormal(a)`: the `q` of `a = q r` with orthonormal columns, `m >= n`; the diagonal of `r` is not negative.",
    shape: ShapeRule::Checked,
    check,
    evaluation: Evaluation::Routine(routine),
    derivative: Derivative::Rule { push, pull },
    batching: Batching::Leading,
    stablehlo: StableHlo::CustomCall("lapack_geqrf"),
    failure: None,
    samples: &[
        TensorSample { args: &[numbers(&[4, 2])], attrs: &[], dims: &[4, 2] },
        TensorSample { args: &[numbers(&[3, 3])], attrs: &[], dims: &[3, 3] },
        TensorSample { args: &[numbers(&[2, 3, 1])], attrs: &[], dims: &[2, 3, 1] },
    ],
    proof: Proof::Unproved { reason: "the proofs have no theory of matrix factorisations" },
};

fn check(shapes: &Shapes) -> Result<(), String> {
    shapes.n_args(1)?;
    shapes.n_attrs(0)?;
    let (batch, rows, columns) = matrix(shapes, 0)?;
    if rows < columns {
        return Err(format!("expected at least as many rows as columns, found {rows} x {columns}"));
    }
    result(shapes, batch, &[rows, columns])
}

fn routine(call: &mut RoutineCall) {
    let (m, n) = last_two(call.dims);
    by_float!(call, |args, to| cotan_kernels::orthonormal(m, n, args[0], to));
}

/// The other factor.
fn upper(m: &mut Algebra, a: Atom, q: Atom) -> Atom {
    let q_transposed = m.transposed(q);
    let r = m.product(q_transposed, a);
    m.triangle(r, Triangle::Upper)
}

fn push(b: &mut Builder, at: &TensorUse, q: Atom, tangents: &[Option<Atom>]) -> Atom {
    let mut m = Algebra { b };
    let Some(Some(a_tan)) = tangents.first() else { return q };
    let r = upper(&mut m, at.args[0], q);
    let transposed = m.transposed(*a_tan);
    let x = solved(&mut m, r, transposed, UPPER_TRANSPOSED);
    let x = m.transposed(x);
    let q_transposed = m.transposed(q);
    let p = m.product(q_transposed, x);
    let s = m.triangle(p, Triangle::StrictlyLower);
    let s_transposed = m.transposed(s);
    let turned = m.sub(s, s_transposed);
    let inner = m.sub(turned, p);
    let inside = m.product(q, inner);
    m.add(x, inside)
}

fn pull(b: &mut Builder, at: &TensorUse, q: Atom, q_cot: Atom, _: usize) -> Atom {
    let mut m = Algebra { b };
    let r = upper(&mut m, at.args[0], q);
    let q_transposed = m.transposed(q);
    let w = m.product(q_transposed, q_cot);
    let w_transposed = m.transposed(w);
    let turned = m.sub(w, w_transposed);
    let turned = m.triangle(turned, Triangle::StrictlyLower);
    let p_cot = m.sub(turned, w);
    let inside = m.product(q, p_cot);
    let x_cot = m.add(q_cot, inside);
    let x_cot = m.transposed(x_cot);
    let a_cot = solved(&mut m, r, x_cot, UPPER);
    m.transposed(a_cot)
}
