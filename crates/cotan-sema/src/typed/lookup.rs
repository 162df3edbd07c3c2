//! Questions to a program: functions by name, fields, tangents, leaves.

use super::{
    Enum, EnumId, EnumType, Field, FnId, Function, FunctionBody, GenericKind, Leaf, Program, Struct, StructId,
    StructType, Type,
};
use crate::types::{GenericArg, Scalar, Substitution};

impl Program {
    /// The function of that name.
    pub fn function_named(&self, name: &str) -> Option<FnId> {
        self.functions.iter().position(|function| function.name == name).map(|at| FnId(at as u32))
    }

    /// A function.
    pub fn function(&self, id: FnId) -> &Function {
        &self.functions[id.0 as usize]
    }

    /// A struct declaration.
    pub fn struct_def(&self, id: StructId) -> &Struct {
        &self.structs[id.0 as usize]
    }

    /// An enum declaration.
    pub fn enum_def(&self, id: EnumId) -> &Enum {
        &self.enums[id.0 as usize]
    }

    /// The types of the fields of a struct at a use, in the order of the declaration.
    pub fn field_types(&self, of: &StructType) -> Vec<Type> {
        self.declarations().field_types(of)
    }

    /// The types of what a variant carries at a use of the enum, in the order of the declaration.
    pub fn payload_types(&self, of: &EnumType, variant: usize) -> Vec<Type> {
        self.declarations().payload_types(of, variant)
    }

    /// The declarations of its types.
    pub fn declarations(&self) -> Declarations<'_> {
        Declarations { structs: &self.structs, enums: &self.enums }
    }

    /// The type of tangents and cotangents of a type: the same for floats, the unit type for
    /// everything that has no derivative, and part by part for aggregates. The tangent of an enum
    /// value is of the same variant; an enum without a float in it has none.
    pub fn tangent(&self, ty: &Type) -> Type {
        self.declarations().tangent(ty)
    }

    /// The scalars and tensors of scalars that a value of this type consists of, in order: structs
    /// and tuples are taken apart, a tensor of them becomes one tensor for each leaf. An enum is the
    /// number of its variant, an i64, followed by the payloads of all variants; of those that are
    /// not there, scalars are zero and tensors of any extents, usually empty, hold zeros.
    pub fn leaves(&self, ty: &Type) -> Vec<Leaf> {
        self.declarations().leaves(ty)
    }

    /// The functions that a host can call: those with a name of their own and no parameters of
    /// function type, for types and ranks that are known.
    pub fn public_functions(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|function| {
            !function.name.ends_with(".primal")
                && !function.params.iter().any(|param| matches!(param.ty, Type::Function(_)))
                && !function.is_shapeless()
        })
    }
}

impl Function {
    /// Whether a parameter stands for any type or for any number of sizes, so that the function
    /// itself does not say which leaves its arguments have.
    pub fn is_shapeless(&self) -> bool {
        self.generics.iter().any(|generic| match generic.kind {
            GenericKind::Type { .. } | GenericKind::Pack => true,
            GenericKind::Size | GenericKind::Scalar(_) => false,
        })
    }

    /// The number of run-time sizes of the body; zero for a derivative.
    pub fn n_sizes(&self) -> usize {
        match &self.body {
            FunctionBody::Source(body) => body.sizes.len(),
            FunctionBody::Derivative(_) | FunctionBody::Required(_) => 0,
        }
    }
}

/// The declarations of types, which say what a type is made of.
#[derive(Clone, Copy, Debug)]
pub struct Declarations<'d> {
    /// In the order of [`StructId`](super::StructId).
    pub structs: &'d [Struct],
    /// In the order of [`EnumId`].
    pub enums: &'d [Enum],
}

