//! `slice(x, lo){axis}` and `pad(x, lo){axis}`, transposes of each other.
//!
//! `slice`: `y[.., k, ..] = x[.., lo + k, ..]`, as many as the result has along the axis. `pad`: `y` is 0 but for
//! `y[.., lo + k, ..] = x[.., k, ..]`. The range lies inside: a check that `lo` passes through says so.

use super::sample::{numbers, position};
use super::{
    Batching, Derivative, Evaluation, Inputs, ShapeRule, Shapes, StableHlo, TensorRow, TensorSample, TensorUse,
};
use crate::value::split_at_axis;
use crate::{Group, Operand, Proof, Value};
use cotan_ir::{Atom, Builder, ElemSet, TensorSig};

/// A range of positions along one axis.
pub static SLICE: TensorRow = TensorRow {
    sig: TensorSig { name: "slice", prints: false, record: &SLICE },
    group: Group::Shape,
    operands: &[Operand::smooth("x", "T[..]"), Operand::zero("lo", "i64", "a position moves in steps")],
    result: "T[..]",
    elems: ElemSet::ANY,
    doc: "`slice(x, lo){axis}`: the positions from `lo` on along `axis`, as many as the result has.",
    shape: ShapeRule::Checked,
    check: |shapes| check(shapes, false),
    evaluation: Evaluation::Direct(slice),
    derivative: Derivative::Linear { transpose: |b, at, cot, _| move_back(&PAD, b, at, cot) },
    batching: Batching::Axes,
    stablehlo: StableHlo::Operation("stablehlo.dynamic_slice"),
    failure: None,
    samples: &[
        TensorSample { args: &[numbers(&[5]), position(1)], attrs: &[0], dims: &[3] },
        TensorSample { args: &[numbers(&[2, 4]), position(2)], attrs: &[1], dims: &[2, 2] },
        TensorSample { args: &[numbers(&[3, 2]), position(0)], attrs: &[0], dims: &[0, 2] },
    ],
    proof: Proof::Theorem("gather_adjoint"),
};

/// Zeros around a tensor.
pub static PAD: TensorRow = TensorRow {
    sig: TensorSig { name: "pad", prints: false, record: &PAD },
    group: Group::Shape,
    operands: &[Operand::smooth("x", "T[..]"), Operand::zero("lo", "i64", "a position moves in steps")],
    result: "T[..]",
    elems: ElemSet::ANY,
    doc: "`pad(x, lo){axis}`: zeros, with `x` at the positions from `lo` on along `axis`.",
    shape: ShapeRule::Checked,
    check: |shapes| check(shapes, true),
    evaluation: Evaluation::Direct(pad),
    derivative: Derivative::Linear { transpose: |b, at, cot, _| move_back(&SLICE, b, at, cot) },
    batching: Batching::Axes,
    stablehlo: StableHlo::Operation("stablehlo.pad"),
    failure: None,
    samples: &[
        TensorSample { args: &[numbers(&[3]), position(1)], attrs: &[0], dims: &[5] },
        TensorSample { args: &[numbers(&[2, 2]), position(2)], attrs: &[1], dims: &[2, 4] },
        TensorSample { args: &[numbers(&[0, 2]), position(0)], attrs: &[0], dims: &[2, 2] },
    ],
    proof: Proof::Theorem("gather_adjoint"),
};

fn move_back(other: &'static TensorRow, b: &mut Builder, at: &TensorUse, cot: Atom) -> Atom {
    let ty = b.ty(at.args[0]).tangent();
    b.tensor(other.op(), &[cot, at.args[1]], at.attrs, ty).into()
}

fn check(shapes: &Shapes, grows: bool) -> Result<(), String> {
    shapes.n_args(2)?;
    shapes.n_attrs(1)?;
    shapes.same_elem()?;
    shapes.position(1)?;
    let (from, to) = (shapes.args[0].1, shapes.result.1);
    let axis = shapes.axis(0, from.len())?;
    let mut expected = from.to_vec();
    if let Some(n) = to.get(axis) {
        let fits = if grows { *n >= expected[axis] } else { *n <= expected[axis] };
        if !fits {
            return Err(format!("extent {n} along axis {axis} does not go with {}", expected[axis]));
        }
        expected[axis] = *n;
    }
    shapes.result_dims(&expected)
}

fn slice(inputs: &Inputs) -> Value {
    let (x, axis) = (inputs.args[0], inputs.attrs[0] as usize);
    let (outer, n, inner) = split_at_axis(&x.dims, axis);
    let length = inputs.result.1[axis] as usize;
    let lo = inputs.position(1).clamp(0, (n - length) as i64) as usize;
    let rows = (0..outer).map(|i| (i * n + lo) * inner);
    let bits = rows.flat_map(|start| &x.bits[start..start + length * inner]).copied().collect();
    Value { elem: x.elem, dims: inputs.result.1.to_vec(), bits }
}

fn pad(inputs: &Inputs) -> Value {
    let (x, axis) = (inputs.args[0], inputs.attrs[0] as usize);
    let mut y = Value::zeros(x.elem, inputs.result.1);
    let (outer, n, inner) = split_at_axis(&x.dims, axis);
    let length = y.dims[axis] as usize;
    let lo = inputs.position(1).clamp(0, (length - n) as i64) as usize;
    for i in 0..outer {
        let (from, to) = (i * n * inner, (i * length + lo) * inner);
        y.bits[to..to + n * inner].copy_from_slice(&x.bits[from..from + n * inner]);
    }
    y
}
