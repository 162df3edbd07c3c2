//! `fill(x)`: a splat, more leading dims, `y[i.., j..] = x[j..]`. The transpose sums over the new dims.

use super::sample::numbers;
use super::{
    Batching, Derivative, Evaluation, Inputs, ShapeRule, Shapes, StableHlo, TensorRow, TensorSample, TensorUse,
};
use crate::{Group, Operand, Proof, Value, count, typed_number};
use cotan_ir::{Atom, Builder, Elem, ElemSet, Monoid, ParResult, TensorSig, Ty, Var};

/// Copies along new leading dims.
pub static FILL: TensorRow = TensorRow {
    sig: TensorSig { name: "fill", prints: false, record: &FILL },
    group: Group::Shape,
    operands: &[Operand::smooth("x", "T[..]")],
    result: "T[..]",
    elems: ElemSet::ANY,
    doc: "`fill(x)`: copies of the scalar or tensor `x` along new leading dims.",
    shape: ShapeRule::Extends,
    check,
    evaluation: Evaluation::Direct(eval),
    derivative: Derivative::Linear { transpose },
    batching: Batching::Each { reason: "the axes of the operand come last in the result, after the new ones" },
    stablehlo: StableHlo::Operation("stablehlo.broadcast_in_dim"),
    failure: None,
    samples: &[
        TensorSample { args: &[numbers(&[])], attrs: &[], dims: &[3] },
        TensorSample { args: &[numbers(&[2, 3])], attrs: &[], dims: &[2, 1, 2, 3] },
        TensorSample { args: &[numbers(&[3])], attrs: &[], dims: &[0, 3] },
        TensorSample { args: &[numbers(&[3])], attrs: &[], dims: &[3] },
    ],
    proof: Proof::Theorem("gather_adjoint"),
};

fn check(shapes: &Shapes) -> Result<(), String> {
    shapes.n_args(1)?;
    shapes.n_attrs(0)?;
    shapes.same_elem()?;
    let (inner, dims) = (shapes.args[0].1, shapes.result.1);
    if dims.ends_with(inner) { Ok(()) } else { Err(format!("expected a result whose dims end in {inner:?}")) }
}

fn eval(inputs: &Inputs) -> Value {
    let (x, dims) = (inputs.args[0], inputs.result.1);
    let copies = count(&dims[..dims.len() - x.dims.len()]);
    Value { elem: x.elem, dims: dims.to_vec(), bits: x.bits.repeat(copies) }
}

fn transpose(b: &mut Builder, at: &TensorUse, cot: Atom, _: usize) -> Atom {
    let inner = b.ty(at.args[0]).tangent();
    let n_new = at.result.rank() - inner.rank();
    if n_new == 0 {
        return cot;
    }
    let zero = typed_number(inner.elem, 0.0).into();
    let init = if inner.is_scalar() { zero } else { b.tensor(FILL.op(), &[zero], &[], inner).into() };
    let extents: Vec<Atom> = at.result.dims[..n_new].iter().map(|d| d.atom()).collect();
    let indices: Vec<Var> = (0..n_new).map(|_| b.var("i", Ty::scalar(Elem::I64))).collect();
    let indices_as_operands: Vec<Atom> = indices.iter().map(|i| Atom::from(*i)).collect();
    b.open_block();
    let copy = b.index(cot, &indices_as_operands);
    let body = b.close_block(vec![copy.into()]);
    let sums = b.finish_par(indices, extents, vec![ParResult::Reduced { monoid: Monoid::Add, init }], Vec::new(), body);
    sums[0].into()
}
