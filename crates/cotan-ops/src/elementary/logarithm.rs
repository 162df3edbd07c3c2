//! Logarithms: `x = 2^e m` with `m` from `sqrt(1/2)` to `sqrt(2)`, then a polynomial in `f = m - 1`.

use super::coefficients::{LN_2, LOG, LOG2_E, LOG10_2, LOG10_E, QUOTIENT_LOG, TWO_THIRDS};
use super::real::{Bits, Pair, Real, c, polynomial};

/// The bits of `sqrt(1/2)`.
const ROOT_OF_HALF: u64 = 0x3FE6_A09E_667F_3BCD;
/// The bits of `2^52`.
const TWO_52: u64 = 0x4330_0000_0000_0000;
/// The bits of a significand.
const SIGNIFICAND: u64 = 0x000F_FFFF_FFFF_FFFF;
/// What exponents are kept above 0 by.
const BIAS: u64 = 1024;
const POWER_54: f64 = (1_u64 << 54) as f64;
const POWER_52: f64 = (1_u64 << 52) as f64;

/// `x = 2^e m` for a positive finite `x`.
pub(super) struct Split<F> {
    pub(super) e: F,
    pub(super) m: F,
}

pub(super) fn split<F: Real>(x: F) -> Split<F> {
    let is_tiny = x.lt(c(f64::MIN_POSITIVE));
    let x = F::select(is_tiny, x * c(POWER_54), x);
    let offset = F::select(is_tiny, c(POWER_52 + BIAS as f64 + 54.0), c(POWER_52 + BIAS as f64));
    let shifted = x.bits().plus(F::Bits::of((BIAS << 52).wrapping_sub(ROOT_OF_HALF)));
    // A small integer in the last bits of 2^52.
    let e = F::from_bits(shifted.down(52).plus(F::Bits::of(TWO_52))) - offset;
    Split { e, m: F::from_bits(shifted.and(F::Bits::of(SIGNIFICAND)).plus(F::Bits::of(ROOT_OF_HALF))) }
}

/// The value of a logarithm, whatever `x` is; `inside` is right for positive finite numbers.
pub(super) fn at_edges<F: Real>(x: F, inside: F) -> F {
    let value = F::select(x.lt(c(f64::INFINITY)), inside, x);
    let value = F::select(x.same(c(0.0)), c(f64::NEG_INFINITY), value);
    F::select(x.lt(c(0.0)), c(f64::NAN), value)
}

/// `log(1 + f) - f`.
pub(super) fn beyond_linear<F: Real>(f: F) -> F {
    f * f * polynomial(&LOG, f).fma(f, c(-0.5))
}

/// The natural logarithm.
pub(super) fn log<F: Real>(x: F) -> F {
    let Split { e, m } = split(x);
    let f = m - c(1.0);
    let small = e.fma(c(LN_2[1]), beyond_linear(f));
    at_edges(x, e.fma(c(LN_2[0]), f + small))
}

/// `(log(1 + f)) unit + e`, where `e` is zero or greater than the rest, to which `small` is added.
fn log_in_unit<F: Real>(f: F, unit: [f64; 2], e: F, small: F) -> F {
    let linear = Pair::product(f, c(unit[0]));
    let sum = Pair::ordered_sum(e, linear.hi);
    let rest = beyond_linear(f).fma(c(unit[0]), f.fma(c(unit[1]), small + linear.lo));
    sum.hi + (sum.lo + rest)
}

/// The logarithm to base 2.
pub(super) fn log2<F: Real>(x: F) -> F {
    let Split { e, m } = split(x);
    at_edges(x, log_in_unit(m - c(1.0), LOG2_E, e, c(0.0)))
}

/// The logarithm to base 10.
pub(super) fn log10<F: Real>(x: F) -> F {
    let Split { e, m } = split(x);
    at_edges(x, log_in_unit(m - c(1.0), LOG10_E, e * c(LOG10_2[0]), e * c(LOG10_2[1])))
}

/// The logarithm of `1 + x`.
pub(super) fn log1p<F: Real>(x: F) -> F {
    let u = Pair::sum(c(1.0), x);
    // The sum with the sign of `x`, because the logarithm of 1 is +0.
    at_edges(u.hi, log_of_pair(u, c(0.0)).value()).copysign(x)
}

/// The natural logarithm of `2^doublings` times a positive sum; finite as long as the first part is.
pub(super) fn log_of_pair<F: Real>(u: Pair<F>, doublings: F) -> Pair<F> {
    let Split { e, m } = split(u.hi);
    let (e, f) = (e + doublings, m - c(1.0));
    let small = e.fma(c(LN_2[1]), u.lo / u.hi + beyond_linear(f));
    let sum = Pair::ordered_sum(e * c(LN_2[0]), f);
    Pair::new(sum.hi, sum.lo + small)
}

/// The logarithm of a positive finite number to some 68 bits, through `s = f/(2 + f)`: `log(1 + f)` is twice the inverse
/// hyperbolic tangent of `s`.
pub(super) fn log_to_double_precision<F: Real>(x: F) -> Pair<F> {
    let Split { e, m } = split(x);
    let f = m - c(1.0);
    let s = Pair::new(f, c(0.0)).over(Pair::sum(c(2.0), f));
    let square = s.times_pair(s);
    let series = Pair::ordered_sum(c(TWO_THIRDS[0]), square.hi * polynomial(&QUOTIENT_LOG, square.hi));
    let series = Pair::new(series.hi, series.lo + c(TWO_THIRDS[1]));
    let cubic = s.times_pair(square).times_pair(series);
    let near = s.scaled(c(2.0));
    let near = Pair::new(cubic.hi, cubic.lo + near.lo).beside(near.hi);
    let sum = near.beside(e * c(LN_2[0]));
    Pair::ordered_sum(sum.hi, e.fma(c(LN_2[1]), sum.lo))
}
