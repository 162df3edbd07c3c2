//! What instructions compute: the evaluators of the rows of the op table that become them.

use crate::error::{Outcome, bug};
use cotan_ir::Elem;
use cotan_ops::{Carrier, Codegen, Instruction, Kernel, table};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// The evaluator of an instruction on a type.
pub(crate) fn kernel(instruction: Instruction, elem: Elem) -> Outcome<Kernel> {
    static KERNELS: OnceLock<FxHashMap<(Instruction, Elem), Kernel>> = OnceLock::new();
    let kernels = KERNELS.get_or_init(|| {
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
    match kernels.get(&(instruction, elem)) {
        Some(kernel) => Ok(*kernel),
        None => bug(format!("no row of the op table is {instruction:?} on {elem}")),
    }
}
