//! `slogdet(a)`: the sign and the logarithm of the absolute value of the determinant, as a vector of two; `0` and `-inf`
//! for a singular matrix.
//!
//! The sign does not move; the tangent of the logarithm is `tr(a^-1 a_tan)`, and `a_cot = log_cot a^-T`.

use super::algebra::Algebra;
use super::matrices::{FLOATS, by_float, result, square};
use super::sample::{numbers, regular};
use super::solve::solved;
use super::{
    Batching, Derivative, Evaluation, RoutineCall, ShapeRule, Shapes, StableHlo, TensorRow, TensorSample, TensorUse,
};
use crate::{EQ, Group, Operand, Proof, SELECT, typed_number};
use cotan_ir::{Atom, Builder, Dim, TensorSig, Ty};

/// Signs and logarithms of determinants.
pub static SLOGDET: TensorRow = TensorRow {
    sig: TensorSig { name: "slogdet", prints: false, record: &SLOGDET },
    group: Group::LinearAlgebra,
    operands: &[Operand::smooth_where("a", "T[.., n, n]", "`a` is regular")],
    result: "T[.., 2]",
    elems: FLOATS,
    doc: "`slogdet(a)`: the sign and the logarithm of the absolute value of the determinant.",
    shape: ShapeRule::Checked,
    check,
    evaluation: Evaluation::Routine(routine),
    derivative: Derivative::Rule { push, pull },
    batching: Batching::Leading,
    stablehlo: StableHlo::None { reason: "there is no such operation; the factors of `lu` give it" },
    failure: None,
    samples: &[
        TensorSample { args: &[numbers(&[3, 3])], attrs: &[], dims: &[2] },
        TensorSample { args: &[regular(&[2, 2, 2])], attrs: &[], dims: &[2, 2] },
    ],
    proof: Proof::Unproved { reason: "the proofs have no theory of matrix factorisations" },
};

fn check(shapes: &Shapes) -> Result<(), String> {
    shapes.n_args(1)?;
    shapes.n_attrs(0)?;
    let (batch, _) = square(shapes, 0)?;
    result(shapes, batch, &[2])
}

fn routine(call: &mut RoutineCall) {
    let n = call.args.first().and_then(|a| a.dims.last()).map_or(0, |n| *n as usize);
    by_float!(call, |args, to| cotan_kernels::slogdet(n, args[0], to));
}

fn push(b: &mut Builder, at: &TensorUse, y: Atom, tangents: &[Option<Atom>]) -> Atom {
    let mut m = Algebra { b };
    let Some(Some(a_tan)) = tangents.first() else { return y };
    let ratio = solved(&mut m, at.args[0], *a_tan, 0);
    let diagonal = m.of_diagonal(ratio);
    let Ty { elem, dims } = at.result.clone();
    let zero = typed_number(elem, 0.0).into();
    m.each(&dims, |m, index| {
        let [ref batch @ .., part] = *index else { return zero };
        let trace = m.sum_of(diagonal, batch);
        let is_sign = m.prim(&EQ, &[part, Atom::i64(0)]);
        m.prim(&SELECT, &[is_sign, zero, trace])
    })
}

fn pull(b: &mut Builder, at: &TensorUse, _: Atom, cot: Atom, _: usize) -> Atom {
    let mut m = Algebra { b };
    let a = at.args[0];
    let one = m.identity_like(a);
    let inverse = solved(&mut m, a, one, 1);
    let dims: Vec<Dim> = m.b.ty(a).dims;
    m.each(&dims, |m, index| {
        let batch = &index[..index.len() - 2];
        let log: Vec<Atom> = batch.iter().copied().chain([Atom::i64(1)]).collect();
        let (log_cot, element) = (m.at(cot, &log), m.at(inverse, index));
        m.times(log_cot, element)
    })
}
