//! Which impl gives a type the functions of a trait.
//!
//! Impls are told apart by structure and scalar types alone, never by sizes, which may be known only at run time; no
//! two impls of a trait agree in that, so at most one fits.

use cotan_ir::Elem;

use crate::dims::{Atom, Dim, GenericId};
use crate::typed::Impl;
use crate::types::{Generic, GenericArg, GenericKind, Scalar, StructType, TraitRef, Type};

/// The impl of a trait for a type, with what its generics stand for there; `None` for one that nothing decides.
pub(crate) fn select(impls: &[Impl], of: &TraitRef, ty: &Type) -> Option<(usize, Vec<Option<GenericArg>>)> {
    impls.iter().enumerate().filter(|(_, candidate)| candidate.trait_ref.def == of.def).find_map(|(at, candidate)| {
        let mut binding = Binding::new(&candidate.generics);
        let is_match = binding.ty(&candidate.target, ty)
            && candidate.trait_ref.args.iter().zip(&of.args).all(|(pattern, arg)| binding.arg(pattern, arg));
        is_match.then_some((at, binding.known))
    })
}

/// What the generics of a pattern stand for, so that the pattern is some type.
pub(crate) struct Binding<'g> {
    generics: &'g [Generic],
    pub(crate) known: Vec<Option<GenericArg>>,
}

impl<'g> Binding<'g> {
    pub(crate) fn new(generics: &'g [Generic]) -> Self {
        Self { generics, known: vec![None; generics.len()] }
    }

    /// Makes the pattern the type that was found; `false` if they differ.
    pub(crate) fn ty(&mut self, pattern: &Type, found: &Type) -> bool {
        match (pattern, found) {
            (Type::Error, _) | (_, Type::Error) => true,
            (Type::Param(id), _) => self.set(*id, GenericArg::Type(found.clone())),
            (Type::Scalar(pattern), Type::Scalar(found)) => self.scalar(*pattern, *found),
            (Type::Tensor { elem, dims }, _) => self.tensor(elem, dims, found),
            (Type::Tuple(pattern), Type::Tuple(found)) => {
                pattern.len() == found.len() && pattern.iter().zip(found).all(|(p, f)| self.ty(p, f))
            }
            (Type::Struct(pattern), Type::Struct(found)) => self.of_struct(pattern, found),
            (Type::Enum(pattern), Type::Enum(found)) => {
                pattern.def == found.def
                    && pattern.tangent == found.tangent
                    && pattern.args.iter().zip(&found.args).all(|(p, f)| self.arg(p, f))
            }
            (Type::Function(pattern), Type::Function(found)) => {
                pattern.params.len() == found.params.len()
                    && pattern.params.iter().zip(&found.params).all(|(p, f)| self.ty(p, f))
                    && self.ty(&pattern.result, &found.result)
            }
            (
                Type::Never | Type::Scalar(_) | Type::Tuple(_) | Type::Struct(_) | Type::Enum(_) | Type::Function(_),
                _,
            ) => false,
        }
    }

    fn of_struct(&mut self, pattern: &StructType, found: &StructType) -> bool {
        pattern.def == found.def
            && pattern.tangent == found.tangent
            && pattern.args.iter().zip(&found.args).all(|(p, f)| self.arg(p, f))
    }

    /// A tensor of a parameter takes the leading dims and leaves the rest to the parameter.
    fn tensor(&mut self, elem: &Type, pattern: &[Dim], found: &Type) -> bool {
        let dims = found.dims();
        let has_pack = pattern.iter().any(|dim| dim.as_pack().is_some());
        let n_taken = match elem {
            Type::Param(_) if !has_pack && pattern.len() <= dims.len() => pattern.len(),
            Type::Error
            | Type::Never
            | Type::Scalar(_)
            | Type::Tensor { .. }
            | Type::Tuple(_)
            | Type::Struct(_)
            | Type::Enum(_)
            | Type::Function(_)
            | Type::Param(_) => dims.len(),
        };
        let rest = Type::tensor(found.elem().clone(), dims[n_taken..].to_vec());
        self.ty(elem, &rest) && self.dims(pattern, &dims[..n_taken])
    }

    pub(crate) fn arg(&mut self, pattern: &GenericArg, found: &GenericArg) -> bool {
        match (pattern, found) {
            (GenericArg::Size(pattern), GenericArg::Size(found)) => self.dim(pattern, found),
            (GenericArg::Scalar(pattern), GenericArg::Scalar(found)) => self.scalar(*pattern, *found),
            (GenericArg::Type(pattern), GenericArg::Type(found)) => self.ty(pattern, found),
            (GenericArg::Pack(pattern), GenericArg::Pack(found)) => self.dims(pattern, found),
            (GenericArg::Size(_) | GenericArg::Scalar(_) | GenericArg::Type(_) | GenericArg::Pack(_), _) => false,
        }
    }

    fn dims(&mut self, pattern: &[Dim], found: &[Dim]) -> bool {
        let Some(at) = pattern.iter().position(|dim| dim.as_pack().is_some()) else {
            return pattern.len() == found.len() && pattern.iter().zip(found).all(|(p, f)| self.dim(p, f));
        };
        let n_after = pattern.len() - at - 1;
        let Some(end) = found.len().checked_sub(n_after).filter(|end| *end >= at) else { return false };
        let pack = pattern[at].as_pack().map(|id| self.set(id, GenericArg::Pack(found[at..end].to_vec())));
        pack.unwrap_or(true)
            && pattern[..at].iter().zip(&found[..at]).all(|(p, f)| self.dim(p, f))
            && pattern[at + 1..].iter().zip(&found[end..]).all(|(p, f)| self.dim(p, f))
    }

    /// Sizes never tell impls apart: the first that a parameter meets is what it stands for.
    fn dim(&mut self, pattern: &Dim, found: &Dim) -> bool {
        if found.as_pack().is_some() {
            return false;
        }
        if let Some(Atom::Size(id)) = pattern.as_atom()
            && let Some(known @ None) = self.known.get_mut(id.0 as usize)
        {
            *known = Some(GenericArg::Size(found.clone()));
        }
        true
    }

    fn scalar(&mut self, pattern: Scalar, found: Scalar) -> bool {
        let Scalar::Param(id) = pattern else { return pattern == found };
        let Some(GenericKind::Scalar(bound)) = self.generics.get(id.0 as usize).map(|generic| generic.kind) else {
            return pattern == found;
        };
        let fits = match found {
            Scalar::Of(elem) => bound.admits(elem),
            Scalar::Param(_) | Scalar::Var(_) => Elem::ALL.into_iter().any(|elem| bound.admits(elem)),
        };
        fits && self.set(id, GenericArg::Scalar(found))
    }

    /// A parameter stands for one thing, up to sizes.
    fn set(&mut self, id: GenericId, arg: GenericArg) -> bool {
        match self.known.get_mut(id.0 as usize) {
            None => false,
            Some(known @ None) => {
                *known = Some(arg);
                true
            }
            Some(Some(known)) => without_sizes(known.clone()) == without_sizes(arg),
        }
    }
}

/// The argument with all sizes made one.
pub(crate) fn without_sizes(mut arg: GenericArg) -> GenericArg {
    arg.each_dim_mut(&mut |dim| {
        if dim.as_pack().is_none() {
            *dim = Dim::constant(0);
        }
    });
    arg
}
