//! `vmap[axis](f)`: `f` over one more axis of its arguments.

use cotan_syntax::ast::{self, Arg as AstArg, PostfixKind, PostfixOp};
use cotan_syntax::{Diagnostic, Span};

use super::callee::{Callee, DerivativeCallee, VmapCallee};
use super::schemes::{Scheme, SchemeParam, callable_scheme};
use super::vmap_axes::{Axis, VMAP, Whose};
use super::{BodyChecker, vmap_axes};
use crate::codes;
use crate::dims::Dim;
use crate::typed::{Callable, CallableKind, DerivativeForm, Expr, Vmap, axes};
use crate::types::Type;

/// `vmap` and what follows it: the axes, and the function.
pub(super) fn vmap_callee<'s>(
    checker: &mut BodyChecker<'_, '_>,
    span: Span,
    ops: &'s [PostfixOp],
) -> (Callee<'s>, usize) {
    let (selector, used): (&[AstArg], usize) = match ops.first() {
        Some(PostfixOp { kind: PostfixKind::Index(args), .. }) => (args, 1),
        _ => (&[], 0),
    };
    let Some(PostfixOp { kind: PostfixKind::Call(args), span: call_span, .. }) = ops.get(used) else {
        report_no_function(checker, span);
        return (Callee::Failed, used);
    };
    let whole = span.to(*call_span);
    let axes = vmap_axes::vmap_axes(checker, selector, whole);
    let base = match args.as_slice() {
        [AstArg { name: None, value }] => checker.function_expr(value),
        _ => None,
    };
    let callee = match (axes, base) {
        (Some(axes), Some(base)) => Callee::Vmap(Box::new(VmapCallee { axes, base, span: whole })),
        (None, Some(_)) => Callee::Failed,
        (_, None) => {
            report_no_function(checker, whole);
            Callee::Failed
        }
    };
    (callee, used + 1)
}

fn report_no_function(checker: &mut BodyChecker<'_, '_>, span: Span) {
    checker.report(
        Diagnostic::error(codes::NEEDS_FUNCTION, span, "expected a function in `vmap[axis](f)`, found a value")
            .help("write the name of a function and then its arguments: `vmap[0](f)(xs, ys)`"),
    );
}

/// The signature of a `vmap` that is called with arguments of these types.
pub(super) fn vmap_scheme(checker: &mut BodyChecker<'_, '_>, callee: VmapCallee<'_>, types: &[Type]) -> Option<Scheme> {
    let VmapCallee { axes: written, base, span } = callee;
    let of_arguments = vmap_axes::axes_of_arguments(checker, &written, n_params(&base), types.len(), span)?;
    let named = names(&base, of_arguments.len());
    let (inner, extent) = without_axes(checker, types, &of_arguments, &named, span)?;
    let base = checker.eta(base, &inner, span)?;
    if base.result.has_error() {
        return None;
    }
    if base.result.is_unit() || matches!(base.result, Type::Never) {
        let message = "expected a function with a result in `vmap`, found one that gives `()`";
        checker.report(Diagnostic::error(codes::MISMATCH, span, message).help("write a `for` loop to run statements"));
        return None;
    }
    if !checker.require_element(&Expr { ty: base.result.clone(), ..Expr::error(span) }) {
        return None;
    }
    let result = axes::with_axis(&base.result, written.out.at, &extent);
    if !vmap_axes::has_axis(checker, &result, written.out, Whose::Results) {
        return None;
    }
    let of_arguments: Vec<Option<i64>> = of_arguments.iter().map(|axis| axis.map(|axis| axis.at)).collect();
    let with_extent = |(ty, axis): (&Type, &Option<i64>)| match axis {
        Some(axis) => axes::with_axis(ty, *axis, &extent),
        None => ty.clone(),
    };
    let params: Vec<Type> = inner.iter().zip(&of_arguments).map(with_extent).collect();
    let kind = CallableKind::Vmap(Box::new(Vmap { axes: of_arguments, out: written.out.at, base }));
    let callable = Callable { span, params: params.clone(), result, kind };
    let named = named.into_iter().zip(params);
    let params = named.map(|((name, nodiff), ty)| SchemeParam { nodiff, ..SchemeParam::new(name, ty) }).collect();
    Some(Scheme { params, ..callable_scheme(VMAP, callable, Vec::new()) })
}

