//! Literals of scalar types, and arithmetic of nothing but literals. An integer literal is a float where one is wanted.

use cotan_ir::Elem;
use cotan_syntax::{Span, ast};

use super::infer::Infer;
use super::{BodyChecker, effects};
use crate::typed::{BinaryOp, Expr, ExprKind, Literal, UnaryOp};
use crate::types::{Scalar, Type};

/// A literal, with the minus sign that stands before it.
pub(super) fn literal(checker: &mut BodyChecker<'_, '_>, literal: &ast::Literal, negative: bool, span: Span) -> Expr {
    let (scalar, kind) = match literal {
        ast::Literal::Int { value, suffix } => {
            let scalar = literal_type(&mut checker.infer, *suffix, true);
            if negative && *value == 0 {
                return negative_zero(scalar, span);
            }
            (scalar, Literal::Int(if negative { -*value } else { *value }))
        }
        ast::Literal::Float { digits, suffix } => {
            let scalar = literal_type(&mut checker.infer, *suffix, false);
            (scalar, Literal::Float(if negative { format!("-{digits}") } else { digits.clone() }))
        }
        ast::Literal::Bool(value) => (Scalar::Of(Elem::Bool), Literal::Bool(*value)),
        ast::Literal::Char(value) => (Scalar::Of(Elem::I32), Literal::Int(i128::from(u32::from(*value)))),
        ast::Literal::Str(_) => {
            return effects::report_string(checker, span);
        }
    };
    Expr { span, ty: Type::Scalar(scalar), kind: ExprKind::Literal(kind) }
}

fn literal_type(infer: &mut Infer, suffix: Option<ast::Suffix>, is_integer: bool) -> Scalar {
    match suffix.and_then(|suffix| Elem::from_name(suffix.as_str())) {
        Some(elem) => Scalar::Of(elem),
        None if is_integer => infer.vars.integer_literal(),
        None => infer.vars.float_literal(),
    }
}

/// `-0`, which has a sign where it is a float.
fn negative_zero(scalar: Scalar, span: Span) -> Expr {
    let of = |kind| Expr { span, ty: Type::Scalar(scalar), kind };
    let operand = Box::new(of(ExprKind::Literal(Literal::Int(0))));
    of(ExprKind::Unary { op: UnaryOp::Neg, operand })
}

/// Whether a number is arithmetic of integer literals with a quotient in it. Where a float may stand it is one: `1/2` is
/// a half.
pub(super) fn is_quotient(value: &Expr) -> bool {
    is_made_of_integers(value) && has_quotient(value)
}

/// Whether a number is made of integer literals alone.
pub(super) fn is_made_of_integers(value: &Expr) -> bool {
    match parts(value) {
        Some(parts) => parts.into_iter().all(is_made_of_integers),
        None => matches!(value.kind, ExprKind::Literal(Literal::Int(_))),
    }
}

fn has_quotient(value: &Expr) -> bool {
    let divides = if let ExprKind::Chain(chain) = &value.kind {
        chain.rest.iter().any(|link| link.op == BinaryOp::Div)
    } else {
        false
    };
    divides || parts(value).is_some_and(|parts| parts.into_iter().any(has_quotient))
}

/// The operands of arithmetic, and the elements of an array; none of anything else.
fn parts(value: &Expr) -> Option<Vec<&Expr>> {
    if let ExprKind::Chain(chain) = &value.kind {
        return Some([&chain.first].into_iter().chain(chain.rest.iter().map(|link| &link.operand)).collect());
    }
    if let ExprKind::Unary { op: UnaryOp::Neg, operand } = &value.kind {
        return Some(vec![operand]);
    }
    if let ExprKind::Array(parts) = &value.kind { Some(parts.iter().collect()) } else { None }
}
