//! `vmap[axis](f)`: `f` over one more axis of all its arguments.

use cotan_syntax::ast::{self, Arg as AstArg, PostfixKind, PostfixOp};
use cotan_syntax::{Diagnostic, Span};

use super::BodyChecker;
use super::callees::{Callee, DerivativeCallee};
use super::expressions::error;
use super::schemes::{Scheme, SchemeParam, callable_scheme};
use crate::codes;
use crate::typed::{Callable, CallableKind, DerivativeForm, Expr, Vmap, axes};
use crate::types::Type;

/// The name of the form.
pub(super) const VMAP: &str = "vmap";

/// `vmap[axis](f)` before the arguments are known.
pub(super) struct VmapCallee<'s> {
    pub(super) axis: i64,
    pub(super) base: Callee<'s>,
    pub(super) span: Span,
}

impl BodyChecker<'_, '_> {
    /// `vmap` and what follows it: the axis, the first one where it is left out, and the function.
    pub(super) fn vmap_callee<'s>(&mut self, span: Span, ops: &'s [PostfixOp]) -> (Callee<'s>, usize) {
        let (selector, used): (&[AstArg], usize) = match ops.first() {
            Some(PostfixOp { kind: PostfixKind::Index(args), .. }) => (args, 1),
            _ => (&[], 0),
        };
        let Some(PostfixOp { kind: PostfixKind::Call(args), span: call_span, .. }) = ops.get(used) else {
            self.report_no_function(span);
            return (Callee::Failed, used);
        };
        let whole = span.to(*call_span);
        let axis = self.vmap_axis(selector, whole);
        let base = match args.as_slice() {
            [AstArg { name: None, value }] => self.function_expr(value),
            _ => None,
        };
        let callee = match (axis, base) {
            (Some(axis), Some(base)) => Callee::Vmap(Box::new(VmapCallee { axis, base, span: whole })),
            (None, Some(_)) => Callee::Failed,
            (_, None) => {
                self.report_no_function(whole);
                Callee::Failed
            }
        };
        (callee, used + 1)
    }

    fn report_no_function(&mut self, span: Span) {
        self.report(
            Diagnostic::error(codes::NEEDS_FUNCTION, span, "expected a function in `vmap[axis](f)`, found a value")
                .help("write the name of a function and then its arguments: `vmap[0](f)(xs, ys)`"),
        );
    }

    /// An integer, maybe with a sign.
    fn vmap_axis(&mut self, selector: &[AstArg], span: Span) -> Option<i64> {
        let found = match selector {
            [] => return Some(0),
            [AstArg { name: None, value }] => self.axis_literal(value),
            _ => None,
        };
        if found.is_none() {
            self.report(
                Diagnostic::error(
                    codes::VMAP_AXIS,
                    span,
                    "expected one integer as the axis of `vmap`, found something else",
                )
                .help("write `vmap[0](f)` for the first axis, `vmap[-1](f)` for the last"),
            );
        }
        found
    }

    fn axis_literal(&mut self, expr: &ast::Expr) -> Option<i64> {
        let value = self.expr(expr);
        self.size_of(&value)?.as_constant()
    }

    /// The signature of a `vmap` that is called with arguments of these types.
    pub(super) fn vmap_scheme(&mut self, callee: VmapCallee<'_>, types: &[Type]) -> Option<Scheme> {
        let VmapCallee { axis, base, span } = callee;
        let n = n_params(&base).map_or(types.len(), |n| n.min(types.len()));
        let mut inner = Vec::new();
        let mut extent = None;
        for ty in &types[..n] {
            if ty.has_error() {
                return None;
            }
            if !self.has_known_rank(ty, span, "vmap") {
                return None;
            }
            let Some((ty, extents)) = axes::without_axis(ty, axis) else {
                let message =
                    format!("expected arguments of `vmap` with an axis to go over, found `{}`", self.show(ty));
                self.report(Diagnostic::error(codes::VMAP_AXIS, span, message).help(
                    "all arguments have the axis: what is the same for all of them is captured, as in \
                     `vmap[0](|x| f(x, w))(xs)`",
                ));
                return None;
            };
            extent = extent.or(extents.into_iter().next());
            inner.push(ty);
        }
        let Some(extent) = extent else {
            let message = "expected an argument for `vmap` to go over, found none";
            self.report(
                Diagnostic::error(codes::VMAP_AXIS, span, message)
                    .help("`vmap` takes functions with parameters; `tabulate(n, |i| f())` calls one `n` times"),
            );
            return None;
        };
        let named = names(&base, inner.len());
        let base = self.eta(base, &inner, span)?;
        if base.result.has_error() {
            return None;
        }
        if base.result.is_unit() || matches!(base.result, Type::Never) {
            let message = "expected a function with a result in `vmap`, found one that gives `()`";
            self.report(Diagnostic::error(codes::MISMATCH, span, message).help("write a `for` loop to run statements"));
            return None;
        }
        if !self.require_element(&Expr { ty: base.result.clone(), ..error(span) }) {
            return None;
        }
        let result = axes::with_axis(&base.result, axis, &extent);
        let params: Vec<Type> = inner.iter().map(|ty| axes::with_axis(ty, axis, &extent)).collect();
        let kind = CallableKind::Vmap(Box::new(Vmap { axis, base }));
        let callable = Callable { span, params: params.clone(), result, kind };
        let named = named.into_iter().zip(params);
        let params = named.map(|((name, nodiff), ty)| SchemeParam { nodiff, ..SchemeParam::new(name, ty) }).collect();
        Some(Scheme { params, ..callable_scheme(VMAP, callable, Vec::new()) })
    }
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
        Callee::Scalar(function, _) => Some(function.operands.len()),
        Callee::Derivative(derivative) => Some(n_params(&derivative.base)? + n_extra(derivative)),
        Callee::Vmap(vmap) => n_params(&vmap.base),
        Callee::Builtin(..) | Callee::Print(..) | Callee::Failed => None,
    }
}

/// How many tangents or cotangents a form takes.
fn n_extra(derivative: &DerivativeCallee<'_>) -> usize {
    match derivative.form {
        DerivativeForm::Jvp | DerivativeForm::Hvp => {
            derivative.selector.iter().filter(|arg| arg.name.is_none()).count().max(1)
        }
        DerivativeForm::Vjp => 1,
        DerivativeForm::Grad | DerivativeForm::ValueAndGrad | DerivativeForm::Jacobian | DerivativeForm::Hessian => 0,
    }
}
