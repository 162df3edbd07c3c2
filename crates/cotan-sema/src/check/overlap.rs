//! Coherence: whether two impls of a trait may be for one type.
//!
//! Types are compared by structure and element types, each occurrence of a parameter on its own, and sizes not at all:
//! what tells impls apart must be known before the program runs, and easy to see.

use cotan_ir::Elem;

use crate::dims::Dim;
use crate::typed::Impl;
use crate::types::{Generic, GenericArg, GenericKind, Scalar, Type};

/// Whether there may be a type that both are for.
pub(super) fn may_overlap(a: &Impl, b: &Impl) -> bool {
    let sides = Sides { a: &a.generics, b: &b.generics };
    a.trait_ref.def == b.trait_ref.def
        && sides.types(&a.target, &b.target)
        && a.trait_ref.args.iter().zip(&b.trait_ref.args).all(|(a, b)| sides.args(a, b))
}

/// The parameters of both impls.
struct Sides<'g> {
    a: &'g [Generic],
    b: &'g [Generic],
}

impl Sides<'_> {
    fn types(&self, a: &Type, b: &Type) -> bool {
        match (a, b) {
            (Type::Param(_), _) | (_, Type::Param(_)) => true,
            (Type::Scalar(a), Type::Scalar(b)) => self.scalars(*a, *b),
            (Type::Tensor { elem, dims }, other) | (other, Type::Tensor { elem, dims })
                if !matches!(other, Type::Tensor { .. }) =>
            {
                // A pack may turn out to be empty.
                dims.iter().all(|dim| dim.as_pack().is_some()) && self.either(elem, other)
            }
            (Type::Tensor { elem: x, dims: m }, Type::Tensor { elem: y, dims: n }) => {
                let ranks_fit = match (&**x, &**y) {
                    (Type::Param(_), Type::Param(_)) => true,
                    (Type::Param(_), _) => has_pack(n) || n.len() >= m.len(),
                    (_, Type::Param(_)) => has_pack(m) || m.len() >= n.len(),
                    _ => may_have_one_rank(m, n),
                };
                ranks_fit && self.types(x, y)
            }
            (Type::Tuple(a), Type::Tuple(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.types(a, b)),
            (Type::Struct(a), Type::Struct(b)) => {
                a.def == b.def && a.args.iter().zip(&b.args).all(|(a, b)| self.args(a, b))
            }
            (Type::Enum(a), Type::Enum(b)) => {
                a.def == b.def && a.args.iter().zip(&b.args).all(|(a, b)| self.args(a, b))
            }
            (
                Type::Error
                | Type::Never
                | Type::Scalar(_)
                | Type::Tensor { .. }
                | Type::Tuple(_)
                | Type::Struct(_)
                | Type::Enum(_)
                | Type::Function(_),
                _,
            ) => false,
        }
    }

    /// [`Self::types`] where it is not known which side is which.
    fn either(&self, a: &Type, b: &Type) -> bool {
        self.types(a, b) || Sides { a: self.b, b: self.a }.types(a, b)
    }

    fn args(&self, a: &GenericArg, b: &GenericArg) -> bool {
        match (a, b) {
            (GenericArg::Scalar(a), GenericArg::Scalar(b)) => self.scalars(*a, *b),
            (GenericArg::Type(a), GenericArg::Type(b)) => self.types(a, b),
            (GenericArg::Pack(a), GenericArg::Pack(b)) => may_have_one_rank(a, b),
            (GenericArg::Size(_) | GenericArg::Scalar(_) | GenericArg::Type(_) | GenericArg::Pack(_), _) => true,
        }
    }

    fn scalars(&self, a: Scalar, b: Scalar) -> bool {
        Elem::ALL.into_iter().any(|elem| may_be(self.a, a, elem) && may_be(self.b, b, elem))
    }
}

fn may_be(generics: &[Generic], scalar: Scalar, elem: Elem) -> bool {
    match scalar {
        Scalar::Of(other) => other == elem,
        Scalar::Param(id) => match generics.get(id.0 as usize).map(|generic| generic.kind) {
            Some(GenericKind::Scalar(bound)) => bound.admits(elem),
            Some(GenericKind::Size | GenericKind::Type { .. } | GenericKind::Pack) | None => true,
        },
        Scalar::Var(_) => true,
    }
}

fn has_pack(dims: &[Dim]) -> bool {
    dims.iter().any(|dim| dim.as_pack().is_some())
}

fn may_have_one_rank(m: &[Dim], n: &[Dim]) -> bool {
    match (has_pack(m), has_pack(n)) {
        (false, false) => m.len() == n.len(),
        (true, false) => n.len() + 1 >= m.len(),
        (false, true) => m.len() + 1 >= n.len(),
        (true, true) => true,
    }
}
