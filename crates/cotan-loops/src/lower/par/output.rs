//! Where the results of the body of a parallel loop go.

use crate::lower::reduction::Reduction;
use crate::node::{Sum, Tensor};
use cotan_ir::Monoid;

/// Where a result goes.
pub(in super::super) enum Output {
    Stacked(Tensor),
    Reduced(Reduction),
    /// The values of a block, to be reduced when all of them are there.
    Block(Tensor),
    /// The partial results of a block, that values are combined with at once.
    Lanes(Monoid, Tensor),
    /// A sum of a reduction that stays whole.
    Whole(Sum),
}

impl Output {
    /// Whether this is a reduction that may be of more than one block.
    pub(super) fn fills_blocks(&self) -> bool {
        match self {
            Output::Stacked(_) | Output::Block(_) | Output::Lanes(..) | Output::Whole(_) => false,
            Output::Reduced(reduction) => reduction.may_fill_block(),
        }
    }
}
