//! Hyperbolic functions and the logistic function, from the parts of exponentials.

use super::exponential::{at_most, exp_parts, expm1_sum};
use super::real::{Pair, Real, c};

/// Hyperbolic sine.
pub(super) fn sinh<F: Real>(x: F) -> F {
    let size = x.abs();
    // A quarter of `exp(x) - 1`, because that overflows before half of it does. With `E = exp(x) - 1`, the value is
    // `(E + E/(1 + E)) / 2`.
    let quarter = expm1_sum(at_most(size, 710.6), 2).settled();
    let whole = quarter.scaled(c(4.0));
    let second = quarter.over(Pair::sum(c(1.0), whole.hi).plus(whole.lo));
    // Far out the second term is less than a rounding error, and not a number where `E` overflows.
    let is_far = size.gt(c(40.0));
    let second = Pair::select(is_far, Pair::of([0.0, 0.0]), second);
    let sum = Pair::ordered_sum(quarter.hi, second.hi);
    let half = sum.hi + (sum.lo + (quarter.lo + second.lo));
    F::select(size.lt(c(3e-9)), size, half + half).copysign(x)
}

/// Hyperbolic cosine.
pub(super) fn cosh<F: Real>(x: F) -> F {
    let (parts, scale) = exp_parts(at_most(x.abs(), 711.0));
    let hi = scale.times(c::<F>(0.5) * parts.hi);
    let lo = scale.times(c::<F>(0.5) * parts.lo);
    hi + (lo + c::<F>(0.25) / hi)
}

/// `(exp(2 |x|) - 1) / 2^64`, which does not overflow before the slope of the hyperbolic tangent is 0. What is made of it shares
/// one exponential where two are computed of one operand: a function and its slope.
fn growth<F: Real>(x: F) -> Pair<F> {
    let size = at_most(x.abs(), 374.0);
    expm1_sum(size + size, SHIFT).settled()
}

/// The binary digits by which [`growth`] is moved down.
const SHIFT: u32 = 64;
/// One, moved down as much.
const UNIT: f64 = 1.0 / (1_u128 << SHIFT) as f64;

/// `(exp(2 |x|) + 1) / 2^64`.
fn divisor<F: Real>(growth: Pair<F>) -> Pair<F> {
    let Pair { hi, lo } = Pair::sum(c(2.0 * UNIT), growth.hi);
    Pair::new(hi, lo + growth.lo)
}

/// Hyperbolic tangent.
pub(super) fn tanh<F: Real>(x: F) -> F {
    let growth = growth(x);
    // Of the least numbers nothing would be left.
    let size = F::select(x.abs().lt(c(1e-200)), x.abs(), growth.over(divisor(growth)).value());
    size.copysign(x)
}

/// The slope of the hyperbolic tangent: with `E = exp(2 |x|)`, `4 E / (E + 1)^2`.
pub(super) fn sech2<F: Real>(x: F) -> F {
    let growth = growth(x);
    let reciprocal = c::<F>(1.0) / divisor(growth).hi;
    ((growth.hi + c(UNIT)) * reciprocal) * (c::<F>(4.0 * UNIT) * reciprocal)
}

/// The logistic function. With `E = exp(|x|)`, of a negative number it is `1 / (E + 1)`, else 1 less that.
pub(super) fn sigmoid<F: Real>(x: F) -> F {
    let least = Pair::of([UNIT, 0.0]).over(divisor(growth(c::<F>(0.5) * x)));
    F::select(x.lt(c(0.0)), least.value(), least.negated().beside(c(1.0)).value())
}
