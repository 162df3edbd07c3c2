//! `reshape(x)`: the same elements in the same row-major order under other dims. The transpose reshapes back.

use super::sample::numbers;
use super::{Batching, Derivative, Evaluation, Inputs, ShapeRule, Shapes, StableHlo, TensorRow, TensorSample};
use crate::{ElementCount, Group, Operand, Proof, Value};
use cotan_ir::{ElemSet, TensorSig};

/// Other dims for the same elements.
pub static RESHAPE: TensorRow = TensorRow {
    sig: TensorSig { name: "reshape", prints: false, record: &RESHAPE },
    group: Group::Shape,
    operands: &[Operand::smooth("x", "T[..]")],
    result: "T[..]",
    elems: ElemSet::ANY,
    doc: "`reshape(x)`: the elements of `x` in row-major order under the dims of the result.",
    shape: ShapeRule::Checked,
    check,
    evaluation: Evaluation::Direct(eval),
    derivative: Derivative::Linear {
        transpose: |b, at, cot, _| {
            let ty = b.ty(at.args[0]).tangent();
            b.tensor(RESHAPE.op(), &[cot], &[], ty).into()
        },
    },
    batching: Batching::Leading,
    stablehlo: StableHlo::Operation("stablehlo.reshape"),
    failure: None,
    samples: &[
        TensorSample { args: &[numbers(&[2, 3])], attrs: &[], dims: &[3, 2] },
        TensorSample { args: &[numbers(&[4])], attrs: &[], dims: &[2, 1, 2] },
        TensorSample { args: &[numbers(&[1])], attrs: &[], dims: &[] },
        TensorSample { args: &[numbers(&[0, 3])], attrs: &[], dims: &[0] },
    ],
    proof: Proof::Theorem("gather_adjoint"),
};

fn check(shapes: &Shapes) -> Result<(), String> {
    shapes.n_args(1)?;
    shapes.n_attrs(0)?;
    shapes.same_elem()?;
    let (from, to) = (shapes.args[0].1, shapes.result.1);
    if ElementCount::of(to).is_some_and(|n| ElementCount::of(from) == Some(n)) {
        Ok(())
    } else {
        Err(format!("{from:?} and {to:?} hold different numbers of elements"))
    }
}

fn eval(inputs: &Inputs) -> Value {
    Value { dims: inputs.result.1.to_vec(), ..inputs.args[0].clone() }
}
