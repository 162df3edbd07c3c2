//! Signatures of what can be called.

use cotan_syntax::Span;

use super::{FnId, Signature};
use crate::dims::LocalId;
use crate::typed::{Callable, CallableKind, DerivativeForm, DerivativeMode, Expr};
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
    /// The value if the argument is left out: a parameter before it, as a local, or literals, arrays and tuples of them, over
    /// the generics of the function.
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

/// The signature of a function of the program.
pub(super) fn function_scheme(id: FnId, signature: Signature, span: Span, given: Vec<Option<GenericArg>>) -> Scheme {
    let params = signature.params.iter().map(|param| SchemeParam {
        name: param.name.clone(),
        ty: param.ty.clone(),
        nodiff: param.nodiff,
        default: param.default.clone(),
        definition: Some(param.span),
    });
    Scheme {
        name: signature.name.clone(),
        span,
        given,
        params: params.collect(),
        n_seeds: 0,
        result: signature.result,
        n_open_sizes: signature.n_open_sizes,
        generics: signature.generics,
        definition: Some(signature.name_span),
        target: SchemeTarget::Function(id),
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
