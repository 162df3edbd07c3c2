//! The number of elements of a tensor.

use cotan_ir::Elem;

/// The number of elements of a tensor: a product of extents that has been checked, once. The host, the interpreter and what
/// runs compiled code all take it from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ElementCount(usize);

impl ElementCount {
    /// More elements than this are in no tensor: at eight bytes each, they would take more bytes than an allocation has.
    pub const MOST: usize = isize::MAX as usize / 8;

    /// The number of elements of a tensor with these extents. None if an extent is negative, or if no memory could hold
    /// as many. With an extent of zero there are none, however large the others are.
    pub fn of(dims: &[i64]) -> Option<ElementCount> {
        Self::product(dims.iter().copied())
    }

    /// The same for extents that do not lie in memory side by side.
    pub fn product(extents: impl IntoIterator<Item = i64>) -> Option<ElementCount> {
        let (mut product, mut is_empty) = (Some(1usize), false);
        for extent in extents {
            let extent = usize::try_from(extent).ok()?;
            is_empty |= extent == 0;
            product = product.and_then(|n| n.checked_mul(extent));
        }
        if is_empty {
            return Some(ElementCount(0));
        }
        product.filter(|n| *n <= Self::MOST).map(ElementCount)
    }

    /// The number.
    pub fn get(self) -> usize {
        self.0
    }

    /// How many bytes so many elements of a type take; it fits.
    pub fn bytes(self, elem: Elem) -> usize {
        self.0 * elem.bytes()
    }
}

/// The number of elements of a tensor with these extents; `usize::MAX`, which no memory holds, if there is no such
/// tensor.
pub fn count(dims: &[i64]) -> usize {
    ElementCount::of(dims).map_or(usize::MAX, ElementCount::get)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_that_fit_are_counted() {
        for (dims, expected) in [(&[][..], 1), (&[0], 0), (&[2, 3], 6), (&[i64::MAX, i64::MAX, 0], 0)] {
            let counted = ElementCount::of(dims).map(ElementCount::get);
            assert_eq!((counted, count(dims)), (Some(expected), expected), "{dims:?}");
        }
    }

    #[test]
    fn d1_extents_of_no_tensor_have_no_count() {
        for dims in [&[-1][..], &[-2, -3], &[0, -1], &[i64::MIN, 0], &[1 << 32, 1 << 32], &[i64::MAX]] {
            assert_eq!((ElementCount::of(dims), count(dims)), (None, usize::MAX), "{dims:?}");
        }
    }

    #[test]
    fn the_bytes_of_the_largest_count_are_those_of_an_allocation() {
        let most = ElementCount::of(&[ElementCount::MOST as i64]).map(|n| n.bytes(Elem::F64));
        assert!(most.is_some_and(|bytes| bytes <= isize::MAX as usize));
    }
}
