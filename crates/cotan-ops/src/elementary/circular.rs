//! Sine, cosine and tangent: `x = k pi/2 + r`, then polynomials for the sine and the cosine of `r`.
//!
//! Below [`far`] three parts of `pi/2` do (W. J. Cody and W. Waite, 1980, with fused multiplication). What lies beyond is
//! left to the host: there the digits of `2/pi` from the right place on are multiplied as integers (M. Payne and R. Hanek,
//! 1983).

use super::coefficients::{COS, HALF_PI, SIN, TWO_OVER_PI};
use super::exponential::rounding;
use super::real::{Bits, Machine, Pair, Real, by_type, c, polynomial};

/// Angles from here on are left to the host: what the parts of `pi/2` leave out would count.
fn far<F: Real>() -> F {
    c(2f64.powi(by_type::<F, _>(33, 20)))
}

/// An angle `k pi/2 + r`.
struct Reduced<F: Real> {
    /// `k` modulo 4 in the lowest bits.
    quadrant: F::Bits,
    r: Pair<F>,
}

/// Whether an angle is left to the host.
pub(crate) fn is_far<F: Real>(x: F) -> F::Truth {
    x.abs().ge(far())
}

fn reduce<F: Real>(x: F) -> Reduced<F> {
    let k = x.fma(c(std::f64::consts::FRAC_2_PI), rounding());
    let whole = k - rounding();
    let half_pi = HALF_PI.of::<F>();
    // Exact: a multiple of the last place of `pi/2` or of `x`, and less than 1.
    let near = whole.fma(c(-half_pi[0]), x);
    let second = Pair::product(whole, c(-half_pi[1]));
    let hi = near + second.hi;
    let lo = (near - hi) + second.hi;
    Reduced { quadrant: k.bits(), r: Pair::new(hi, whole.fma(c(-half_pi[2]), lo + second.lo)) }
}

/// The sine of `r`.
fn sine_near<F: Real>(r: Pair<F>) -> Pair<F> {
    let square = r.hi * r.hi;
    Pair::new(r.hi, (square * r.hi).fma(polynomial(&SIN, square), r.lo))
}

/// The cosine of `r`.
fn cosine_near<F: Real>(r: Pair<F>) -> Pair<F> {
    let square = r.hi * r.hi;
    let Pair { hi, lo } = Pair::ordered_sum(c(1.0), square * c(-0.5));
    Pair::new(hi, lo + (square * square).fma(polynomial(&COS, square), -(r.hi * r.lo)))
}

impl<F: Real> Reduced<F> {
    /// Whether `k` is even.
    fn is_even(&self) -> F::Truth {
        self.quadrant.and(F::Bits::of(1)).same(F::Bits::of(0))
    }

    /// A quarter of a turn ahead.
    fn ahead(self) -> Reduced<F> {
        Reduced { quadrant: self.quadrant.plus(F::Bits::of(1)), r: self.r }
    }

    fn sine(self) -> F {
        let value = Pair::select(self.is_even(), sine_near(self.r), cosine_near(self.r)).value();
        let sign = by_type::<F, _>(63, 31);
        F::from_bits(value.bits().xor(self.quadrant.up(sign - 1).and(F::Bits::of(1 << sign))))
    }

    fn tangent(self) -> F {
        let (sine, cosine) = (sine_near(self.r).settled(), cosine_near(self.r).settled());
        let minus_cosine = Pair::new(-cosine.hi, -cosine.lo);
        let is_even = self.is_even();
        let dividend = Pair::select(is_even, sine, minus_cosine);
        dividend.over(Pair::select(is_even, cosine, sine)).value()
    }
}

/// The value, but `x` itself at the zeros.
fn with_zero<F: Real>(x: F, value: F) -> F {
    F::select(x.same(c(0.0)), x, value)
}

/// Sine of an angle that is not far.
pub(crate) fn sin<F: Real>(x: F) -> F {
    with_zero(x, reduce(x).sine())
}

/// Cosine of an angle that is not far.
pub(crate) fn cos<F: Real>(x: F) -> F {
    reduce(x).ahead().sine()
}

/// Tangent of an angle that is not far.
pub(crate) fn tan<F: Real>(x: F) -> F {
    with_zero(x, reduce(x).tangent())
}

/// Sine of any angle.
pub(crate) fn any_sin<F: Machine>(x: F) -> F {
    if is_far(x) { F::narrow(reduce_far(x.widen()).sine()) } else { sin(x) }
}

/// Cosine of any angle.
pub(crate) fn any_cos<F: Machine>(x: F) -> F {
    if is_far(x) { F::narrow(reduce_far(x.widen()).ahead().sine()) } else { cos(x) }
}

/// Tangent of any angle.
pub(crate) fn any_tan<F: Machine>(x: F) -> F {
    if is_far(x) { F::narrow(reduce_far(x.widen()).tangent()) } else { tan(x) }
}

/// A far angle, reduced; one that is not finite gives NaN.
fn reduce_far(x: f64) -> Reduced<f64> {
    if !x.is_finite() {
        return Reduced { quadrant: 0, r: Pair::new(f64::NAN, f64::NAN) };
    }
    let bits = x.to_bits();
    let significand = u128::from(bits & ((1 << 52) - 1) | 1 << 52);
    // |x| is the significand times 2^exponent. In the product with 2/pi only the bits from 2 before the point on count;
    // 192 of them leave more than 120 that are right.
    let exponent = (bits >> 52 & 0x7FF) as isize - 1075;
    let window: [u64; 3] = std::array::from_fn(|k| digits(exponent - 2 + 64 * k as isize));
    let low = significand * u128::from(window[2]);
    let middle = significand * u128::from(window[1]) + (low >> 64);
    let high = (significand as u64).wrapping_mul(window[0]).wrapping_add((middle >> 64) as u64);
    // In units of a quarter turn: two bits before the point, then the fraction.
    let turns = u128::from(high) << 64 | u128::from(middle as u64);
    let quadrant = (turns >> 126) as u64;
    let fraction = (turns << 2 | u128::from(low as u64 >> 62)) as i128;
    // A fraction from 1/2 on counts from the next quadrant.
    let quadrant = quadrant.wrapping_add(u64::from(fraction < 0));
    let hi = fraction as f64;
    let lo = fraction.wrapping_sub(hi as i128) as f64;
    let unit = 0.5_f64.powi(64) * 0.5_f64.powi(64);
    let r = Pair::new(hi * unit, lo * unit).times_pair(Pair::new(HALF_PI.double[0], HALF_PI.double[1])).settled();
    if x < 0.0 {
        return Reduced { quadrant: quadrant.wrapping_neg(), r: Pair::new(-r.hi, -r.lo) };
    }
    Reduced { quadrant, r }
}

/// 64 binary digits of `2/pi`, from the one at `2^-(first + 1)` on.
fn digits(first: isize) -> u64 {
    let word = |k: isize| usize::try_from(k).map_or(0, |k| TWO_OVER_PI.get(k).copied().unwrap_or(0));
    let (at, by) = (first.div_euclid(64), first.rem_euclid(64));
    let pair = u128::from(word(at)) << 64 | u128::from(word(at + 1));
    (pair >> (64 - by)) as u64
}
