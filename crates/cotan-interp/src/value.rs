//! Values during a run.
//!
//! An element is one cell of 64 bits whatever its type: what the cell means is up to the
//! [`Domain`](crate::domain::Domain) of the run. Element types are known from the IR and are not repeated here.

use crate::budget::{Budget, Charge};
use crate::error::RuntimeError;
use cotan_ops::count;
use std::rc::Rc;

/// A scalar or a dense row-major tensor.
#[derive(Clone, Debug)]
pub(crate) enum Val {
    /// One cell.
    Scalar(u64),
    /// A tensor; shared, and copied when a shared one is written to.
    Array(Rc<Array>),
}

/// A tensor.
#[derive(Debug)]
pub(crate) struct Array {
    pub(crate) dims: Vec<i64>,
    pub(crate) cells: Vec<u64>,
    #[expect(dead_code, reason = "it counts as long as it is there")]
    charge: Charge,
}

impl Array {
    /// A tensor of these elements. `charge` covers them.
    pub(crate) fn new(dims: Vec<i64>, cells: Vec<u64>, charge: Charge) -> Array {
        debug_assert_eq!(count(&dims), cells.len());
        Array { dims, cells, charge }
    }

    /// The cells that leading indices select, and the dims of what they select; `None` if an index is out of range.
    pub(crate) fn place(&self, indices: &[i64]) -> Option<(std::ops::Range<usize>, &[i64])> {
        place(&self.dims, indices)
    }
}

/// The cells that leading indices select in a tensor of these dims, and the dims of what they select.
pub(crate) fn place<'d>(dims: &'d [i64], indices: &[i64]) -> Option<(std::ops::Range<usize>, &'d [i64])> {
    let inner = dims.get(indices.len()..)?;
    let size = count(inner);
    let mut start = 0usize;
    for (index, dim) in indices.iter().zip(dims) {
        if !(0..*dim).contains(index) {
            return None;
        }
        // Of a tensor without elements the extents may be of any size, so the products may wrap; they are not used.
        start = start.wrapping_mul(*dim as usize).wrapping_add(*index as usize);
    }
    let start = if size == 0 { 0 } else { start * size };
    Some((start..start + size, inner))
}

impl Val {
    /// A tensor of elements that are there already, or a scalar where there are no dims.
    pub(crate) fn new(budget: &Budget, dims: Vec<i64>, cells: Vec<u64>) -> Result<Val, RuntimeError> {
        let charge = budget.charge(cells.len())?;
        Ok(Val::charged(dims, cells, charge))
    }

    /// A copy of a tensor, or of a scalar where there are no dims.
    pub(crate) fn copied(budget: &Budget, dims: &[i64], cells: &[u64]) -> Result<Val, RuntimeError> {
        match cells {
            [cell] if dims.is_empty() => Ok(Val::Scalar(*cell)),
            _ => {
                let (mut own, charge) = budget.cells(cells.len())?;
                own.extend_from_slice(cells);
                Ok(Val::charged(dims.to_vec(), own, charge))
            }
        }
    }

    /// A tensor whose elements the charge covers, or a scalar where there are no dims.
    pub(crate) fn charged(dims: Vec<i64>, cells: Vec<u64>, charge: Charge) -> Val {
        match cells.as_slice() {
            [cell] if dims.is_empty() => Val::Scalar(*cell),
            _ => Val::Array(Rc::new(Array::new(dims, cells, charge))),
        }
    }

    /// The dims; none of a scalar.
    pub(crate) fn dims(&self) -> &[i64] {
        match self {
            Val::Scalar(_) => &[],
            Val::Array(a) => &a.dims,
        }
    }

    /// The elements.
    pub(crate) fn cells(&self) -> &[u64] {
        match self {
            Val::Scalar(cell) => std::slice::from_ref(cell),
            Val::Array(a) => &a.cells,
        }
    }

    /// The cell of a scalar.
    pub(crate) fn scalar(&self) -> Option<u64> {
        match self {
            Val::Scalar(cell) => Some(*cell),
            Val::Array(_) => None,
        }
    }
}

/// A tensor that nobody else sees: the value itself if it is not shared, else a copy.
pub(crate) fn own(budget: &Budget, array: Rc<Array>) -> Result<Array, RuntimeError> {
    match Rc::try_unwrap(array) {
        Ok(array) => Ok(array),
        Err(shared) => {
            let charge = budget.charge(shared.cells.len())?;
            Ok(Array::new(shared.dims.clone(), shared.cells.clone(), charge))
        }
    }
}
