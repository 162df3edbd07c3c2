//! What iterations give, one row after the other.

use crate::budget::{Budget, Charge};
use crate::error::{Outcome, bug};
use crate::value::Val;
use cotan_ops::count;

/// Rows of equal extents.
pub(crate) struct Rows {
    dims: Vec<i64>,
    cells: Vec<u64>,
    charge: Charge,
    /// The number of elements that the charge is for.
    charged: usize,
}

impl Rows {
    /// No rows yet, of a number that is not known.
    pub(crate) fn new(budget: &Budget, dims: Vec<i64>) -> Outcome<Rows> {
        Rows::with_room(budget, dims, &[0])
    }

    /// No rows yet, but memory for as many as these extents say: it is asked for before anything is computed.
    pub(crate) fn with_room(budget: &Budget, dims: Vec<i64>, lead: &[i64]) -> Outcome<Rows> {
        let charged = count(&[lead, &dims].concat());
        let (cells, charge) = budget.cells(charged)?;
        Ok(Rows { dims, cells, charge, charged })
    }

    /// Whether rows have no elements.
    pub(crate) fn are_empty(&self) -> bool {
        count(&self.dims) == 0
    }

    pub(crate) fn push(&mut self, budget: &Budget, val: &Val) -> Outcome<()> {
        if val.dims() != self.dims.as_slice() {
            return bug(format!("a row of extents {:?} among rows of {:?}", val.dims(), self.dims));
        }
        let needed = self.cells.len() + val.cells().len();
        if needed > self.charged {
            budget.grow(&mut self.charge, needed - self.charged)?;
            self.charged = needed;
        }
        self.cells.extend_from_slice(val.cells());
        Ok(())
    }

    /// The extents of a row.
    pub(crate) fn dims(&self) -> &[i64] {
        &self.dims
    }

    /// Element number `k` of every row.
    pub(crate) fn column(&self, k: usize) -> impl Iterator<Item = u64> {
        self.cells.iter().skip(k).step_by(count(&self.dims).max(1)).copied()
    }

    /// The rows as one tensor with more leading dims.
    pub(crate) fn stacked(self, lead: &[i64]) -> Val {
        let dims: Vec<i64> = lead.iter().copied().chain(self.dims).collect();
        Val::charged(dims, self.cells, self.charge)
    }
}
