//! Symbolic zeros made explicit, and values under other names of the same dims.

use cotan_ir::{Atom, Builder, CheckKind, Const, Ty};

/// A tensor of zeros, or the constant zero where the type is scalar.
pub(crate) fn zeros(b: &mut Builder, ty: &Ty) -> Atom {
    let zero = Const::zero(ty.elem);
    if ty.is_scalar() {
        return zero.into();
    }
    b.tensor(cotan_ops::FILL.op(), &[zero.into()], &[], ty.clone()).into()
}

/// The value under a type whose dims may have other names. A result of a block must not name lengths that are bound
/// inside; a check that always holds renames them.
pub(crate) fn retyped(b: &mut Builder, value: Atom, ty: Ty) -> Atom {
    if ty.is_scalar() || b.ty(value) == ty {
        return value;
    }
    b.check(Const::bool(true).into(), CheckKind::ShapeMismatch, &[], value, Some(ty)).into()
}
