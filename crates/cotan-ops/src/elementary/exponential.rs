//! Exponentials: `x = k ln 2 + r` with a whole `k`, then a polynomial in `r` times `2^k`.

use super::coefficients::{EXP, EXP2, LN_2, LOG2_E};
use super::real::{Bits, Pair, Real, by_type, c, polynomial};

/// `1.5 * 2^52`, or `1.5 * 2^23`: a sum with it is rounded to a whole number, which is left in the low bits.
pub(super) fn rounding<F: Real>() -> F {
    c(by_type::<F, _>(6_755_399_441_055_744.0, 12_582_912.0))
}

/// The exponential of all that is greater overflows.
fn greatest<F: Real>() -> f64 {
    by_type::<F, _>(710.0, 89.0)
}

/// The exponential of all that is less is 0.
pub(super) fn least<F: Real>() -> f64 {
    by_type::<F, _>(-746.0, -105.0)
}

/// The number moved into an interval; NaN stays.
pub(super) fn clamp<F: Real>(x: F, least: f64, greatest: f64) -> F {
    at_most(F::select(x.lt(c(least)), c(least), x), greatest)
}

/// The lesser of the number and a bound; NaN stays.
pub(super) fn at_most<F: Real>(x: F, greatest: f64) -> F {
    F::select(x.gt(c(greatest)), c(greatest), x)
}

/// 2 to a power that stands in the low 12 bits of an integer, of f32 9 bits, and whose result is a normal number.
pub(super) fn power_of_two<F: Real>(exponent: F::Bits) -> F {
    let one = by_type::<F, _>(1f64.to_bits(), 1f32.to_bits().into());
    F::from_bits(exponent.up(by_type::<F, _>(52, 23)).plus(F::Bits::of(one)))
}

/// A power of two that need not be a normal number, as two factors that are.
#[derive(Clone, Copy)]
pub(super) struct Scale<F>(F, F);

impl<F: Real> Scale<F> {
    /// 2 to the power `k` less [`rounding`], which is at most some 2000 in magnitude, for f32 some 250.
    fn new(k: F) -> Scale<F> {
        let half = (k - rounding()).fma(c(0.5), rounding()).bits();
        Scale(power_of_two(half), power_of_two(k.bits().minus(half)))
    }

    /// The product with a number.
    pub(super) fn times(self, x: F) -> F {
        x * self.0 * self.1
    }
}

/// `x = (k - rounding) ln 2 + r`.
struct Reduced<F> {
    k: F,
    r: Pair<F>,
}

fn reduce<F: Real>(x: F) -> Reduced<F> {
    let k = x.fma(c(LOG2_E.of::<F>()[0]), rounding());
    let whole = k - rounding();
    let ln_2 = LN_2.of::<F>();
    // The product is exact, and so is the difference, because `x` is near it.
    let near = whole.fma(c(-ln_2[0]), x);
    let hi = whole.fma(c(-ln_2[1]), near);
    Reduced { k, r: Pair::new(hi, whole.fma(c(-ln_2[1]), near - hi)) }
}

/// The exponential function.
pub(crate) fn exp<F: Real>(x: F) -> F {
    let Reduced { k, r: Pair { hi: r, .. } } = reduce(clamp(x, least::<F>(), greatest::<F>()));
    let less_one = (r * r).fma(polynomial(&EXP, r), r);
    Scale::new(k).times(c::<F>(1.0) + less_one)
}

/// `exp(x)` as a number near 1 and a power of two, for `x` from -746 to 711, of f32 from -113 to 90.
pub(super) fn exp_parts<F: Real>(x: F) -> (Pair<F>, Scale<F>) {
    let Reduced { k, r } = reduce(x);
    (near_one(r), Scale::new(k))
}

/// The exponential of a sum, whose first part is from -746 to 711, of f32 from -113 to 90.
pub(super) fn exp_of_pair<F: Real>(x: Pair<F>) -> (Pair<F>, Scale<F>) {
    let Reduced { k, r } = reduce(x.hi);
    (near_one(Pair::sum(r.hi, r.lo + x.lo)), Scale::new(k))
}

/// `exp(r)`.
fn near_one<F: Real>(r: Pair<F>) -> Pair<F> {
    let Pair { hi, lo } = Pair::ordered_sum(c(1.0), r.hi);
    Pair::ordered_sum(hi, lo + beyond_linear(r))
}

/// `exp(r) - 1 - r.hi`.
fn beyond_linear<F: Real>(r: Pair<F>) -> F {
    (r.hi * r.hi).fma(polynomial(&EXP, r.hi), r.lo.fma(r.hi, r.lo))
}

/// 2 to the power `x`.
pub(crate) fn exp2<F: Real>(x: F) -> F {
    let x = clamp(x, by_type::<F, _>(-1076.0, -152.0), by_type::<F, _>(1025.0, 129.0));
    let k = x + rounding();
    let f = x - (k - rounding());
    Scale::new(k).times(f.fma(polynomial(&EXP2, f), c(1.0)))
}

/// `2^-shift (exp(x) - 1)` for `x` from -50 to `(1023 + shift) ln 2`, of f32 `(127 + shift) ln 2`, as a sum that is not
/// settled.
pub(super) fn expm1_sum<F: Real>(x: F, shift: u32) -> Pair<F> {
    let Reduced { k, r } = reduce(x);
    let scale = power_of_two::<F>(k.bits().minus(F::Bits::of(shift.into())));
    let unit = 0.5_f64.powi(shift as i32);
    let Pair { hi, lo } = Pair::sum(scale - c(unit), scale * r.hi);
    Pair::new(hi, scale.fma(beyond_linear(r), lo))
}

/// `exp(x) - 1`.
pub(crate) fn expm1<F: Real>(x: F) -> F {
    // Half of the value, because 2^k would overflow before the value does.
    let half = expm1_sum(clamp(x, -50.0, greatest::<F>()), 1).value();
    F::select(x.abs().lt(c(by_type::<F, _>(5e-17, 2.9e-8))), x, half + half)
}
