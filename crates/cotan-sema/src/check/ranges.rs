//! Ranges and integers.

use cotan_ir::Elem;
use cotan_syntax::ast;
use cotan_syntax::{Diagnostic, Span};

use super::BodyChecker;
use crate::codes;
use crate::dims::Dim;
use crate::typed::{Expr, ExprKind, Literal, Range};
use crate::types::Type;
use crate::unify::Elems;

/// A range as a tensor of integers.
pub(super) fn range_value(checker: &mut BodyChecker<'_, '_>, range: &ast::Range, span: Span) -> Expr {
    let Some(range) = checked_range(checker, range, span) else { return Expr::error(span) };
    let dim = range_extent(checker, &range, span);
    let ty = Type::tensor(range.lo.ty.clone(), vec![dim]);
    Expr { span, ty, kind: ExprKind::Range(Box::new(range)) }
}

fn range_extent(checker: &mut BodyChecker<'_, '_>, range: &Range, span: Span) -> Dim {
    let zero = Dim::constant(0);
    let one = Dim::constant(i64::from(range.inclusive));
    let length = match (checker.size_of(&range.lo), checker.size_of(&range.hi)) {
        (Some(lo), Some(hi)) if lo == zero => hi.plus(&one).filter(Dim::is_surely_non_negative),
        (Some(lo), Some(hi)) => {
            let length = hi.plus(&one).and_then(|hi| hi.minus(&lo));
            length.filter(|length| length.as_constant().is_some_and(|value| value >= 0))
        }
        _ => None,
    };
    length.map_or_else(|| checker.infer.sizes.fresh(span), Dim::at_run_time)
}

/// The bounds of a range, of one integer type.
pub(super) fn checked_range(checker: &mut BodyChecker<'_, '_>, range: &ast::Range, span: Span) -> Option<Range> {
    let (Some(lo), Some(hi)) = (&range.lo, &range.hi) else {
        [&range.lo, &range.hi].into_iter().flatten().for_each(|end| drop(checker.expr(end)));
        if range.in_brackets {
            report_open_range(checker, range);
        }
        return None;
    };
    let (lo, hi) = (checker.expr(lo), checker.expr(hi));
    let (lo, hi) = (bound(checker, lo)?, bound(checker, hi)?);
    let wanted = lo.ty.clone();
    let hi = checker.fit(hi, &wanted, "the upper bound of the range");
    if hi.ty.has_error() {
        return None;
    }
    let range = Range { lo, hi, inclusive: range.inclusive };
    can_be_counted(checker, &range, span).then_some(range)
}

/// Whether an i64 may count the values of a range, as far as literals tell; reported otherwise.
fn can_be_counted(checker: &mut BodyChecker<'_, '_>, range: &Range, span: Span) -> bool {
    let bound = |end: &Expr| checker.size_of(end).and_then(|end| end.as_constant());
    let (Some(lo), Some(hi)) = (bound(&range.lo), bound(&range.hi)) else { return true };
    let count = i128::from(hi) - i128::from(lo) + i128::from(range.inclusive);
    // The type of a literal may yet turn out to be that of larger numbers, if none is negative.
    let is_i64 = lo < 0 || checker.infer.vars.resolve_type(&range.lo.ty) == Type::of(Elem::I64);
    if count <= i128::from(i64::MAX) || !is_i64 {
        return true;
    }
    let dots = if range.inclusive { "..=" } else { ".." };
    let message = format!("expected a range of at most {} values, found `{lo}{dots}{hi}`", i64::MAX);
    let help = "begin at 0 and break where the last value is reached, or count in `u64`";
    checker.report(Diagnostic::error(codes::OUT_OF_RANGE, span, message).help(help));
    false
}

/// Reports a range without an end that is part of an index, and not the index itself. Outside of brackets the parser
/// has reported it.
fn report_open_range(checker: &mut BodyChecker<'_, '_>, range: &ast::Range) {
    let missing = if range.lo.is_none() { "start" } else { "end" };
    let dots = if range.inclusive { "..=" } else { ".." };
    let message = format!("expected a range with two ends, found `{dots}` without {missing}");
    let help =
        "an end may be left out where the range is the whole index, as in `a[1..]`; `a[n + 1..]` begins at a sum";
    checker.report(Diagnostic::error(cotan_syntax::codes::OPEN_RANGE, range.op_span, message).help(help));
}

/// The value, if it is an integer scalar; reported otherwise.
pub(super) fn integer(checker: &mut BodyChecker<'_, '_>, value: Expr, subject: &str) -> Option<Expr> {
    integer_or(checker, value, subject, "write an integer without a point")
}

/// A bound of a range, if it is an integer; reported otherwise.
fn bound(checker: &mut BodyChecker<'_, '_>, value: Expr) -> Option<Expr> {
    let help =
        "ranges count in integers: count the steps, and compute the number, as in `0.1 * (k as f64)` for `k` in `0..n`";
    integer_or(checker, value, "a bound of the range", help)
}

/// The value, if it is an integer scalar; reported otherwise, with this help for a float literal.
fn integer_or(checker: &mut BodyChecker<'_, '_>, value: Expr, subject: &str, of_float: &str) -> Option<Expr> {
    if value.ty.has_error() {
        return None;
    }
    if let Type::Scalar(scalar) = value.ty
        && checker.infer.vars.require_position(scalar, value.span)
    {
        return Some(value);
    }
    let message = format!("expected an integer for {subject}, found {}", checker.show_value(&value));
    let help = match (&value.ty, &value.kind) {
        (Type::Scalar(_), ExprKind::Literal(Literal::Float(_))) => of_float,
        (Type::Scalar(scalar), _) if checker.infer.vars.is_within(*scalar, Elems::any_float()) => {
            "convert with `as i64`, which is checked"
        }
        _ => "give an integer such as `n` or `3`",
    };
    checker.report(Diagnostic::error(codes::INTEGER_EXPECTED, value.span, message).help(help));
    None
}
