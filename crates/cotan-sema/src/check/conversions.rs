//! Advice on conversions between scalar types: where one stands in the user's own code.
//!
//! An integer beside a float is converted, never the float: a cast to an integer cuts the derivative. Of two integers or
//! two floats the narrower one is widened. A literal is never replaced by another number.

use cotan_ir::Elem;
use cotan_syntax::Span;

use super::{BodyChecker, written};
use crate::typed::{Expr, ExprKind, Literal};
use crate::types::Scalar;
use crate::unify::Elems;

/// How to make a value of one scalar type one of another.
pub(super) fn help(checker: &BodyChecker<'_, '_>, value: &Expr, found: Scalar, wanted: Scalar) -> String {
    let vars = &checker.infer.vars;
    let target = name(checker, wanted);
    let is_bool = |scalar| vars.resolve(scalar) == Scalar::Of(Elem::Bool);
    if is_bool(wanted) {
        return format!("compare it: `{} != 0`", operand(checker, value.span, "x"));
    }
    let code = converted(checker, value.span, &target);
    if is_bool(found) {
        return format!("write `{code}`, which is 0 or 1");
    }
    let from_float = vars.is_within(found, Elems::any_float());
    match &value.kind {
        ExprKind::Literal(Literal::Int(number)) => {
            format!("leave the suffix out: `{number}` takes the type that is needed")
        }
        ExprKind::Literal(Literal::Float(digits)) if vars.is_within(wanted, Elems::integer()) => match whole(digits) {
            Some(number) => format!("write the integer `{number}`"),
            None => "round the value that it stands for, as in `round(x) as i64`, or use floats throughout".to_owned(),
        },
        ExprKind::Literal(Literal::Float(digits)) => {
            format!("leave the suffix out: `{digits}` takes the type that is needed")
        }
        _ if from_float && vars.is_within(wanted, Elems::integer()) => {
            format!("write `{code}`, which is checked and has no derivative")
        }
        _ => format!("write `{code}`: values are not converted silently"),
    }
}

/// Which of two operands of different types is to be converted: the left one?
pub(super) fn is_left(checker: &BodyChecker<'_, '_>, left: Scalar, right: Scalar) -> bool {
    breadth(checker, left) < breadth(checker, right)
}

/// The user's own code with a conversion: `(n as f64)`.
pub(super) fn converted(checker: &BodyChecker<'_, '_>, span: Span, target: &str) -> String {
    format!("({} as {target})", operand(checker, span, "x"))
}

/// The user's own code as an operand that binds tightly; `other` where it is long or not known.
fn operand(checker: &BodyChecker<'_, '_>, span: Span, other: &str) -> String {
    written::operand(checker.module.written(span).unwrap_or(other))
}

/// The name of a scalar type, of one that is open that of its default.
fn name(checker: &BodyChecker<'_, '_>, scalar: Scalar) -> String {
    match checker.infer.vars.resolve(scalar) {
        open @ Scalar::Var(_) => checker.infer.vars.default_of(open).map_or("f64", Elem::name).to_owned(),
        known @ (Scalar::Of(_) | Scalar::Param(_)) => checker.show_scalar(known),
    }
}

/// How much a scalar type holds: integers before floats, each by their bits; what is open adapts.
fn breadth(checker: &BodyChecker<'_, '_>, scalar: Scalar) -> (bool, usize) {
    let vars = &checker.infer.vars;
    let is_float = vars.is_within(scalar, Elems::any_float());
    let bytes = match vars.resolve(scalar) {
        Scalar::Of(elem) => elem.bytes(),
        Scalar::Var(_) => 0,
        Scalar::Param(_) => size_of::<u64>(),
    };
    (is_float, bytes)
}

/// The integer that a float literal is.
fn whole(digits: &str) -> Option<i64> {
    let value: f64 = digits.parse().ok()?;
    (value.fract() == 0.0 && value.abs() < 1e15).then_some(value as i64)
}
