//! Types of values, as the checker and the lowering see them.
//!
//! A type is closed over the generics of the function (or struct) that it stands in:
//! [`Scalar::Param`] and [`Atom::Size`] are indices into that list, and [`Substitution`] replaces
//! them at a use. This module knows nothing about inference but the place of a variable in it.

mod generics;
mod substitution;

use cotan_ir::Elem;

use crate::dims::{Dim, GenericId};

pub use generics::{Bound, Generic, GenericKind};
pub use substitution::Substitution;

/// A struct declaration: an index into [`crate::typed::Program::structs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StructId(pub u32);

/// An enum declaration: an index into [`crate::typed::Program::enums`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EnumId(pub u32);

/// A type that the checker has yet to find out; none is left in a checked program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScalarVar(pub u32);

/// The type of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scalar {
    /// A type of the language.
    Of(Elem),
    /// An element type parameter, such as `T: Float`.
    Param(GenericId),
    /// Not yet known.
    Var(ScalarVar),
}

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// Something is wrong here and has been reported: fits everything, so that one mistake gives
    /// one error.
    Error,
    /// The type of `return`, `break` and `continue`, which give no value.
    Never,
    /// A scalar.
    Scalar(Scalar),
    /// A tensor of rank one or more.
    Tensor {
        /// A scalar, a tuple or a struct, never a tensor: `f64[M][N]` is `f64[N, M]`. Tensors of
        /// tuples and structs are stored as one tensor for each leaf.
        elem: Box<Self>,
        /// The extents, outermost first; at least one.
        dims: Vec<Dim>,
    },
    /// A tuple; the empty one is the type of statements.
    Tuple(Vec<Self>),
    /// A struct.
    Struct(StructType),
    /// An enum.
    Enum(EnumType),
    /// A function, only as the type of a parameter.
    Function(Box<FunctionType>),
    /// A parameter that stands for any type, such as `T: Area`.
    Param(GenericId),
}

/// A struct with its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StructType {
    /// Which.
    pub def: StructId,
    /// One for each of the struct's generics.
    pub args: Vec<GenericArg>,
    /// Whether this is the tangent of the struct, whose fields are the tangents of the struct's
    /// fields. Never set for a struct that is its own tangent.
    pub tangent: bool,
}

/// An enum with its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EnumType {
    /// Which.
    pub def: EnumId,
    /// One for each of the enum's generics.
    pub args: Vec<GenericArg>,
    /// Whether this is the tangent of the enum, whose payloads are the tangents of the enum's
    /// payloads. Never set for an enum that is its own tangent.
    pub tangent: bool,
}

/// The type of a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionType {
    /// The types of the parameters.
    pub params: Vec<Type>,
    /// The type of the result.
    pub result: Type,
}

/// What a parameter in brackets stands for at a use.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GenericArg {
    /// A size.
    Size(Dim),
    /// An element type.
    Scalar(Scalar),
    /// A type.
    Type(Type),
    /// The sizes of a shape pack; packs of the surroundings may stand among them.
    Pack(Vec<Dim>),
}

/// A trait of the program: an index into [`crate::typed::Program::traits`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TraitId(pub u32);

/// A trait with its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TraitRef {
    /// Which.
    pub def: TraitId,
    /// One for each of the trait's generics.
    pub args: Vec<GenericArg>,
}

impl Type {
    /// The unit type.
    pub const UNIT: Self = Self::Tuple(Vec::new());

    /// The scalar type of an element type.
    pub fn of(elem: Elem) -> Self {
        Self::Scalar(Scalar::Of(elem))
    }

    /// A tensor of `elem`; `elem` itself without dims. A tensor of tensors is one tensor.
    pub fn tensor(elem: Self, dims: Vec<Dim>) -> Self {
        if dims.is_empty() {
            return elem;
        }
        match elem {
            Self::Error => Self::Error,
            Self::Tensor { elem, dims: inner } => Self::Tensor { elem, dims: dims.into_iter().chain(inner).collect() },
            Self::Never
            | Self::Scalar(_)
            | Self::Tuple(_)
            | Self::Struct(_)
            | Self::Enum(_)
            | Self::Function(_)
            | Self::Param(_) => Self::Tensor { elem: Box::new(elem), dims },
        }
    }

