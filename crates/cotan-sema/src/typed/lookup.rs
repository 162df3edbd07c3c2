//! Questions to a program: functions by name, fields, tangents, leaves.

use super::{FnId, Function, FunctionBody, Program, Struct, StructId, StructType, Type};
use crate::types::{Scalar, Substitution};

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

    /// The types of the fields of a struct at a use, in the order of the declaration.
    pub fn field_types(&self, of: &StructType) -> Vec<Type> {
        field_types(&self.structs, of)
    }

    /// The type of tangents and cotangents of a type: the same for floats, the unit type for
    /// everything that has no derivative, and part by part for aggregates.
    pub fn tangent(&self, ty: &Type) -> Type {
        tangent(&self.structs, ty)
    }

    /// The scalars and tensors of scalars that a value of this type consists of, in order: structs
    /// and tuples are taken apart, a tensor of them becomes one tensor for each leaf.
    pub fn leaves(&self, ty: &Type) -> Vec<Type> {
        let mut leaves = Vec::new();
        self.push_leaves(ty, &mut leaves);
        leaves
    }

    fn push_leaves(&self, ty: &Type, leaves: &mut Vec<Type>) {
        match ty {
            Type::Error | Type::Never | Type::Function(_) => {}
            Type::Scalar(_) => leaves.push(ty.clone()),
            Type::Tuple(parts) => parts.iter().for_each(|part| self.push_leaves(part, leaves)),
            Type::Struct(of) => self.field_types(of).iter().for_each(|field| self.push_leaves(field, leaves)),
            Type::Tensor { elem, dims } => {
                let inner = self.leaves(elem);
                leaves.extend(inner.into_iter().map(|leaf| Type::tensor(leaf, dims.clone())));
            }
        }
    }

    /// The functions that a host can call: those with a name of their own and no parameters of
    /// function type.
    pub fn public_functions(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|function| {
            !function.name.ends_with(".primal")
                && !function.params.iter().any(|param| matches!(param.ty, Type::Function(_)))
        })
    }
}

impl Function {
    /// The number of run-time sizes of the body; zero for a derivative.
    pub fn n_sizes(&self) -> usize {
        match &self.body {
            FunctionBody::Source(body) => body.sizes.len(),
            FunctionBody::Derivative(_) => 0,
        }
    }
}

/// See [`Program::field_types`].
pub(crate) fn field_types(structs: &[Struct], of: &StructType) -> Vec<Type> {
    let Some(def) = structs.get(of.def.0 as usize) else {
        return Vec::new();
    };
    let at = Substitution::new(of.args.clone());
    let types = def.fields.iter().map(|field| at.ty(&field.ty));
    if of.tangent { types.map(|ty| tangent(structs, &ty)).collect() } else { types.collect() }
}

/// See [`Program::tangent`].
pub(crate) fn tangent(structs: &[Struct], ty: &Type) -> Type {
    match ty {
        Type::Error => Type::Error,
        Type::Never | Type::Function(_) => Type::UNIT,
        Type::Scalar(Scalar::Of(elem)) if !elem.is_float() => Type::UNIT,
        Type::Scalar(_) => ty.clone(),
        Type::Tuple(parts) => Type::Tuple(parts.iter().map(|part| tangent(structs, part)).collect()),
        Type::Tensor { elem, dims } => {
            let elem = tangent(structs, elem);
            if elem.is_unit() { Type::UNIT } else { Type::tensor(elem, dims.clone()) }
        }
        Type::Struct(of) => {
            let fields = field_types(structs, of);
            let is_own_tangent = fields.iter().all(|field| tangent(structs, field) == *field);
            Type::Struct(StructType { tangent: of.tangent || !is_own_tangent, ..of.clone() })
        }
    }
}
