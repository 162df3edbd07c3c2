//! Generic parameters: types with bounds, sizes and packs of sizes.

use cotan_ir::{Elem, ElemSet};

use super::{GenericArg, Scalar, TraitRef, Type};
use crate::dims::{Atom, Dim, GenericId};

/// A parameter in brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generic {
    /// The name; `_` for a size that the declaration leaves open.
    pub name: String,
    /// What it may stand for.
    pub kind: GenericKind,
    /// The traits of the program that the type has.
    pub traits: Vec<TraitRef>,
    /// The parameter whose tangent it is: `tangent[T]` in a signature adds a parameter that follows from `T`.
    pub tangent_of: Option<GenericId>,
}

impl Generic {
    /// A size parameter.
    pub fn size(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: GenericKind::Size, traits: Vec::new(), tangent_of: None }
    }

    /// The tangent of the parameter `name`, number `at` of the list.
    pub fn tangent(name: &str, at: usize) -> Self {
        Self {
            name: format!("tangent[{name}]"),
            kind: GenericKind::Type { is_differentiable: true },
            traits: Vec::new(),
            tangent_of: Some(GenericId(at as u32)),
        }
    }

    /// Whether it stands in the brackets of the declaration.
    pub fn is_written(&self) -> bool {
        self.name != "_" && self.tangent_of.is_none()
    }

    /// The parameter, number `at` of its list, as an argument for itself.
    pub fn as_arg(&self, at: usize) -> GenericArg {
        let id = GenericId(at as u32);
        match self.kind {
            GenericKind::Size => GenericArg::Size(Dim::atom(Atom::Size(id))),
            GenericKind::Scalar(_) => GenericArg::Scalar(Scalar::Param(id)),
            GenericKind::Type { .. } => GenericArg::Type(Type::Param(id)),
            GenericKind::Pack => GenericArg::Pack(vec![Dim::atom(Atom::Pack(id))]),
        }
    }

    /// The parameters of a declaration as arguments for themselves.
    pub fn as_args(generics: &[Self]) -> Vec<GenericArg> {
        generics.iter().enumerate().map(|(at, generic)| generic.as_arg(at)).collect()
    }
}

/// What a parameter in brackets may stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GenericKind {
    /// `N` or `N: nat`
    Size,
    /// `T: Float`
    Scalar(Bound),
    /// `T: Differentiable`, `T: Area`: any type that has the traits.
    Type {
        /// Whether `Differentiable` is among them: the type has leaves that are floats. Unless the declaration names
        /// `tangent[T]`, it is its own tangent: every leaf is a float.
        is_differentiable: bool,
    },
    /// `..S`: any number of sizes.
    Pack,
}

/// A trait that comes with the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bound {
    /// All integer and float types.
    Numeric,
    /// `f32` and `f64`.
    Float,
    /// Float types, those for storage included: moved, converted and compared, not computed with.
    Storage,
    /// All integer types.
    Integer,
    /// The types that have `==`.
    Eq,
    /// The types that have `<`.
    Ord,
    /// The types that have derivatives.
    Differentiable,
}

impl Bound {
    /// All bounds.
    pub const ALL: [Self; 7] =
        [Self::Numeric, Self::Float, Self::Storage, Self::Integer, Self::Eq, Self::Ord, Self::Differentiable];

    /// The name in the language.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Numeric => "Numeric",
            Self::Float => "Float",
            Self::Storage => "Storage",
            Self::Integer => "Integer",
            Self::Eq => "Eq",
            Self::Ord => "Ord",
            Self::Differentiable => "Differentiable",
        }
    }

    /// The bound of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|bound| bound.as_str() == name)
    }

    /// The element type that stands for a parameter with the trait unless something says otherwise.
    pub fn default_elem(self) -> Elem {
        if self.admits(Elem::F64) { Elem::F64 } else { Elem::I64 }
    }

    /// Whether an element type has the trait.
    pub fn admits(self, elem: Elem) -> bool {
        match self {
            Self::Numeric => ElemSet::NUMERIC.has(elem),
            Self::Float => ElemSet::FLOAT.has(elem),
            Self::Storage | Self::Differentiable => elem.is_float(),
            Self::Ord => elem != Elem::Bool,
            Self::Integer => elem.is_integer(),
            Self::Eq => true,
        }
    }

    /// Whether every type with this trait has the other one too.
    pub fn implies(self, other: Self) -> bool {
        Elem::ALL.into_iter().all(|elem| !self.admits(elem) || other.admits(elem))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn float_implies_the_wider_traits() {
        assert!(Bound::Float.implies(Bound::Numeric));
        assert!(Bound::Float.implies(Bound::Differentiable));
        assert!(!Bound::Numeric.implies(Bound::Float));
        assert!(Bound::Integer.implies(Bound::Ord));
    }
}
