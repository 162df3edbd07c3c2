//! Tangents and cotangents as the source sees them: those of the floats of a value, and the numbers of the variants,
//! which are the value's own.

use cotan_ir::{Atom, Builder, CheckKind};
use cotan_ops::EQ;

use super::body::Value;
use super::payloads::{is_there, with_extents};
use super::values::LeafTy;

/// The leaves of a value that its tangent has too, by position: the floats, and the numbers of the variants of enums
/// with a float in them.
pub(super) fn tangent_leaves(leaves: &[LeafTy]) -> Vec<usize> {
    let is_float = |leaf: &LeafTy| !leaf.is_tag && leaf.elem.is_float();
    let has_float =
        |tag: usize| leaves.iter().any(|leaf| is_float(leaf) && leaf.within.iter().any(|(at, _)| *at == tag));
    (0..leaves.len()).filter(|k| is_float(&leaves[*k]) || leaves[*k].is_tag && has_float(*k)).collect()
}

/// The tangent of a value, made of the tangents of its floats.
pub(super) fn with_tags(leaves: &[LeafTy], value: &[Atom], floats: &mut dyn Iterator<Item = Atom>) -> Value {
    let leaf = |k: usize| match leaves[k].is_tag {
        true => value[k],
        false => floats.next().expect("invariant: every float has a tangent"),
    };
    tangent_leaves(leaves).into_iter().map(leaf).collect()
}

/// The floats of a tangent that is given for a value: of the same variants, which is checked, and of the same extents.
pub(super) fn floats_of(b: &mut Builder, leaves: &[LeafTy], value: &[Atom], tangent: &[Atom]) -> Value {
    let positions = tangent_leaves(leaves);
    let mut floats = Value::new();
    for (at, given) in positions.iter().zip(tangent) {
        let leaf = &leaves[*at];
        if leaf.is_tag {
            continue;
        }
        let mut float = *given;
        for (tag, _) in &leaf.within {
            let Some(given) = positions.iter().position(|at| at == tag).and_then(|at| tangent.get(at)) else {
                continue;
            };
            let (expected, found) = (value[*tag], *given);
            if expected != found {
                let cond = b.prim(EQ.prim(), &[expected, found]);
                float = b.check(cond.into(), CheckKind::VariantMismatch, &[expected, found], float, None).into();
            }
        }
        if leaf.is_payload() {
            let extents: Vec<Atom> = b.ty(value[*at]).dims.iter().map(|dim| dim.atom()).collect();
            let is_there = is_there(b, value, leaf);
            float = with_extents(b, float, is_there, &extents);
        }
        floats.push(float);
    }
    floats
}
