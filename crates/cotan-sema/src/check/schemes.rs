//! Signatures of what can be called, and what becomes of them at a call.

use cotan_syntax::Span;
use cotan_syntax::ast;

use super::callees::{Callee, DerivativeCallee};
use super::instantiate::Instance;
use super::{BodyChecker, CallEdge, FnId};
use crate::dims::{Atom, Dim, LocalId};
use crate::typed::{self, Callable, CallableKind, Derivative, DerivativeForm, DerivativeMode, Expr};
use crate::types::{FunctionType, Generic, GenericArg, Type};

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
                let n = function.operands.len().min(types.len());
                self.wrapped(callee, &types[..n], span)
            }
            Callee::Builtin(_, _, span) | Callee::Print(_, span) => self.wrapped(callee, types, span),
            Callee::Vmap(vmap) => self.vmap_scheme(*vmap, types),
            Callee::Derivative(derivative) => {
                let DerivativeCallee { form, selector, base, span } = *derivative;
                let base = self.scheme(base, types)?;
                self.derivative_scheme(form, selector, base, span)
            }
        }
    }

    /// The signature of a function of the prelude for arguments of these types.
    fn wrapped(&mut self, callee: Callee<'_>, types: &[Type], span: Span) -> Option<Scheme> {
        let callable = self.eta(callee, types, span)?;
        let names = (0..types.len()).map(|at| at.to_string()).collect();
        Some(callable_scheme("the function", callable, names))
    }

    /// The callable with what its generics stand for.
    pub(super) fn instantiate(&mut self, scheme: &Scheme, instance: &Instance, span: Span) -> Option<Callable> {
        let first_open = self.sizes.len() as u32;
        for _ in 0..scheme.n_open_sizes {
            self.new_size(span);
        }
        let callable = self.instantiate_from(scheme, instance, first_open);
        if callable.result.has_error() && !scheme.result.has_error() {
            self.module.report_too_complex(span);
            return None;
        }
        Some(callable)
    }

    fn instantiate_from(&mut self, scheme: &Scheme, instance: &Instance, first_open: u32) -> Callable {
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
                base: self.instantiate_from(base, instance, first_open),
                wrt: wrt.clone(),
            })),
        };
        let params = scheme.params.iter().map(|param| instance.ty(&param.ty)).collect();
        let mut result = instance.ty(&scheme.result);
        if scheme.n_open_sizes > 0 {
            let open = open_sizes(&scheme.result, &instance.ty(&scheme.result), first_open, scheme.n_open_sizes);
            result = open;
        }
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

/// The result type with the sizes that the declaration leaves open replaced by those of the call.
fn open_sizes(declared: &Type, instantiated: &Type, first_open: u32, n_open: u32) -> Type {
    let mut is_open = Vec::new();
    declared.clone().each_dim_mut(&mut |dim| {
        is_open.push(match dim.as_atom() {
            Some(Atom::Runtime(size)) if size.0 < n_open => Some(size.0),
            _ => None,
        });
    });
    let mut result = instantiated.clone();
    let mut next = is_open.into_iter();
    result.each_dim_mut(&mut |dim| {
        if let Some(Some(open)) = next.next() {
            *dim = Dim::atom(Atom::Runtime(typed::SizeId(first_open + open)));
        }
    });
    result
}
