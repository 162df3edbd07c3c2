//! Literals of scalar types.

use cotan_ir::Elem;
use cotan_syntax::{Span, ast};

use super::infer::Infer;
use super::{BodyChecker, effects};
use crate::typed::{Expr, ExprKind, Literal};
use crate::types::{Scalar, Type};

/// A literal, with the minus sign that stands before it.
pub(super) fn literal(checker: &mut BodyChecker<'_, '_>, literal: &ast::Literal, negative: bool, span: Span) -> Expr {
    let (scalar, kind) = match literal {
        ast::Literal::Int { value, suffix } => {
            let value = if negative { -i128::from(*value) } else { i128::from(*value) };
            (literal_type(&mut checker.infer, *suffix, true), Literal::Int(value))
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