    /// What stacking values of this type gives: a scalar or tensor gets one more dim in front, a
    /// tuple becomes a tuple of tensors, a struct a tensor of structs.
    pub fn stacked(&self, lead: &[Dim]) -> Self {
        match self {
            Self::Tuple(parts) => Self::Tuple(parts.iter().map(|part| part.stacked(lead)).collect()),
            Self::Error
            | Self::Never
            | Self::Scalar(_)
            | Self::Tensor { .. }
            | Self::Struct(_)
            | Self::Enum(_)
            | Self::Function(_)
            | Self::Param(_) => Self::tensor(self.clone(), lead.to_vec()),
        }
    }

    /// Whether this is the unit type.
    pub fn is_unit(&self) -> bool {
        matches!(self, Self::Tuple(parts) if parts.is_empty())
    }

    /// The parts of a tuple; empty for everything else.
    pub fn parts(&self) -> &[Self] {
        match self {
            Self::Tuple(parts) => parts,
            Self::Error
            | Self::Never
            | Self::Scalar(_)
            | Self::Tensor { .. }
            | Self::Struct(_)
            | Self::Enum(_)
            | Self::Function(_)
            | Self::Param(_) => &[],
        }
    }

    /// Whether something is wrong in the type, so that nothing more should be said about it.
    pub fn has_error(&self) -> bool {
        match self {
            Self::Error => true,
            Self::Never | Self::Scalar(_) => false,
            Self::Tensor { elem, .. } => elem.has_error(),
            Self::Tuple(parts) => parts.iter().any(Self::has_error),
            Self::Struct(_) | Self::Enum(_) | Self::Param(_) => false,
            Self::Function(f) => f.result.has_error() || f.params.iter().any(Self::has_error),
        }
    }

    /// The extents of a tensor; empty for everything else.
    pub fn dims(&self) -> &[Dim] {
        match self {
            Self::Tensor { dims, .. } => dims,
            Self::Error
            | Self::Never
            | Self::Scalar(_)
            | Self::Tuple(_)
            | Self::Struct(_)
            | Self::Enum(_)
            | Self::Function(_)
            | Self::Param(_) => &[],
        }
    }

    /// The type of the elements of a tensor; the type itself for everything else.
    pub fn elem(&self) -> &Self {
        match self {
            Self::Tensor { elem, .. } => elem,
            Self::Error
            | Self::Never
            | Self::Scalar(_)
            | Self::Tuple(_)
            | Self::Struct(_)
            | Self::Enum(_)
            | Self::Function(_)
            | Self::Param(_) => self,
        }
    }

    /// The scalar type of a scalar or of a tensor of scalars.
    pub fn scalar(&self) -> Option<Scalar> {
        match self.elem() {
            Self::Scalar(scalar) => Some(*scalar),
            Self::Error
            | Self::Never
            | Self::Tensor { .. }
            | Self::Tuple(_)
            | Self::Struct(_)
            | Self::Enum(_)
            | Self::Function(_)
            | Self::Param(_) => None,
        }
    }

    /// The element type of a scalar or of a tensor of scalars, if it is no parameter.
    pub fn concrete(&self) -> Option<Elem> {
        match self.scalar()? {
            Scalar::Of(elem) => Some(elem),
            Scalar::Param(_) | Scalar::Var(_) => None,
        }
    }

    /// Whether this is a scalar.
    pub fn is_scalar(&self) -> bool {
        matches!(self, Self::Scalar(_))
    }

    /// The same shape with another scalar type.
    pub fn with_scalar(&self, scalar: Scalar) -> Self {
        Self::tensor(Self::Scalar(scalar), self.dims().to_vec())
    }

    /// Calls `f` for each dim of the type, those of struct parameters included.
    pub fn each_dim_mut(&mut self, f: &mut dyn FnMut(&mut Dim)) {
        match self {
            Self::Error | Self::Never | Self::Scalar(_) | Self::Param(_) => {}
            Self::Tensor { elem, dims } => {
                elem.each_dim_mut(f);
                dims.iter_mut().for_each(f);
            }
            Self::Tuple(parts) => parts.iter_mut().for_each(|part| part.each_dim_mut(f)),
            Self::Struct(StructType { args, .. }) | Self::Enum(EnumType { args, .. }) => {
                args.iter_mut().for_each(|arg| arg.each_dim_mut(f));
            }
            Self::Function(of) => {
                of.params.iter_mut().for_each(|param| param.each_dim_mut(f));
                of.result.each_dim_mut(f);
            }
        }
    }

