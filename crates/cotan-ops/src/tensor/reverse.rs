//! `reverse(x){axis}`: `y[.., k, ..] = x[.., n - 1 - k, ..]`. Its own transpose.

use super::sample::numbers;
use super::{Batching, Derivative, Evaluation, Inputs, ShapeRule, Shapes, StableHlo, TensorRow, TensorSample};
use crate::value::split_at_axis;
use crate::{Group, Operand, Proof, Value};
use cotan_ir::{ElemSet, TensorSig};

/// The elements along one axis in opposite order.
pub static REVERSE: TensorRow = TensorRow {
    sig: TensorSig { name: "reverse", prints: false, record: &REVERSE },
    group: Group::Shape,
    operands: &[Operand::smooth("x", "T[..]")],
    result: "T[..]",
    elems: ElemSet::ANY,
    doc: "`reverse(x){axis}`: the elements of `x` in opposite order along `axis`.",
    shape: ShapeRule::Same,
    check,
    evaluation: Evaluation::Direct(eval),
    derivative: Derivative::Linear {
        transpose: |b, at, cot, _| b.tensor(REVERSE.op(), &[cot], at.attrs, at.result.clone()).into(),
    },
    batching: Batching::Axes,
    stablehlo: StableHlo::Operation("stablehlo.reverse"),
    failure: None,
    samples: &[
        TensorSample { args: &[numbers(&[4])], attrs: &[0], dims: &[4] },
        TensorSample { args: &[numbers(&[2, 3])], attrs: &[0], dims: &[2, 3] },
        TensorSample { args: &[numbers(&[2, 3])], attrs: &[1], dims: &[2, 3] },
    ],
    proof: Proof::Theorem("gather_adjoint"),
};

fn check(shapes: &Shapes) -> Result<(), String> {
    shapes.n_args(1)?;
    shapes.n_attrs(1)?;
    shapes.same_elem()?;
    let dims = shapes.args[0].1;
    shapes.axis(0, dims.len())?;
    shapes.follows(ShapeRule::Same)
}

fn eval(inputs: &Inputs) -> Value {
    let (x, axis) = (inputs.args[0], inputs.attrs[0] as usize);
    let (outer, n, inner) = split_at_axis(&x.dims, axis);
    let mut bits = Vec::with_capacity(x.bits.len());
    for i in 0..outer {
        for k in (0..n).rev() {
            let start = (i * n + k) * inner;
            bits.extend_from_slice(&x.bits[start..start + inner]);
        }
    }
    Value { bits, ..x.clone() }
}
