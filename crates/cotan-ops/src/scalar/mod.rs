//! The scalar primitives, one file per family, and the list of the families.

use crate::PrimRow;

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

pub use arithmetic::*;
pub use cast::*;
pub use check::*;
pub use comparison::*;
pub use exponential::*;
pub use extremes::*;
pub use hyperbolic::*;
pub use integer::*;
pub use power::*;
pub use rounding::*;
pub use special::*;
pub use trigonometric::*;

/// The rows of the families, in the order of the reference.
pub(crate) static FAMILIES: &[&[&PrimRow]] = &[
    arithmetic::ROWS,
    power::ROWS,
    rounding::ROWS,
    extremes::ROWS,
    integer::ROWS,
    exponential::ROWS,
    trigonometric::ROWS,
    hyperbolic::ROWS,
    special::ROWS,
    comparison::ROWS,
    check::ROWS,
    cast::ROWS,
];
