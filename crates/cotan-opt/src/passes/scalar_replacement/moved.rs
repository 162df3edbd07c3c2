//! Where the elements of a structural operation's result come from.

use crate::passes::small_tensors::{elements, extents};
use cotan_ir::{Atom, Elem, Function, TensorOp, Var};
use cotan_ops::{Derivative, Evaluation, FILL, FROM_ELEMENTS, Inputs, MATMUL, Shapes, Value, is_strong, tensor_row};

/// Products of two elements that a matrix product may become.
const MOST_PRODUCTS: usize = 256;

/// Where an element comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The zero of the type.
    Zero,
    /// An element of an operand: which operand, and which element.
    Element(usize, usize),
}

/// What becomes of one use of a structural operation.
pub(super) enum Parts {
    /// Every element of the result is one of an operand, or zero.
    Moved(Vec<Source>),
    /// Every element of the result is a sum of products.
    Products {
        /// Whether an exact zero wins, and sums are plain additions.
        is_strong: bool,
        /// For each element, pairs of an element of the first and one of the second operand, in the order of the sum.
        factors: Vec<Vec<[usize; 2]>>,
    },
}

/// How the result of an operation on small tensors is made of their elements; `None` if that is not known.
pub(super) fn parts(f: &Function, result: Var, op: TensorOp, args: &[Atom], attrs: &[i64]) -> Option<Parts> {
    let ty = f.ty(result);
    let is_whole = ty.is_scalar() || elements(ty).is_some();
    let rule = tensor_row(op);
    let operands = args.iter().map(|a| operand(f, *a, op, ty.elem)).collect::<Option<Vec<Operand>>>()?;
    let dims = extents(ty);
    let shapes: Vec<(Elem, &[i64])> = operands.iter().map(|o| (o.value.elem, o.value.dims.as_slice())).collect();
    let fits = || (rule.check)(&Shapes { args: &shapes, attrs, result: (ty.elem, &dims) }).is_ok();
    if !is_whole || !fits() {
        return None;
    }
    if op == MATMUL.op() {
        let factors = factors(shapes[0].1, shapes[1].1)?;
        return Some(Parts::Products { is_strong: is_strong(attrs), factors });
    }
    // What is linear and structural moves elements and puts zeros between them. Done to numbers, counted from 1, that
    // tells which is which.
    let Derivative::Linear { .. } = rule.derivative else { return None };
    let mut n_before = 0;
    let mut numbered = Vec::new();
    for operand in &operands {
        let mut value = operand.value.clone();
        if !operand.is_position {
            value.bits.iter_mut().zip(n_before + 1..).for_each(|(cell, number)| *cell = number);
            n_before += value.bits.len() as u64;
        }
        numbered.push(value);
    }
    let args: Vec<&Value> = numbered.iter().collect();
    let moved = match rule.evaluation {
        Evaluation::Direct(eval) => eval(&Inputs { args: &args, attrs, result: (ty.elem, &dims), in_field: false }),
        Evaluation::Routine(_) => return None,
    };
    Some(Parts::Moved(moved.bits.into_iter().map(|number| source(number, &operands)).collect()))
}

/// An operand with a value of its shape.
struct Operand {
    value: Value,
    /// Whether it is a number that says where elements go, and no element itself.
    is_position: bool,
}

fn operand(f: &Function, a: Atom, op: TensorOp, result: Elem) -> Option<Operand> {
    let ty = f.atom_ty(a);
    if elements(&ty).is_some() {
        return Some(Operand { value: Value::zeros(ty.elem, &extents(&ty)), is_position: false });
    }
    if !ty.is_scalar() {
        return None;
    }
    // A number beside whole numbers could be either, but not where all operands are elements.
    if op == FILL.op() || op == FROM_ELEMENTS.op() || ty.elem == result && result != Elem::I64 {
        return Some(Operand { value: Value::zeros(ty.elem, &[]), is_position: false });
    }
    Some(Operand { value: a.constant()?.into(), is_position: true })
}

fn source(number: u64, operands: &[Operand]) -> Source {
    let Some(mut at) = (number as usize).checked_sub(1) else { return Source::Zero };
    for (k, operand) in operands.iter().enumerate().filter(|(_, operand)| !operand.is_position) {
        if at < operand.value.bits.len() {
            return Source::Element(k, at);
        }
        at -= operand.value.bits.len();
    }
    Source::Zero
}

/// The pairs of factors of every element of a matrix product, in the order of the sum.
fn factors(a: &[i64], b: &[i64]) -> Option<Vec<Vec<[usize; 2]>>> {
    let side = |dims: &[i64], is_side: bool, at: usize| if is_side { dims[at] as usize } else { 1 };
    let rows = side(a, a.len() > 1, a.len().saturating_sub(2));
    let columns = side(b, b.len() > 1, b.len() - 1);
    let n_summed = a[a.len() - 1] as usize;
    let n_batch: usize = a[..a.len().saturating_sub(2)].iter().map(|n| *n as usize).product();
    if n_batch * rows * columns * n_summed > MOST_PRODUCTS {
        return None;
    }
    let mut all = Vec::new();
    for batch in 0..n_batch {
        for i in 0..rows {
            for j in 0..columns {
                let factors = |l: usize| [(batch * rows + i) * n_summed + l, (batch * n_summed + l) * columns + j];
                all.push((0..n_summed).map(factors).collect());
            }
        }
    }
    Some(all)
}