impl Declarations<'_> {
    /// The types of the parts of a tuple or struct, or of the elements of a tensor of them.
    pub fn part_types(self, ty: &Type) -> Vec<Type> {
        match ty {
            Type::Tuple(parts) => parts.clone(),
            Type::Struct(of) => self.field_types(of),
            Type::Tensor { elem, .. } => self.part_types(elem),
            Type::Error | Type::Never | Type::Scalar(_) | Type::Enum(_) | Type::Function(_) | Type::Param(_) => {
                Vec::new()
            }
        }
    }

    /// See [`Program::field_types`].
    pub fn field_types(self, of: &StructType) -> Vec<Type> {
        let Some(def) = self.structs.get(of.def.0 as usize) else {
            return Vec::new();
        };
        self.types_at(&def.fields, &of.args, of.tangent)
    }

    /// See [`Program::payload_types`].
    pub fn payload_types(self, of: &EnumType, variant: usize) -> Vec<Type> {
        let variants = self.enums.get(of.def.0 as usize).map_or(&[] as &[_], |def| def.variants.as_slice());
        variants.get(variant).map_or_else(Vec::new, |variant| self.types_at(&variant.fields, &of.args, of.tangent))
    }

    /// The types of all payloads of an enum, variant by variant.
    pub fn all_payloads(self, of: &EnumType) -> Vec<Vec<Type>> {
        let n_variants = self.enums.get(of.def.0 as usize).map_or(0, |def| def.variants.len());
        (0..n_variants).map(|variant| self.payload_types(of, variant)).collect()
    }

    fn types_at(self, fields: &[Field], args: &[GenericArg], is_tangent: bool) -> Vec<Type> {
        let at = Substitution::new(args.to_vec());
        let types = fields.iter().map(|field| at.ty(&field.ty));
        if is_tangent { types.map(|ty| self.tangent(&ty)).collect() } else { types.collect() }
    }

    /// See [`Program::tangent`].
    pub fn tangent(self, ty: &Type) -> Type {
        match ty {
            Type::Error => Type::Error,
            Type::Never | Type::Function(_) => Type::UNIT,
            Type::Scalar(Scalar::Of(elem)) if !elem.is_float() => Type::UNIT,
            // A parameter with the trait `Differentiable` stands for types that are their own tangents.
            Type::Scalar(_) | Type::Param(_) => ty.clone(),
            Type::Tuple(parts) => Type::Tuple(parts.iter().map(|part| self.tangent(part)).collect()),
            Type::Tensor { elem, dims } => {
                let elem = self.tangent(elem);
                if elem.is_unit() { Type::UNIT } else { Type::tensor(elem, dims.clone()) }
            }
            Type::Struct(of) => {
                let fields = self.field_types(of);
                let is_own_tangent = fields.iter().all(|field| self.tangent(field) == *field);
                Type::Struct(StructType { tangent: of.tangent || !is_own_tangent, ..of.clone() })
            }
            Type::Enum(of) => {
                let payloads = self.all_payloads(of).concat();
                if !payloads.iter().any(|part| self.has_tangent(part)) {
                    return Type::UNIT;
                }
                let is_own_tangent = payloads.iter().all(|part| self.tangent(part) == *part);
                Type::Enum(EnumType { tangent: of.tangent || !is_own_tangent, ..of.clone() })
            }
        }
    }

    /// Whether there is anything in values of a type that a derivative flows through.
    pub fn has_tangent(self, ty: &Type) -> bool {
        match ty {
            Type::Never | Type::Function(_) => false,
            Type::Error | Type::Param(_) | Type::Scalar(Scalar::Param(_) | Scalar::Var(_)) => true,
            Type::Scalar(Scalar::Of(elem)) => elem.is_float(),
            Type::Tensor { elem, .. } => self.has_tangent(elem),
            Type::Tuple(parts) => parts.iter().any(|part| self.has_tangent(part)),
            Type::Struct(of) => self.field_types(of).iter().any(|part| self.has_tangent(part)),
            Type::Enum(of) => self.all_payloads(of).concat().iter().any(|part| self.has_tangent(part)),
        }
    }

    /// An enum that values of this type contain, or are.
    pub fn enum_in(self, ty: &Type) -> Option<EnumId> {
        match ty {
            Type::Error | Type::Never | Type::Scalar(_) | Type::Function(_) | Type::Param(_) => None,
            Type::Tensor { elem, .. } => self.enum_in(elem),
            Type::Tuple(parts) => parts.iter().find_map(|part| self.enum_in(part)),
            Type::Struct(of) => self.field_types(of).iter().find_map(|part| self.enum_in(part)),
            Type::Enum(of) => Some(of.def),
        }
    }
}
