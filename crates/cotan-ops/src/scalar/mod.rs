//! The rows of the scalar primitives, one file per family.

pub(crate) mod arithmetic;
pub(crate) mod cast;
pub(crate) mod check;
pub(crate) mod comparison;
pub(crate) mod exponential;
pub(crate) mod extremes;
pub(crate) mod hyperbolic;
pub(crate) mod integer;
pub(crate) mod power;
pub(crate) mod rounding;
pub(crate) mod special;
pub(crate) mod trigonometric;
