//! The storage types `f16` and `bf16`: what is computed with is widened to `f32`, and what is stored is narrowed.
//!
//! Both are casts in the typed tree, as if the user had written them.

use cotan_ir::Elem;

use super::infer::{Infer, Misfit, Strictness};
use crate::typed::{Expr, ExprKind};
use crate::types::{Scalar, Type};

/// An operand of something that computes: one of a storage type as `f32`.
pub(super) fn computed(infer: &Infer, operand: Expr) -> Expr {
    match operand.ty.scalar() {
        Some(scalar) if is_stored(infer, scalar) => {
            let ty = operand.ty.with_scalar(Scalar::Of(Elem::F32));
            cast(operand, ty)
        }
        Some(_) | None => operand,
    }
}

/// The type that values of a scalar type are computed with.
pub(super) fn computed_scalar(infer: &Infer, scalar: Scalar) -> Scalar {
    if is_stored(infer, scalar) { Scalar::Of(Elem::F32) } else { scalar }
}

/// The value of type `f32`, or a tensor of them, for a place of a storage type; `None` if it is something else or
/// the place is.
pub(super) fn narrowed(
    infer: &mut Infer,
    value: &Expr,
    wanted: &Type,
    how: Strictness,
) -> Option<Result<Expr, Misfit>> {
    let (found, want) = (value.ty.scalar()?, wanted.scalar()?);
    let single = Scalar::Of(Elem::F32);
    if !is_stored(infer, want) || !infer.vars.unify(found, single) {
        return None;
    }
    let as_single = wanted.with_scalar(single);
    Some(infer.relate(&value.ty.with_scalar(single), &as_single, how).map(|needs_check| {
        let value = if needs_check { shape_check(value.clone(), as_single) } else { value.clone() };
        cast(value, wanted.clone())
    }))
}

/// The value with its extents checked to be those of `ty` at run time.
pub(super) fn shape_check(value: Expr, ty: Type) -> Expr {
    Expr { span: value.span, ty, kind: ExprKind::ShapeCheck(Box::new(value)) }
}

fn is_stored(infer: &Infer, scalar: Scalar) -> bool {
    match infer.vars.resolve(scalar) {
        Scalar::Of(elem) => elem.storage().is_some(),
        Scalar::Param(_) | Scalar::Var(_) => false,
    }
}

fn cast(value: Expr, ty: Type) -> Expr {
    Expr { span: value.span, ty, kind: ExprKind::Cast(Box::new(value)) }
}
