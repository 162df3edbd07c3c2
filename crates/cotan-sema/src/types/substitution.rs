//! Substitution of generic parameters in types and dims.

use super::{EnumType, FunctionType, GenericArg, Scalar, StructType, TraitRef, Type};
use crate::dims::{Atom, Dim, LocalId};

/// Replaces generics, integer parameters and run-time sizes of a declaration by what they are at
/// a use.
#[derive(Clone, Debug, Default)]
pub struct Substitution {
    /// What the generics stand for; one that stands for itself is not known yet.
    pub generics: Vec<GenericArg>,
    /// What the integer parameters that stand in dims are.
    pub values: Vec<(LocalId, Dim)>,
    /// What the run-time sizes of the declaration are.
    pub sizes: Vec<Dim>,
}

impl Substitution {
    /// The substitution of generics alone.
    pub fn new(generics: Vec<GenericArg>) -> Self {
        Self { generics, ..Self::default() }
    }

    /// A dim of the declaration at the use; `None` if it is too large to handle.
    pub fn dim(&self, dim: &Dim) -> Option<Dim> {
        dim.substitute(&|atom| match atom {
            Atom::Size(id) => match self.generics.get(id.0 as usize) {
                Some(GenericArg::Size(dim)) => Some(dim.clone()),
                Some(GenericArg::Scalar(_) | GenericArg::Type(_) | GenericArg::Pack(_)) | None => None,
            },
            Atom::Value(local) => self.values.iter().find(|(id, _)| id == local).map(|(_, dim)| dim.clone()),
            Atom::Runtime(size) => self.sizes.get(size.0 as usize).cloned(),
            Atom::Pack(_) | Atom::Floor(..) => None,
        })
    }

    /// Extents of the declaration at the use: a pack becomes the sizes that it stands for.
    pub fn dims(&self, dims: &[Dim]) -> Option<Vec<Dim>> {
        let mut replaced = Vec::with_capacity(dims.len());
        for dim in dims {
            match dim.as_pack().and_then(|id| self.generics.get(id.0 as usize)) {
                Some(GenericArg::Pack(sizes)) => replaced.extend(sizes.iter().cloned()),
                Some(GenericArg::Size(_) | GenericArg::Scalar(_) | GenericArg::Type(_)) | None => {
                    replaced.push(self.dim(dim)?);
                }
            }
        }
        Some(replaced)
    }

    /// A scalar type of the declaration at the use.
    pub fn scalar(&self, scalar: Scalar) -> Scalar {
        match scalar {
            Scalar::Param(id) => match self.generics.get(id.0 as usize) {
                Some(GenericArg::Scalar(scalar)) => *scalar,
                Some(GenericArg::Size(_) | GenericArg::Type(_) | GenericArg::Pack(_)) | None => scalar,
            },
            Scalar::Of(_) | Scalar::Var(_) => scalar,
        }
    }

    /// A type of the declaration at the use. A dim that is too large to handle makes it
    /// [`Type::Error`].
    pub fn ty(&self, ty: &Type) -> Type {
        self.replaced(ty).unwrap_or(Type::Error)
    }

    fn replaced(&self, ty: &Type) -> Option<Type> {
        Some(match ty {
            Type::Error | Type::Never => ty.clone(),
            Type::Scalar(scalar) => Type::Scalar(self.scalar(*scalar)),
            Type::Param(id) => {
                let known = self.generics.get(id.0 as usize).and_then(GenericArg::as_type);
                known.unwrap_or_else(|| ty.clone())
            }
            Type::Tensor { elem, dims } => Type::tensor(self.replaced(elem)?, self.dims(dims)?),
            Type::Tuple(parts) => Type::Tuple(self.all_replaced(parts)?),
            Type::Struct(of) => Type::Struct(StructType { args: self.args(&of.args)?, ..of.clone() }),
            Type::Enum(of) => Type::Enum(EnumType { args: self.args(&of.args)?, ..of.clone() }),
            Type::Function(of) => {
                let (params, result) = (self.all_replaced(&of.params)?, self.replaced(&of.result)?);
                Type::Function(Box::new(FunctionType { params, result }))
            }
        })
    }

    fn all_replaced(&self, types: &[Type]) -> Option<Vec<Type>> {
        types.iter().map(|ty| self.replaced(ty)).collect()
    }

    /// A generic argument of the declaration at the use.
    pub fn arg(&self, arg: &GenericArg) -> Option<GenericArg> {
        Some(match arg {
            GenericArg::Size(dim) => GenericArg::Size(self.dim(dim)?),
            GenericArg::Scalar(scalar) => GenericArg::Scalar(self.scalar(*scalar)),
            GenericArg::Type(ty) => GenericArg::Type(self.replaced(ty)?),
            GenericArg::Pack(dims) => GenericArg::Pack(self.dims(dims)?),
        })
    }

    fn args(&self, args: &[GenericArg]) -> Option<Vec<GenericArg>> {
        args.iter().map(|arg| self.arg(arg)).collect()
    }

    /// A trait of the declaration at the use.
    pub fn trait_ref(&self, of: &TraitRef) -> Option<TraitRef> {
        Some(TraitRef { def: of.def, args: self.args(&of.args)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dims::GenericId;
    use cotan_ir::Elem;

    fn n() -> Dim {
        Dim::atom(Atom::Size(GenericId(0)))
    }

    #[test]
    fn substitution_replaces_sizes_and_element_types() {
        let generic = Type::tensor(Type::Scalar(Scalar::Param(GenericId(1))), vec![n()]);
        let at = Substitution::new(vec![GenericArg::Size(Dim::constant(4)), GenericArg::Scalar(Scalar::Of(Elem::F32))]);
        assert_eq!(at.ty(&generic), Type::tensor(Type::of(Elem::F32), vec![Dim::constant(4)]));
    }
}
