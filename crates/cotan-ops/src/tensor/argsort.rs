//! `argsort(x)`: the positions along the last axis in ascending order of the elements.
//!
//! Equal elements (the two zeros are equal) keep their order, and NaN comes last. A sorted tensor is one that is read at
//! these positions, so its derivative is that of reading.

use super::sample::numbers;
use super::{Batching, Derivative, Evaluation, RoutineCall, ShapeRule, Shapes, StableHlo, TensorRow, TensorSample};
use crate::elements::{Elements, ElementsMut};
use crate::{Group, Operand, Proof};
use cotan_ir::{Elem, ElemSet, TensorSig};
use cotan_kernels::argsort;

/// Positions in ascending order.
pub static ARGSORT: TensorRow = TensorRow {
    sig: TensorSig { name: "argsort", prints: false, record: &ARGSORT },
    group: Group::Sorting,
    operands: &[Operand::zero("x", "T[.., n]", "positions are integers, which move in steps")],
    result: "i64[.., n]",
    elems: ElemSet::NUMERIC,
    doc: "`argsort(x)`: the positions along the last axis in ascending order of the elements, stable, NaN last.",
    shape: ShapeRule::Same,
    check,
    evaluation: Evaluation::Routine(routine),
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
    shapes.follows(ShapeRule::Same)
}

fn routine(call: &mut RoutineCall) {
    let (Some(x), ElementsMut::I64(to)) = (call.args.first(), &mut call.result) else { return };
    let n = x.dims.last().map_or(0, |n| *n as usize);
    match x.elements {
        Elements::F32(x) => argsort(n, x, to),
        Elements::F64(x) => argsort(n, x, to),
        Elements::I8(x) => argsort(n, x, to),
        Elements::I16(x) => argsort(n, x, to),
        Elements::I32(x) => argsort(n, x, to),
        Elements::I64(x) => argsort(n, x, to),
        Elements::U8(x) => argsort(n, x, to),
        Elements::U16(x) => argsort(n, x, to),
        Elements::U32(x) => argsort(n, x, to),
        Elements::U64(x) => argsort(n, x, to),
    }
}
