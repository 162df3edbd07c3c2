//! `sum(x, axis = 0)` and its like: functions of the prelude take all elements, or go along the last axis. Along another
//! one there are folds and `vmap`.

use cotan_syntax::ast::{ExprKind, Literal};
use cotan_syntax::{Diagnostic, Span};

use super::BodyChecker;
use super::arguments::{Given, Source};
use super::shape_help::has_hole;
use crate::codes;
use crate::prelude;
use crate::typed::{Builtin, Expr};

/// The names of the argument elsewhere.
const NAMES: [&str; 3] = ["axis", "dim", "dims"];

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
    let along = along(builtin)?;
    let ExprKind::Literal(Literal::Int { value: number, .. }) = &axis.kind else { return None };
    let operand = checker.module.written_operand(value.span).unwrap_or_else(|| "v".to_owned());
    let name = prelude::builtin_name(builtin);
    let tensor = checker.expr(value);
    if tensor.ty.has_error() {
        return Some(Expr::error(span));
    }
    let size = usize::try_from(*number).ok().and_then(|at| tensor.ty.dims().get(at)).map(|dim| checker.show_dim(dim));
    let size = size.filter(|size| !has_hole(size)).unwrap_or_else(|| "N".to_owned());
    let code = match along {
        Along::Fold(fold) => format!("{fold}[axis = {number}] {operand}"),
        Along::Mean => {
            let elem = tensor.ty.scalar().map_or_else(|| "f64".to_owned(), |scalar| checker.show_scalar(scalar));
            format!("(+/[axis = {number}] {operand}) ./ ({size} as {elem})")
        }
        Along::Rows => format!("vmap[{}]({name})({operand})", 1 - (*number).min(1)),
    };
    let message = format!("expected one argument of `{name}`, which takes no axis, found {number} as well");
    let diagnostic = Diagnostic::error(codes::ARGUMENT_COUNT, span, message).label(axis.span, "the axis");
    let is_axis = usize::try_from(*number).is_ok_and(|at| at < tensor.ty.dims().len());
    let diagnostic = diagnostic.help(format!("along an axis, write `{code}`"));
    let is_certain = is_axis && matches!(along, Along::Fold(_) | Along::Mean);
    checker.report(if is_certain { diagnostic.fix(span, format!("({code})")) } else { diagnostic });
    Some(Expr::error(span))
}

/// How to go along an axis.
enum Along {
    /// By the fold of this name.
    Fold(&'static str),
    Mean,
    /// The function, which takes a vector, over the other axis.
    Rows,
}

fn along(builtin: Builtin) -> Option<Along> {
    match builtin {
        Builtin::Sum => Some(Along::Fold("+/")),
        Builtin::Prod => Some(Along::Fold("*/")),
        Builtin::Mean => Some(Along::Mean),
        Builtin::Norm
        | Builtin::Sort
        | Builtin::Argsort
        | Builtin::Argmax
        | Builtin::Argmin
        | Builtin::Cumsum
        | Builtin::Cumprod => Some(Along::Rows),
        Builtin::Tabulate
        | Builtin::Map
        | Builtin::Zip
        | Builtin::Scan
        | Builtin::Fold
        | Builtin::Iterate
        | Builtin::IterateUntil
        | Builtin::Concat
        | Builtin::Reverse
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
        | Builtin::Operation(..) => None,
    }
}
