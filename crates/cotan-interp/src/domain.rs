//! What the numbers of a run are.
//!
//! Control flow, indexing and moving of elements are the same for all numbers and are written once, in
//! [`crate::machine`]. A domain says what a cell of float type holds and computes with such cells. Cells of every other
//! type hold the bits of [`Const`]; those of truth values may hold more above their lowest bit.

use crate::error::RuntimeError;
use cotan_ir::{Const, Elem, Monoid, Span};
use cotan_ops::reduce::{Reduction, monoid_row};
use cotan_ops::stop::Stop;
use cotan_ops::{PrimRow, TensorRow, Value};
use std::cell::RefCell;

/// No primitive of the op table has more operands.
pub(crate) const MAX_OPERANDS: usize = 3;

/// In which order a sequence is combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The tree of reductions.
    Tree,
    /// One after the other, the start value first.
    Chain,
}

/// The numbers of a run.
pub(crate) trait Domain {
    /// What a primitive calls.
    type Kernel;

    /// The place of the statement whose numbers come next.
    fn at(&mut self, _span: Span) {}

    /// What a primitive calls for operands of these element types; `None` if it is not defined on these numbers.
    fn kernel(&self, row: &'static PrimRow, operands: &[Elem]) -> Option<Self::Kernel>;

    /// One evaluation of a primitive.
    fn apply(&mut self, kernel: &Self::Kernel, operands: &[u64]) -> Result<u64, RuntimeError>;

    /// The cell of a constant.
    fn constant(&mut self, c: Const) -> Result<u64, RuntimeError>;

    /// A sequence combined with a start value.
    fn combine(
        &mut self,
        monoid: Monoid,
        elem: Elem,
        order: Order,
        init: u64,
        sequence: &mut dyn Iterator<Item = u64>,
    ) -> Result<u64, RuntimeError>;

    /// The elements of a structural operation's result, whose type is given. Where the operation is long, `stop` may end the
    /// wait for it.
    fn tensor(
        &mut self,
        record: &'static TensorRow,
        args: Vec<Value>,
        attrs: &[i64],
        result: (Elem, &[i64]),
        stop: Option<&Stop>,
    ) -> Result<Vec<u64>, RuntimeError>;

    /// What combining two values of a monoid calls.
    fn monoid_kernel(&self, monoid: Monoid, elem: Elem) -> Result<Self::Kernel, RuntimeError> {
        let row = monoid_row(monoid);
        self.kernel(row, &[elem, elem]).ok_or_else(|| undefined(row))
    }
}

/// The error of a primitive that the numbers of a run lack.
pub(crate) fn undefined(row: &PrimRow) -> RuntimeError {
    RuntimeError::Undefined(format!("`{}` is not defined on the numbers of this run", row.name()))
}

impl Order {
    /// A sequence combined with a start value.
    pub(crate) fn combine(
        self,
        init: u64,
        sequence: &mut dyn Iterator<Item = u64>,
        f: &mut dyn FnMut(u64, u64) -> Result<u64, RuntimeError>,
    ) -> Result<u64, RuntimeError> {
        match self {
            Order::Chain => {
                let mut total = init;
                for x in sequence {
                    total = f(total, x)?;
                }
                Ok(total)
            }
            Order::Tree => {
                // The reduction knows of no failures: the first one is kept beside it.
                let state = RefCell::new((f, None));
                let mut tree = Reduction::new(|a, b| {
                    let (f, failure) = &mut *state.borrow_mut();
                    f(a, b).unwrap_or_else(|e| {
                        failure.get_or_insert(e);
                        a
                    })
                });
                sequence.for_each(|x| tree.push(x));
                let total = tree.finish(init);
                state.into_inner().1.map_or(Ok(total), Err)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_primitive_has_more_operands_than_there_is_room_for() {
        let most = cotan_ops::table().iter().map(|row| row.sig.operands.len()).max();
        assert_eq!(most, Some(MAX_OPERANDS));
    }

    #[test]
    fn the_first_failure_of_a_combination_is_reported_in_both_orders() {
        for order in [Order::Tree, Order::Chain] {
            let failure = |b| RuntimeError::Undefined(format!("{b} is too much"));
            let mut add = |a, b| if b < 100 { Ok(a + b) } else { Err(failure(b)) };
            assert_eq!(order.combine(1, &mut [2, 3, 4].into_iter(), &mut add), Ok(10));
            assert_eq!(order.combine(1, &mut [2, 3, 400].into_iter(), &mut add), Err(failure(400)));
        }
    }
}
