//! The row of the op table for each binary operator.

use super::BinaryOp;

use cotan_ops::{ADD, DIV, EQ, GE, GT, LE, LT, MUL, NE, POW, POWI, PrimRow, REM, SUB};

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
