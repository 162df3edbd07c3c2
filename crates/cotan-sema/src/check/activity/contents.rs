//! Whether there are floats and integers in values of a type.

use crate::typed::Program;
use crate::types::{Scalar, Type};

/// What values of a type are made of, as far as their derivatives go.
pub(super) struct Contents {
    pub(super) floats: bool,
    /// Integers, but for those that say which variant an enum is.
    pub(super) integers: bool,
}

/// Anything may stand for a type parameter, floats too.
pub(super) fn contents(program: &Program, ty: &Type) -> Contents {
    let mut found = Contents { floats: false, integers: false };
    for leaf in program.leaves(ty) {
        match leaf.ty.scalar() {
            Some(Scalar::Of(elem)) => {
                found.floats |= elem.is_float();
                found.integers |= elem.is_integer() && !leaf.is_tag;
            }
            Some(Scalar::Param(_) | Scalar::Var(_)) | None => found = Contents { floats: true, integers: true },
        }
    }
    found
}

/// Whether something in values of a type is, or may be, a float.
pub(in crate::check) fn has_float(program: &Program, ty: &Type) -> bool {
    contents(program, ty).floats
}
