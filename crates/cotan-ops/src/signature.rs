//! Signatures of rows, by shape.

use crate::PrimRow;
use cotan_ir::{Elem, ElemSet, OperandElem, PrimSig, ResultElem};

const T: OperandElem = OperandElem::T;
const BOOL: OperandElem = OperandElem::Is(Elem::Bool);
const I64: OperandElem = OperandElem::Is(Elem::I64);

/// `(T) -> ..`
pub(crate) const UNARY: &[OperandElem] = &[T];
/// `(T, T) -> ..`
pub(crate) const BINARY: &[OperandElem] = &[T, T];
/// `(T, T, T) -> ..`
pub(crate) const TERNARY: &[OperandElem] = &[T, T, T];
/// `(T, i64) -> ..`
pub(crate) const WITH_I64: &[OperandElem] = &[T, I64];
/// `(bool, T, T) -> ..`
pub(crate) const CHOICE: &[OperandElem] = &[BOOL, T, T];
/// `(i64, i64) -> ..`
pub(crate) const I64_PAIR: &[OperandElem] = &[I64, I64];

/// A signature whose result has type `T`.
pub(crate) const fn same(
    row: &'static PrimRow,
    name: &'static str,
    operands: &'static [OperandElem],
    domain: ElemSet,
) -> PrimSig {
    PrimSig { name, domain, operands, result: ResultElem::T, record: row }
}

/// A signature whose result has a fixed type.
pub(crate) const fn giving(
    row: &'static PrimRow,
    name: &'static str,
    operands: &'static [OperandElem],
    domain: ElemSet,
    result: Elem,
) -> PrimSig {
    PrimSig { name, domain, operands, result: ResultElem::Is(result), record: row }
}
