//! `fft(x){inverse}`, `rfft(x)` and `irfft(z)`: discrete Fourier transforms along an axis, not normalised. A complex number
//! is the last axis, of two: its real and its imaginary part.
//!
//! `fft`: `y[k] = sum over j of x[j] exp(-2 pi i j k / n)`, with the other sign in the exponent if `inverse` is 1. `rfft`
//! is that of real numbers, of which the first `n / 2 + 1` are given; `irfft` is `n` times its inverse, which ignores the
//! imaginary parts of the first entry and, for even `n`, of the last.
//!
//! All are linear. As real matrices, the transpose of `fft` is that of the other direction; those of `rfft` and `irfft` are
//! each other, but for a factor 2 in the entries that stand for two.

use super::algebra::Algebra;
use super::matrices::{FLOATS, by_float};
use super::sample::numbers;
use super::{
    Batching, Derivative, Evaluation, RoutineCall, ShapeRule, Shapes, StableHlo, TensorRow, TensorSample, TensorUse,
};
use crate::{EQ, Group, MUL, OR, Operand, Proof, SELECT, typed_number};
use cotan_ir::{Atom, Builder, Dim, TensorSig, Ty};

/// Transforms of complex numbers.
pub static FFT: TensorRow = TensorRow {
    sig: TensorSig { name: "fft", prints: false, record: &FFT },
    group: Group::Spectral,
    operands: &[Operand::smooth("x", "T[.., n, 2]")],
    result: "T[.., n, 2]",
    elems: FLOATS,
    doc: "`fft(x){inverse}`: the discrete Fourier transform along the axis before the last, not normalised.",
    shape: ShapeRule::Checked,
    check,
    evaluation: Evaluation::Routine(routine),
    derivative: Derivative::Linear { transpose },
    batching: Batching::Leading,
    stablehlo: StableHlo::Operation("stablehlo.fft"),
    failure: None,
    samples: &[
        TensorSample { args: &[numbers(&[5, 2])], attrs: &[0], dims: &[5, 2] },
        TensorSample { args: &[numbers(&[2, 4, 2])], attrs: &[1], dims: &[2, 4, 2] },
    ],
    proof: Proof::Unproved { reason: "the proofs have no theory of complex roots of unity" },
};

/// Transforms of real numbers.
pub static RFFT: TensorRow = TensorRow {
    sig: TensorSig { name: "rfft", prints: false, record: &RFFT },
    group: Group::Spectral,
    operands: &[Operand::smooth("x", "T[.., n]")],
    result: "T[.., n / 2 + 1, 2]",
    elems: FLOATS,
    doc: "`rfft(x)`: the first half of the discrete Fourier transform of real numbers along the last axis, not normalised.",
    shape: ShapeRule::Checked,
    check: check_rfft,
    evaluation: Evaluation::Routine(rfft),
    derivative: Derivative::Linear { transpose: transpose_rfft },
    batching: Batching::Leading,
    stablehlo: StableHlo::Operation("stablehlo.fft"),
    failure: None,
    samples: &[
        TensorSample { args: &[numbers(&[5])], attrs: &[], dims: &[3, 2] },
        TensorSample { args: &[numbers(&[2, 4])], attrs: &[], dims: &[2, 3, 2] },
    ],
    proof: Proof::Unproved { reason: "the proofs have no theory of complex roots of unity" },
};

/// Transforms to real numbers.
pub static IRFFT: TensorRow = TensorRow {
    sig: TensorSig { name: "irfft", prints: false, record: &IRFFT },
    group: Group::Spectral,
    operands: &[Operand::smooth("z", "T[.., n / 2 + 1, 2]")],
    result: "T[.., n]",
    elems: FLOATS,
    doc: "`irfft(z)`: the real numbers whose transform `z` is the first half of, times as many as there are.",
    shape: ShapeRule::Checked,
    check: check_irfft,
    evaluation: Evaluation::Routine(irfft),
    derivative: Derivative::Linear { transpose: transpose_irfft },
    batching: Batching::Leading,
    stablehlo: StableHlo::Operation("stablehlo.fft"),
    failure: None,
    samples: &[
        TensorSample { args: &[numbers(&[3, 2])], attrs: &[], dims: &[5] },
        TensorSample { args: &[numbers(&[2, 3, 2])], attrs: &[], dims: &[2, 4] },
    ],
    proof: Proof::Unproved { reason: "the proofs have no theory of complex roots of unity" },
};

