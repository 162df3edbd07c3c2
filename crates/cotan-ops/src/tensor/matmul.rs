//! `matmul(a, b){form}`: matrix products, `y[.., i, j] = sum over k of a[.., i, k] b[.., k, j]`.
//!
//! Operands have one batch shape and then `[M, K]` and `[K, N]`; without a batch either may be a vector `[K]`, and two
//! vectors give a scalar. The sum takes `k` in ascending order, in [`runs`] of at most [`RUN`] terms: each run starts from
//! 0, each of its steps is an `fma`, and what the runs give is added in order. In a strong product ([`STRONG`]) a factor
//! that is exactly 0 gives 0 whatever the other factor is (as `mulz`), and sums are plain additions: contributions to
//! derivatives are written so. A product of one run ([`ONE_RUN`]) takes all terms in order, however many there are.
//!
//! Bilinear: `a_cot = y_cot b^T`, `b_cot = a^T y_cot`. Vectors are seen as matrices with a side of 1.

use super::sample::numbers;
use super::{
    Batching, Derivative, Evaluation, Inputs, ShapeRule, Shapes, StableHlo, TensorRow, TensorSample, TensorUse,
};
use crate::{ADD, Carrier, FMA, Group, Kernel, MULZ, Operand, Proof, RESHAPE, TRANSPOSE, Value, count};
use cotan_ir::{Atom, Builder, Dim, Elem, ElemSet, TensorSig, Ty};
use std::ops::Range;

/// Matrix product.
pub static MATMUL: TensorRow = TensorRow {
    sig: TensorSig { name: "matmul", prints: false, record: &MATMUL },
    group: Group::Product,
    operands: &[Operand::smooth("a", "T[.., m, k]"), Operand::smooth("b", "T[.., k, n]")],
    result: "T[.., m, n]",
    elems: ElemSet::NUMERIC,
    doc: "`matmul(a, b){form}`: the matrix product, batched over equal leading dims; form 1 lets exact zeros win, and 2 more than that takes all terms of a sum in one run.",
    shape: ShapeRule::Product,
    check,
    evaluation: Evaluation::Direct(eval),
    derivative: Derivative::Multilinear { push, transpose },
    batching: Batching::Leading,
    stablehlo: StableHlo::Operation("stablehlo.dot_general"),
    failure: None,
    samples: &[
        TensorSample { args: &[numbers(&[3, 4]), numbers(&[4, 2])], attrs: &[0], dims: &[3, 2] },
        TensorSample { args: &[numbers(&[2, 2, 3]), numbers(&[2, 3, 1])], attrs: &[0], dims: &[2, 2, 1] },
        TensorSample { args: &[numbers(&[3]), numbers(&[3])], attrs: &[0], dims: &[] },
        TensorSample { args: &[numbers(&[2, 3]), numbers(&[3])], attrs: &[1], dims: &[2] },
        TensorSample { args: &[numbers(&[3]), numbers(&[3, 2])], attrs: &[1], dims: &[2] },
        TensorSample { args: &[numbers(&[2, 3]), numbers(&[3, 2])], attrs: &[2], dims: &[2, 2] },
        TensorSample { args: &[numbers(&[3, 2]), numbers(&[2, 2])], attrs: &[3], dims: &[3, 2] },
        TensorSample { args: &[numbers(&[2, 0]), numbers(&[0, 3])], attrs: &[0], dims: &[2, 3] },
    ],
    proof: Proof::Theorem("contract_adjoint_l"),
};

/// The attribute of products in which an exact zero wins.
pub const STRONG: [i64; 1] = [1];
/// The attribute of plain products.
pub const PLAIN: [i64; 1] = [0];
/// What the attribute of products has more whose sums are one run each.
pub const ONE_RUN: i64 = 2;

/// Whether an exact zero wins in products with these attributes.
pub fn is_strong(attrs: &[i64]) -> bool {
    attrs[0] & 1 == 1
}

/// Whether sums of products with these attributes are one run each.
pub fn is_one_run(attrs: &[i64]) -> bool {
    attrs[0] & ONE_RUN != 0
}

/// The most terms of a run of a sum: what libraries for matrix products add up before they go on to the next part of their
/// factors.
pub const RUN: usize = 512;

/// The runs of a sum of `n` terms in a product with these attributes: as few as there can be, and as even; the first ones
/// may have one term more. A sum without terms is one run.
pub fn runs(n: usize, attrs: &[i64]) -> impl Iterator<Item = Range<usize>> + use<> {
    let n_runs = if is_one_run(attrs) { 1 } else { n.div_ceil(RUN).max(1) };
    let (length, n_longer) = (n / n_runs, n % n_runs);
    let start = move |run: usize| run * length + run.min(n_longer);
    (0..n_runs).map(move |run| start(run)..start(run + 1))
}

/// The dims of a product: batch, rows, columns. A vector gives `None` for its missing side.
struct Parts<'a, D> {
    batch: &'a [D],
    rows: Option<D>,
    columns: Option<D>,
}

/// The parts of the dims of two operands, and the extents to be summed over; `None` if the ranks do not go together.
fn parts<'a, D: Copy>(a: &'a [D], b: &[D]) -> Option<(Parts<'a, D>, D, D)> {
    match (a, b) {
        ([k], [l]) => Some((Parts { batch: &[], rows: None, columns: None }, *k, *l)),
        ([m, k], [l]) => Some((Parts { batch: &[], rows: Some(*m), columns: None }, *k, *l)),
        ([k], [l, n]) => Some((Parts { batch: &[], rows: None, columns: Some(*n) }, *k, *l)),
        ([batch @ .., m, k], [others @ .., l, n]) if batch.len() == others.len() => {
            Some((Parts { batch, rows: Some(*m), columns: Some(*n) }, *k, *l))
        }
        (_, _) => None,
    }
}

