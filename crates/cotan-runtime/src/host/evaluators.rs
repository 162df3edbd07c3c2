//! Evaluators of the op table as functions of the host: a primitive without an instruction is called through its
//! evaluator, so that every row of the table can be compiled, and to the same bits.
//!
//! Compiled code gives `cotan_kernel` the address of an evaluator, operands by their bits in its frame, and their number.

use crate::abi::HostSymbols;
use cotan_ir::Elem;
use cotan_ops::{Carrier, Codegen, Kernel, PrimRow, table};

/// Adds to `symbols` the evaluators of primitives that compiled code calls, and what it calls them through.
pub(super) fn define(symbols: &mut HostSymbols) {
    for row in table().iter().filter(|row| is_called(row)) {
        for elem in Elem::ALL {
            if let Some(kernel) = (row.kernels)(Carrier::Elem(elem)) {
                // SAFETY: compiled code does not call this address, it hands it to `cotan_kernel`.
                unsafe { symbols.define(evaluator_symbol(row.name(), elem), kernel as *const ()) };
            }
        }
    }
    // SAFETY: the signature is the one that compiled code declares.
    unsafe { symbols.define("cotan_kernel", call_kernel as *const ()) };
}

/// The symbol of the evaluator of a primitive.
#[must_use]
pub fn evaluator_symbol(name: &str, elem: Elem) -> String {
    format!("cotan_{name}_{elem}")
}

fn is_called(row: &PrimRow) -> bool {
    match row.codegen {
        Codegen::Host | Codegen::Power | Codegen::NativeOrHost(_) => true,
        Codegen::Native(_) | Codegen::Term(_) | Codegen::Expansion(_) => false,
    }
}

/// Calls an evaluator on `n` operands, given by their bits.
unsafe extern "C" fn call_kernel(kernel: *const (), args: *const u64, n: usize) -> u64 {
    // SAFETY: compiled code passes the address of a kernel of the table, and `n` operands in its frame.
    unsafe {
        let kernel: Kernel = std::mem::transmute(kernel);
        kernel(std::slice::from_raw_parts(args, n))
    }
}
