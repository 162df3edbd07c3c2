//! Hyperbolic functions and the logistic function, from the parts of exponentials.

use super::exponential::{at_most, exp_parts, expm1_sum};
use super::real::{Pair, Real, by_type, c};

/// Hyperbolic sine.
pub(crate) fn sinh<F: Real>(x: F) -> F {
    let size = x.abs();
    // A quarter of `exp(x) - 1`, because that overflows before half of it does. With `E = exp(x) - 1`, the value is
    // `(E + E/(1 + E)) / 2`.
    let quarter = expm1_sum(at_most(size, by_type::<F, _>(710.6, 89.5)), 2).settled();
    let whole = quarter.scaled(c(4.0));
    let second = quarter.over(Pair::sum(c(1.0), whole.hi).plus(whole.lo));
    // Far out the second term is less than a rounding error, and not a number where `E` overflows.
    let is_far = size.gt(c(40.0));
    let second = Pair::select(is_far, Pair::of([0.0, 0.0]), second);
    let sum = Pair::ordered_sum(quarter.hi, second.hi);
    let half = sum.hi + (sum.lo + (quarter.lo + second.lo));
    F::select(size.lt(c(by_type::<F, _>(3e-9, 2e-4))), size, half + half).copysign(x)
}

/// Hyperbolic cosine.
pub(crate) fn cosh<F: Real>(x: F) -> F {
    let (parts, scale) = exp_parts(at_most(x.abs(), by_type::<F, _>(711.0, 90.0)));
    let hi = scale.times(c::<F>(0.5) * parts.hi);
    let lo = scale.times(c::<F>(0.5) * parts.lo);
    hi + (lo + c::<F>(0.25) / hi)
}

/// `exp(2 |x|) - 1`, moved down so that it does not overflow before the slope of the hyperbolic tangent is 0. What is made of
/// it shares one exponential where two are computed of one operand: a function and its slope.
fn growth<F: Real>(x: F) -> Pair<F> {
    let size = at_most(x.abs(), by_type::<F, _>(374.0, 54.0));
    expm1_sum(size + size, shift::<F>()).settled()
}

/// The binary digits by which [`growth`] is moved down.
fn shift<F: Real>() -> u32 {
    by_type::<F, _>(64, 32)
}

/// One, moved down as much.
fn unit<F: Real>() -> f64 {
    0.5_f64.powi(shift::<F>() as i32)
}

/// `exp(2 |x|) + 1`, moved down as much.
fn divisor<F: Real>(growth: Pair<F>) -> Pair<F> {
    let Pair { hi, lo } = Pair::sum(c(2.0 * unit::<F>()), growth.hi);
    Pair::new(hi, lo + growth.lo)
}

/// Hyperbolic tangent.
pub(crate) fn tanh<F: Real>(x: F) -> F {
    let growth = growth(x);
    // Of the least numbers nothing would be left.
    let size = F::select(x.abs().lt(c(by_type::<F, _>(1e-200, 1e-18))), x.abs(), growth.over(divisor(growth)).value());
    size.copysign(x)
}

/// The slope of the hyperbolic tangent: with `E = exp(2 |x|)`, `4 E / (E + 1)^2`.
pub(crate) fn sech2<F: Real>(x: F) -> F {
    let growth = growth(x);
    let reciprocal = c::<F>(1.0) / divisor(growth).hi;
    ((growth.hi + c(unit::<F>())) * reciprocal) * (c::<F>(4.0 * unit::<F>()) * reciprocal)
}

/// The logistic function. With `E = exp(|x|)`, of a negative number it is `1 / (E + 1)`, else 1 less that.
pub(crate) fn sigmoid<F: Real>(x: F) -> F {
    let least = Pair::of([unit::<F>(), 0.0]).over(divisor(growth(c::<F>(0.5) * x)));
    F::select(x.lt(c(0.0)), least.value(), least.negated().beside(c(1.0)).value())
}