fn check(shapes: &Shapes) -> Result<(), String> {
    shapes.n_args(2)?;
    shapes.n_attrs(1)?;
    if !(0..=STRONG[0] + ONE_RUN).contains(&shapes.attrs[0]) {
        return Err(format!("expected a number from 0 to 3 as the attribute, found {:?}", shapes.attrs));
    }
    shapes.same_elem()?;
    let ((a_elem, a), (b_elem, b)) = (shapes.args[0], shapes.args[1]);
    if a_elem != b_elem || a_elem == Elem::Bool {
        return Err(format!("expected numbers of one type, found {a_elem} and {b_elem}"));
    }
    let Some((sides, k, l)) = parts(a, b) else {
        return Err(format!("no product of dims {a:?} and {b:?}"));
    };
    if k != l || *sides.batch != b[..sides.batch.len()] {
        return Err(format!("no product of dims {a:?} and {b:?}"));
    }
    let expected: Vec<i64> = sides.batch.iter().copied().chain(sides.rows).chain(sides.columns).collect();
    shapes.result_dims(&expected)
}

fn eval(inputs: &Inputs) -> Value {
    let (a, b) = (inputs.args[0], inputs.args[1]);
    let (elem, dims) = inputs.result;
    let (sides, k, _) = parts(&a.dims, &b.dims).expect("invariant: the shapes were checked");
    let (n_batch, k) = (count(sides.batch), k as usize);
    let (m, n) = (sides.rows.unwrap_or(1) as usize, sides.columns.unwrap_or(1) as usize);
    let carrier = if inputs.in_field && elem.is_float() { Carrier::Mod61 } else { Carrier::Elem(elem) };
    let kernel = |row: &crate::PrimRow| (row.kernels)(carrier).expect("invariant: products are of numbers");
    let total = kernel(&ADD);
    let step: Box<dyn Fn(u64, u64, u64) -> u64> = if is_strong(inputs.attrs) {
        let (mulz, add): (Kernel, Kernel) = (kernel(&MULZ), kernel(&ADD));
        Box::new(move |x, y, sum| add(&[sum, mulz(&[x, y])]))
    } else {
        let fma = kernel(&FMA);
        Box::new(move |x, y, sum| fma(&[x, y, sum]))
    };
    let mut bits = Vec::with_capacity(n_batch * m * n);
    for batch in 0..n_batch {
        let (a, b) = (&a.bits[batch * m * k..], &b.bits[batch * k * n..]);
        for i in 0..m {
            for j in 0..n {
                let run = |terms: Range<usize>| terms.fold(0, |sum, l| step(a[i * k + l], b[l * n + j], sum));
                bits.extend(runs(k, inputs.attrs).map(run).reduce(|sum, run| total(&[sum, run])));
            }
        }
    }
    Value { elem, dims: dims.to_vec(), bits }
}

fn push(b: &mut Builder, at: &TensorUse, tan: Atom, operand: usize) -> Atom {
    let mut args = [at.args[0], at.args[1]];
    args[operand] = tan;
    b.tensor(MATMUL.op(), &args, &STRONG, at.result.clone()).into()
}

fn transpose(b: &mut Builder, at: &TensorUse, cot: Atom, operand: usize) -> Atom {
    let tys = [b.ty(at.args[0]), b.ty(at.args[1])];
    let (sides, k, _) = parts(&tys[0].dims, &tys[1].dims).expect("invariant: the verifier checked the ranks");
    let one = Dim::Const(1);
    let (m, n) = (sides.rows.unwrap_or(one), sides.columns.unwrap_or(one));
    let matrix =
        |rows: Dim, columns: Dim| Ty::new(tys[0].elem, sides.batch.iter().copied().chain([rows, columns]).collect());
    let cot = reshaped(b, cot, matrix(m, n));
    let product = if operand == 0 {
        let other = reshaped(b, at.args[1], matrix(k, n));
        let flipped = flipped(b, other, matrix(n, k));
        b.tensor(MATMUL.op(), &[cot, flipped], &STRONG, matrix(m, k))
    } else {
        let other = reshaped(b, at.args[0], matrix(m, k));
        let flipped = flipped(b, other, matrix(k, m));
        b.tensor(MATMUL.op(), &[flipped, cot], &STRONG, matrix(k, n))
    };
    reshaped(b, product.into(), tys[operand].clone())
}

/// The operand under other dims; itself if it has them. A constant is turned into a variable by the same statement.
fn reshaped(b: &mut Builder, a: Atom, ty: Ty) -> Atom {
    if b.ty(a) == ty { a } else { b.tensor(RESHAPE.op(), &[a], &[], ty).into() }
}

/// The operand with its last two axes exchanged, which gives it type `ty`.
fn flipped(b: &mut Builder, a: Atom, ty: Ty) -> Atom {
    let last = ty.rank() as i64 - 1;
    let perm: Vec<i64> = (0..last - 1).chain([last, last - 1]).collect();
    b.tensor(TRANSPOSE.op(), &[a], &perm, ty).into()
}
