//! The declarations of types, structs and enums, and what they say of a type: its parts and its tangent.

use super::{EnumId, EnumType, Generic, StructType, Type};
use crate::dims::GenericId;
use crate::types::{GenericArg, Scalar, Substitution};
use cotan_syntax::Span;

/// A struct declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Struct {
    /// The name.
    pub name: String,
    /// Where the name stands.
    pub name_span: Span,
    /// The parameters in brackets.
    pub generics: Vec<Generic>,
    /// The fields, in the order of the source.
    pub fields: Vec<Field>,
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The name.
    pub name: String,
    /// Where the declaration stands.
    pub span: Span,
    /// The type, over the generics of the struct.
    pub ty: Type,
}

/// An enum declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Enum {
    /// The name.
    pub name: String,
    /// Where the name stands.
    pub name_span: Span,
    /// The parameters in brackets.
    pub generics: Vec<Generic>,
    /// The variants, in the order of the source.
    pub variants: Vec<Variant>,
}

/// A variant of an enum.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// The name.
    pub name: String,
    /// Where the name stands.
    pub name_span: Span,
    /// How the payload is written.
    pub form: PayloadForm,
    /// The payload. The parts of a tuple are called `0`, `1` and so on.
    pub fields: Vec<Field>,
}

/// How the payload of a variant is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PayloadForm {
    /// `Dot`
    Unit,
    /// `Circle(f64)`
    Tuple,
    /// `Box { w: f64, h: f64 }`
    Struct,
}

/// The declarations of types, which say what a type is made of.
#[derive(Clone, Copy, Debug)]
pub struct Declarations<'d> {
    /// In the order of [`StructId`](super::StructId).
    pub structs: &'d [Struct],
    /// In the order of [`EnumId`].
    pub enums: &'d [Enum],
    /// The parameters that types are made of, among which are the tangents of others.
    pub generics: &'d [Generic],
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

    /// See [`super::Program::field_types`].
    pub fn field_types(self, of: &StructType) -> Vec<Type> {
        let Some(def) = self.structs.get(of.def.0 as usize) else {
            return Vec::new();
        };
        self.types_at(&def.fields, &of.args, of.tangent)
    }

    /// See [`super::Program::payload_types`].
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

    /// See [`super::Program::tangent`].
    pub fn tangent(self, ty: &Type) -> Type {
        match ty {
            Type::Error => Type::Error,
            Type::Never | Type::Function(_) => Type::UNIT,
            Type::Scalar(Scalar::Of(elem)) if !elem.is_float() => Type::UNIT,
            Type::Scalar(_) => ty.clone(),
            // One whose tangent nothing names stands for types that are their own tangents.
            Type::Param(id) => match self.generics.iter().position(|generic| generic.tangent_of == Some(*id)) {
                Some(tangent) => Type::Param(GenericId(tangent as u32)),
                None => ty.clone(),
            },
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

    /// Whether values of a type may differ in what they are made of: an enum with several variants is among them.
    pub fn has_choice(self, ty: &Type) -> bool {
        match ty {
            Type::Error | Type::Never | Type::Scalar(_) | Type::Function(_) | Type::Param(_) => false,
            Type::Tensor { elem, .. } => self.has_choice(elem),
            Type::Tuple(parts) => parts.iter().any(|part| self.has_choice(part)),
            Type::Struct(of) => self.field_types(of).iter().any(|part| self.has_choice(part)),
            Type::Enum(of) => {
                let payloads = self.all_payloads(of);
                payloads.len() > 1 || payloads.concat().iter().any(|part| self.has_choice(part))
            }
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
