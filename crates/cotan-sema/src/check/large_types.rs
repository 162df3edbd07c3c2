//! Types that consist of too much: tuples of tuples and structs of structs double with each line of a program.

use cotan_syntax::Span;

use super::ModuleChecker;
use crate::leaf_counts::{LeafCounts, n_written_parts};
use crate::types::Type;

/// Reports structs and enums with too many leaves, each but those that contain one that is reported. Their fields
/// become errors, so that no value of them is anything.
pub(super) fn report_large_types(checker: &mut ModuleChecker<'_>) {
    checker.leaf_counts = LeafCounts::of(&checker.structs, &checker.enums);
    let mut found = false;
    let most = checker.limits.leaves;
    for at in 0..checker.structs.len() {
        let leaves = checker.leaf_counts.of_struct(at);
        if leaves <= most {
            continue;
        }
        let def = &checker.structs[at];
        if are_small(def.fields.iter().map(|field| &field.ty), &checker.leaf_counts, most) {
            let error = checker.limits.too_many_leaves(&format!("the struct `{}`", def.name), leaves, def.name_span);
            checker.report(error);
        }
        checker.structs[at].fields.iter_mut().for_each(|field| field.ty = Type::Error);
        found = true;
    }
    for at in 0..checker.enums.len() {
        let leaves = checker.leaf_counts.of_enum(at);
        if leaves <= most {
            continue;
        }
        let def = &checker.enums[at];
        let fields = def.variants.iter().flat_map(|variant| &variant.fields).map(|field| &field.ty);
        if are_small(fields, &checker.leaf_counts, most) {
            let error = checker.limits.too_many_leaves(&format!("the enum `{}`", def.name), leaves, def.name_span);
            checker.report(error);
        }
        let fields = checker.enums[at].variants.iter_mut().flat_map(|variant| &mut variant.fields);
        fields.for_each(|field| field.ty = Type::Error);
        found = true;
    }
    if found {
        checker.leaf_counts = LeafCounts::of(&checker.structs, &checker.enums);
    }
}

/// Whether a type has few enough leaves; reports one that has not.
pub(super) fn has_few_leaves(checker: &mut ModuleChecker<'_>, ty: &Type, what: &str, span: Span) -> bool {
    if is_single(ty) {
        return true;
    }
    let leaves = checker.leaf_counts.leaves(ty);
    // Of what is wrong already nothing more is said.
    if leaves > checker.limits.leaves && !ty.has_error() {
        checker.report(checker.limits.too_many_leaves(what, leaves, span));
    }
    leaves <= checker.limits.leaves
}

/// Counts the parts of one more type that is kept; whether there are few enough of all types. That there are not is
/// reported once.
pub(super) fn add_type_parts(checker: &mut ModuleChecker<'_>, ty: &Type, span: Span) -> bool {
    if is_single(ty) {
        return true;
    }
    let before = checker.n_type_parts;
    checker.n_type_parts = before.saturating_add(n_written_parts(ty));
    if before <= checker.limits.type_parts && checker.n_type_parts > checker.limits.type_parts {
        checker.report(checker.limits.too_many_type_parts(span));
    }
    checker.n_type_parts <= checker.limits.type_parts
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
