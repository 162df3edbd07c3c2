//! The field of integers modulo the prime 2^61 - 1.
//!
//! Derivative programs that use ring operations alone can be run over it exactly, and compared bit for bit with a model
//! whose properties are proved.

use crate::carrier::{Carrier, Scalar};
use crate::num::Ring;

/// An element of the field, in `0 .. 2^61 - 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mod61(u64);

/// The modulus.
const P: u64 = (1 << 61) - 1;

/// What stands for NaN.
const NAN: u64 = 2_718_281_828;

impl Mod61 {
    /// The residue of an integer.
    pub fn new(value: i128) -> Mod61 {
        Mod61(value.rem_euclid(P.into()) as u64)
    }

    /// The residue of a float, which is a binary fraction `m / 2^k`. What is no number is given one: the least and the
    /// greatest representative to the infinities, another one to NaN.
    pub fn from_f64(value: f64) -> Mod61 {
        if value.is_nan() {
            return Mod61(NAN);
        }
        if value.is_infinite() {
            return Mod61(if value < 0.0 { 0 } else { P - 1 });
        }
        let bits = value.abs().to_bits();
        let (exponent, fraction) = ((bits >> 52) as i64, bits & ((1 << 52) - 1));
        let (mantissa, exponent) =
            if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
        let two = Mod61(2);
        let power = if exponent >= 0 { two } else { two.inverse() };
        let magnitude = Mod61::new(mantissa.into()).mul(power.power(exponent.unsigned_abs()));
        if value < 0.0 { magnitude.neg() } else { magnitude }
    }

    /// The representative in `0 .. 2^61 - 1`.
    pub fn value(self) -> u64 {
        self.0
    }

    /// The power with a natural exponent.
    pub fn power(self, exponent: u64) -> Mod61 {
        let (mut base, mut left, mut result) = (self, exponent, Mod61(1));
        while left > 0 {
            if left & 1 == 1 {
                result = result.mul(base);
            }
            base = base.mul(base);
            left >>= 1;
        }
        result
    }

    /// The multiplicative inverse; that of 0 is 0, which makes division total.
    pub fn inverse(self) -> Mod61 {
        self.power(P - 2)
    }
}

impl Scalar for Mod61 {
    const CARRIER: Carrier = Carrier::Mod61;

    fn from_bits(bits: u64) -> Mod61 {
        Mod61(bits % P)
    }

    fn to_bits(self) -> u64 {
        self.0
    }
}

impl Ring for Mod61 {
    const ZERO: Mod61 = Mod61(0);
    const ONE: Mod61 = Mod61(1);

    fn add(self, other: Mod61) -> Mod61 {
        Mod61((self.0 + other.0) % P)
    }

    fn sub(self, other: Mod61) -> Mod61 {
        Mod61((self.0 + P - other.0) % P)
    }

    fn mul(self, other: Mod61) -> Mod61 {
        Mod61((u128::from(self.0) * u128::from(other.0) % u128::from(P)) as u64)
    }

    fn neg(self) -> Mod61 {
        Mod61((P - self.0) % P)
    }

    fn fma(self, factor: Mod61, addend: Mod61) -> Mod61 {
        self.mul(factor).add(addend)
    }

    fn div(self, other: Mod61) -> Mod61 {
        self.mul(other.inverse())
    }
}
