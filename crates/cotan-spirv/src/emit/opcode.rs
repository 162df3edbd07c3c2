//! The instructions that are one opcode, as a table. What is not in it, or has no opcode for a class of types, is written
//! by code: see `instruction.rs`.

use super::register::Class;
use cotan_ops::Instruction;
use rspirv::spirv::{GlslStd450Op, Op};

/// The opcodes of an instruction; [`Op::Nop`] where one opcode does not do.
struct Row {
    instruction: Instruction,
    boolean: Op,
    signed: Op,
    unsigned: Op,
    float: Op,
}

/// A row of the table.
const fn row(instruction: Instruction, boolean: Op, signed: Op, unsigned: Op, float: Op) -> Row {
    Row { instruction, boolean, signed, unsigned, float }
}

/// What one opcode does on operands of one type.
const ROWS: &[Row] = &[
    row(Instruction::Add, Op::Nop, Op::IAdd, Op::IAdd, Op::FAdd),
    row(Instruction::Sub, Op::Nop, Op::ISub, Op::ISub, Op::FSub),
    row(Instruction::Mul, Op::Nop, Op::IMul, Op::IMul, Op::FMul),
    row(Instruction::Mulc, Op::Nop, Op::IMul, Op::IMul, Op::FMul),
    row(Instruction::Mulz, Op::Nop, Op::IMul, Op::IMul, Op::Nop),
    row(Instruction::Mulg, Op::Nop, Op::IMul, Op::IMul, Op::Nop),
    row(Instruction::Div, Op::Nop, Op::Nop, Op::Nop, Op::FDiv),
    row(Instruction::Neg, Op::Nop, Op::SNegate, Op::SNegate, Op::FNegate),
    row(Instruction::And, Op::LogicalAnd, Op::BitwiseAnd, Op::BitwiseAnd, Op::Nop),
    row(Instruction::Or, Op::LogicalOr, Op::BitwiseOr, Op::BitwiseOr, Op::Nop),
    row(Instruction::Xor, Op::LogicalNotEqual, Op::BitwiseXor, Op::BitwiseXor, Op::Nop),
    row(Instruction::Not, Op::LogicalNot, Op::Not, Op::Not, Op::Nop),
    row(Instruction::Eq, Op::LogicalEqual, Op::IEqual, Op::IEqual, Op::FOrdEqual),
    row(Instruction::Ne, Op::LogicalNotEqual, Op::INotEqual, Op::INotEqual, Op::FUnordNotEqual),
    row(Instruction::Lt, Op::Nop, Op::SLessThan, Op::ULessThan, Op::FOrdLessThan),
    row(Instruction::Le, Op::Nop, Op::SLessThanEqual, Op::ULessThanEqual, Op::FOrdLessThanEqual),
    row(Instruction::Gt, Op::Nop, Op::SGreaterThan, Op::UGreaterThan, Op::FOrdGreaterThan),
    row(Instruction::Ge, Op::Nop, Op::SGreaterThanEqual, Op::UGreaterThanEqual, Op::FOrdGreaterThanEqual),
    row(Instruction::IsNan, Op::Nop, Op::Nop, Op::Nop, Op::IsNan),
];

/// What one function of the extended set does on floats.
const FUNCTIONS: &[(Instruction, GlslStd450Op)] = &[
    (Instruction::Abs, GlslStd450Op::FAbs),
    (Instruction::Fma, GlslStd450Op::Fma),
    (Instruction::Sqrt, GlslStd450Op::Sqrt),
    (Instruction::Floor, GlslStd450Op::Floor),
    (Instruction::Ceil, GlslStd450Op::Ceil),
    (Instruction::Trunc, GlslStd450Op::Trunc),
];

/// The opcode that an instruction is on a class of types, if it is one.
pub(crate) fn opcode(instruction: Instruction, class: Class) -> Option<Op> {
    let row = ROWS.iter().find(|row| row.instruction == instruction)?;
    let op = match class {
        Class::Bool => row.boolean,
        Class::Signed => row.signed,
        Class::Unsigned => row.unsigned,
        Class::Float => row.float,
        Class::Stored(_) => Op::Nop,
    };
    (op != Op::Nop).then_some(op)
}

/// The function that an instruction is on floats, if it is one.
pub(crate) fn function(instruction: Instruction, class: Class) -> Option<GlslStd450Op> {
    let row = FUNCTIONS.iter().find(|row| row.0 == instruction && class == Class::Float)?;
    Some(row.1)
}
