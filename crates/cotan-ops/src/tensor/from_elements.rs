//! `from_elements(a, b, ..)`: a tensor of scalars, in row-major order. The transpose reads each one.

use super::sample::numbers;
use super::{
    Batching, Derivative, Evaluation, Inputs, ShapeRule, Shapes, StableHlo, TensorRow, TensorSample, TensorUse,
};
use crate::{ElementCount, Group, Operand, Proof, RESHAPE, Value};
use cotan_ir::{Atom, Builder, Dim, ElemSet, TensorSig, Ty};

/// A tensor of given elements.
pub static FROM_ELEMENTS: TensorRow = TensorRow {
    sig: TensorSig { name: "from_elements", prints: false, record: &FROM_ELEMENTS },
    group: Group::Shape,
    operands: &[Operand::smooth("a", "T").repeated()],
    result: "T[..]",
    elems: ElemSet::ANY,
    doc: "`from_elements(a, b, ..)`: the scalars `a`, `b`, .. as the elements of a tensor, in row-major order.",
    shape: ShapeRule::Checked,
    check,
    evaluation: Evaluation::Direct(eval),
    derivative: Derivative::Linear { transpose },
    batching: Batching::Each { reason: "its operands are scalars" },
    stablehlo: StableHlo::Operation("stablehlo.concatenate"),
    failure: None,
    samples: &[
        TensorSample { args: &[numbers(&[]), numbers(&[]), numbers(&[]), numbers(&[])], attrs: &[], dims: &[2, 2] },
        TensorSample { args: &[numbers(&[])], attrs: &[], dims: &[1] },
    ],
    proof: Proof::Theorem("gather_adjoint"),
};

fn check(shapes: &Shapes) -> Result<(), String> {
    shapes.n_attrs(0)?;
    let (elem, dims) = shapes.result;
    if ElementCount::of(dims).map(ElementCount::get) != Some(shapes.args.len()) {
        return Err(format!("expected the elements of dims {dims:?}, found {} operands", shapes.args.len()));
    }
    match shapes.args.iter().find(|arg| **arg != (elem, &[])) {
        None => Ok(()),
        Some((found, dims)) => Err(format!("expected scalars of {elem}, found {found} of dims {dims:?}")),
    }
}

fn eval(inputs: &Inputs) -> Value {
    let (elem, dims) = inputs.result;
    Value { elem, dims: dims.to_vec(), bits: inputs.args.iter().map(|arg| arg.bits[0]).collect() }
}

fn transpose(b: &mut Builder, at: &TensorUse, cot: Atom, operand: usize) -> Atom {
    let row = Ty::new(at.result.elem, vec![Dim::Const(at.args.len() as i64)]);
    let flat = if at.result.rank() == 1 { cot } else { b.tensor(RESHAPE.op(), &[cot], &[], row).into() };
    b.index(flat, &[Atom::i64(operand as i64)]).into()
}
