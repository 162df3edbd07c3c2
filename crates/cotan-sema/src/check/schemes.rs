//! Signatures of what can be called, and what becomes of them at a call.

use cotan_syntax::Span;
use cotan_syntax::ast;

use super::callees::{Callee, DerivativeCallee};
use super::expressions::error;
use super::instantiate::Instance;
use super::{BodyChecker, CallEdge, FnId};
use crate::dims::{Dim, LocalId};
use crate::typed::{Callable, CallableKind, Derivative, DerivativeForm, DerivativeMode, Expr};
use crate::types::{FunctionType, Generic, GenericArg, GenericKind, Type};

/// The signature of something that can be called.
#[derive(Clone, Debug)]
pub(super) struct Scheme {
    pub(super) name: String,
    pub(super) span: Span,
    /// The generics to find, with those that were given. Types below are closed over them.
    pub(super) generics: Vec<Generic>,
    pub(super) given: Vec<Option<GenericArg>>,
    pub(super) params: Vec<SchemeParam>,
    /// How many of the parameters, the last ones, take tangents and cotangents.
    pub(super) n_seeds: usize,
    pub(super) result: Type,
    /// How many run-time sizes the result leaves open.
    pub(super) n_open_sizes: u32,
    pub(super) definition: Option<Span>,
    pub(super) target: SchemeTarget,
}

/// A parameter of a [`Scheme`].
#[derive(Clone, Debug)]
pub(super) struct SchemeParam {
    pub(super) name: String,
    pub(super) ty: Type,
    pub(super) nodiff: bool,
    /// The value if the argument is left out: literals, arrays and tuples of them, over the generics of the function.
    pub(super) default: Option<Expr>,
    /// Where it is declared.
    pub(super) definition: Option<Span>,
}

impl SchemeParam {
    /// A parameter that must be given.
    pub(super) fn new(name: String, ty: Type) -> Self {
        Self { name, ty, nodiff: false, default: None, definition: None }
    }
}

/// What a [`Scheme`] is the signature of.
#[derive(Clone, Debug)]
pub(super) enum SchemeTarget {
    /// A function: types are closed over its generics, and integer parameters may stand in dims.
    Function(FnId),
    /// Something without generics: types are those of the caller.
    Callable(Callable),
    /// A derivative; generics and dims are those of its base.
    Derivative { form: DerivativeForm, mode: Option<DerivativeMode>, wrt: Vec<usize>, base: Box<Scheme> },
}

impl Scheme {
    /// Whether parameters stand for any type.
    pub(super) fn has_type_params(&self) -> bool {
        self.generics.iter().any(|generic| matches!(generic.kind, GenericKind::Type { .. }))
    }

    /// The function that the types of the scheme belong to, if they are not those of the caller.
    pub(super) fn owner(&self) -> Option<FnId> {
        match &self.target {
            SchemeTarget::Function(id) => Some(*id),
            SchemeTarget::Callable(_) => None,
            SchemeTarget::Derivative { base, .. } => base.owner(),
        }
    }
}

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
            instance.learn(self, &param.ty, &Expr { ty: ty.clone(), ..error(span) });
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

/// The signature of a parameter of function type.
pub(super) fn param_scheme(name: &str, span: Span, local: LocalId, ty: FunctionType) -> Scheme {
    let callable =
        Callable { span, params: ty.params.clone(), result: ty.result.clone(), kind: CallableKind::Param(local) };
    let names = (0..ty.params.len()).map(|at| at.to_string()).collect();
    Scheme { name: name.to_owned(), ..callable_scheme(name, callable, names) }
}

/// The signature of something without generics.
pub(super) fn callable_scheme(name: &str, callable: Callable, names: Vec<String>) -> Scheme {
    let params = callable.params.iter().zip(names);
    Scheme {
        name: name.to_owned(),
        span: callable.span,
        generics: Vec::new(),
        given: Vec::new(),
        params: params.map(|(ty, name)| SchemeParam::new(name, ty.clone())).collect(),
        n_seeds: 0,
        result: callable.result.clone(),
        n_open_sizes: 0,
        definition: None,
        target: SchemeTarget::Callable(callable),
    }
}
