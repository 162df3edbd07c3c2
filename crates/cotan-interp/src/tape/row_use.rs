//! The use of a row: the operands of one node, for arithmetic.

use crate::domain::MAX_OPERANDS;
use cotan_ir::Elem;
use cotan_ops::PrimRow;

/// The number of a node. A node refers to smaller numbers only.
pub type Id = u32;

/// The operands of a row, for arithmetic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowUse {
    pub(crate) row: &'static PrimRow,
    /// Number of operands.
    pub(crate) arity: usize,
    /// The node that an operand is, if it is a float.
    pub(crate) ids: [Option<Id>; MAX_OPERANDS],
    /// Element types of the operands.
    pub(crate) elems: [Elem; MAX_OPERANDS],
    /// Values of the operands.
    pub(crate) values: [u64; MAX_OPERANDS],
}
