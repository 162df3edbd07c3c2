//! Calls: whether the arguments fit what is called.

use cotan_syntax::ast::{self, Arg as AstArg};
use cotan_syntax::{Diagnostic, Span};

use super::arguments::{Given, Source};
use super::callee::Callee;
use super::instantiate::Instance;
use super::schemes::{Scheme, SchemeTarget};
use super::{
    BodyChecker, along_axis, arguments, axis_arguments, builtins, callee_schemes, effects, operators, ranks,
    scalar_calls, size_lists, sizes,
};
use crate::codes;
use crate::dims::LocalId;
use crate::prelude;
use crate::typed::{Arg, Callable, Expr, ExprKind};
use crate::types::{FunctionType, Type};

impl BodyChecker<'_, '_> {
    /// Applies a callee to arguments.
    pub(super) fn apply(&mut self, callee: Callee<'_>, mut given: Given<'_>, span: Span) -> Expr {
        if let Some(axis) = along_axis::taken(&callee, &mut given) {
            return along_axis::call(self, callee, given, axis, span);
        }
        match callee {
            Callee::Scalar(function, _) => {
                match arguments::by_position(self, &format!("`{}`", function.name()), given) {
                    Some(sources) => scalar_calls::scalar_call(self, function, sources, span),
                    None => Expr::error(span),
                }
            }
            Callee::Builtin(builtin, elem, _) => {
                if let Some(failed) = axis_arguments::report(self, builtin, &given, span) {
                    return failed;
                }
                match arguments::by_position(self, &format!("`{}`", prelude::builtin_name(builtin)), given) {
                    Some(sources) => builtins::builtin_call(self, builtin, elem, sources, span),
                    None => Expr::error(span),
                }
            }
            Callee::Print(printer, _) => match arguments::by_position(self, &format!("`{}`", printer.name()), given) {
                Some(sources) => effects::print(self, printer, sources, span),
                None => Expr::error(span),
            },
            Callee::Failed => {
                self.check_anyway(given.into_sources());
                Expr::error(span)
            }
            Callee::Scheme(_) | Callee::Lambda(..) | Callee::Derivative(_) | Callee::Vmap(_) => {
                let (given, types) = if callee.needs_argument_types() {
                    let Some(sources) = arguments::by_position(self, "a function without a declaration", given) else {
                        return Expr::error(span);
                    };
                    let sources: Vec<Source<'_>> =
                        sources.into_iter().map(|source| Source::Typed(self.source(source))).collect();
                    let types = sources.iter().map(source_type).collect();
                    (Given::from(sources), types)
                } else {
                    (given, Vec::new())
                };
                match callee_schemes::scheme(self, callee, &types) {
                    Some(scheme) => call(self, &scheme, given, span),
                    None => {
                        self.check_anyway(given.into_sources());
                        Expr::error(span)
                    }
                }
            }
        }
    }

    /// The value of an argument.
    pub(super) fn source(&mut self, source: Source<'_>) -> Expr {
        match source {
            Source::Ast(expr) => self.expr(expr),
            Source::Typed(expr) | Source::Default(expr) => expr,
        }
    }

    /// Checks arguments of a call that has failed, but for functions, whose types are not known, and for strings, which
    /// the function that was meant may take.
    pub(super) fn check_anyway(&mut self, sources: Vec<Source<'_>>) {
        for source in sources {
            if let Source::Ast(expr) = &source
                && (operators::looks_like_function(self, expr)
                    || matches!(&expr.kind, ast::ExprKind::Literal(ast::Literal::Str(_))))
            {
                continue;
            }
            self.source(source);
        }
    }

