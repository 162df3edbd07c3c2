//! Elements as they lie in memory of a device, and as the bits of constants.

use cotan_ir::{Const, Elem};

/// The bytes of elements.
pub(super) fn narrowed(elem: Elem, elements: &[u64]) -> Vec<u8> {
    match elem.bytes() {
        1 => elements.iter().map(|bits| *bits as u8).collect(),
        2 => elements.iter().flat_map(|bits| (*bits as u16).to_le_bytes()).collect(),
        4 => elements.iter().flat_map(|bits| (*bits as u32).to_le_bytes()).collect(),
        _ => elements.iter().flat_map(|bits| bits.to_le_bytes()).collect(),
    }
}

/// The elements of bytes.
pub(super) fn widened(elem: Elem, bytes: &[u8]) -> Vec<u64> {
    if elem.bytes() == 8 {
        let (words, _) = bytes.as_chunks();
        return words.iter().map(|word| u64::from_le_bytes(*word)).collect();
    }
    let widen = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        Const::from_bits(elem, u64::from_le_bytes(word)).bits()
    };
    bytes.chunks_exact(elem.bytes()).map(widen).collect()
}
