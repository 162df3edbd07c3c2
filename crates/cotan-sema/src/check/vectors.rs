//! Vector spaces: arithmetic leaf by leaf on structs, tuples, tensors of them, and what `Differentiable` parameters stand
//! for.
//!
//! All values of one type with floats in them make a vector space, and so do their tangents. Operators with a dot and scalar
//! functions work on the floats of such values, leaf by leaf; a float scalar goes to every leaf, in the type of the leaf. What
//! is no float is that of the first vector among the operands. A value and a tangent go together in this order, as a
//! point and a displacement do.

use cotan_syntax::ast;
use cotan_syntax::{Diagnostic, Span};

use super::infer::Strictness;
use super::{BodyChecker, literals, operator_table};
use crate::codes;
use crate::typed::{BinaryOp, Expr};
use crate::types::{GenericKind, Type};
use crate::unify::Elems;

/// Whether values of a type are vectors: something with floats in it that is no tensor of numbers.
pub(super) fn is_vector(checker: &BodyChecker<'_, '_>, ty: &Type) -> bool {
    match ty.elem() {
        Type::Param(id) => checker
            .generics
            .get(id.0 as usize)
            .is_some_and(|generic| generic.kind == GenericKind::Type { is_differentiable: true }),
        Type::Tuple(_) | Type::Struct(_) | Type::Enum(_) => {
            let declarations = checker.module.declarations();
            declarations.has_tangent(ty) && !declarations.has_choice(ty)
        }
        Type::Error | Type::Never | Type::Scalar(_) | Type::Tensor { .. } | Type::Function(_) => false,
    }
}

/// The type of tangents of a type.
pub(super) fn tangent(checker: &BodyChecker<'_, '_>, ty: &Type) -> Type {
    checker.module.declarations_in(&checker.generics).tangent(ty)
}

/// A dotted operator on operands of which one is a vector: the operator, the right operand as it fits, and the result.
pub(super) fn infix(
    checker: &mut BodyChecker<'_, '_>,
    (op, op_span): (ast::BinaryOp, Span),
    left: &Expr,
    left_ty: &Type,
    right: Expr,
) -> (BinaryOp, Expr, Type) {
    let core = operator_table::binary_op(op).unwrap_or(BinaryOp::Add);
    if !op.is_dotted() {
        let (a, b) = (checker.show(left_ty), checker.show(&right.ty));
        let dotted = op.counterpart().map_or("", ast::BinaryOp::as_str);
        let message = format!("expected two scalars around `{}`, found `{a}` and `{b}`", op.as_str());
        let help = format!("write `{dotted}`, which works leaf by leaf");
        let diagnostic = Diagnostic::error(codes::UNDOTTED, op_span, message).help(help);
        checker.report(operator_table::mended_dots(diagnostic, op_span, dotted));
        return (core, right, Type::Error);
    }
    if core == BinaryOp::Pow && is_vector(checker, left_ty) && right.ty.is_scalar() && is_integer(checker, &right) {
        checker.infer.decide_floats(left_ty);
        return (BinaryOp::PowInt, right, left_ty.clone());
    }
    let left = Expr { ty: left_ty.clone(), ..left.clone() };
    let Some((mut fitted, ty)) = combined(checker, vec![left, right], op.as_str()) else {
        return (core, Expr::error(op_span), Type::Error);
    };
    (core, fitted.pop().unwrap_or_else(|| Expr::error(op_span)), ty)
}

/// Whether an exponent is an integer; what literals leave open becomes one, but for a quotient.
fn is_integer(checker: &mut BodyChecker<'_, '_>, exponent: &Expr) -> bool {
    let is_float = |scalar| checker.infer.vars.is_within(scalar, Elems::any_float());
    if literals::is_quotient(exponent) || exponent.ty.scalar().is_none_or(is_float) {
        return false;
    }
    checker.infer.has_elems(&exponent.ty, Elems::integer())
}

/// A vector as one of type `ty`, or as a tangent of that type.
pub(super) fn fit_beside(
    checker: &mut BodyChecker<'_, '_>,
    vector: Expr,
    ty: &Type,
    subject: &str,
    origin: Option<(Span, &str)>,
) -> Expr {
    let tangent = tangent(checker, ty);
    let is_tangent = tangent != *ty && checker.infer.relate(&vector.ty, &tangent, Strictness::Exact).is_ok();
    let wanted = if is_tangent { &tangent } else { ty };
    checker.fit_as(vector, wanted, subject, Strictness::Exact, origin)
}

/// The operands of something that works leaf by leaf as they fit each other, and the type of the result: that of the first
/// vector. `what` names it in messages.
pub(super) fn combined(
    checker: &mut BodyChecker<'_, '_>,
    operands: Vec<Expr>,
    what: &str,
) -> Option<(Vec<Expr>, Type)> {
    if operands.iter().any(|operand| operand.ty.has_error()) {
        return None;
    }
    let first = operands.iter().find(|operand| is_vector(checker, &operand.ty))?;
    let (ty, first_span) = (first.ty.clone(), first.span);
    checker.infer.decide_floats(&ty);
    let mut is_fine = true;
    let mut fit = |operand: Expr| {
        if is_vector(checker, &operand.ty) {
            let origin = Some((first_span, "the first vector has this type"));
            let subject = format!("an operand of `{what}`");
            let fitted = fit_beside(checker, operand, &ty, &subject, origin);
            is_fine &= !fitted.ty.has_error();
            return fitted;
        }
        if !operand.ty.is_scalar() || !checker.infer.has_elems(&operand.ty, Elems::float()) {
            let (found, vector) = (checker.show_value(&operand), checker.show(&ty));
            let message = format!("expected a float or a `{vector}` for an operand of `{what}`, found {found}");
            let help = "a float goes to every leaf, and vectors go together leaf by leaf";
            checker.report(Diagnostic::error(codes::OPERATOR_TYPE, operand.span, message).help(help));
            is_fine = false;
        }
        operand
    };
    let fitted = operands.into_iter().map(&mut fit).collect();
    is_fine.then_some((fitted, ty))
}
