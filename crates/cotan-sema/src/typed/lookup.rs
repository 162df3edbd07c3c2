//! Questions to a program: functions by name, fields, tangents, leaves.

use super::{
    Declarations, Enum, EnumId, EnumType, FnId, Function, FunctionBody, GenericKind, Leaf, Program, Struct, StructId,
    StructType, Type,
};

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
        Declarations { structs: &self.structs, enums: &self.enums, generics: &[] }
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
