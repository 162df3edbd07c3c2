//! What instructions compute: the evaluators of the rows of the op table that become them.

use crate::error::{Outcome, bug};
use cotan_ir::Elem;
use cotan_ops::{Instruction, Kernel, instruction_kernel};

/// The evaluator of an instruction on a type.
pub(crate) fn kernel(instruction: Instruction, elem: Elem) -> Outcome<Kernel> {
    match instruction_kernel(instruction, elem) {
        Some(kernel) => Ok(kernel),
        None => bug(format!("no row of the op table is {instruction:?} on {elem}")),
    }
}
