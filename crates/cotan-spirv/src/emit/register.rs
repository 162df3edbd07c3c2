//! Registers: the types that values have in a kernel.
//!
//! Integers have no sign there, only instructions do. Those of less than 32 bits lie in 32, extended by their sign or by
//! zeros; a float of a storage type lies there as its bits.

use cotan_ir::{Elem, Storage};

/// The type of a value in a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Register {
    /// A truth value.
    Bool,
    /// An integer of at most 32 bits, or the bits of a float of 16.
    Int32,
    /// An integer of 64 bits.
    Int64,
    /// An `f32`.
    Float32,
    /// An `f64`.
    Float64,
}

impl Register {
    /// What values of an element type are in.
    pub fn of(elem: Elem) -> Register {
        match elem {
            Elem::Bool => Register::Bool,
            Elem::I8 | Elem::I16 | Elem::I32 | Elem::U8 | Elem::U16 | Elem::U32 | Elem::F16 | Elem::BF16 => {
                Register::Int32
            }
            Elem::I64 | Elem::U64 => Register::Int64,
            Elem::F32 => Register::Float32,
            Elem::F64 => Register::Float64,
        }
    }

    /// Its bits.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Register::Bool | Register::Int32 | Register::Float32 => 32,
            Register::Int64 | Register::Float64 => 64,
        }
    }

    /// Whether it holds a float.
    pub(crate) fn is_float(self) -> bool {
        matches!(self, Register::Float32 | Register::Float64)
    }
}

/// The format of a float type that is computed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// The float.
    pub(crate) float: Register,
    /// Its bits as an integer.
    pub(crate) bits: Register,
    /// Bits of the fraction, without the leading one that is not written.
    pub(crate) fraction: u32,
    /// What is added to an exponent.
    pub(crate) bias: i32,
}

/// `f32`.
pub(crate) const SINGLE: Format = Format { float: Register::Float32, bits: Register::Int32, fraction: 23, bias: 127 };

/// `f64`.
pub(crate) const DOUBLE: Format = Format { float: Register::Float64, bits: Register::Int64, fraction: 52, bias: 1023 };

impl Format {
    /// The format of a float type that is computed with.
    pub(crate) fn of(elem: Elem) -> Option<Format> {
        match elem {
            Elem::F32 => Some(SINGLE),
            Elem::F64 => Some(DOUBLE),
            Elem::Bool
            | Elem::I8
            | Elem::I16
            | Elem::I32
            | Elem::I64
            | Elem::U8
            | Elem::U16
            | Elem::U32
            | Elem::U64
            | Elem::F16
            | Elem::BF16 => None,
        }
    }

    /// The bits of a power of two that is a normal number.
    pub(crate) fn power(self, exponent: i32) -> u64 {
        ((exponent + self.bias) as u64) << self.fraction
    }

    /// The bit of the sign.
    pub(crate) fn sign(self) -> u64 {
        1 << (self.bits.bits() - 1)
    }

    /// All bits but that of the sign.
    pub(crate) fn magnitude(self) -> u64 {
        self.sign() - 1
    }

    /// The bits of infinity.
    pub(crate) fn infinity(self) -> u64 {
        self.power(self.bias + 1)
    }

    /// The bits of a NaN.
    pub(crate) fn nan(self) -> u64 {
        self.infinity() | 1 << (self.fraction - 1)
    }

    /// The exponent of the least normal number.
    pub(crate) fn least_exponent(self) -> i32 {
        1 - self.bias
    }
}

/// Which opcodes an element type has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// A truth value.
    Bool,
    /// A signed integer.
    Signed,
    /// An unsigned integer.
    Unsigned,
    /// A float that is computed with.
    Float,
    /// A float that is moved and converted.
    Stored(Storage),
}

impl Class {
    /// The class of an element type.
    pub(crate) fn of(elem: Elem) -> Class {
        match elem {
            Elem::Bool => Class::Bool,
            Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 => Class::Signed,
            Elem::U8 | Elem::U16 | Elem::U32 | Elem::U64 => Class::Unsigned,
            Elem::F16 => Class::Stored(Storage::F16),
            Elem::BF16 => Class::Stored(Storage::BF16),
            Elem::F32 | Elem::F64 => Class::Float,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_those_of_the_machine() {
        assert_eq!(DOUBLE.power(-1), 0.5f64.to_bits());
        assert_eq!(SINGLE.power(3), u64::from(8f32.to_bits()));
        assert_eq!(DOUBLE.infinity(), f64::INFINITY.to_bits());
        assert!(f32::from_bits(SINGLE.nan() as u32).is_nan());
        assert_eq!(SINGLE.sign() | SINGLE.magnitude(), u64::from(u32::MAX));
        assert_eq!(DOUBLE.power(DOUBLE.least_exponent()), f64::MIN_POSITIVE.to_bits());
    }
}