/// What the function gets of arguments of these types, and the extent of the axis that the first of them has.
fn without_axes(
    checker: &mut BodyChecker<'_, '_>,
    types: &[Type],
    of_arguments: &[Option<Axis>],
    named: &[(String, bool)],
    span: Span,
) -> Option<(Vec<Type>, Dim)> {
    let mut inner = Vec::new();
    let mut extent = None;
    for ((ty, axis), (name, _)) in types.iter().zip(of_arguments).zip(named) {
        if ty.has_error() {
            return None;
        }
        let Some(axis) = axis else {
            inner.push(ty.clone());
            continue;
        };
        if !vmap_axes::has_axis(checker, ty, *axis, Whose::Argument(name)) {
            return None;
        }
        let (ty, extents) = axes::without_axis(ty, axis.at)?;
        extent = extent.or(extents.into_iter().next());
        inner.push(ty);
    }
    let Some(extent) = extent else {
        let message = "expected an argument for `vmap` to go over, found none";
        checker.report(
            Diagnostic::error(codes::VMAP_AXIS, span, message)
                .help("`vmap` takes functions with parameters; `tabulate(n, |i| f())` calls one `n` times"),
        );
        return None;
    };
    Some((inner, extent))
}

/// The names of the parameters of a callee, as far as it has names, and whether they are `@nodiff`.
fn names(callee: &Callee<'_>, n: usize) -> Vec<(String, bool)> {
    let mut names = match callee {
        Callee::Scheme(scheme) => scheme.params.iter().map(|param| (param.name.clone(), param.nodiff)).collect(),
        Callee::Lambda(lambda, _) => lambda
            .params
            .iter()
            .map(|param| {
                let ast::PatternKind::Name { name, .. } = &param.pattern.kind else { return ("_".to_owned(), false) };
                (name.name.clone(), false)
            })
            .collect(),
        Callee::Derivative(derivative) => names(&derivative.base, n),
        Callee::Vmap(vmap) => names(&vmap.base, n),
        Callee::Scalar(..) | Callee::Builtin(..) | Callee::Print(..) | Callee::Failed => Vec::new(),
    };
    names.truncate(n);
    let rest = (names.len()..n).map(|at| (at.to_string(), false));
    names.into_iter().chain(rest).collect()
}

/// How many arguments a callee takes, where that does not depend on them.
fn n_params(callee: &Callee<'_>) -> Option<usize> {
    match callee {
        Callee::Scheme(scheme) => Some(scheme.params.len()),
        Callee::Lambda(lambda, _) => Some(lambda.params.len()),
        Callee::Scalar(function, _) => Some(function.operands().len()),
        Callee::Derivative(derivative) => Some(n_params(&derivative.base)? + n_extra(derivative)),
        Callee::Vmap(vmap) => n_params(&vmap.base),
        Callee::Builtin(..) | Callee::Print(..) | Callee::Failed => None,
    }
}

/// How many tangents or cotangents a form takes.
fn n_extra(derivative: &DerivativeCallee<'_>) -> usize {
    match derivative.form.form {
        DerivativeForm::Jvp | DerivativeForm::Hvp => {
            derivative.selector.iter().filter(|arg| arg.name.is_none()).count().max(1)
        }
        DerivativeForm::Vjp => 1,
        DerivativeForm::Grad | DerivativeForm::ValueAndGrad | DerivativeForm::Jacobian | DerivativeForm::Hessian => 0,
    }
}
