//! `concat(a, b, ..){axis}`: the operands one after the other along an axis. The transpose slices each part out.

use super::sample::numbers;
use super::{
    Batching, Derivative, Evaluation, Inputs, ShapeRule, Shapes, StableHlo, TensorRow, TensorSample, TensorUse,
};
use crate::value::split_at_axis;
use crate::{ADD, Group, Operand, Proof, SLICE, Value};
use cotan_ir::{Atom, Builder, ElemSet, TensorSig};

/// Tensors one after the other.
pub static CONCAT: TensorRow = TensorRow {
    sig: TensorSig { name: "concat", prints: false, record: &CONCAT },
    group: Group::Shape,
    operands: &[Operand::smooth("a", "T[..]").repeated()],
    result: "T[..]",
    elems: ElemSet::ANY,
    doc: "`concat(a, b, ..){axis}`: the operands one after the other along `axis`.",
    shape: ShapeRule::Checked,
    check,
    evaluation: Evaluation::Direct(eval),
    derivative: Derivative::Linear { transpose },
    batching: Batching::Axes,
    stablehlo: StableHlo::Operation("stablehlo.concatenate"),
    failure: None,
    samples: &[
        TensorSample { args: &[numbers(&[2, 3]), numbers(&[1, 3])], attrs: &[0], dims: &[3, 3] },
        TensorSample { args: &[numbers(&[2, 3]), numbers(&[2, 0]), numbers(&[2, 1])], attrs: &[1], dims: &[2, 4] },
        TensorSample { args: &[numbers(&[2, 3])], attrs: &[1], dims: &[2, 3] },
    ],
    proof: Proof::Theorem("gather_adjoint"),
};

fn check(shapes: &Shapes) -> Result<(), String> {
    shapes.n_attrs(1)?;
    let Some((elem, first)) = shapes.args.first() else {
        return Err("expected at least one operand".to_owned());
    };
    shapes.same_elem()?;
    let axis = shapes.axis(0, first.len())?;
    let mut expected = first.to_vec();
    expected[axis] = 0;
    for (found_elem, dims) in shapes.args {
        let agree = found_elem == elem
            && dims.len() == first.len()
            && dims.iter().zip(*first).enumerate().all(|(k, (a, b))| k == axis || a == b);
        if !agree {
            return Err(format!("{found_elem} of dims {dims:?} does not go with {elem} of dims {first:?}"));
        }
        expected[axis] += dims[axis];
    }
    shapes.result_dims(&expected)
}

fn eval(inputs: &Inputs) -> Value {
    let axis = inputs.attrs[0] as usize;
    let (elem, dims) = inputs.result;
    let (outer, _, _) = split_at_axis(dims, axis);
    let mut bits = Vec::new();
    for i in 0..outer {
        for part in inputs.args {
            let (_, n, inner) = split_at_axis(&part.dims, axis);
            bits.extend_from_slice(&part.bits[i * n * inner..(i + 1) * n * inner]);
        }
    }
    Value { elem, dims: dims.to_vec(), bits }
}

fn transpose(b: &mut Builder, at: &TensorUse, cot: Atom, operand: usize) -> Atom {
    let axis = at.attrs[0] as usize;
    let mut lo = Atom::i64(0);
    for (k, part) in at.args[..operand].iter().enumerate() {
        let length = b.ty(*part).dims[axis].atom();
        lo = if k == 0 { length } else { b.named("offset").prim(ADD.prim(), &[lo, length]).into() };
    }
    let ty = b.ty(at.args[operand]).tangent();
    b.tensor(SLICE.op(), &[cot, lo], at.attrs, ty).into()
}
