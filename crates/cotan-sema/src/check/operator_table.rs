//! The infix operators as they are written, and those of the typed tree that they stand for.

use cotan_syntax::{Diagnostic, Span, ast};

use crate::typed::BinaryOp;
use crate::types::Bound;

/// A trait whose types have an operator.
pub(super) fn trait_with(op: ast::BinaryOp) -> &'static str {
    binary_op(op).map_or(Bound::Numeric, bound).as_str()
}

/// The bound of the element types that have an operator.
pub(super) fn bound(op: BinaryOp) -> Bound {
    match op {
        BinaryOp::Eq | BinaryOp::Ne => Bound::Eq,
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => Bound::Ord,
        BinaryOp::Pow => Bound::Float,
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::PowInt
        | BinaryOp::MatMul => Bound::Numeric,
    }
}

/// The operator without its dot; none for the lazy ones.
pub(super) fn binary_op(op: ast::BinaryOp) -> Option<BinaryOp> {
    use ast::BinaryOp as Ast;
    Some(match op {
        Ast::Or | Ast::And => return None,
        Ast::Eq | Ast::DotEq => BinaryOp::Eq,
        Ast::Ne | Ast::DotNe => BinaryOp::Ne,
        Ast::Lt | Ast::DotLt => BinaryOp::Lt,
        Ast::Le | Ast::DotLe => BinaryOp::Le,
        Ast::Gt | Ast::DotGt => BinaryOp::Gt,
        Ast::Ge | Ast::DotGe => BinaryOp::Ge,
        Ast::Add | Ast::DotAdd => BinaryOp::Add,
        Ast::Sub | Ast::DotSub => BinaryOp::Sub,
        Ast::Mul | Ast::DotMul => BinaryOp::Mul,
        Ast::Div | Ast::DotDiv => BinaryOp::Div,
        Ast::Rem | Ast::DotRem => BinaryOp::Rem,
        Ast::MatMul => BinaryOp::MatMul,
        Ast::Pow | Ast::DotPow => BinaryOp::Pow,
    })
}

pub(super) fn is_comparison(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge)
}

/// The diagnostic of an operator with the one that is meant: dots that are missing, or too many, are one mistake of a file.
pub(super) fn mended_dots(diagnostic: Diagnostic, op_span: Span, meant: &str) -> Diagnostic {
    let mistake = if meant.starts_with('.') { "a dot is missing" } else { "a dot is too much" };
    diagnostic.fix(op_span, meant).repeated(mistake, format!("write `{meant}` here"))
}
