//! `mean(x, axis = 0)`: a function of vectors along an axis of a tensor, which is `vmap` over all the other axes. What it
//! gives for a vector stands where the axis was.
//!
//! It is for functions that have no parameter of this name: those of the prelude that take all elements of a tensor or go
//! along the last axis, and those that are declared.

use cotan_syntax::ast;
use cotan_syntax::{Diagnostic, Span};

use super::arguments::{Given, Source};
use super::callee::Callee;
use super::{BodyChecker, axes, axis_arguments};
use crate::codes;
use crate::typed::axes::with_axis;
use crate::typed::{Arg, Callable, CallableKind, Expr, ExprKind, Vmap};
use crate::types::Type;

/// The name of the argument.
const AXIS: &str = "axis";

/// The axis that a callee is given and that no parameter of it takes; it is no longer among the arguments.
pub(super) fn taken<'s>(callee: &Callee<'_>, given: &mut Given<'s>) -> Option<&'s ast::Expr> {
    let takes_one = match callee {
        Callee::Builtin(builtin, ..) => axis_arguments::takes_axis(*builtin),
        Callee::Scheme(scheme) => {
            scheme.owner().is_some() && scheme.n_seeds == 0 && scheme.params.iter().all(|param| param.name != AXIS)
        }
        Callee::Scalar(..)
        | Callee::Print(..)
        | Callee::Lambda(..)
        | Callee::Derivative(_)
        | Callee::Vmap(_)
        | Callee::Failed => false,
    };
    if takes_one && !given.positional.is_empty() { given.take_named(AXIS) } else { None }
}

/// The call of a function of vectors along an axis of its first argument.
pub(super) fn call(
    checker: &mut BodyChecker<'_, '_>,
    callee: Callee<'_>,
    mut given: Given<'_>,
    axis: &ast::Expr,
    span: Span,
) -> Expr {
    let value = checker.source(given.positional.remove(0));
    let Some(at) = position(checker, &value, axis) else {
        checker.check_anyway(given.into_sources());
        return Expr::error(span);
    };
    let dims = value.ty.dims().to_vec();
    let row = Type::tensor(value.ty.elem().clone(), vec![dims[at].clone()]);
    let of_row = checker.in_lambda(std::slice::from_ref(&row), span, |this, locals| {
        let first = Expr { span: value.span, ty: row.clone(), kind: ExprKind::Local(locals[0]) };
        given.positional.insert(0, Source::Typed(first));
        this.apply(callee, given, span)
    });
    let Some(rank) = rank_of_result(checker, &of_row, span) else { return Expr::error(span) };
    // The axes behind it stand behind what the function gives, those before it in front.
    let behind = dims[at + 1..].iter().rev().map(|dim| (1, rank as i64, dim));
    let before = dims[..at].iter().rev().map(|dim| (0, 0, dim));
    let callee = behind.chain(before).fold(of_row, |base, (at, out, dim)| {
        let params = vec![with_axis(&base.params[0], at, dim)];
        let result = with_axis(&base.result, out, dim);
        Callable { span, params, result, kind: CallableKind::Vmap(Box::new(Vmap { axes: vec![Some(at)], out, base })) }
    });
    let ty = callee.result.clone();
    Expr { span, ty, kind: ExprKind::Call { callee: Box::new(callee), args: vec![Arg::Value(value)] } }
}

/// The position of the axis among those of the value, from the front.
fn position(checker: &mut BodyChecker<'_, '_>, value: &Expr, axis: &ast::Expr) -> Option<usize> {
    let written = checker.expr(axis);
    if value.ty.has_error() || written.ty.has_error() {
        return None;
    }
    if value.ty.has_pack() {
        let shown = checker.show_value(value);
        axes::report_axis_in_pack(checker, &value.ty, &shown, value.span, "all axes for `axis`");
        return None;
    }
    let rank = value.ty.dims().len();
    let number = checker.size_of(&written).and_then(|size| size.as_constant());
    let at = number.and_then(|n| usize::try_from(if n < 0 { n + rank as i64 } else { n }).ok()).filter(|at| *at < rank);
    if at.is_none() {
        let found = number.map_or_else(|| checker.show_value(&written), |n| format!("`{n}`"));
        let (message, help) = if rank == 0 {
            let found = checker.show_value(value);
            (format!("expected a tensor for `axis`, found {found}"), "a scalar has no axes".to_owned())
        } else {
            let message =
                format!("expected an axis from 0 to {}, or from -{rank} to -1 from the back, found {found}", rank - 1);
            (message, "write an integer, as in `axis = 0`".to_owned())
        };
        checker.report(Diagnostic::error(codes::AXIS, axis.span, message).help(help));
    }
    at
}

/// How many axes a function gives for a vector, alike in each part of a tuple; reports what cannot be stacked.
fn rank_of_result(checker: &mut BodyChecker<'_, '_>, callable: &Callable, span: Span) -> Option<usize> {
    let result = &callable.result;
    if result.has_error() || !checker.require_element(&Expr { ty: result.clone(), ..Expr::error(span) }) {
        return None;
    }
    let parts = if let Type::Tuple(parts) = result { parts.as_slice() } else { std::slice::from_ref(result) };
    let ranks: Vec<usize> = parts.iter().map(|part| part.dims().len()).collect();
    if let [first, rest @ ..] = ranks.as_slice()
        && rest.iter().all(|rank| rank == first)
        && parts.iter().all(|part| !part.has_pack() && !matches!(part, Type::Never | Type::Tuple(_)))
    {
        return Some(*first);
    }
    let message = format!("expected results with as many axes each for `axis`, found `{}`", checker.show(result));
    let help = "write `vmap` with the axes of arguments and results: `vmap[1, out = 1](f)(x)`";
    checker.report(Diagnostic::error(codes::AXIS, span, message).help(help));
    None
}
