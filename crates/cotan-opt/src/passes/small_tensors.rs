//! Small tensors: those with few enough elements, known at compile time, to be replaced by scalars.

use cotan_ir::{Dim, Ty};

/// Elements of a small tensor.
const MOST_ELEMENTS: usize = 32;

/// Whether this is the type of a scalar, or of a tensor of few elements or none.
pub(super) fn is_small(ty: &Ty) -> bool {
    count(ty).is_some_and(|n| n <= MOST_ELEMENTS)
}

/// The number of elements of a tensor that has some, and few.
pub(super) fn elements(ty: &Ty) -> Option<usize> {
    if ty.is_scalar() { None } else { count(ty).filter(|n| (1..=MOST_ELEMENTS).contains(n)) }
}

/// The extents of a small tensor.
pub(super) fn extents(ty: &Ty) -> Vec<i64> {
    ty.dims.iter().filter_map(|d| d.atom().constant()?.as_i64()).collect()
}

fn count(ty: &Ty) -> Option<usize> {
    let product = |n: usize, d: &Dim| n.checked_mul(usize::try_from(d.atom().constant()?.as_i64()?).ok()?);
    ty.dims.iter().try_fold(1, product)
}
