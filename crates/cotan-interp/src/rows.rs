//! What iterations give, one row after the other.

use crate::budget::{Budget, Charge};
use crate::machine::{Outcome, bug};
use crate::value::{Array, Val, size_of};
use std::rc::Rc;

/// Rows of equal extents.
pub(crate) struct Rows {
    dims: Vec<i64>,
    cells: Vec<u64>,
    charge: Charge,
}

impl Rows {
    /// No rows yet.
    pub(crate) fn new(budget: &Budget, dims: Vec<i64>) -> Outcome<Rows> {
        Ok(Rows { dims, cells: Vec::new(), charge: budget.charge(0)? })
    }

    pub(crate) fn push(&mut self, budget: &Budget, val: &Val) -> Outcome<()> {
        if val.dims() != self.dims.as_slice() {
            return bug(format!("a row of extents {:?} among rows of {:?}", val.dims(), self.dims));
        }
        budget.grow(&mut self.charge, val.cells().len())?;
        self.cells.extend_from_slice(val.cells());
        Ok(())
    }

    /// The extents of a row.
    pub(crate) fn dims(&self) -> &[i64] {
        &self.dims
    }

    /// Element number `k` of every row.
    pub(crate) fn column(&self, k: usize) -> impl Iterator<Item = u64> {
        self.cells.iter().skip(k).step_by(size_of(&self.dims).max(1)).copied()
    }

    /// The rows as one tensor with more leading dims.
    pub(crate) fn stacked(self, lead: &[i64]) -> Val {
        let dims: Vec<i64> = lead.iter().copied().chain(self.dims).collect();
        match self.cells[..] {
            [cell] if dims.is_empty() => Val::Scalar(cell),
            _ => Val::Array(Rc::new(Array::new(dims, self.cells, self.charge))),
        }
    }
}
