//! Types with one more axis, or one less: what `vmap` makes of the types of a function.
//!
//! A position counts from the front, or from the back if it is negative, among the axes with the new one; where there
//! are fewer, the last one is meant (from the back, the first). Where that may not be, [`odd_part`] finds it first. Parts
//! of a tuple have the axis each, as what stacking tuples gives; a struct becomes a tensor of structs.

use crate::dims::Dim;
use crate::types::Type;

/// The type with one more axis.
pub fn with_axis(ty: &Type, axis: i64, extent: &Dim) -> Type {
    if let Type::Tuple(parts) = ty {
        return Type::Tuple(parts.iter().map(|part| with_axis(part, axis, extent)).collect());
    }
    let mut dims = ty.dims().to_vec();
    dims.insert(position(axis, dims.len() + 1), extent.clone());
    Type::tensor(ty.elem().clone(), dims)
}

/// The type with one axis less, and the extents along that axis; `None` where there is no axis at all.
pub fn without_axis(ty: &Type, axis: i64) -> Option<(Type, Vec<Dim>)> {
    if let Type::Tuple(parts) = ty {
        let parts: Vec<(Type, Vec<Dim>)> = parts.iter().map(|part| without_axis(part, axis)).collect::<Option<_>>()?;
        let (types, extents): (Vec<Type>, Vec<Vec<Dim>>) = parts.into_iter().unzip();
        return Some((Type::Tuple(types), extents.concat()));
    }
    let mut dims = ty.dims().to_vec();
    if dims.is_empty() {
        return None;
    }
    let extent = dims.remove(position(axis, dims.len()));
    Some((Type::tensor(ty.elem().clone(), dims), vec![extent]))
}

/// The position of the axis in each of `n_leaves` leaves of a type that has it.
pub fn leaf_axes(ty: &Type, axis: i64, n_leaves: &dyn Fn(&Type) -> usize) -> Vec<usize> {
    match ty {
        Type::Tuple(parts) => parts.iter().flat_map(|part| leaf_axes(part, axis, n_leaves)).collect(),
        Type::Error
        | Type::Never
        | Type::Scalar(_)
        | Type::Tensor { .. }
        | Type::Struct(_)
        | Type::Enum(_)
        | Type::Function(_)
        | Type::Param(_) => {
            vec![position(axis, ty.dims().len()); n_leaves(ty)]
        }
    }
}

/// What may be wrong with an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oddity {
    /// There are fewer axes.
    Beyond,
    /// How many axes there are is not known, and the position is counted across those that are not: a shape pack, or the
    /// axes that elements of any type may have.
    Unknown,
}

/// The first part of a type that has the axis, if at all, at a position that it does not have or that is not known.
pub fn odd_part(ty: &Type, axis: i64) -> Option<(&Type, Oddity)> {
    if let Type::Tuple(parts) = ty {
        return parts.iter().find_map(|part| odd_part(part, axis));
    }
    let from_its_end = if axis < 0 { axis.unsigned_abs() - 1 } else { axis.unsigned_abs() };
    let known = if axis < 0 { ty.back() } else { ty.front() };
    if from_its_end < known.len() as u64 {
        return None;
    }
    let is_open = ty.has_pack() || matches!(ty.elem(), Type::Param(_));
    Some((ty, if is_open { Oddity::Unknown } else { Oddity::Beyond }))
}

/// A position among `rank` axes, from the front.
fn position(axis: i64, rank: usize) -> usize {
    let last = rank.saturating_sub(1) as i64;
    let at = if axis < 0 { axis.saturating_add(last + 1) } else { axis };
    at.clamp(0, last) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dims::{Atom, GenericId};
    use cotan_ir::Elem;

    fn tensor(dims: &[i64]) -> Type {
        Type::tensor(Type::of(Elem::F64), dims.iter().map(|n| Dim::constant(*n)).collect())
    }

    #[test]
    fn an_axis_that_is_added_can_be_taken_away() {
        let pair = Type::Tuple(vec![tensor(&[2, 3]), tensor(&[5])]);
        for axis in [0, 1, 2, -1, -2, -3] {
            let with = with_axis(&pair, axis, &Dim::constant(7));
            assert_eq!(without_axis(&with, axis), Some((pair.clone(), vec![Dim::constant(7); 2])));
        }
        assert_eq!(with_axis(&tensor(&[2, 3]), -1, &Dim::constant(7)), tensor(&[2, 3, 7]));
        assert_eq!(with_axis(&tensor(&[2, 3]), 1, &Dim::constant(7)), tensor(&[2, 7, 3]));
    }

    #[test]
    fn an_axis_is_odd_where_a_part_has_too_few_or_an_unknown_number_of_them() {
        let pair = Type::Tuple(vec![tensor(&[2, 3]), tensor(&[5])]);
        for axis in [0, -1] {
            assert_eq!(odd_part(&pair, axis), None);
        }
        for axis in [1, -2, i64::MAX, i64::MIN] {
            assert_eq!(odd_part(&pair.parts()[1], axis), Some((&tensor(&[5]), Oddity::Beyond)));
        }
        assert_eq!(odd_part(&pair, 1), Some((&tensor(&[5]), Oddity::Beyond)));
        let pack = Dim::atom(Atom::Pack(GenericId(0)));
        let open = Type::tensor(Type::of(Elem::F64), vec![Dim::constant(2), pack, Dim::constant(3)]);
        for (axis, odd) in [(0, false), (-1, false), (1, true), (-2, true)] {
            assert_eq!(odd_part(&open, axis), odd.then_some((&open, Oddity::Unknown)));
        }
        let of_any = Type::tensor(Type::Param(GenericId(0)), vec![Dim::constant(2)]);
        for (axis, odd) in [(0, false), (-1, true), (1, true)] {
            assert_eq!(odd_part(&of_any, axis), odd.then_some((&of_any, Oddity::Unknown)));
        }
    }

    #[test]
    fn where_there_are_fewer_axes_the_last_is_meant() {
        assert_eq!(with_axis(&tensor(&[]), 1, &Dim::constant(7)), tensor(&[7]));
        assert_eq!(with_axis(&tensor(&[2]), -3, &Dim::constant(7)), tensor(&[7, 2]));
        assert_eq!(without_axis(&tensor(&[]), 0), None);
        assert_eq!(without_axis(&tensor(&[2]), i64::MIN), Some((tensor(&[]), vec![Dim::constant(2)])));
    }
}
