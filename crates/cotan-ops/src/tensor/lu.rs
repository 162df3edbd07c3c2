//! `lu(a)` and `lu_permutation(a)`: factors of a matrix whose rows are permuted, by partial pivoting.
//!
//! Row `i` of `p a` is row `permutation[i]` of `a`, and `p a = l u`. The result of `lu` holds `u` on and above the diagonal
//! and `l` below it, whose diagonal is 1. With `x = l^-1 p a_tan u^-1`, the tangents are `l` times what of `x` lies below
//! the diagonal, and the rest of `x` times `u`. The permutation does not move.

use super::algebra::{Algebra, Triangle};
use super::matrices::{FLOATS, last_two, result, square};
use super::sample::numbers;
use super::triangular_solve::{UPPER, UPPER_TRANSPOSED, solved};
use super::{
    Batching, Derivative, Evaluation, RoutineCall, ShapeRule, Shapes, StableHlo, TensorRow, TensorSample, TensorUse,
};
use crate::elements::{Elements, ElementsMut};
use crate::{Group, Operand, Proof};
use cotan_ir::{Atom, Builder, CheckKind, Elem, TensorSig, Ty};

/// Factors.
pub static LU: TensorRow = TensorRow {
    sig: TensorSig { name: "lu", prints: false, record: &LU },
    group: Group::LinearAlgebra,
    operands: &[Operand::smooth_where(
        "a",
        "T[.., n, n]",
        "`a` is regular and no two rows are equally good as the next one",
    )],
    result: "T[.., n, n]",
    elems: FLOATS,
    doc: "`lu(a)`: the factors of `a` with its rows in the order of `lu_permutation`, `u` on and above the diagonal, `l` below.",
    shape: ShapeRule::Checked,
    check,
    evaluation: Evaluation::Routine(routine),
    derivative: Derivative::Rule { push, pull },
    batching: Batching::Leading,
    stablehlo: StableHlo::CustomCall("lapack_getrf"),
    failure: Some(CheckKind::Singular),
    samples: &[
        TensorSample { args: &[numbers(&[3, 3])], attrs: &[], dims: &[3, 3] },
        TensorSample { args: &[numbers(&[2, 2, 2])], attrs: &[], dims: &[2, 2, 2] },
    ],
    proof: Proof::Unproved { reason: "the proofs have no theory of matrix factorisations" },
};

/// The order of rows.
pub static LU_PERMUTATION: TensorRow = TensorRow {
    sig: TensorSig { name: "lu_permutation", prints: false, record: &LU_PERMUTATION },
    group: Group::LinearAlgebra,
    operands: &[Operand::zero("a", "T[.., n, n]", "positions are integers, which move in steps")],
    result: "i64[.., n]",
    elems: FLOATS,
    doc: "`lu_permutation(a)`: for each row of `l u` the row of `a` that it is.",
    shape: ShapeRule::Checked,
    check: check_permutation,
    evaluation: Evaluation::Routine(permutation),
    derivative: Derivative::None { reason: "positions are integers" },
    batching: Batching::Leading,
    stablehlo: StableHlo::CustomCall("lapack_getrf"),
    failure: None,
    samples: &[TensorSample { args: &[numbers(&[3, 3])], attrs: &[], dims: &[3] }],
    proof: Proof::Nothing,
};

fn check(shapes: &Shapes) -> Result<(), String> {
    shapes.n_args(1)?;
    shapes.n_attrs(0)?;
    let (batch, n) = square(shapes, 0)?;
    result(shapes, batch, &[n, n])
}

fn check_permutation(shapes: &Shapes) -> Result<(), String> {
    shapes.n_args(1)?;
    shapes.n_attrs(0)?;
    let (batch, n) = square(shapes, 0)?;
    if shapes.result.0 != Elem::I64 {
        return Err(format!("expected a result of i64, found {}", shapes.result.0));
    }
    shapes.result_dims(&[batch, &[n]].concat())
}

fn routine(call: &mut RoutineCall) {
    let (n, _) = last_two(call.dims);
    super::matrices::by_float!(call, |args, to| cotan_kernels::lu(n, args[0], to));
}

fn permutation(call: &mut RoutineCall) {
    let n = call.dims.last().map_or(0, |n| *n as usize);
    let (Some(a), ElementsMut::I64(to)) = (call.args.first(), &mut call.result) else { return };
    if let Elements::F32(a) = a.elements {
        cotan_kernels::lu_permutation(n, a, to);
    } else if let Elements::F64(a) = a.elements {
        cotan_kernels::lu_permutation(n, a, to);
    }
}

/// The order of rows, or the order that undoes it.
fn order(m: &mut Algebra, a: Atom) -> Atom {
    let mut dims = m.b.ty(a).dims;
    dims.pop();
    m.b.tensor(LU_PERMUTATION.op(), &[a], &[], Ty::new(Elem::I64, dims)).into()
}

/// The flags of a triangular system with ones on its diagonal, and those of its transpose.
const UNIT: [i64; 3] = [0, 0, 1];
const UNIT_TRANSPOSED: [i64; 3] = [0, 1, 1];

fn push(b: &mut Builder, at: &TensorUse, y: Atom, tangents: &[Option<Atom>]) -> Atom {
    let mut m = Algebra { b };
    let Some(Some(a_tan)) = tangents.first().copied() else { return y };
    let order = order(&mut m, at.args[0]);
    let permuted = m.rows_at(a_tan, order);
    let left = solved(&mut m, y, permuted, UNIT);
    let left = m.transposed(left);
    let x = solved(&mut m, y, left, UPPER_TRANSPOSED);
    let x = m.transposed(x);
    let lower = m.triangle(x, Triangle::StrictlyLower);
    let upper = m.triangle(x, Triangle::Upper);
    let (l, u) = (m.unit_lower(y), m.triangle(y, Triangle::Upper));
    let (l_tan, u_tan) = (m.product(l, lower), m.product(upper, u));
    m.add(l_tan, u_tan)
}

fn pull(b: &mut Builder, at: &TensorUse, y: Atom, y_cot: Atom, _: usize) -> Atom {
    let mut m = Algebra { b };
    let order = order(&mut m, at.args[0]);
    let (l, u) = (m.unit_lower(y), m.triangle(y, Triangle::Upper));
    let l_cot = m.triangle(y_cot, Triangle::StrictlyLower);
    let u_cot = m.triangle(y_cot, Triangle::Upper);
    let (l_transposed, u_transposed) = (m.transposed(l), m.transposed(u));
    let lower = m.product(l_transposed, l_cot);
    let lower = m.triangle(lower, Triangle::StrictlyLower);
    let upper = m.product(u_cot, u_transposed);
    let upper = m.triangle(upper, Triangle::Upper);
    let x_cot = m.add(lower, upper);
    let left = solved(&mut m, y, x_cot, UNIT_TRANSPOSED);
    let left = m.transposed(left);
    let permuted = solved(&mut m, y, left, UPPER);
    let permuted = m.transposed(permuted);
    m.rows_to(permuted, order)
}
