//! Types that consist of too much: tuples of tuples and structs of structs double with each line of a program.

use cotan_syntax::Span;

use super::ModuleChecker;
use crate::leaf_counts::{LeafCounts, n_written_parts};
use crate::types::Type;

impl ModuleChecker<'_> {
    /// Reports structs and enums with too many leaves, each but those that contain one that is reported. Their fields
    /// become errors, so that no value of them is anything.
    pub(super) fn report_large_types(&mut self) {
        self.leaf_counts = LeafCounts::of(&self.structs, &self.enums);
        let mut found = false;
        let most = self.limits.leaves;
        for at in 0..self.structs.len() {
            let leaves = self.leaf_counts.of_struct(at);
            if leaves <= most {
                continue;
            }
            let def = &self.structs[at];
            if are_small(def.fields.iter().map(|field| &field.ty), &self.leaf_counts, most) {
                let error = self.limits.too_many_leaves(&format!("the struct `{}`", def.name), leaves, def.name_span);
                self.report(error);
            }
            self.structs[at].fields.iter_mut().for_each(|field| field.ty = Type::Error);
            found = true;
        }
        for at in 0..self.enums.len() {
            let leaves = self.leaf_counts.of_enum(at);
            if leaves <= most {
                continue;
            }
            let def = &self.enums[at];
            let fields = def.variants.iter().flat_map(|variant| &variant.fields).map(|field| &field.ty);
            if are_small(fields, &self.leaf_counts, most) {
                let error = self.limits.too_many_leaves(&format!("the enum `{}`", def.name), leaves, def.name_span);
                self.report(error);
            }
            let fields = self.enums[at].variants.iter_mut().flat_map(|variant| &mut variant.fields);
            fields.for_each(|field| field.ty = Type::Error);
            found = true;
        }
        if found {
            self.leaf_counts = LeafCounts::of(&self.structs, &self.enums);
        }
    }

    /// Whether a type has few enough leaves; reports one that has not.
    pub(super) fn has_few_leaves(&mut self, ty: &Type, what: &str, span: Span) -> bool {
        if is_single(ty) {
            return true;
        }
        let leaves = self.leaf_counts.leaves(ty);
        // Of what is wrong already nothing more is said.
        if leaves > self.limits.leaves && !ty.has_error() {
            self.report(self.limits.too_many_leaves(what, leaves, span));
        }
        leaves <= self.limits.leaves
    }

    /// Counts the parts of one more type that is kept; whether there are few enough of all types. That there are not is
    /// reported once.
    pub(super) fn add_type_parts(&mut self, ty: &Type, span: Span) -> bool {
        if is_single(ty) {
            return true;
        }
        let before = self.n_type_parts;
        self.n_type_parts = before.saturating_add(n_written_parts(ty));
        if before <= self.limits.type_parts && self.n_type_parts > self.limits.type_parts {
            self.report(self.limits.too_many_type_parts(span));
        }
        self.n_type_parts <= self.limits.type_parts
    }
}

/// Whether all fields have few enough leaves. One that has not belongs to a declaration that is reported itself.
fn are_small<'t>(mut fields: impl Iterator<Item = &'t Type>, counts: &LeafCounts, most: u64) -> bool {
    fields.all(|ty| counts.leaves(ty) <= most)
}

/// Whether a type is one leaf at first sight.
fn is_single(ty: &Type) -> bool {
    match ty.elem() {
        Type::Error | Type::Never | Type::Scalar(_) | Type::Param(_) | Type::Function(_) => true,
        Type::Tensor { .. } | Type::Tuple(_) | Type::Struct(_) | Type::Enum(_) => false,
    }
}
