//! Programs of one operation, with arguments from its samples.

use crate::derived_case::Subject;
use crate::random::Rng;
use cotan_ir::{Atom, Builder, Const, Dim, Elem, Module, OperandElem, Ty};
use cotan_ops::{Like, PrimRow, Sample, Sampled, Shapes, TensorRow, TensorSample, Value, count};
use std::ops::Range;

/// An operation with arguments.
#[derive(Clone, Debug)]
pub(super) struct Use {
    operation: UsedOperation,
    /// Names the arguments and the directions.
    pub(super) seed: u64,
    /// The arguments.
    pub(super) args: Vec<Value>,
}

#[derive(Clone, Debug)]
enum UsedOperation {
    Prim(&'static PrimRow),
    Tensor { record: &'static TensorRow, attrs: &'static [i64], result: Ty },
}

impl Use {
    /// The same with other arguments.
    pub(super) fn with(&self, args: Vec<Value>) -> Use {
        Use { args, ..self.clone() }
    }

    /// A statement of the operation.
    pub(super) fn emit(&self, b: &mut Builder, args: &[Atom]) -> Atom {
        match &self.operation {
            UsedOperation::Prim(row) => b.prim(row.prim(), args).into(),
            UsedOperation::Tensor { record, attrs, result } => {
                b.tensor(record.op(), args, attrs, result.clone()).into()
            }
        }
    }

    /// The program of the operation alone.
    pub(super) fn alone(&self) -> Subject {
        self.subject(self.args.clone(), |b, args| self.emit(b, args))
    }

    /// A program of these arguments that gives one result.
    pub(super) fn subject(&self, args: Vec<Value>, body: impl FnOnce(&mut Builder, &[Atom]) -> Atom) -> Subject {
        let mut b = Builder::new();
        let param = |(k, v): (usize, &Value)| b.param(&format!("a{k}"), ty(v.elem, &v.dims)).into();
        let atoms: Vec<Atom> = args.iter().enumerate().map(param).collect();
        let result = body(&mut b, &atoms);
        let mut module = Module::default();
        let f = module.insert(b.finish("operation", vec![result]));
        let name = match &self.operation {
            UsedOperation::Prim(row) => row.name(),
            UsedOperation::Tensor { record, .. } => record.name(),
        };
        Subject { seed: self.seed, ..Subject::new(name.to_owned(), module, f.name.clone(), args) }
    }
}

/// The type of a tensor of known extents.
pub(super) fn ty(elem: Elem, dims: &[i64]) -> Ty {
    Ty::new(elem, dims.iter().map(|n| Dim::Const(*n)).collect())
}

/// A primitive at sampled points, on every element of tensors of these extents; none where it gives no float of this type.
pub(super) fn of_row(row: &'static PrimRow, elem: Elem, dims: &[i64], points: Range<u64>) -> Vec<Use> {
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
        let mut args = Vec::new();
        for (operand, sample) in operands.iter().zip(row.samples) {
            let bits = (0..count(dims)).map(|_| draw(&mut rng, *operand, *sample).bits()).collect();
            args.push(Value { elem: *operand, dims: dims.to_vec(), bits });
        }
        Use { operation: UsedOperation::Prim(row), seed, args }
    };
    points.map(at).collect()
}

/// An operation on tensors at its samples, with other elements at each point; none where it gives no float.
pub(super) fn of_record(record: &'static TensorRow, elem: Elem, points: Range<u64>) -> Vec<Use> {
    let of_sample = |sample: &'static TensorSample| points.clone().map(move |seed| of_use(record, sample, elem, seed));
    record.samples.iter().flat_map(of_sample).flatten().collect()
}

fn of_use(record: &'static TensorRow, sample: &'static TensorSample, elem: Elem, seed: u64) -> Option<Use> {
    let mut rng = Rng::new(seed);
    let args: Vec<Value> = sample.args.iter().map(|arg| of_sampled(&mut rng, arg, elem)).collect();
    let shapes: Vec<(Elem, &[i64])> = args.iter().map(|v| (v.elem, v.dims.as_slice())).collect();
    let shapes = Shapes { args: &shapes, attrs: sample.attrs, result: (elem, sample.dims) };
    if !record.elems.has(elem) || (record.check)(&shapes).is_err() {
        return None;
    }
    let operation = UsedOperation::Tensor { record, attrs: sample.attrs, result: ty(elem, sample.dims) };
    Some(Use { operation, seed, args })
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
