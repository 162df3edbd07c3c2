//! NaN propagation: which operations pass the NaN of an operand on to the result.

use crate::{Codegen, Derivative, Instruction, PrimRow, TensorRow};

impl PrimRow {
    /// Whether a NaN in an operand makes the result NaN, whatever the others are, and neither the sign of a zero in it
    /// nor a number next to zero in its place changes more than that of the result. For a choice: if it chooses that
    /// operand.
    pub fn passes_on(&self, operand: usize) -> bool {
        match self.codegen {
            Codegen::Native(instruction) => passes_on(instruction, operand),
            Codegen::Host | Codegen::NativeOrHost(_) | Codegen::Term(_) | Codegen::Expansion(_) => false,
        }
    }
}

fn passes_on(instruction: Instruction, operand: usize) -> bool {
    match instruction {
        Instruction::Add
        | Instruction::Sub
        | Instruction::Mul
        | Instruction::Mulc
        | Instruction::Neg
        | Instruction::Abs
        | Instruction::Fma
        | Instruction::Min
        | Instruction::Max => true,
        // What a choice does not choose does not count.
        Instruction::Select => operand > 0,
        Instruction::Div | Instruction::Copysign | Instruction::Identity => operand == 0,
        Instruction::Cast(to) => to.is_float(),
        // A zero hides a NaN, and the root of the least numbers is far from zero.
        Instruction::Mulz
        | Instruction::Sqrt
        | Instruction::Rem
        | Instruction::Floor
        | Instruction::Ceil
        | Instruction::Trunc
        | Instruction::Eq
        | Instruction::Ne
        | Instruction::Lt
        | Instruction::Le
        | Instruction::Gt
        | Instruction::Ge
        | Instruction::IsNan
        | Instruction::And
        | Instruction::Or
        | Instruction::Xor
        | Instruction::Not
        | Instruction::Shl
        | Instruction::Shr
        | Instruction::CastFits(_)
        | Instruction::Bitcast(_)
        | Instruction::AddFits
        | Instruction::SubFits
        | Instruction::MulFits
        | Instruction::ShiftFits => false,
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
