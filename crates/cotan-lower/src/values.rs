//! Layout of values: each is a flat list of leaves, which its type determines.

use std::ops::Range;

use cotan_ir::{Elem, bug};

use cotan_sema::dims::Dim;
use cotan_sema::typed::{EnumType, Leaf, Program, Type};
use cotan_sema::types::Scalar;

/// The type of a leaf, over the sizes of the source.
#[derive(Clone, Debug)]
pub(super) struct LeafTy {
    pub(super) elem: Elem,
    pub(super) dims: Vec<Dim>,
    /// Whether it is the number of the variant of an enum.
    pub(super) is_tag: bool,
    /// The variants that must be there for this leaf to be; see [`cotan_sema::typed::Leaf`]. If there are
    /// any, the dims hold only where they are.
    pub(super) within: Vec<(usize, usize)>,
}

impl LeafTy {
    /// Whether it belongs to the payload of a variant, which may not be there.
    pub(super) fn is_payload(&self) -> bool {
        !self.within.is_empty()
    }
}

/// How values lie flat: the leaves of each type, in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout<'p> {
    pub(super) program: &'p Program,
}

impl<'p> Layout<'p> {
    /// The types of the leaves of a value of this type.
    pub(super) fn leaf_types(&self, ty: &Type) -> Vec<LeafTy> {
        let leaf = |leaf: Leaf| {
            let elem = leaf.ty.scalar().map_or(Elem::F64, elem_of);
            LeafTy { elem, dims: leaf.ty.dims().to_vec(), is_tag: leaf.is_tag, within: leaf.within }
        };
        self.program.leaves(ty).into_iter().map(leaf).collect()
    }

    /// The number of leaves of a value of this type.
    pub(super) fn n_leaves(&self, ty: &Type) -> usize {
        match ty {
            Type::Error | Type::Never | Type::Function(_) | Type::Param(_) => 0,
            Type::Scalar(_) => 1,
            Type::Tensor { elem, .. } => self.n_leaves(elem),
            Type::Tuple(parts) => parts.iter().map(|part| self.n_leaves(part)).sum(),
            Type::Struct(of) => self.program.field_types(of).iter().map(|field| self.n_leaves(field)).sum(),
            Type::Enum(of) => 1 + self.payloads(of).iter().flatten().map(|part| self.n_leaves(part)).sum::<usize>(),
        }
    }

    /// For each leaf of a type whether it is one of the tangent that stands for it.
    pub(super) fn leaves_of_tangent(&self, ty: &Type, tangent: &Type) -> Vec<bool> {
        let parts = match (ty, tangent) {
            (Type::Enum(of), Type::Enum(to)) => {
                let payloads = (self.payloads(of).concat(), self.payloads(to).concat());
                let kept = payloads.0.iter().zip(&payloads.1);
                let kept = kept.flat_map(|(part, tangent)| self.leaves_of_tangent(part, tangent));
                return std::iter::once(true).chain(kept).collect();
            }
            (_, dropped) if dropped.is_unit() => return vec![false; self.n_leaves(ty)],
            (Type::Struct(of), Type::Struct(to)) => (self.program.field_types(of), self.program.field_types(to)),
            (Type::Tuple(parts), Type::Tuple(tangents)) => (parts.clone(), tangents.clone()),
            (Type::Tensor { elem, .. }, Type::Tensor { elem: tangent, .. }) => {
                return self.leaves_of_tangent(elem, tangent);
            }
            (
                Type::Error
                | Type::Never
                | Type::Scalar(_)
                | Type::Tensor { .. }
                | Type::Tuple(_)
                | Type::Struct(_)
                | Type::Enum(_)
                | Type::Function(_)
                | Type::Param(_),
                _,
            ) => return vec![true; self.n_leaves(ty)],
        };
        parts.0.iter().zip(&parts.1).flat_map(|(part, tangent)| self.leaves_of_tangent(part, tangent)).collect()
    }

