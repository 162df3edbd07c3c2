//! The storage types as types of kernels: what is moved, chosen and converted.

use crate::carrier::{Carrier, Scalar};
use cotan_ir::{Elem, Storage};

/// A number of a storage type.
pub(crate) trait Stored {
    /// The nearest number.
    fn from_f64(x: f64) -> Self;
    /// The number nearest to an integer.
    fn from_i128(n: i128) -> Self;
    /// The number as an f32, exactly.
    fn widen(self) -> f32;
}

macro_rules! storage {
    ($t:ident, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) struct $t(u16);

        impl Stored for $t {
            fn from_f64(x: f64) -> $t {
                $t(Storage::$t.narrow_double(x))
            }

            fn from_i128(n: i128) -> $t {
                $t(Storage::$t.narrow_integer(n))
            }

            fn widen(self) -> f32 {
                Storage::$t.widen(self.0)
            }
        }

        impl Scalar for $t {
            const CARRIER: Carrier = Carrier::Elem(Elem::$t);

            fn from_bits(bits: u64) -> $t {
                $t(bits as u16)
            }

            fn to_bits(self) -> u64 {
                self.0.into()
            }
        }
    };
}

storage!(F16, "A half, by its bits.");
storage!(BF16, "The upper half of an f32.");
