//! `transpose(x){perm}`: axis `k` of the result is axis `perm[k]` of `x`. The transpose of the map is the inverse
//! permutation.

use super::sample::numbers;
use super::{
    Batching, Derivative, Evaluation, Inputs, ShapeRule, Shapes, StableHlo, TensorRow, TensorSample, TensorUse,
};
use crate::{Group, Operand, Proof, Value};
use cotan_ir::{Atom, Builder, ElemSet, TensorSig};

/// Permuted axes.
pub static TRANSPOSE: TensorRow = TensorRow {
    sig: TensorSig { name: "transpose", prints: false, record: &TRANSPOSE },
    group: Group::Shape,
    operands: &[Operand::smooth("x", "T[..]")],
    result: "T[..]",
    elems: ElemSet::ANY,
    doc: "`transpose(x){perm}`: the axes of `x` permuted, axis `k` of the result being axis `perm[k]` of `x`.",
    shape: ShapeRule::Permuted,
    check,
    evaluation: Evaluation::Direct(eval),
    derivative: Derivative::Linear { transpose },
    batching: Batching::Each { reason: "the attributes are a permutation, which gets one more axis" },
    stablehlo: StableHlo::Operation("stablehlo.transpose"),
    failure: None,
    samples: &[
        TensorSample { args: &[numbers(&[2, 3])], attrs: &[1, 0], dims: &[3, 2] },
        TensorSample { args: &[numbers(&[2, 3, 4])], attrs: &[2, 0, 1], dims: &[4, 2, 3] },
        TensorSample { args: &[numbers(&[2, 2])], attrs: &[0, 1], dims: &[2, 2] },
    ],
    proof: Proof::Theorem("gather_adjoint"),
};

/// The positions that undo a permutation.
fn inverse(perm: &[i64]) -> Vec<i64> {
    let mut inverse = vec![0; perm.len()];
    for (k, p) in perm.iter().enumerate() {
        inverse[*p as usize] = k as i64;
    }
    inverse
}

fn check(shapes: &Shapes) -> Result<(), String> {
    shapes.n_args(1)?;
    shapes.same_elem()?;
    let dims = shapes.args[0].1;
    let mut seen = shapes.attrs.to_vec();
    seen.sort_unstable();
    if !seen.iter().copied().eq(0..dims.len() as i64) {
        return Err(format!("expected a permutation of {} axes, found {:?}", dims.len(), shapes.attrs));
    }
    shapes.follows(ShapeRule::Permuted)
}

fn eval(inputs: &Inputs) -> Value {
    let (x, perm, dims) = (inputs.args[0], inputs.attrs, inputs.result.1);
    let mut strides = vec![1; x.dims.len()];
    for k in (1..x.dims.len()).rev() {
        strides[k - 1] = strides[k] * x.dims[k] as usize;
    }
    let strides: Vec<usize> = perm.iter().map(|p| strides[*p as usize]).collect();
    let mut index = vec![0; dims.len()];
    let mut bits = Vec::with_capacity(x.bits.len());
    for _ in 0..x.bits.len() {
        let at: usize = index.iter().zip(&strides).map(|(i, s)| i * s).sum();
        bits.push(x.bits[at]);
        // The next index tuple, the last axis fastest.
        for k in (0..dims.len()).rev() {
            index[k] += 1;
            if index[k] < dims[k] as usize {
                break;
            }
            index[k] = 0;
        }
    }
    Value { elem: x.elem, dims: dims.to_vec(), bits }
}

fn transpose(b: &mut Builder, at: &TensorUse, cot: Atom, _: usize) -> Atom {
    let ty = b.ty(at.args[0]).tangent();
    b.tensor(TRANSPOSE.op(), &[cot], &inverse(at.attrs), ty).into()
}
