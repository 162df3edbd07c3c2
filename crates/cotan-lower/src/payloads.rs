//! Payloads of enums: a tensor whose variant is not there may have any extents, and nobody reads it. Where a place asks
//! for one shape, as a loop does of what it carries, such a tensor becomes zeros of that shape.

use cotan_ir::{Atom, Builder, CheckKind, Const, Dim as IrDim, Ty};
use cotan_ops::{AND, EQ, FILL};

use super::Result;
use super::body::{Body, Value};
use super::code::Code;
use super::values::LeafTy;
use cotan_sema::typed::{EnumType, FieldValue, Type};

/// Whether the variants that a leaf belongs to are there, in the value whose leaves these are.
pub(super) fn is_there(b: &mut Builder, leaves: &[Atom], leaf: &LeafTy) -> Atom {
    let mut all: Option<Atom> = None;
    for (tag, variant) in &leaf.within {
        let tag = leaves[*tag];
        let holds: Atom = match tag.constant().and_then(|c| c.as_i64()) {
            Some(known) if known == *variant as i64 => continue,
            Some(_) => return Const::bool(false).into(),
            None => b.prim(EQ.prim(), &[tag, Atom::i64(*variant as i64)]).into(),
        };
        all = Some(match all {
            Some(all) => b.prim(AND.prim(), &[all, holds]).into(),
            None => holds,
        });
    }
    all.unwrap_or(Const::bool(true).into())
}

/// A payload with these extents, which it has if it is there.
pub(super) fn with_extents(b: &mut Builder, leaf: Atom, is_there: Atom, extents: &[Atom]) -> Atom {
    let ty = b.ty(leaf);
    if ty.dims.iter().map(|dim| dim.atom()).eq(extents.iter().copied()) {
        return leaf;
    }
    let wanted = Ty::new(ty.elem, extents.iter().map(|n| IrDim::from_atom(*n)).collect());
    let zero: Atom = Const::zero(ty.elem).into();
    match is_there.truth() {
        Some(true) => renamed(b, leaf, extents),
        Some(false) => b.tensor(FILL.op(), &[zero], &[], wanted).into(),
        None => {
            b.open_block();
            let own = renamed(b, leaf, extents);
            let own = b.close_block(vec![own]);
            b.open_block();
            let zeros = b.tensor(FILL.op(), &[zero], &[], wanted);
            let zeros = b.close_block(vec![zeros.into()]);
            b.finish_switch(is_there, vec![own, zeros])[0].into()
        }
    }
}

/// A tensor under other names of its extents.
fn renamed(b: &mut Builder, leaf: Atom, extents: &[Atom]) -> Atom {
    let mut leaf = leaf;
    for (axis, expected) in extents.iter().enumerate() {
        let mut ty = b.ty(leaf);
        let found = ty.dims[axis].atom();
        if found != *expected {
            ty.dims[axis] = IrDim::from_atom(*expected);
            let cond = b.prim(EQ.prim(), &[*expected, found]);
            leaf = b.check(cond.into(), CheckKind::ShapeMismatch, &[*expected, found], leaf, Some(ty)).into();
        }
    }
    leaf
}

impl<'p> Body<'_, 'p> {
    /// A value of an enum: the number of the variant, its payload, and nothing for the others.
    pub(super) fn variant(&mut self, ty: &Type, index: usize, fields: &'p [FieldValue]) -> Result<Value> {
        let mut parts: Vec<(usize, Value)> = Vec::new();
        for field in fields {
            parts.push((field.index, self.expr(&field.value)?));
        }
        parts.sort_by_key(|(index, _)| *index);
        let payload: Value = parts.into_iter().flat_map(|(_, value)| value).collect();
        let mut payload = payload.into_iter();
        let mut value = Value::new();
        for leaf in self.layout.leaf_types(ty) {
            value.push(match leaf.within.first() {
                None => Atom::i64(index as i64),
                Some((_, variant)) if *variant == index => {
                    payload.next().expect("invariant: a variant has its payload")
                }
                Some(_) => self.code.fill(Const::zero(leaf.elem).into(), &vec![IrDim::Const(0); leaf.dims.len()]),
            });
        }
        Ok(value)
    }

    /// The payload of a variant that is known to be there, with the extents that its type says.
    pub(super) fn payload(&mut self, of: &EnumType, variant: usize, part: usize, value: &[Atom]) -> Value {
        let Some(ty) = self.layout.payloads(of).get(variant).and_then(|types| types.get(part)).cloned() else {
            return Value::new();
        };
        let leaves = value.get(self.layout.payload_leaves(of, variant, part)).unwrap_or(&[]).to_vec();
        let mut known = Value::new();
        for (leaf, atom) in self.layout.leaf_types(&ty).iter().zip(leaves) {
            if leaf.is_payload() {
                known.push(atom);
                continue;
            }
            let found = self.code.b.ty(atom).dims;
            let mut extents = Vec::new();
            for (dim, found) in leaf.dims.iter().zip(found) {
                extents.push(self.size(dim).unwrap_or(found.atom()));
            }
            known.push(self.code.with_dims(atom, &extents, CheckKind::ShapeMismatch));
        }
        self.know_sizes(&ty, &known);
        known
    }

    /// A value whose payloads have the extents that the type says, so that a loop can carry it.
    pub(super) fn steady(&mut self, ty: &Type, value: &[Atom]) -> Value {
        let leaves = self.layout.leaf_types(ty);
        (0..value.len()).map(|k| self.steady_leaf(&leaves[k], value, k)).collect()
    }

    /// Leaf number `k` of a value, as in [`Self::steady`].
    pub(super) fn steady_leaf(&mut self, leaf: &LeafTy, value: &[Atom], k: usize) -> Atom {
        if !leaf.is_payload() {
            return value[k];
        }
        let found = self.code.b.ty(value[k]).dims;
        let mut extents = Vec::new();
        for (dim, found) in leaf.dims.iter().zip(found) {
            extents.push(self.size(dim).unwrap_or(found.atom()));
        }
        self.code.leaf_like(leaf, value, k, &extents)
    }

    /// The next value of what a loop carries: payloads get the extents of the carried ones.
    pub(super) fn like(&mut self, ty: &Type, value: &[Atom], carried: &[Atom]) -> Value {
        let leaves = self.layout.leaf_types(ty);
        let like = |(k, carried): (usize, &Atom)| {
            let extents: Vec<Atom> = self.code.b.ty(*carried).dims.iter().map(|dim| dim.atom()).collect();
            self.code.leaf_like(&leaves[k], value, k, &extents)
        };
        carried.iter().enumerate().map(like).collect()
    }
}

impl Code {
    /// Leaf number `k` of a value; a payload gets these extents.
    pub(super) fn leaf_like(&mut self, leaf: &LeafTy, value: &[Atom], k: usize, extents: &[Atom]) -> Atom {
        if !leaf.is_payload() {
            return value[k];
        }
        let found = self.b.ty(value[k]).dims;
        if found.iter().map(|dim| dim.atom()).eq(extents.iter().copied()) {
            return value[k];
        }
        let is_there = is_there(&mut self.b, value, leaf);
        with_extents(&mut self.b, value[k], is_there, extents)
    }
}
