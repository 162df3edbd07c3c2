//! The op table: all rows, and the way from names and references to them.

use crate::scalar::FAMILIES;
use crate::*;
use cotan_ir::{Elem, Prim, TensorOp};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// Every scalar primitive, in the order of the reference.
pub fn table() -> &'static [&'static PrimRow] {
    static TABLE: LazyLock<Vec<&PrimRow>> = LazyLock::new(|| FAMILIES.concat());
    &TABLE
}

/// Every structural operation on tensors.
pub fn tensor_table() -> &'static [&'static TensorRow] {
    static TABLE: &[&TensorRow] = &[
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
pub fn tensor_row(op: TensorOp) -> &'static TensorRow {
    op.0.record.downcast_ref().expect("invariant: the record of a tensor operation is a record of this table")
}

/// The evaluator of an instruction on operands of a type: that of a row of the table that becomes it. None computes bits
/// of another type, [`Instruction::Bitcast`].
pub fn instruction_kernel(instruction: Instruction, elem: Elem) -> Option<Kernel> {
    static KERNELS: LazyLock<FxHashMap<(Instruction, Elem), Kernel>> = LazyLock::new(|| {
        let mut kernels = FxHashMap::default();
        for row in table() {
            let instruction = match row.codegen {
                Codegen::Native(instruction) | Codegen::NativeOrHost(instruction) => instruction,
                Codegen::Host | Codegen::Power | Codegen::Term(_) | Codegen::Expansion(_) => continue,
            };
            for elem in Elem::ALL {
                if let Some(kernel) = (row.kernels)(Carrier::Elem(elem)) {
                    kernels.entry((instruction, elem)).or_insert(kernel);
                }
            }
        }
        kernels
    });
    KERNELS.get(&(instruction, elem)).copied()
}

/// The primitive of that name.
pub fn lookup(name: &str) -> Option<&'static PrimRow> {
    table().iter().copied().find(|row| row.name() == name)
}

/// The tensor operation of that name.
pub fn lookup_tensor(name: &str) -> Option<&'static TensorRow> {
    tensor_table().iter().copied().find(|record| record.name() == name)
}
