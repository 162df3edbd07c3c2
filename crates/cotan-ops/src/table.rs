//! The table: all rows, and the way from names and references to them.

use crate::*;
use cotan_ir::{Prim, TensorOp};

/// Every scalar primitive, in the order of the reference.
pub fn table() -> &'static [&'static PrimRow] {
    static TABLE: &[&PrimRow] = &[
        &ADD,
        &SUB,
        &MUL,
        &MULZ,
        &MULC,
        &DIV,
        &NEG,
        &FMA,
        &SQRT,
        &RSQRT,
        &CBRT,
        &RECIP,
        &SQUARE,
        &POWI,
        &POW,
        &POWER_BELOW,
        &ABS,
        &SIGN,
        &FLOOR,
        &CEIL,
        &TRUNC,
        &ROUND,
        &COPYSIGN,
        &STOP_GRADIENT,
        &AFTER,
        &WITH_DERIVATIVE_OF,
        &REM,
        &HYPOT,
        &MAX,
        &MIN,
        &WINS,
        &CLAMP,
        &RELU,
        &FLOOR_DIV,
        &FLOOR_MOD,
        &SHL,
        &SHR,
        &EXP,
        &EXP2,
        &EXPM1,
        &LOG,
        &LOG2,
        &LOG10,
        &LOG1P,
        &SIN,
        &COS,
        &TAN,
        &ASIN,
        &ACOS,
        &ATAN,
        &ATAN2,
        &SINH,
        &COSH,
        &TANH,
        &SECH2,
        &ASINH,
        &ACOSH,
        &ATANH,
        &SIGMOID,
        &ERF,
        &ERFC,
        &LGAMMA,
        &DIGAMMA,
        &POLYGAMMA,
        &AND,
        &OR,
        &XOR,
        &NOT,
        &SELECT,
        &ISNAN,
        &ISFINITE,
        &EQ,
        &NE,
        &LT,
        &LE,
        &GT,
        &GE,
        &IN_RANGE,
        &ADD_FITS,
        &SUB_FITS,
        &MUL_FITS,
        &NEG_FITS,
        &ABS_FITS,
        &DIV_FITS,
        &POWI_FITS,
        &SHIFT_FITS,
        &CAST_FITS_I8,
        &CAST_FITS_I16,
        &CAST_FITS_I32,
        &CAST_FITS_I64,
        &CAST_FITS_U8,
        &CAST_FITS_U16,
        &CAST_FITS_U32,
        &CAST_FITS_U64,
        &TO_I8,
        &TO_I16,
        &TO_I32,
        &TO_I64,
        &TO_U8,
        &TO_U16,
        &TO_U32,
        &TO_U64,
        &TO_F16,
        &TO_BF16,
        &TO_F32,
        &TO_F64,
    ];
    TABLE
}

/// Every structural operation on tensors.
pub fn tensor_table() -> &'static [&'static TensorRecord] {
    static TABLE: &[&TensorRecord] = &[
        &FILL,
        &FROM_ELEMENTS,
        &RESHAPE,
        &TRANSPOSE,
        &REVERSE,
        &SLICE,
        &PAD,
        &CONCAT,
        &IOTA,
        &MATMUL,
        &ARGSORT,
        &CHOLESKY,
        &TRIANGULAR_SOLVE,
        &SOLVE,
        &LU,
        &LU_PERMUTATION,
        &SLOGDET,
        &ORTHONORMAL,
        &EIGH,
        &SVD,
        &FFT,
        &RFFT,
        &IRFFT,
        &PRINT,
    ];
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