fn check(shapes: &Shapes) -> Result<(), String> {
    shapes.n_args(1)?;
    shapes.n_attrs(1)?;
    shapes.same_elem()?;
    match shapes.args[0] {
        (elem, dims @ [.., _, 2]) if elem.is_float() => shapes.result_dims(dims),
        (elem, dims) => Err(format!("expected complex numbers, found {elem} of dims {dims:?}")),
    }
}

/// The dims of the real numbers and of the half of their transform.
fn check_halves(real: &[i64], half: &[i64]) -> Result<(), String> {
    match (real, half) {
        ([outer @ .., n], [other @ .., h, 2]) if outer == other && *h == n / 2 + 1 => Ok(()),
        _ => Err(format!("dims {half:?} are not those of half of the transform of dims {real:?}")),
    }
}

fn check_rfft(shapes: &Shapes) -> Result<(), String> {
    shapes.n_args(1)?;
    shapes.n_attrs(0)?;
    shapes.same_elem()?;
    check_halves(shapes.args[0].1, shapes.result.1)
}

fn check_irfft(shapes: &Shapes) -> Result<(), String> {
    shapes.n_args(1)?;
    shapes.n_attrs(0)?;
    shapes.same_elem()?;
    check_halves(shapes.result.1, shapes.args[0].1)
}

fn routine(call: &mut RoutineCall) {
    let n = call.dims.len().checked_sub(2).map_or(0, |axis| call.dims[axis] as usize);
    let is_inverse = call.attrs == [1];
    by_float!(call, |args, to| cotan_kernels::fft(n, args[0], to, is_inverse));
}

fn rfft(call: &mut RoutineCall) {
    let n = call.args.first().and_then(|a| a.dims.last()).map_or(0, |n| *n as usize);
    by_float!(call, |args, to| cotan_kernels::rfft(n, args[0], to));
}

fn irfft(call: &mut RoutineCall) {
    let n = call.dims.last().map_or(0, |n| *n as usize);
    by_float!(call, |args, to| cotan_kernels::irfft(n, args[0], to));
}

fn transpose(b: &mut Builder, at: &TensorUse, cot: Atom, _: usize) -> Atom {
    b.tensor(FFT.op(), &[cot], &[1 - at.attrs[0]], at.result.clone()).into()
}

fn transpose_rfft(b: &mut Builder, at: &TensorUse, cot: Atom, _: usize) -> Atom {
    let ty = b.ty(at.args[0]).tangent();
    let n = ty.dims.last().copied().unwrap_or(Dim::Const(0));
    let weighted = weighted(b, cot, n, 0.5);
    b.tensor(IRFFT.op(), &[weighted], &[], ty).into()
}

fn transpose_irfft(b: &mut Builder, at: &TensorUse, cot: Atom, _: usize) -> Atom {
    let ty = b.ty(at.args[0]).tangent();
    let n = at.result.dims.last().copied().unwrap_or(Dim::Const(0));
    let half = b.tensor(RFFT.op(), &[cot], &[], ty).into();
    weighted(b, half, n, 2.0)
}

/// Half of a transform of `n` numbers, with the entries that stand for two times a weight.
fn weighted(b: &mut Builder, z: Atom, n: Dim, weight: f64) -> Atom {
    let mut m = Algebra { b };
    let Ty { elem, dims } = m.b.ty(z);
    let [one, weight] = [1.0, weight].map(|x| Atom::from(typed_number(elem, x)));
    m.each(&dims, |m, at| {
        let [.., k, _] = *at else { return one };
        let is_first = m.prim(&EQ, &[k, Atom::i64(0)]);
        let twice = m.prim(&MUL, &[k, Atom::i64(2)]);
        let is_middle = m.prim(&EQ, &[twice, n.atom()]);
        let is_single = m.prim(&OR, &[is_first, is_middle]);
        let factor = m.prim(&SELECT, &[is_single, one, weight]);
        let element = m.at(z, at);
        m.times(factor, element)
    })
}
