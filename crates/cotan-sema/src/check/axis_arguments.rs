//! `sum(x, 0)` and `sum(x, dim = 0)`: the axis that functions of the prelude go along is given by its name.

use cotan_syntax::ast::{Expr as Ast, ExprKind, Literal};
use cotan_syntax::{Diagnostic, Span};

use super::BodyChecker;
use super::arguments::{Given, Source};
use crate::codes;
use crate::prelude;
use crate::typed::{Builtin, Expr};

/// The names of the argument elsewhere.
const NAMES: [&str; 2] = ["dim", "dims"];

/// Reports the axis that a call of a builtin is given where it takes none, or not in this way; `None` if there is none.
pub(super) fn report(
    checker: &mut BodyChecker<'_, '_>,
    builtin: Builtin,
    given: &Given<'_>,
    span: Span,
) -> Option<Expr> {
    if builtin == Builtin::Concat {
        return report_of_concat(checker, given, span);
    }
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

/// Reports the axis of `concat(a, b, axis = 1)`.
fn report_of_concat(checker: &mut BodyChecker<'_, '_>, given: &Given<'_>, span: Span) -> Option<Expr> {
    let is_axis = |name: &str| name == "axis" || NAMES.contains(&name);
    let (tensors, [(name, _)]) = given.as_slices() else { return None };
    if !is_axis(&name.name) {
        return None;
    }
    let tensors =
        tensors.iter().filter_map(|source| if let Source::Ast(tensor) = source { Some(*tensor) } else { None });
    let tensors: Vec<&Ast> = tensors.collect();
    let mut has_error = false;
    for tensor in &tensors {
        has_error |= checker.expr(tensor).ty.has_error();
    }
    if has_error {
        return Some(Expr::error(span));
    }
    let texts: Vec<&str> = tensors.iter().filter_map(|tensor| checker.module.text(tensor.span)).collect();
    let joined =
        if let [a, b] = texts.as_slice() { format!("shape.join({a}, {b})") } else { "shape.join(a, b)".to_owned() };
    let message = format!("expected nothing but tensors for `concat`, found `{}`", name.name);
    let diagnostic = Diagnostic::error(codes::UNKNOWN_ARGUMENT, name.span, message);
    checker.report(
        diagnostic.help(format!(
            "it goes along the first axis; along the last one, write `{joined}` after `import std.shape`"
        )),
    );
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