    /// Checks arguments against parameter types that are closed over the generics of `instance`,
    /// finding these on the way.
    pub(super) fn arguments(
        &mut self,
        instance: &mut Instance,
        parts: Vec<(Type, String, Source<'_>)>,
        span: Span,
    ) -> Option<Vec<Arg>> {
        let mut pending: Vec<(Type, String, Result<Expr, Source<'_>>)> = Vec::new();
        for (at, (ty, subject, source)) in parts.into_iter().enumerate() {
            let param = LocalId(at as u32);
            if let Source::Default(value) = &source {
                if let (true, Some(size)) = (instance.uses_value(param), self.size_of(value)) {
                    instance.set_value(param, size);
                }
                pending.push((ty, subject, Err(source)));
                continue;
            }
            if matches!(ty, Type::Function(_)) {
                pending.push((ty, subject, Err(source)));
                continue;
            }
            let mut value = self.source(source);
            if instance.uses_value(param) && !value.ty.has_error() {
                let size = match self.size_of(&value) {
                    Some(size) => size,
                    None => {
                        let (bound, size) = sizes::bound_value(&mut self.locals, value);
                        value = bound;
                        size
                    }
                };
                instance.set_value(param, size);
            }
            instance.learn(self, &ty, &value);
            pending.push((ty, subject, Ok(value)));
        }
        instance.settle();
        let mut args = Vec::new();
        let mut failed = false;
        for (ty, subject, part) in pending {
            match (part, ty) {
                (Ok(value), ty) => args.push((subject, ty, Arg::Value(value))),
                (Err(Source::Default(value)), ty) => {
                    let value = value.with_types(&|ty| instance.ty(ty));
                    args.push((subject, ty, Arg::Value(value)));
                }
                (Err(source), Type::Function(ty)) => match function_argument(self, instance, &ty, source, &subject) {
                    Some(callable) => args.push((subject, Type::Function(ty), Arg::Function(callable))),
                    None => failed = true,
                },
                (Err(source), _) => drop(self.source(source)),
            }
        }
        if failed || instance.is_misfit() {
            return None;
        }
        instance.settle();
        if instance.has_unknown() {
            if ranks::report(self, &args, span) {
                return None;
            }
            instance.open_unknown(self, span);
        }
        if instance.has_unknown() {
            instance.report_unknown(self, span);
            return None;
        }
        if instance.report_negative(self, span) {
            return None;
        }
        let fitted = args.into_iter().map(|(subject, ty, arg)| match arg {
            Arg::Value(value) => {
                let wanted = instance.ty(&ty);
                Arg::Value(self.fit(value, &wanted, &subject))
            }
            other @ (Arg::Function(_) | Arg::Pack(_)) => other,
        });
        Some(fitted.collect())
    }

    /// Something that can be called with arguments of these types, as an argument of another call:
    /// functions are wrapped in a lambda.
    pub(super) fn function_arg(&mut self, expr: &ast::Expr, params: &[Type]) -> Option<Callable> {
        let callee = match self.function_expr(expr) {
            Some(Callee::Failed) => return None,
            Some(callee) => callee,
            None => {
                let value = self.expr(expr);
                if !value.ty.has_error() {
                    let message = format!("expected a function, found {}", self.show_value(&value));
                    self.report(
                        Diagnostic::error(codes::FUNCTION_EXPECTED, expr.span, message)
                            .help("write a lambda such as `|x| x + 1.0`, or the name of a function"),
                    );
                }
                return None;
            }
        };
        if params.iter().any(Type::has_error) {
            return None;
        }
        if let Callee::Lambda(lambda, span) = callee {
            return self.lambda(lambda, params, span);
        }
        if let Callee::Scheme(scheme) = &callee
            && let SchemeTarget::Callable(callable) = &scheme.target
        {
            return fits_callable(self, callable, params, expr.span).then(|| callable.clone());
        }
        self.eta(callee, params, expr.span)
    }

    /// `|a, b| f(a, b)`
    pub(super) fn eta(&mut self, callee: Callee<'_>, params: &[Type], span: Span) -> Option<Callable> {
        let n_errors = self.module.diagnostics.len();
        let callable = self.in_lambda(params, span, |this, locals| {
            let args = locals
                .iter()
                .zip(params)
                .map(|(local, ty)| Source::Typed(Expr { span, ty: ty.clone(), kind: ExprKind::Local(*local) }));
            this.apply(callee, Given::from(args.collect::<Vec<_>>()), span)
        });
        (self.module.diagnostics.len() == n_errors || !callable.result.has_error()).then_some(callable)
    }
}

/// A call of something that turned out to be a value.
pub(super) fn call_of_value(checker: &mut BodyChecker<'_, '_>, value: Expr, args: &[AstArg], span: Span) -> Expr {
    checker.check_anyway(args.iter().map(|arg| Source::Ast(&arg.value)).collect());
    if !value.ty.has_error() {
        let message = format!("expected a function before the parentheses, found `{}`", checker.show(&value.ty));
        let help = if value.ty.dims().is_empty() {
            "only functions are called; to multiply, write `*`"
        } else {
            "a tensor is indexed with brackets: `v[i]`"
        };
        checker.report(Diagnostic::error(codes::NOT_CALLABLE, value.span, message).help(help));
    }
    Expr::error(value.span.to(span))
}

/// The call of something with a signature.
fn call(checker: &mut BodyChecker<'_, '_>, scheme: &Scheme, mut given: Given<'_>, span: Span) -> Expr {
    let sizes = size_lists::taken(checker, scheme, &mut given);
    let value = match arguments::arrange(checker, scheme, given, span) {
        Some(arranged) => arranged.wrap(|sources| arranged_call(checker, scheme, sources, span)),
        None => Expr::error(span),
    };
    match sizes {
        Some(sizes) => sizes.shape(checker, value),
        None => value,
    }
}

fn arranged_call(checker: &mut BodyChecker<'_, '_>, scheme: &Scheme, sources: Vec<Source<'_>>, span: Span) -> Expr {
    let wanted = scheme
        .params
        .iter()
        .map(|param| (param.ty.clone(), format!("the argument `{}` of `{}`", param.name, scheme.name)));
    let parts: Vec<(Type, String, Source<'_>)> =
        wanted.zip(sources).map(|((ty, subject), source)| (ty, subject, source)).collect();
    let mut instance = Instance::new(checker, scheme, span);
    let Some(args) = checker.arguments(&mut instance, parts, span) else { return Expr::error(span) };
    let Some(callable) = callee_schemes::instantiate(checker, scheme, &instance, span) else {
        return Expr::error(span);
    };
    let ty = callable.result.clone();
    if args.iter().any(|arg| matches!(arg, Arg::Value(value) if value.ty.has_error())) {
        return Expr { ty: if ty.has_error() { Type::Error } else { ty }, ..Expr::error(span) };
    }
    Expr { span, ty, kind: ExprKind::Call { callee: Box::new(callable), args } }
}

/// An argument for a parameter of function type.
fn function_argument(
    checker: &mut BodyChecker<'_, '_>,
    instance: &mut Instance,
    wanted: &FunctionType,
    source: Source<'_>,
    subject: &str,
) -> Option<Callable> {
    if wanted.params.iter().any(|param| instance.is_open(param)) {
        let span = match source {
            Source::Ast(expr) => expr.span,
            Source::Typed(expr) | Source::Default(expr) => expr.span,
        };
        instance.report_unknown(checker, span);
        return None;
    }
    let params: Vec<Type> = wanted.params.iter().map(|param| instance.ty(param)).collect();
    let callable = match source {
        Source::Ast(expr) => checker.function_arg(expr, &params)?,
        Source::Typed(expr) | Source::Default(expr) => {
            checker.function_as_value(expr.span, "a function");
            return None;
        }
    };
    let result = Expr { span: callable.span, ty: callable.result.clone(), kind: ExprKind::Error };
    instance.learn(checker, &wanted.result, &result);
    instance.settle();
    let wanted_result = instance.ty(&wanted.result);
    let fitted = checker.fit(result, &wanted_result, &format!("the result of {subject}"));
    (!fitted.ty.has_error()).then_some(callable)
}

/// Whether a function parameter takes arguments of these types; reports if not.
fn fits_callable(checker: &mut BodyChecker<'_, '_>, callable: &Callable, params: &[Type], span: Span) -> bool {
    if callable.params.len() != params.len() {
        arguments::report_argument_count(checker, "the function", callable.params.len(), params.len(), span, None);
        return false;
    }
    let pairs: Vec<(Type, Type)> = params.iter().cloned().zip(callable.params.iter().cloned()).collect();
    pairs.into_iter().all(|(found, wanted)| {
        let value = Expr { span, ty: found, kind: ExprKind::Error };
        !checker.fit(value, &wanted, "a parameter of the function").ty.has_error()
    })
}

fn source_type(source: &Source<'_>) -> Type {
    match source {
        Source::Ast(_) => Type::Error,
        Source::Typed(expr) | Source::Default(expr) => expr.ty.clone(),
    }
}
