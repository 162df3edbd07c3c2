//! NaN propagation: which operations pass the NaN of an operand on to the result.

use crate::{Codegen, Derivative, PrimRow, TensorRow};

impl PrimRow {
    /// Whether a NaN in an operand makes the result NaN, whatever the others are, and neither the sign of a zero in it
    /// nor a number next to zero in its place changes more than that of the result. For a choice: if it chooses that
    /// operand.
    pub fn passes_on(&self, operand: usize) -> bool {
        match self.codegen {
            Codegen::Native(instruction) => instruction.traits().passes_nan.has(operand),
            Codegen::Host | Codegen::Power | Codegen::NativeOrHost(_) | Codegen::Term(_) | Codegen::Expansion(_) => {
                false
            }
        }
    }
}

impl TensorRow {
    /// Whether every NaN in the operands is in the result, but for elements that it leaves out.
    pub fn passes_on(&self) -> bool {
        match self.derivative {
            Derivative::Linear { .. } | Derivative::Multilinear { .. } | Derivative::Rule { .. } => true,
            Derivative::None { .. } => false,
        }
    }
}
