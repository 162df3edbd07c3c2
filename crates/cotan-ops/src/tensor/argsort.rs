//! `argsort(x)`: the positions along the last axis in ascending order of the elements.
//!
//! Equal elements (the two zeros are equal) keep their order, and NaN comes last. A sorted tensor is one that is read at
//! these positions, so its derivative is that of reading.

use super::sample::numbers;
use super::{Batching, Derivative, Evaluation, Inputs, Shapes, StableHlo, TensorRecord, TensorSample};
use crate::kernel::{Carrier, Kernel};
use crate::{Group, ISNAN, LT, Operand, PrimRow, Proof, Value};
use cotan_ir::{Elem, ElemSet, TensorSig};
use std::cmp::Ordering;

/// Positions in ascending order.
pub static ARGSORT: TensorRecord = TensorRecord {
    sig: TensorSig { name: "argsort", record: &ARGSORT },
    group: Group::Sorting,
    operands: &[Operand::zero("x", "T[.., n]", "positions are integers, which move in steps")],
    result: "i64[.., n]",
    elems: ElemSet::NUMERIC,
    doc: "`argsort(x)`: the positions along the last axis in ascending order of the elements, stable, NaN last.",
    check,
    evaluation: Evaluation::Direct(eval),
    derivative: Derivative::None { reason: "positions are integers" },
    batching: Batching::Leading,
    stablehlo: StableHlo::Operation("stablehlo.sort"),
    failure: None,
    samples: &[
        TensorSample { args: &[numbers(&[5])], attrs: &[], dims: &[5] },
        TensorSample { args: &[numbers(&[2, 3])], attrs: &[], dims: &[2, 3] },
        TensorSample { args: &[numbers(&[2, 0])], attrs: &[], dims: &[2, 0] },
    ],
    proof: Proof::Nothing,
};

fn check(shapes: &Shapes) -> Result<(), String> {
    shapes.n_args(1)?;
    shapes.n_attrs(0)?;
    let (elem, dims) = shapes.args[0];
    if !ElemSet::NUMERIC.has(elem) || dims.is_empty() {
        return Err(format!("expected a tensor of numbers, found {elem} of dims {dims:?}"));
    }
    if shapes.result.0 != Elem::I64 {
        return Err(format!("expected a result of i64, found {}", shapes.result.0));
    }
    shapes.result_dims(dims)
}

fn eval(inputs: &Inputs) -> Value {
    let x = inputs.args[0];
    let n = x.dims.last().map_or(0, |n| *n as usize);
    let order = order(x.elem, inputs.in_field);
    let mut bits = Vec::with_capacity(x.bits.len());
    for row in x.bits.chunks(n.max(1)) {
        let mut positions: Vec<u64> = (0..row.len() as u64).collect();
        positions.sort_by(|a, b| order(row[*a as usize], row[*b as usize]));
        bits.extend(positions);
    }
    Value { elem: Elem::I64, dims: x.dims.clone(), bits }
}

/// How the bits of two elements compare. Residues have no order of their own; any will do.
fn order(elem: Elem, in_field: bool) -> Box<dyn Fn(u64, u64) -> Ordering> {
    if in_field && elem.is_float() {
        return Box::new(|a, b| a.cmp(&b));
    }
    let kernel = |row: &'static PrimRow| (row.kernels)(Carrier::Elem(elem));
    let is_less: Kernel = kernel(&LT).expect("invariant: numbers are compared");
    let is_nan: Option<Kernel> = kernel(&ISNAN);
    Box::new(move |a, b| {
        let before =
            |a, b| is_less(&[a, b]) != 0 || is_nan.is_some_and(|is_nan| is_nan(&[b]) != 0 && is_nan(&[a]) == 0);
        if before(a, b) {
            Ordering::Less
        } else if before(b, a) {
            Ordering::Greater
        } else {
            Ordering::Equal
        }
    })
}
