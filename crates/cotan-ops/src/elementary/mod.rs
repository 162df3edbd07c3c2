//! Elementary functions as formulas of a few operations that every machine has, so that their values do not depend on
//! the machine, on its libraries, or on how many of them a processor computes at once.
//!
//! A function is written once, on the numbers of [`Real`]: on floats it is the kernel of its row, on
//! [`Traced`](traced::Traced) it leaves the [`Code`] that backends compile. f32 is computed in f32, by the same
//! formulas with fewer coefficients and other limits. Errors are below 2 units in the last place, which `tests/elementary`
//! states function by function.

mod arc;
mod area;
mod circular;
mod code;
mod coefficients;
mod error;
mod exponential;
mod gamma;
mod hyperbolic;
mod logarithm;
mod power;
mod real;
mod traced;

pub(crate) use code::expansion;
pub use code::{Code, Expansion, Input, Step};

pub(crate) use arc::{acos, asin, atan, atan2};
pub(crate) use area::{acosh, asinh, atanh};
pub(crate) use circular::{
    any_cos as cos, any_sin as sin, any_tan as tan, cos as near_cos, is_far, sin as near_sin, tan as near_tan,
};
pub(crate) use error::{erf, erfc};
pub(crate) use exponential::{exp, exp2, expm1};
pub(crate) use gamma::{any_lgamma as lgamma, is_not_positive, lgamma as positive_lgamma};
pub(crate) use hyperbolic::{cosh, sech2, sigmoid, sinh, tanh};
pub(crate) use logarithm::{log, log1p, log2, log10};
pub(crate) use power::{cbrt, hypot, pow, power_below, round};
