//! Carriers: the types that kernels compute with.

use cotan_ir::Elem;

/// What stands for the element type `T` of a primitive when it is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// The element type itself.
    Elem(Elem),
    /// The integers modulo 2^61 - 1 in place of a float type: exact arithmetic, to compare with the proved model.
    Mod61,
}

/// A type that kernels compute with.
pub trait Scalar: Copy + PartialEq {
    /// Its name among the carriers.
    const CARRIER: Carrier;
    /// The value with these bits.
    fn from_bits(bits: u64) -> Self;
    /// The bits, as [`cotan_ir::Const`] keeps them.
    fn to_bits(self) -> u64;
}
