//! The storage types: floats of 16 bits, which are computed with as f32.
//!
//! Widening is exact; narrowing rounds once, to nearest, ties to even. Compiled code does the same steps.

/// A format of 16 bits: a sign, an exponent, a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// IEEE half precision: 5 bits of exponent, 10 of fraction.
    F16,
    /// The upper half of an f32: 8 bits of exponent, 7 of fraction.
    BF16,
}

impl Storage {
    /// The number with these bits.
    pub fn widen(self, bits: u16) -> f32 {
        match self {
            Storage::BF16 => f32::from_bits(u32::from(bits) << 16),
            Storage::F16 => {
                let sign = u32::from(bits & 0x8000) << 16;
                let magnitude = u32::from(bits & 0x7fff) << 13;
                if bits & 0x7c00 == 0x7c00 {
                    return f32::from_bits(sign | 0x7f80_0000 | magnitude);
                }
                // The exponent is 112 too small; the product moves it, and normalises what is subnormal.
                let moved = f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23);
                f32::from_bits(sign | moved.to_bits())
            }
        }
    }

    /// The bits of the nearest number.
    pub fn narrow(self, x: f32) -> u16 {
        let (sign, magnitude) = ((x.to_bits() >> 16) as u16 & 0x8000, x.to_bits() & 0x7fff_ffff);
        if x.is_nan() {
            return sign | if self == Storage::F16 { 0x7e00 } else { 0x7fc0 };
        }
        let rounded = match self {
            Storage::BF16 => (magnitude + 0x7fff + (magnitude >> 16 & 1)) >> 16,
            // From 65,536 on nothing is in reach; what lies between is rounded up to infinity by the general case.
            Storage::F16 if magnitude >= 0x4780_0000 => 0x7c00,
            // Below the least normal number the sum with 1/2 has the spacing of the subnormal ones, so it rounds.
            Storage::F16 if magnitude < 0x3880_0000 => (f32::from_bits(magnitude) + 0.5).to_bits() - 0.5f32.to_bits(),
            Storage::F16 => (magnitude - (112 << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13,
        };
        sign | rounded as u16
    }

    /// The bits of the number nearest to an f64.
    pub fn narrow_double(self, x: f64) -> u16 {
        self.narrow(to_odd(x))
    }

    /// The bits of the number nearest to an integer of at most 64 bits.
    pub fn narrow_integer(self, n: i128) -> u16 {
        self.narrow_double(integer_to_odd(n))
    }
}

/// The f32 that an f64 is, or of its two neighbours the one with an odd last bit: what is then rounded to 16 bits is
/// rounded as if it were exact.
fn to_odd(x: f64) -> f32 {
    let nearest = x as f32;
    if f64::from(nearest) == x || x.is_nan() {
        return nearest;
    }
    let is_beyond = f64::from(nearest).abs() > x.abs();
    f32::from_bits((nearest.to_bits() - u32::from(is_beyond)) | 1)
}

/// The f64 that an integer is, or one beyond 2^53 that lies on the same side of all numbers of 16 bits.
fn integer_to_odd(n: i128) -> f64 {
    if n.unsigned_abs() < 1 << 53 || n & 0xfff == 0 { n as f64 } else { (n & !0xfff | 0x800) as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Storage; 2] = [Storage::F16, Storage::BF16];

    /// All finite magnitudes in ascending order of their bits, which is that of the numbers.
    fn magnitudes(storage: Storage) -> Vec<f64> {
        let infinite = if storage == Storage::F16 { 0x7c00 } else { 0x7f80 };
        (0..infinite).map(|bits| f64::from(storage.widen(bits))).collect()
    }

    #[test]
    fn widening_is_undone_by_narrowing() {
        for storage in BOTH {
            for bits in 0..=u16::MAX {
                let wide = storage.widen(bits);
                if wide.is_nan() {
                    assert!(storage.widen(storage.narrow(wide)).is_nan(), "{storage:?} {bits:#x}");
                } else {
                    assert_eq!(storage.narrow(wide), bits, "{storage:?}");
                    assert_eq!(storage.narrow_double(wide.into()), bits, "{storage:?}");
                }
            }
        }
    }

    #[test]
    fn halves_have_the_values_of_the_standard() {
        let check = |bits, value: f64| assert_eq!(f64::from(Storage::F16.widen(bits)), value);
        check(0x0001, 2f64.powi(-24));
        check(0x03ff, 1023.0 * 2f64.powi(-24));
        check(0x0400, 2f64.powi(-14));
        check(0x3c00, 1.0);
        check(0x3555, 0.333251953125);
        check(0x7bff, 65504.0);
        check(0xfc00, f64::NEG_INFINITY);
    }

    #[test]
    fn between_two_neighbours_the_nearest_is_taken_and_the_even_one_of_a_tie() {
        for storage in BOTH {
            let all = magnitudes(storage);
            for (bits, pair) in all.windows(2).enumerate() {
                let (low, middle) = (bits as u16, (pair[0] + pair[1]) / 2.0);
                let even = low + (low & 1);
                let next_up = f64::from_bits(middle.to_bits() + 1);
                let next_down = f64::from_bits(middle.to_bits() - 1);
                for (x, expected) in [(next_down, low), (middle, even), (next_up, low + 1)] {
                    assert_eq!(storage.narrow_double(x), expected, "{storage:?} {x:e}");
                    assert_eq!(storage.narrow_double(-x), expected | 0x8000, "{storage:?} -{x:e}");
                }
                assert_eq!(storage.narrow(middle as f32), even, "{storage:?} {middle:e}");
            }
        }
    }

    #[test]
    fn what_is_too_large_is_infinite() {
        assert_eq!(Storage::F16.narrow_double(65519.999), 0x7bff);
        assert_eq!(Storage::F16.narrow_double(65520.0), 0x7c00);
        assert_eq!(Storage::F16.narrow(1e30), 0x7c00);
        assert_eq!(Storage::F16.narrow_double(-1e300), 0xfc00);
        assert_eq!(Storage::BF16.narrow(f32::MAX), 0x7f80);
        assert_eq!(Storage::BF16.narrow_double(3.3895e38), 0x7f7f);
    }

    #[test]
    fn integers_are_rounded_once() {
        assert_eq!(Storage::F16.narrow_integer(2049), Storage::F16.narrow(2048.0));
        assert_eq!(Storage::F16.narrow_integer(2051), Storage::F16.narrow(2052.0));
        assert_eq!(Storage::F16.narrow_integer(i128::from(i64::MIN)), 0xfc00);
        // The f64 next to it is the tie, which would go down to 2^62.
        let above_the_tie = (1i128 << 62) + (1 << 54) + 1;
        assert_eq!(Storage::BF16.narrow_integer(above_the_tie), Storage::BF16.narrow(2f32.powi(62)) + 1);
        assert_eq!(Storage::BF16.narrow_integer(-above_the_tie), Storage::BF16.narrow(-2f32.powi(62)) + 1);
        assert_eq!(Storage::BF16.narrow_integer(above_the_tie - 2), Storage::BF16.narrow(2f32.powi(62)));
        assert_eq!(Storage::BF16.narrow_integer(u64::MAX.into()), Storage::BF16.narrow(2f32.powi(64)));
    }
}
