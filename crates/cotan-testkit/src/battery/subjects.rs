//! Programs of one operation, with arguments from its samples.

use crate::case::Subject;
use crate::random::Rng;
use cotan_ir::{Atom, Builder, Const, Dim, Elem, Module, OperandElem, Ty};
use cotan_ops::{Like, PrimRow, Sample, Sampled, Shapes, TensorRecord, TensorSample, Value, count};
use std::ops::Range;

/// A primitive at sampled points; none where it gives no float of this type.
pub(super) fn of_row(row: &'static PrimRow, elem: Elem, points: Range<u64>) -> Vec<Subject> {
    let operand = |o: &OperandElem| match o {
        OperandElem::T => elem,
        OperandElem::Is(e) => *e,
    };
    let operands: Vec<Elem> = row.sig.operands.iter().map(operand).collect();
    if !row.sig.domain.has(elem) || !row.prim().result_elem(&operands).is_ok_and(Elem::is_float) {
        return Vec::new();
    }
    let at = |seed| {
        let mut rng = Rng::new(seed);
        let mut b = Builder::new();
        let (mut args, mut values) = (Vec::new(), Vec::new());
        for (k, (operand, sample)) in operands.iter().zip(row.samples).enumerate() {
            args.push(b.param(&format!("a{k}"), Ty::scalar(*operand)).into());
            values.push(Value::from(draw(&mut rng, *operand, *sample)));
        }
        let result = b.prim(row.prim(), &args);
        subject(row.name(), b, result.into(), values, seed)
    };
    points.map(at).collect()
}

/// An operation on tensors at its samples, with other elements at each point; none where it gives no float.
pub(super) fn of_record(record: &'static TensorRecord, elem: Elem, points: Range<u64>) -> Vec<Subject> {
    let of_sample = |sample: &'static TensorSample| points.clone().map(move |seed| of_use(record, sample, elem, seed));
    record.samples.iter().flat_map(of_sample).flatten().collect()
}

fn of_use(record: &'static TensorRecord, sample: &TensorSample, elem: Elem, seed: u64) -> Option<Subject> {
    let mut rng = Rng::new(seed);
    let values: Vec<Value> = sample.args.iter().map(|arg| of_sampled(&mut rng, arg, elem)).collect();
    let shapes: Vec<(Elem, &[i64])> = values.iter().map(|v| (v.elem, v.dims.as_slice())).collect();
    let shapes = Shapes { args: &shapes, attrs: sample.attrs, result: (elem, sample.dims) };
    if !record.elems.has(elem) || (record.check)(&shapes).is_err() {
        return None;
    }
    let ty = |elem, dims: &[i64]| Ty::new(elem, dims.iter().map(|n| Dim::Const(*n)).collect());
    let mut b = Builder::new();
    let args: Vec<Atom> =
        values.iter().enumerate().map(|(k, v)| b.param(&format!("a{k}"), ty(v.elem, &v.dims)).into()).collect();
    let result = b.tensor(record.op(), &args, sample.attrs, ty(elem, sample.dims));
    Some(subject(record.name(), b, result.into(), values, seed))
}

fn subject(name: &str, b: Builder, result: Atom, values: Vec<Value>, seed: u64) -> Subject {
    let mut module = Module::default();
    let f = module.insert(b.finish("operation", vec![result]));
    Subject { seed, ..Subject::new(name.to_owned(), module, f.name.clone(), values) }
}

fn draw(rng: &mut Rng, elem: Elem, sample: Sample) -> Const {
    match sample {
        Sample::Span(low, high) if elem.is_float() => Const::float(elem, rng.span(low, high)),
        Sample::Whole(low, high) if elem.is_integer() => Const::integer(elem, rng.range(low, high + 1).into()),
        Sample::Truth => Const::bool(rng.chance(0.5)),
        Sample::Span(low, high) => Const::number(elem, rng.span(low, high) as i32),
        Sample::Whole(low, high) => Const::number(elem, rng.range(low, high + 1) as i32),
    }
}

fn of_sampled(rng: &mut Rng, sampled: &Sampled, elem: Elem) -> Value {
    let dims = sampled.dims;
    let mut x: Vec<f64> = (0..count(dims)).map(|_| rng.span(-1.0, 1.0)).collect();
    let n = dims.last().map_or(1, |n| *n as usize).max(1);
    match sampled.like {
        Like::Position(at) => return Value::i64s(&[], &[at]),
        Like::Numbers => {}
        Like::Regular => x.chunks_mut(n * n).for_each(|matrix| shifted(matrix, n, 2.0)),
        Like::Definite => x.chunks_mut(n * n).for_each(|matrix| {
            let a = matrix.to_vec();
            for i in 0..n {
                for j in 0..n {
                    matrix[i * n + j] = (0..n).map(|k| a[i * n + k] * a[j * n + k]).sum();
                }
            }
            shifted(matrix, n, 1.0);
        }),
    }
    let bits = x.iter().map(|x| Const::float(elem, *x).bits()).collect();
    Value { elem, dims: dims.to_vec(), bits }
}

/// Adds a multiple of the identity.
fn shifted(matrix: &mut [f64], n: usize, by: f64) {
    (0..n).for_each(|i| matrix[i * n + i] += by);
}
