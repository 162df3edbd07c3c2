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

/// Hyperbolic tangent.
pub(super) fn tanh<F: Real>(x: F) -> F {
    let size = at_most(x.abs(), 20.0);
    let parts = expm1_sum(size + size, 0).settled();
    let divisor = Pair::sum(c(2.0), parts.hi);
    parts.over(Pair::new(divisor.hi, divisor.lo + parts.lo)).value().copysign(x)
}

/// The logistic function: of a negative number `exp(x) / (1 + exp(x))`, else `1 / (1 + exp(-x))`.
pub(super) fn sigmoid<F: Real>(x: F) -> F {
    let (parts, scale) = exp_parts(-at_most(x.abs(), 746.0));
    let divisor = Pair::ordered_sum(c(1.0), scale.times(parts.hi));
    let divisor = Pair::new(divisor.hi, divisor.lo + scale.times(parts.lo));
    let is_negative = x.lt(c(0.0));
    let dividend = Pair::select(is_negative, parts, Pair::of([1.0, 0.0]));
    scale.only_if(is_negative).times(dividend.over(divisor).value())
}
