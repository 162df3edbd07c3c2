//! Values of the reference evaluators: dense row-major tensors of bits.

use crate::element_count::count;
use cotan_ir::{Const, Elem};

/// A scalar (no dims) or a tensor. The elements are kept as the bits of [`Const`], whatever their type, so that
/// everything which only moves elements is written once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Element type.
    pub elem: Elem,
    /// Extents, outermost first.
    pub dims: Vec<i64>,
    /// The bits of the elements, row-major.
    pub bits: Vec<u64>,
}

impl Value {
    /// A tensor filled with the zero of its type.
    pub fn zeros(elem: Elem, dims: &[i64]) -> Value {
        Value { elem, dims: dims.to_vec(), bits: vec![0; count(dims)] }
    }

    /// A copy, if there is memory for it.
    pub fn try_clone(&self) -> Option<Value> {
        let mut bits = Vec::new();
        bits.try_reserve_exact(self.bits.len()).ok()?;
        bits.extend_from_slice(&self.bits);
        Some(Value { elem: self.elem, dims: self.dims.clone(), bits })
    }

    /// A tensor of f64. The number of elements is the product of the dims.
    pub fn f64s(dims: &[i64], elements: &[f64]) -> Value {
        let bits: Vec<u64> = elements.iter().map(|x| x.to_bits()).collect();
        assert_eq!(bits.len(), count(dims), "elements for dims {dims:?}");
        Value { elem: Elem::F64, dims: dims.to_vec(), bits }
    }

    /// A tensor of i64. The number of elements is the product of the dims.
    pub fn i64s(dims: &[i64], elements: &[i64]) -> Value {
        let bits: Vec<u64> = elements.iter().map(|x| *x as u64).collect();
        assert_eq!(bits.len(), count(dims), "elements for dims {dims:?}");
        Value { elem: Elem::I64, dims: dims.to_vec(), bits }
    }

    /// Element number `at` in row-major order.
    pub fn get(&self, at: usize) -> Const {
        Const::from_bits(self.elem, self.bits[at])
    }

    /// The constant that a scalar is.
    pub fn scalar(&self) -> Option<Const> {
        if self.dims.is_empty() { self.bits.first().map(|b| Const::from_bits(self.elem, *b)) } else { None }
    }

    /// The elements of a float tensor, widened to f64.
    pub fn floats(&self) -> Option<Vec<f64>> {
        (0..self.bits.len()).map(|k| self.get(k).as_float()).collect()
    }

    /// The elements of an i64 tensor.
    pub fn integers(&self) -> Option<Vec<i64>> {
        (0..self.bits.len()).map(|k| self.get(k).as_i64()).collect()
    }
}

impl From<Const> for Value {
    fn from(c: Const) -> Value {
        Value { elem: c.elem(), dims: Vec::new(), bits: vec![c.bits()] }
    }
}

/// The dims split at an axis: elements before it, along it, after it.
pub(crate) fn split_at_axis(dims: &[i64], axis: usize) -> (usize, usize, usize) {
    (count(&dims[..axis]), dims[axis] as usize, count(&dims[axis + 1..]))
}
