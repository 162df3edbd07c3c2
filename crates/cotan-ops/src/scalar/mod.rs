//! The rows of the scalar primitives, one file per family.

pub(crate) mod arithmetic;
pub(crate) mod cast;
pub(crate) mod comparison;
pub(crate) mod exponential;
pub(crate) mod rounding;
pub(crate) mod trigonometric;
