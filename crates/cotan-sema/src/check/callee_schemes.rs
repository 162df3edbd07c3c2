//! The signature of a callee for arguments of known types, and its instantiation at a call.

use cotan_syntax::Span;
use cotan_syntax::ast;

use super::callee::{Callee, DerivativeCallee};
use super::instantiate::Instance;
use super::schemes::{Scheme, SchemeParam, SchemeTarget, callable_scheme};
use super::{BodyChecker, CallEdge, derivatives, effects, size_exprs, vmaps};
use crate::dims::{Dim, LocalId};
use crate::typed::{Callable, CallableKind, Derivative, Expr};
use crate::types::Type;

/// The signature of a callee that is called with arguments of these types.
pub(super) fn scheme(checker: &mut BodyChecker<'_, '_>, callee: Callee<'_>, types: &[Type]) -> Option<Scheme> {
    match callee {
        Callee::Failed => None,
        Callee::Scheme(scheme) => Some(*scheme),
        Callee::Lambda(lambda, span) => {
            let n = lambda.params.len().min(types.len());
            let callable = checker.lambda(lambda, &types[..n], span)?;
            let names = lambda.params.iter().map(|param| {
                let ast::PatternKind::Name { name, .. } = &param.pattern.kind else { return "_".to_owned() };
                name.name.clone()
            });
            Some(callable_scheme("the lambda", callable, names.collect()))
        }
        Callee::Scalar(function, span) => {
            let n = function.operands().len().min(types.len());
            wrapped(checker, callee, &types[..n], span)
        }
        Callee::Builtin(_, _, span) | Callee::Print(_, span) => wrapped(checker, callee, types, span),
        Callee::Vmap(vmap) => vmaps::vmap_scheme(checker, *vmap, types),
        Callee::Derivative(derivative) => {
            let DerivativeCallee { form, selector, base, span } = *derivative;
            let mut base = scheme(checker, base, types)?;
            if base.has_type_params() {
                base = scheme_at(checker, &base, types, span)?;
            }
            derivatives::derivative_scheme(checker, form, selector, base, span)
        }
    }
}

/// The signature of a generic function for arguments of these types.
fn scheme_at(checker: &mut BodyChecker<'_, '_>, scheme: &Scheme, types: &[Type], span: Span) -> Option<Scheme> {
    let mut instance = Instance::new(checker, scheme, span);
    for (param, ty) in scheme.params.iter().zip(types) {
        instance.learn(checker, &param.ty, &Expr { ty: ty.clone(), ..Expr::error(span) });
    }
    instance.settle();
    if instance.is_misfit() {
        return None;
    }
    if instance.has_unknown() {
        instance.report_unknown(checker, span);
        return None;
    }
    for at in (0..scheme.params.len() as u32).map(LocalId) {
        if instance.uses_value(at) {
            let size = checker.infer.sizes.fresh(span);
            instance.set_value(at, size);
        }
    }
    let callable = instantiate(checker, scheme, &instance, span)?;
    let params = scheme.params.iter().zip(&callable.params);
    let params = params.map(|(param, ty)| SchemeParam { ty: ty.clone(), ..param.clone() }).collect();
    let of_callable = callable_scheme(&scheme.name, callable, Vec::new());
    Some(Scheme { params, definition: scheme.definition, ..of_callable })
}

/// The signature of a function of the prelude for arguments of these types.
fn wrapped(checker: &mut BodyChecker<'_, '_>, callee: Callee<'_>, types: &[Type], span: Span) -> Option<Scheme> {
    let callable = checker.eta(callee, types, span)?;
    let names = (0..types.len()).map(|at| at.to_string()).collect();
    Some(callable_scheme("the function", callable, names))
}

/// The callable with what its generics stand for.
pub(super) fn instantiate(
    checker: &mut BodyChecker<'_, '_>,
    scheme: &Scheme,
    instance: &Instance,
    span: Span,
) -> Option<Callable> {
    let open: Vec<Dim> = (0..scheme.n_open_sizes).map(|_| checker.infer.sizes.fresh(span)).collect();
    instance.want_traits(checker, span);
    let callable = instantiate_from(checker, scheme, instance, &open);
    if callable.result.has_error() && !scheme.result.has_error() {
        size_exprs::report_too_complex(checker.module, span);
        return None;
    }
    Some(callable)
}

fn instantiate_from(checker: &mut BodyChecker<'_, '_>, scheme: &Scheme, instance: &Instance, open: &[Dim]) -> Callable {
    let kind = match &scheme.target {
        SchemeTarget::Callable(callable) => return callable.clone(),
        SchemeTarget::Function(function) => {
            if checker.module.signature(*function).prints {
                effects::effect(checker, &scheme.name, scheme.span, scheme.definition);
            }
            if checker.locals.frames.len() > 1 {
                checker.module.pure.insert(*function);
            }
            if let Some(caller) = checker.owner {
                checker.module.edges.push(CallEdge { caller, callee: *function, span: scheme.span });
            }
            CallableKind::Function { function: *function, generics: instance.args() }
        }
        SchemeTarget::Derivative { form, mode, wrt, base } => CallableKind::Derivative(Box::new(Derivative {
            span: scheme.span,
            form: *form,
            mode: *mode,
            base: instantiate_from(checker, base, instance, open),
            wrt: wrt.clone(),
        })),
    };
    let params = scheme.params.iter().map(|param| instance.ty(&param.ty)).collect();
    let result = instance.ty_with_sizes(&scheme.result, open);
    Callable { span: scheme.span, params, result, kind }
}
