//! Logarithms: `x = 2^e m` with `m` from `sqrt(1/2)` to `sqrt(2)`, then a polynomial in `f = m - 1`.

use super::coefficients::{LN_2, LOG, LOG2_E, LOG10_2, LOG10_E, QUOTIENT_LOG, TWO_THIRDS};
use super::real::{Bits, Pair, Real, by_type, c, polynomial};

/// How a float is taken apart.
struct Layout {
    /// The bits of `sqrt(1/2)`.
    root_of_half: u64,
    /// The bits of the number whose last bit counts 1.
    unit: u64,
    /// That number.
    units: f64,
    /// Bits of a significand, the first of which is not written.
    fraction: u32,
    /// What exponents are kept above 0 by.
    bias: u64,
    /// The least normal number.
    least: f64,
    /// By how many doublings what is less becomes normal.
    doublings: i32,
}

const DOUBLE: Layout = Layout {
    root_of_half: 0x3FE6_A09E_667F_3BCD,
    unit: 0x4330_0000_0000_0000,
    units: (1_u64 << 52) as f64,
    fraction: 52,
    bias: 1024,
    least: f64::MIN_POSITIVE,
    doublings: 54,
};

const SINGLE: Layout = Layout {
    root_of_half: 0x3F35_04F3,
    unit: 0x4B00_0000,
    units: (1_u64 << 23) as f64,
    fraction: 23,
    bias: 128,
    least: f32::MIN_POSITIVE as f64,
    doublings: 25,
};

/// `x = 2^e m` for a positive finite `x`.
pub(super) struct Split<F> {
    pub(super) e: F,
    pub(super) m: F,
}

pub(super) fn split<F: Real>(x: F) -> Split<F> {
    let layout = by_type::<F, _>(&DOUBLE, &SINGLE);
    let is_tiny = x.lt(c(layout.least));
    let x = F::select(is_tiny, x * c(2f64.powi(layout.doublings)), x);
    let offset = layout.units + layout.bias as f64;
    let offset = F::select(is_tiny, c(offset + f64::from(layout.doublings)), c(offset));
    let shifted = x.bits().plus(F::Bits::of((layout.bias << layout.fraction).wrapping_sub(layout.root_of_half)));
    // A small integer in the last bits of the number whose last bit counts 1.
    let e = F::from_bits(shifted.down(layout.fraction).plus(F::Bits::of(layout.unit))) - offset;
    let fraction = shifted.and(F::Bits::of((1 << layout.fraction) - 1));
    Split { e, m: F::from_bits(fraction.plus(F::Bits::of(layout.root_of_half))) }
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
pub(crate) fn log<F: Real>(x: F) -> F {
    let Split { e, m } = split(x);
    let f = m - c(1.0);
    let ln_2 = LN_2.of::<F>();
    let small = e.fma(c(ln_2[1]), beyond_linear(f));
    at_edges(x, e.fma(c(ln_2[0]), f + small))
}

/// `(log(1 + f)) unit + e`, where `e` is zero or greater than the rest, to which `small` is added.
fn log_in_unit<F: Real>(f: F, unit: [f64; 2], e: F, small: F) -> F {
    let linear = Pair::product(f, c(unit[0]));
    let sum = Pair::ordered_sum(e, linear.hi);
    let rest = beyond_linear(f).fma(c(unit[0]), f.fma(c(unit[1]), small + linear.lo));
    sum.hi + (sum.lo + rest)
}

/// The logarithm to base 2.
pub(crate) fn log2<F: Real>(x: F) -> F {
    let Split { e, m } = split(x);
    at_edges(x, log_in_unit(m - c(1.0), LOG2_E.of::<F>(), e, c(0.0)))
}

/// The logarithm to base 10.
pub(crate) fn log10<F: Real>(x: F) -> F {
    let Split { e, m } = split(x);
    let of_two = LOG10_2.of::<F>();
    at_edges(x, log_in_unit(m - c(1.0), LOG10_E.of::<F>(), e * c(of_two[0]), e * c(of_two[1])))
}

/// The logarithm of `1 + x`.
pub(crate) fn log1p<F: Real>(x: F) -> F {
    let u = Pair::sum(c(1.0), x);
    // The sum with the sign of `x`, because the logarithm of 1 is +0.
    at_edges(u.hi, log_of_pair(u, c(0.0)).value()).copysign(x)
}

/// The natural logarithm of `2^doublings` times a positive sum; finite as long as the first part is.
pub(super) fn log_of_pair<F: Real>(u: Pair<F>, doublings: F) -> Pair<F> {
    let Split { e, m } = split(u.hi);
    let (e, f) = (e + doublings, m - c(1.0));
    let ln_2 = LN_2.of::<F>();
    let small = e.fma(c(ln_2[1]), u.lo / u.hi + beyond_linear(f));
    let sum = Pair::ordered_sum(e * c(ln_2[0]), f);
    Pair::new(sum.hi, sum.lo + small)
}

/// The logarithm of a positive finite number to some 68 bits, of f32 some 39, through `s = f/(2 + f)`: `log(1 + f)` is twice the inverse
/// hyperbolic tangent of `s`.
pub(super) fn log_to_double_precision<F: Real>(x: F) -> Pair<F> {
    let Split { e, m } = split(x);
    let f = m - c(1.0);
    let s = Pair::new(f, c(0.0)).over(Pair::sum(c(2.0), f));
    let square = s.times_pair(s);
    let two_thirds = TWO_THIRDS.of::<F>();
    let series = Pair::ordered_sum(c(two_thirds[0]), square.hi * polynomial(&QUOTIENT_LOG, square.hi));
    let series = Pair::new(series.hi, series.lo + c(two_thirds[1]));
    let cubic = s.times_pair(square).times_pair(series);
    let near = s.scaled(c(2.0));
    let near = Pair::new(cubic.hi, cubic.lo + near.lo).beside(near.hi);
    let ln_2 = LN_2.of::<F>();
    let sum = near.beside(e * c(ln_2[0]));
    Pair::ordered_sum(sum.hi, e.fma(c(ln_2[1]), sum.lo))
}
