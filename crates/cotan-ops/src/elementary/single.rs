//! Functions of f32 that work on f32: in programs of tensors they are the most frequent, and so as many lanes fit into a
//! register as such tensors have elsewhere.

use super::coefficients::{LOG2_E, SINGLE_EXP, SINGLE_LN_2};
use super::exponential::clamp;
use super::real::{Bits, Real, c, polynomial};

/// `1.5 * 2^23`: a sum with it is rounded to a whole number, which is left in the low bits.
const ROUNDING: f64 = 12_582_912.0;
/// The bits of 1.
const ONE: u64 = 0x3F80_0000;
/// The exponential of all that is greater overflows.
const GREATEST: f64 = 89.0;
/// The exponential of all that is less is 0.
const LEAST: f64 = -105.0;

/// 2 to a power that stands in the low 9 bits of an integer, and whose result is a normal number.
fn power_of_two<F: Real>(exponent: F::Bits) -> F {
    F::from_bits(exponent.up(23).plus(F::Bits::of(ONE)))
}

/// The exponential function: see `exponential`.
pub(super) fn exp<F: Real>(x: F) -> F {
    let x = clamp(x, LEAST, GREATEST);
    let k = x.fma(c(LOG2_E[0]), c(ROUNDING));
    let whole = k - c(ROUNDING);
    let r = whole.fma(c(-SINGLE_LN_2[1]), whole.fma(c(-SINGLE_LN_2[0]), x));
    let value = (r * r).fma(polynomial(&SINGLE_EXP, r), r) + c(1.0);
    // A power that need not be a normal number, as two that are.
    let half = whole.fma(c(0.5), c(ROUNDING)).bits();
    value * power_of_two(half) * power_of_two(k.bits().minus(half))
}

/// The slope of the hyperbolic tangent, by an exponential that decays.
pub(super) fn sech2<F: Real>(x: F) -> F {
    let size = x.abs();
    let decay = exp(-(size + size));
    let beside = F::of(1.0) + decay;
    F::of(4.0) * decay / (beside * beside)
}
