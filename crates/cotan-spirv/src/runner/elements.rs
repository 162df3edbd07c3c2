//! Elements as they lie in memory of a device, and as the bits of constants.

use cotan_ir::{Const, Elem};

/// The bytes of elements.
pub(super) fn narrowed(elem: Elem, elements: &[u64]) -> Vec<u8> {
    let size = elem.bytes();
    elements.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(size)).collect()
}

/// The elements of bytes.
pub(super) fn widened(elem: Elem, bytes: &[u8]) -> Vec<u64> {
    let widen = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        Const::from_bits(elem, u64::from_le_bytes(word)).bits()
    };
    bytes.chunks_exact(elem.bytes()).map(widen).collect()
}
