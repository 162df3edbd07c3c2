//! `sum(x, 0)` and `sum(x, dim = 0)`: the axis that functions of the prelude go along is given by its name.

use cotan_syntax::ast::{ExprKind, Literal};
use cotan_syntax::{Diagnostic, Span};

use super::BodyChecker;
use super::arguments::{Given, Source};
use crate::codes;
use crate::prelude;
use crate::typed::{Builtin, Expr};

/// The names of the argument elsewhere.
const NAMES: [&str; 2] = ["dim", "dims"];

/// Reports the axis that a call of a builtin on one tensor is given; `None` if there is none.
pub(super) fn report(
    checker: &mut BodyChecker<'_, '_>,
    builtin: Builtin,
    given: &Given<'_>,
    span: Span,
) -> Option<Expr> {
    let (value, axis) = match given.as_slices() {
        ([Source::Ast(value), Source::Ast(axis)], []) => (*value, *axis),
        ([Source::Ast(value)], [(name, Source::Ast(axis))]) if NAMES.contains(&name.name.as_str()) => (*value, *axis),
        _ => return None,
    };
    if !takes_axis(builtin) {
        return None;
    }
    let ExprKind::Literal(Literal::Int { value: number, .. }) = &axis.kind else { return None };
    let operand = checker.module.text(value.span).unwrap_or("v").to_owned();
    let name = prelude::builtin_name(builtin);
    let tensor = checker.expr(value);
    if tensor.ty.has_error() {
        return Some(Expr::error(span));
    }
    let code = format!("{name}({operand}, axis = {number})");
    let message = format!("expected one argument of `{name}`, and its axis by name, found {number} as well");
    let diagnostic = Diagnostic::error(codes::ARGUMENT_COUNT, span, message).label(axis.span, "the axis");
    let diagnostic = diagnostic.help(format!("along an axis, write `{code}`"));
    let is_axis = usize::try_from(*number).is_ok_and(|at| at < tensor.ty.dims().len());
    checker.report(if is_axis { diagnostic.fix(span, code) } else { diagnostic });
    Some(Expr::error(span))
}

/// Whether `axis` chooses the axis of a function of the prelude: it takes all elements, or goes along the last axis.
pub(super) fn takes_axis(builtin: Builtin) -> bool {
    match builtin {
        Builtin::Sum
        | Builtin::Prod
        | Builtin::Mean
        | Builtin::Norm
        | Builtin::Reverse
        | Builtin::Sort
        | Builtin::Argsort
        | Builtin::Argmax
        | Builtin::Argmin
        | Builtin::Cumsum
        | Builtin::Cumprod => true,
        Builtin::Tabulate
        | Builtin::Map
        | Builtin::Zip
        | Builtin::Scan
        | Builtin::Fold
        | Builtin::Iterate
        | Builtin::IterateUntil
        | Builtin::Concat
        | Builtin::Transpose
        | Builtin::Reshape
        | Builtin::Broadcast
        | Builtin::Zeros
        | Builtin::Ones
        | Builtin::Full
        | Builtin::ZerosLike
        | Builtin::Iota
        | Builtin::Diag
        | Builtin::Trace
        | Builtin::Dot
        | Builtin::StopGradient
        | Builtin::Each
        | Builtin::Gather
        | Builtin::WrappingAs
        | Builtin::MapLeaves
        | Builtin::SumLeaves
        | Builtin::Inner
        | Builtin::Close
        | Builtin::CountLeaves
        | Builtin::Operation(..) => false,
    }
}