    /// Where the leaves of a vector lie in an operand: the vector itself, or a tangent, which lacks what has no derivative.
    /// `None` for a scalar, which goes to every leaf.
    pub(super) fn places_in(&self, vector: &Type, operand: &Type) -> Option<Vec<Option<usize>>> {
        if operand.is_scalar() && !vector.is_scalar() {
            return None;
        }
        let mut at = 0;
        let place = |is_there: bool| {
            at += usize::from(is_there);
            is_there.then(|| at - 1)
        };
        Some(self.leaves_of_tangent(vector, operand).into_iter().map(place).collect())
    }

    /// The types of the parts of a tuple or struct, or of the elements of a tensor of them.
    pub(super) fn part_types(&self, ty: &Type) -> Vec<Type> {
        self.program.declarations().part_types(ty)
    }

    /// The types of the payloads of an enum, variant by variant.
    pub(super) fn payloads(&self, of: &EnumType) -> Vec<Vec<Type>> {
        self.program.declarations().all_payloads(of)
    }

    /// Which leaves of an enum belong to part number `part` of the payload of a variant.
    pub(super) fn payload_leaves(&self, of: &EnumType, variant: usize, part: usize) -> Range<usize> {
        let payloads = self.payloads(of);
        let n_leaves = |types: &[Type]| types.iter().map(|ty| self.n_leaves(ty)).sum::<usize>();
        let own = payloads.get(variant).map_or(&[] as &[_], Vec::as_slice);
        let before: usize = payloads.iter().take(variant).map(|types| n_leaves(types)).sum();
        let first = 1 + before + n_leaves(&own[..part.min(own.len())]);
        first..first + own.get(part).map_or(0, |ty| self.n_leaves(ty))
    }

    /// Which leaves of a tuple or struct belong to part number `index`.
    pub(super) fn part_leaves(&self, ty: &Type, index: usize) -> Range<usize> {
        let parts = self.part_types(ty);
        let before = parts.iter().take(index).map(|part| self.n_leaves(part)).sum();
        before..before + parts.get(index).map_or(0, |part| self.n_leaves(part))
    }

    /// Names for the leaves of a value that the source calls `name`: fields of structs by name, parts of tuples by
    /// position.
    pub(super) fn leaf_names(&self, name: &str, ty: &Type) -> Vec<String> {
        let mut names = Vec::new();
        push_leaf_names(self, name.to_owned(), ty, &mut names);
        names
    }
}

fn push_leaf_names(layout: &Layout<'_>, name: String, ty: &Type, names: &mut Vec<String>) {
    match ty {
        Type::Error | Type::Never | Type::Function(_) | Type::Param(_) => {}
        Type::Scalar(_) => names.push(name),
        Type::Tensor { elem, .. } => push_leaf_names(layout, name, elem, names),
        Type::Tuple(parts) => {
            for (k, part) in parts.iter().enumerate() {
                push_leaf_names(layout, format!("{name}_{k}"), part, names);
            }
        }
        Type::Struct(of) => {
            let fields = &layout.program.struct_def(of.def).fields;
            for (field, ty) in fields.iter().zip(layout.program.field_types(of)) {
                push_leaf_names(layout, format!("{name}_{}", field.name), &ty, names);
            }
        }
        Type::Enum(of) => {
            names.push(format!("{name}_tag"));
            for (variant, types) in layout.program.enum_def(of.def).variants.iter().zip(layout.payloads(of)) {
                for (field, ty) in variant.fields.iter().zip(types) {
                    push_leaf_names(layout, format!("{name}_{}_{}", variant.name, field.name), &ty, names);
                }
            }
        }
    }
}

/// The element type of a scalar type.
pub(super) fn elem_of(scalar: Scalar) -> Elem {
    match scalar {
        Scalar::Of(elem) => elem,
        Scalar::Param(_) | Scalar::Var(_) => {
            bug!("lowering", format_args!("{scalar:?}"), "instances have no type parameters")
        }
    }
}
