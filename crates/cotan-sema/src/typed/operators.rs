//! Operators: prefix, infix, lazy and of assignments, and the row of the op table for each infix one.

use cotan_ops::{ADD, DIV, EQ, GE, GT, LE, LT, MUL, NE, NEG, NOT, POW, POWI, PrimRow, REM, SUB};

/// A prefix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-`, of integers and floats.
    Neg,
    /// `!`, of `bool`.
    Not,
}

impl UnaryOp {
    /// The primitive of the operator.
    pub fn row(self) -> &'static PrimRow {
        match self {
            UnaryOp::Neg => &NEG,
            UnaryOp::Not => &NOT,
        }
    }
}

/// An infix operator. Element-wise but for [`BinaryOp::MatMul`]: both operands have the shape of the
/// result or are scalars, which then lift. Whether the operator was dotted no longer matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient; truncates for integers.
    Div,
    /// Remainder, with the sign of the dividend.
    Rem,
    /// A float to the power of a float of the same type.
    Pow,
    /// A number to the power of an integer of any integer type; the exponent of an integer must
    /// not be negative.
    PowInt,
    /// Equality of numbers or truth values.
    Eq,
    /// Inequality.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
    /// The matrix product over the last axis of the left and the first matrix axis of the right
    /// operand: `[M,K]@[K,N]`, `[M,K]@[K]`, `[K]@[K,N]`, `[K]@[K]`, batched over equal leading
    /// dims. The right operand is wrapped in a check where the dims may not agree.
    MatMul,
}

impl BinaryOp {
    /// The primitive of the operator; that of a matrix product is the product of two elements.
    pub fn row(self) -> &'static PrimRow {
        match self {
            BinaryOp::Add => &ADD,
            BinaryOp::Sub => &SUB,
            BinaryOp::Mul | BinaryOp::MatMul => &MUL,
            BinaryOp::Div => &DIV,
            BinaryOp::Rem => &REM,
            BinaryOp::Pow => &POW,
            BinaryOp::PowInt => &POWI,
            BinaryOp::Eq => &EQ,
            BinaryOp::Ne => &NE,
            BinaryOp::Lt => &LT,
            BinaryOp::Le => &LE,
            BinaryOp::Gt => &GT,
            BinaryOp::Ge => &GE,
        }
    }
}

/// A lazy infix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogicOp {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// What an assignment does with the old value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AssignOp {
    /// `=`
    Set,
    /// `+=`, `.*=` and so on: old value, operator, right side.
    Binary(BinaryOp),
    /// `max=`
    Max,
    /// `min=`
    Min,
}
