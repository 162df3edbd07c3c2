//! The table: all rows, and the way from names and references to them.

use crate::*;
use cotan_ir::{Prim, TensorOp};

/// Every scalar primitive, in the order of the reference.
pub fn table() -> &'static [&'static PrimRow] {
    static TABLE: &[&PrimRow] = &[
        &ADD, &SUB, &MUL, &MULZ, &DIV, &NEG, &FMA, &ABS, &SIGN, &EXP, &LOG, &SQRT, &SIN, &COS, &EQ, &NE, &LT, &LE, &GT,
        &GE, &ISNAN, &ISFINITE, &AND, &OR, &XOR, &NOT, &SELECT, &TO_I8, &TO_I16, &TO_I32, &TO_I64, &TO_U8, &TO_U16,
        &TO_U32, &TO_U64, &TO_F32, &TO_F64,
    ];
    TABLE
}

/// Every structural operation on tensors.
pub fn tensor_table() -> &'static [&'static TensorRecord] {
    static TABLE: &[&TensorRecord] = &[&SLICE, &PAD, &REVERSE];
    TABLE
}

/// The row that a primitive refers to.
pub fn row(prim: Prim) -> &'static PrimRow {
    prim.0.record.downcast_ref().expect("invariant: the record of a primitive is a row")
}

/// The record that a tensor operation refers to.
pub fn record(op: TensorOp) -> &'static TensorRecord {
    op.0.record.downcast_ref().expect("invariant: the record of a tensor operation is a record of this table")
}

/// The primitive of that name.
pub fn lookup(name: &str) -> Option<&'static PrimRow> {
    table().iter().copied().find(|row| row.name() == name)
}

/// The tensor operation of that name.
pub fn lookup_tensor(name: &str) -> Option<&'static TensorRecord> {
    tensor_table().iter().copied().find(|record| record.name() == name)
}