    /// Calls `f` for each type parameter in the type, those in struct parameters included.
    pub fn each_param(&self, f: &mut dyn FnMut(GenericId)) {
        match self {
            Self::Error | Self::Never => {}
            Self::Scalar(Scalar::Param(id)) | Self::Param(id) => f(*id),
            Self::Scalar(Scalar::Of(_) | Scalar::Var(_)) => {}
            Self::Tensor { elem, .. } => elem.each_param(f),
            Self::Tuple(parts) => parts.iter().for_each(|part| part.each_param(f)),
            Self::Struct(StructType { args, .. }) | Self::Enum(EnumType { args, .. }) => {
                args.iter().filter_map(GenericArg::as_type).for_each(|ty| ty.each_param(f));
            }
            Self::Function(of) => {
                of.params.iter().for_each(|param| param.each_param(f));
                of.result.each_param(f);
            }
        }
    }

    /// The axes before the first shape pack: those whose position is known from the front.
    pub fn front(&self) -> &[Dim] {
        let dims = self.dims();
        let n = dims.iter().position(|dim| dim.as_pack().is_some()).unwrap_or(dims.len());
        &dims[..n]
    }

    /// The axes after the last shape pack: those whose position is known from the back. None of a tensor whose elements
    /// are of any type, which may have axes of their own.
    pub fn back(&self) -> &[Dim] {
        let dims = self.dims();
        if matches!(self.elem(), Self::Param(_)) {
            return &[];
        }
        let first = dims.iter().rposition(|dim| dim.as_pack().is_some()).map_or(0, |at| at + 1);
        &dims[first..]
    }

    /// Whether a shape pack is among the extents, so that the rank is not known.
    pub fn has_pack(&self) -> bool {
        self.front().len() < self.dims().len()
    }

    /// Calls `f` for each scalar type in the type, those of struct parameters included.
    pub fn each_scalar_mut(&mut self, f: &mut dyn FnMut(&mut Scalar)) {
        match self {
            Self::Error | Self::Never | Self::Param(_) => {}
            Self::Scalar(scalar) => f(scalar),
            Self::Tensor { elem, .. } => elem.each_scalar_mut(f),
            Self::Tuple(parts) => parts.iter_mut().for_each(|part| part.each_scalar_mut(f)),
            Self::Struct(StructType { args, .. }) | Self::Enum(EnumType { args, .. }) => {
                args.iter_mut().for_each(|arg| arg.each_scalar_mut(f));
            }
            Self::Function(of) => {
                of.params.iter_mut().for_each(|param| param.each_scalar_mut(f));
                of.result.each_scalar_mut(f);
            }
        }
    }
}

impl GenericArg {
    /// Calls `f` for each scalar type in it.
    pub fn each_scalar_mut(&mut self, f: &mut dyn FnMut(&mut Scalar)) {
        match self {
            Self::Scalar(scalar) => f(scalar),
            Self::Type(ty) => ty.each_scalar_mut(f),
            Self::Size(_) | Self::Pack(_) => {}
        }
    }

    /// Calls `f` for each dim in it.
    pub fn each_dim_mut(&mut self, f: &mut dyn FnMut(&mut Dim)) {
        match self {
            Self::Size(dim) => f(dim),
            Self::Pack(dims) => dims.iter_mut().for_each(f),
            Self::Type(ty) => ty.each_dim_mut(f),
            Self::Scalar(_) => {}
        }
    }

    /// The type, if it is one.
    pub fn as_type(&self) -> Option<Type> {
        match self {
            Self::Scalar(scalar) => Some(Type::Scalar(*scalar)),
            Self::Type(ty) => Some(ty.clone()),
            Self::Size(_) | Self::Pack(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dims::Atom;

    fn n() -> Dim {
        Dim::atom(Atom::Size(GenericId(0)))
    }

    #[test]
    fn a_tensor_of_tensors_is_one_tensor() {
        let row = Type::tensor(Type::of(Elem::F64), vec![Dim::constant(3)]);
        let matrix = Type::tensor(row, vec![n()]);
        assert_eq!(matrix.dims(), [n(), Dim::constant(3)]);
        assert_eq!(matrix.elem(), &Type::of(Elem::F64));
    }

    #[test]
    fn stacking_tuples_gives_a_tuple_of_tensors() {
        let pair = Type::Tuple(vec![Type::of(Elem::F64), Type::of(Elem::I64)]);
        let of = |elem| Type::tensor(Type::of(elem), vec![n()]);
        assert_eq!(pair.stacked(&[n()]), Type::Tuple(vec![of(Elem::F64), of(Elem::I64)]));
    }
}
