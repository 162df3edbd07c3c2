//! Traits of the numbers that kernels compute with: rings, ordered numbers, floats.
//!
//! Everything is total. Integers wrap; their division truncates, gives 0 for a zero divisor, and wraps at the least
//! number divided by -1.

use crate::carrier::{Carrier, Scalar};
use cotan_ir::Elem;

/// Addition, multiplication and division.
pub trait Ring: Scalar {
    /// The neutral element of addition.
    const ZERO: Self;
    /// The neutral element of multiplication.
    const ONE: Self;
    /// Sum.
    fn add(self, other: Self) -> Self;
    /// Difference.
    fn sub(self, other: Self) -> Self;
    /// Product.
    fn mul(self, other: Self) -> Self;
    /// Additive inverse.
    fn neg(self) -> Self;
    /// `self * factor + addend`, rounded once.
    fn fma(self, factor: Self, addend: Self) -> Self;
    /// Quotient.
    fn div(self, other: Self) -> Self;
}

/// An ordered number: integers and floats.
pub trait Num: Ring + PartialOrd {
    /// Remainder with the sign of the dividend.
    fn rem(self, other: Self) -> Self;
    /// Magnitude; that of the least signed integer is itself.
    fn abs(self) -> Self;
    /// -1, 0 or 1; NaN for NaN.
    fn sign(self) -> Self;
    /// Whether this is NaN.
    fn is_nan(self) -> bool;
    /// The value as an f64, rounded to nearest.
    fn to_f64(self) -> f64;
    /// The value as an i128, cut and saturated; 0 for NaN.
    fn to_i128(self) -> i128;
}

/// An integer of one of the eight types.
pub trait Int: Num {
    /// Width in bits.
    const BITS: u32;
    /// The value wrapped to the type.
    fn wrap(value: i128) -> Self;
    /// The value moved into the range of the type.
    fn saturate(value: i128) -> Self;
    /// Whether the type can hold the value.
    fn fits(value: i128) -> bool;
    /// Power with a natural exponent, wrapped.
    fn wrapping_power(self, exponent: u32) -> Self;
    /// Power with a natural exponent, if it fits.
    fn checked_power(self, exponent: u32) -> Option<Self>;
}

impl Scalar for bool {
    const CARRIER: Carrier = Carrier::Elem(Elem::Bool);

    fn from_bits(bits: u64) -> bool {
        bits != 0
    }

    fn to_bits(self) -> u64 {
        self.into()
    }
}

macro_rules! integer {
    ($t:ident, $elem:ident, $wide:ident) => {
        impl Scalar for $t {
            const CARRIER: Carrier = Carrier::Elem(Elem::$elem);

            fn from_bits(bits: u64) -> $t {
                bits as $t
            }

            fn to_bits(self) -> u64 {
                $wide::from(self) as u64
            }
        }

        impl Ring for $t {
            const ZERO: $t = 0;
            const ONE: $t = 1;

            fn add(self, other: $t) -> $t {
                self.wrapping_add(other)
            }

            fn sub(self, other: $t) -> $t {
                self.wrapping_sub(other)
            }

            fn mul(self, other: $t) -> $t {
                self.wrapping_mul(other)
            }

            fn neg(self) -> $t {
                self.wrapping_neg()
            }

            fn fma(self, factor: $t, addend: $t) -> $t {
                self.wrapping_mul(factor).wrapping_add(addend)
            }

            fn div(self, other: $t) -> $t {
                if other == 0 { 0 } else { self.wrapping_div(other) }
            }
        }

        impl Num for $t {
            fn rem(self, other: $t) -> $t {
                if other == 0 { 0 } else { self.wrapping_rem(other) }
            }

            fn abs(self) -> $t {
                $t::wrap(i128::from(self).abs())
            }

            fn sign(self) -> $t {
                $t::wrap(i128::from(self).signum())
            }

            fn is_nan(self) -> bool {
                false
            }

            fn to_f64(self) -> f64 {
                self as f64
            }

            fn to_i128(self) -> i128 {
                self.into()
            }
        }

        impl Int for $t {
            const BITS: u32 = $t::BITS;

            fn wrap(value: i128) -> $t {
                value as $t
            }

            fn saturate(value: i128) -> $t {
                value.clamp($t::MIN.into(), $t::MAX.into()) as $t
            }

            fn fits(value: i128) -> bool {
                $t::try_from(value).is_ok()
            }

            fn wrapping_power(self, exponent: u32) -> $t {
                self.wrapping_pow(exponent)
            }

            fn checked_power(self, exponent: u32) -> Option<$t> {
                self.checked_pow(exponent)
            }
        }
    };
}

integer!(i8, I8, i64);
integer!(i16, I16, i64);
integer!(i32, I32, i64);
integer!(i64, I64, i64);
integer!(u8, U8, u64);
integer!(u16, U16, u64);
integer!(u32, U32, u64);
integer!(u64, U64, u64);

macro_rules! float {
    ($t:ident, $elem:ident, $fma:path, $rem:path) => {
        impl Scalar for $t {
            const CARRIER: Carrier = Carrier::Elem(Elem::$elem);

            fn from_bits(bits: u64) -> $t {
                $t::from_bits(bits as _)
            }

            fn to_bits(self) -> u64 {
                $t::to_bits(self).into()
            }
        }

        impl Ring for $t {
            const ZERO: $t = 0.0;
            const ONE: $t = 1.0;

            fn add(self, other: $t) -> $t {
                self + other
            }

            fn sub(self, other: $t) -> $t {
                self - other
            }

            fn mul(self, other: $t) -> $t {
                self * other
            }

            fn neg(self) -> $t {
                -self
            }

            fn fma(self, factor: $t, addend: $t) -> $t {
                $fma(self, factor, addend)
            }

            fn div(self, other: $t) -> $t {
                self / other
            }
        }

        impl Num for $t {
            fn rem(self, other: $t) -> $t {
                $rem(self, other)
            }

            fn abs(self) -> $t {
                $t::abs(self)
            }

            fn sign(self) -> $t {
                if self > 0.0 {
                    1.0
                } else if self < 0.0 {
                    -1.0
                } else {
                    // The zeros keep their sign and NaN stays NaN.
                    self
                }
            }

            fn is_nan(self) -> bool {
                $t::is_nan(self)
            }

            fn to_f64(self) -> f64 {
                self.into()
            }

            fn to_i128(self) -> i128 {
                self as i128
            }
        }
    };
}

float!(f32, F32, libm::fmaf, libm::fmodf);
float!(f64, F64, libm::fma, libm::fmod);
