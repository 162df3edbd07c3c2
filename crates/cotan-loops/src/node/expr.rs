//! Expressions: the values of definitions.

use super::Operand;
use cotan_ir::{Elem, Monoid, Prim};
use cotan_ops::Instruction;

/// The value of a definition.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// The operand.
    Copy(Operand),
    /// A machine instruction on operands of type `elem` (of a select: its last two).
    Native {
        /// Which.
        instruction: Instruction,
        /// Type of the operands.
        elem: Elem,
        /// Operands.
        args: Vec<Operand>,
    },
    /// A function of the host.
    Host {
        /// The primitive that it evaluates.
        prim: Prim,
        /// What the `T` of its signature stands for.
        elem: Elem,
        /// Operands.
        args: Vec<Operand>,
    },
    /// The lanes base, base + 1, base + 2, ... of an i64.
    Iota(Operand),
    /// Whether any lane of a bool is true.
    Any(Operand),
    /// The number of the first lane of a bool that is true, i64; the number of lanes if none is.
    First(Operand),
    /// The lanes combined: halves pairwise until one is left, so that the result does not depend on the machine.
    Fold(Monoid, Operand),
    /// The lane of the first operand whose number is the second, an i64.
    Lane([Operand; 2]),
}

impl Expr {
    /// The operands.
    pub fn operands(&self) -> &[Operand] {
        match self {
            Expr::Copy(operand) | Expr::Iota(operand) | Expr::Any(operand) | Expr::First(operand) => {
                std::slice::from_ref(operand)
            }
            Expr::Fold(_, operand) => std::slice::from_ref(operand),
            Expr::Native { args, .. } | Expr::Host { args, .. } => args,
            Expr::Lane(args) => args,
        }
    }

    /// The operands, to change them.
    pub fn operands_mut(&mut self) -> &mut [Operand] {
        match self {
            Expr::Copy(operand) | Expr::Iota(operand) | Expr::Any(operand) | Expr::First(operand) => {
                std::slice::from_mut(operand)
            }
            Expr::Fold(_, operand) => std::slice::from_mut(operand),
            Expr::Native { args, .. } | Expr::Host { args, .. } => args,
            Expr::Lane(args) => args,
        }
    }
}

/// The instruction that combines two values of a monoid.
pub fn combining(monoid: Monoid) -> Instruction {
    match monoid {
        Monoid::Add => Instruction::Add,
        Monoid::Mul => Instruction::Mul,
        Monoid::Max => Instruction::Max,
        Monoid::Min => Instruction::Min,
        Monoid::And => Instruction::And,
        Monoid::Or => Instruction::Or,
    }
}

/// Whether the order of what is combined shows in the result.
pub fn rounds(monoid: Monoid, elem: Elem) -> bool {
    match monoid {
        Monoid::Add | Monoid::Mul => elem.is_float(),
        Monoid::Max | Monoid::Min | Monoid::And | Monoid::Or => false,
    }
}
