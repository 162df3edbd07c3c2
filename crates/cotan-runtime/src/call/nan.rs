//! Whether results hold a NaN.

use cotan_ir::Elem;
use cotan_ops::Value;

/// Elements that are looked at together.
const PIECE: usize = 1024;

/// Whether an element of a value is NaN.
pub(super) fn has_nan(value: &Value) -> bool {
    // The bits without the sign, and above which of them a float is NaN.
    let (magnitude, infinity) = match value.elem {
        Elem::F64 => (u64::MAX >> 1, f64::INFINITY.to_bits()),
        Elem::F32 => (u64::from(u32::MAX >> 1), f32::INFINITY.to_bits().into()),
        Elem::F16 => (u64::from(u16::MAX >> 1), 0x7c00),
        Elem::BF16 => (u64::from(u16::MAX >> 1), 0x7f80),
        Elem::Bool | Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 | Elem::U8 | Elem::U16 | Elem::U32 | Elem::U64 => {
            return false;
        }
    };
    // Without a branch for every element this runs as fast as memory gives them.
    let piece = |bits: &[u64]| bits.iter().fold(false, |found, b| found | (b & magnitude > infinity));
    value.bits.chunks(PIECE).any(piece)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nan_is_found_in_every_type_and_place_and_nothing_else_is_taken_for_one() {
        let floats = [
            (Elem::F64, f64::NAN.to_bits(), f64::NEG_INFINITY.to_bits()),
            (Elem::F32, f32::NAN.to_bits().into(), f32::NEG_INFINITY.to_bits().into()),
            (Elem::F16, 0x7e00, 0xfc00),
            (Elem::BF16, 0xffc0, 0xff80),
        ];
        for (elem, nan, infinity) in floats {
            let mut value = Value::zeros(elem, &[3000]);
            value.bits[7] = infinity;
            assert!(!has_nan(&value), "{elem}");
            value.bits[2999] = nan;
            assert!(has_nan(&value), "{elem}");
        }
        assert!(!has_nan(&Value { elem: Elem::I64, dims: vec![1], bits: vec![u64::MAX] }));
    }
}
