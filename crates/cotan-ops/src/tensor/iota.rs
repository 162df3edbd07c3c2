//! `iota()`: the numbers 0, 1, 2, .. as many as the result has.

use super::{Batching, Derivative, Evaluation, Inputs, ShapeRule, Shapes, StableHlo, TensorRow, TensorSample};
use crate::{Group, Proof, Value, typed_number};
use cotan_ir::{Elem, ElemSet, TensorSig};

/// Counting numbers.
pub static IOTA: TensorRow = TensorRow {
    sig: TensorSig { name: "iota", prints: false, record: &IOTA },
    group: Group::Shape,
    operands: &[],
    result: "T[n]",
    elems: ElemSet::NUMERIC,
    doc: "`iota()`: the numbers 0, 1, 2, .. in the element type of the result, which has one dim.",
    shape: ShapeRule::Checked,
    check,
    evaluation: Evaluation::Direct(eval),
    derivative: Derivative::None { reason: "the numbers depend on nothing but the length" },
    batching: Batching::Each { reason: "it has no operands" },
    stablehlo: StableHlo::Operation("stablehlo.iota"),
    failure: None,
    samples: &[TensorSample { args: &[], attrs: &[], dims: &[4] }],
    proof: Proof::Nothing,
};

fn check(shapes: &Shapes) -> Result<(), String> {
    shapes.n_args(0)?;
    shapes.n_attrs(0)?;
    match shapes.result {
        (Elem::Bool, _) => Err("expected numbers, found bool".to_owned()),
        (_, [_]) => Ok(()),
        (_, dims) => Err(format!("expected a result of one dim, found {dims:?}")),
    }
}

fn eval(inputs: &Inputs) -> Value {
    let (elem, dims) = inputs.result;
    let n: i64 = dims.iter().product();
    let is_residue = inputs.in_field && elem.is_float();
    let bits = (0..n).map(|k| if is_residue { k as u64 } else { typed_number(elem, k as f64).bits() }).collect();
    Value { elem, dims: dims.to_vec(), bits }
}
