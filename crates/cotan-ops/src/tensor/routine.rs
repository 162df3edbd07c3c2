//! Numerical routines: functions on dense row-major arrays of the machine's numbers.
//!
//! A routine is total: where there is no result it gives NaN, and the operation that it belongs to says what is wrong
//! then. It knows nothing of the IR, and gives the same bits for the same operands.

use super::Inputs;
use crate::Value;
use cotan_ir::Elem;

/// A function on arrays.
pub type Routine = fn(&mut RoutineCall);

/// One call of a routine. The shapes have passed the check of its operation.
#[derive(Debug)]
pub struct RoutineCall<'a> {
    /// The operands; a scalar has no extents and one element.
    pub args: Vec<Array<'a>>,
    /// Static attributes.
    pub attrs: &'a [i64],
    /// Extents of the result.
    pub dims: &'a [i64],
    /// The elements of the result, to be written.
    pub result: ElementsMut<'a>,
}

/// An operand.
#[derive(Clone, Copy, Debug)]
pub struct Array<'a> {
    /// Extents, outermost first.
    pub dims: &'a [i64],
    /// The elements, row-major.
    pub elements: Elements<'a>,
}

/// Elements that are read.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are those of the element types")]
pub enum Elements<'a> {
    F32(&'a [f32]),
    F64(&'a [f64]),
    I64(&'a [i64]),
}

/// Elements that are written.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names are those of the element types")]
pub enum ElementsMut<'a> {
    F32(&'a mut [f32]),
    F64(&'a mut [f64]),
    I64(&'a mut [i64]),
}

/// Elements of a value, in the numbers of the machine.
enum Owned {
    F32(Vec<f32>),
    F64(Vec<f64>),
    I64(Vec<i64>),
}

impl Owned {
    fn of(elem: Elem, bits: &[u64]) -> Owned {
        match elem {
            Elem::F32 => Owned::F32(bits.iter().map(|b| f32::from_bits(*b as u32)).collect()),
            Elem::F64 => Owned::F64(bits.iter().map(|b| f64::from_bits(*b)).collect()),
            Elem::Bool
            | Elem::I8
            | Elem::I16
            | Elem::I32
            | Elem::I64
            | Elem::U8
            | Elem::U16
            | Elem::U32
            | Elem::U64
            | Elem::F16
            | Elem::BF16 => Owned::I64(bits.iter().map(|b| *b as i64).collect()),
        }
    }

    fn elements(&self) -> Elements<'_> {
        match self {
            Owned::F32(x) => Elements::F32(x),
            Owned::F64(x) => Elements::F64(x),
            Owned::I64(x) => Elements::I64(x),
        }
    }

    fn elements_mut(&mut self) -> ElementsMut<'_> {
        match self {
            Owned::F32(x) => ElementsMut::F32(x),
            Owned::F64(x) => ElementsMut::F64(x),
            Owned::I64(x) => ElementsMut::I64(x),
        }
    }

    fn bits(&self) -> Vec<u64> {
        match self {
            Owned::F32(x) => x.iter().map(|x| x.to_bits().into()).collect(),
            Owned::F64(x) => x.iter().map(|x| x.to_bits()).collect(),
            Owned::I64(x) => x.iter().map(|x| *x as u64).collect(),
        }
    }
}

/// The result of a routine for operands that are values.
pub(super) fn value(routine: Routine, inputs: &Inputs) -> Value {
    let (elem, dims) = inputs.result;
    let operands: Vec<Owned> = inputs.args.iter().map(|a| Owned::of(a.elem, &a.bits)).collect();
    let arrays = inputs.args.iter().zip(&operands).map(|(a, o)| Array { dims: &a.dims, elements: o.elements() });
    let mut result = Owned::of(elem, &vec![0; crate::count(dims)]);
    routine(&mut RoutineCall { args: arrays.collect(), attrs: inputs.attrs, dims, result: result.elements_mut() });
    Value { elem, dims: dims.to_vec(), bits: result.bits() }
}
