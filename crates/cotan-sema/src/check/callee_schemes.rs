//! The signature of a callee for arguments of known types, and its instantiation at a call.

use cotan_syntax::Span;
use cotan_syntax::ast;

use super::callees::{Callee, DerivativeCallee};
use super::instantiate::Instance;
use super::schemes::{Scheme, SchemeParam, SchemeTarget, callable_scheme};
use super::{BodyChecker, CallEdge};
use crate::dims::{Dim, LocalId};
use crate::typed::{Callable, CallableKind, Derivative, Expr};
use crate::types::Type;

impl BodyChecker<'_, '_> {
    /// The signature of a callee that is called with arguments of these types.
    pub(super) fn scheme(&mut self, callee: Callee<'_>, types: &[Type]) -> Option<Scheme> {
        match callee {
            Callee::Failed => None,
            Callee::Scheme(scheme) => Some(*scheme),
            Callee::Lambda(lambda, span) => {
                let n = lambda.params.len().min(types.len());
                let callable = self.lambda(lambda, &types[..n], span)?;
                let names = lambda.params.iter().map(|param| {
                    let ast::PatternKind::Name { name, .. } = &param.pattern.kind else { return "_".to_owned() };
                    name.name.clone()
                });
                Some(callable_scheme("the lambda", callable, names.collect()))
            }
            Callee::Scalar(function, span) => {
                let n = function.operands().len().min(types.len());
                self.wrapped(callee, &types[..n], span)
            }
            Callee::Builtin(_, _, span) | Callee::Print(_, span) => self.wrapped(callee, types, span),
            Callee::Vmap(vmap) => self.vmap_scheme(*vmap, types),
            Callee::Derivative(derivative) => {
                let DerivativeCallee { form, selector, base, span } = *derivative;
                let mut base = self.scheme(base, types)?;
                if base.has_type_params() {
                    base = self.scheme_at(&base, types, span)?;
                }
                self.derivative_scheme(form, selector, base, span)
            }
        }
    }

    /// The signature of a generic function for arguments of these types.
    fn scheme_at(&mut self, scheme: &Scheme, types: &[Type], span: Span) -> Option<Scheme> {
        let mut instance = Instance::new(self, scheme, span);
        for (param, ty) in scheme.params.iter().zip(types) {
            instance.learn(self, &param.ty, &Expr { ty: ty.clone(), ..Expr::error(span) });
        }
        instance.settle();
        if instance.is_misfit() {
            return None;
        }
        if instance.has_unknown() {
            instance.report_unknown(self, span);
            return None;
        }
        for at in (0..scheme.params.len() as u32).map(LocalId) {
            if instance.uses_value(at) {
                let size = self.new_size(span);
                instance.set_value(at, size);
            }
        }
        let callable = self.instantiate(scheme, &instance, span)?;
        let params = scheme.params.iter().zip(&callable.params);
        let params = params.map(|(param, ty)| SchemeParam { ty: ty.clone(), ..param.clone() }).collect();
        let of_callable = callable_scheme(&scheme.name, callable, Vec::new());
        Some(Scheme { params, definition: scheme.definition, ..of_callable })
    }

    /// The signature of a function of the prelude for arguments of these types.
    fn wrapped(&mut self, callee: Callee<'_>, types: &[Type], span: Span) -> Option<Scheme> {
        let callable = self.eta(callee, types, span)?;
        let names = (0..types.len()).map(|at| at.to_string()).collect();
        Some(callable_scheme("the function", callable, names))
    }

    /// The callable with what its generics stand for.
    pub(super) fn instantiate(&mut self, scheme: &Scheme, instance: &Instance, span: Span) -> Option<Callable> {
        let open: Vec<Dim> = (0..scheme.n_open_sizes).map(|_| self.new_size(span)).collect();
        instance.want_traits(self, span);
        let callable = self.instantiate_from(scheme, instance, &open);
        if callable.result.has_error() && !scheme.result.has_error() {
            self.module.report_too_complex(span);
            return None;
        }
        Some(callable)
    }

    fn instantiate_from(&mut self, scheme: &Scheme, instance: &Instance, open: &[Dim]) -> Callable {
        let kind = match &scheme.target {
            SchemeTarget::Callable(callable) => return callable.clone(),
            SchemeTarget::Function(function) => {
                if self.module.signature(*function).prints {
                    self.effect(&scheme.name, scheme.span, scheme.definition);
                }
                if let Some(caller) = self.owner {
                    self.module.edges.push(CallEdge { caller, callee: *function, span: scheme.span });
                }
                CallableKind::Function { function: *function, generics: instance.args() }
            }
            SchemeTarget::Derivative { form, mode, wrt, base } => CallableKind::Derivative(Box::new(Derivative {
                span: scheme.span,
                form: *form,
                mode: *mode,
                base: self.instantiate_from(base, instance, open),
                wrt: wrt.clone(),
            })),
        };
        let params = scheme.params.iter().map(|param| instance.ty(&param.ty)).collect();
        let result = instance.ty_with_sizes(&scheme.result, open);
        Callable { span: scheme.span, params, result, kind }
    }
}
