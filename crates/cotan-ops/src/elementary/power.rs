//! Roots, powers, lengths, and rounding.

use super::arc::small;
use super::coefficients::RECIPROCAL_CBRT;
use super::exponential::{clamp, exp_of_pair, least, power_of_two, rounding};
use super::logarithm::{Split, log_to_double_precision, split};
use super::real::{Pair, Real, by_type, c, polynomial};

/// A greater exponent makes the same of every number but 1.
const GREATEST: f64 = 1e20;

/// Cube root: that of `m`, from 1/`sqrt(2)` to 8 times that, by an approximation of its reciprocal that is made three
/// times as good twice, for f32 once (E. Halley, 1694), then once as a residue; times 2 to a third of the exponent.
pub(crate) fn cbrt<F: Real>(x: F) -> F {
    let size = x.abs();
    let Split { e, m } = split(size);
    let third = (e - c(1.0)).fma(c(1.0 / 3.0), rounding());
    let whole = third - rounding();
    let left = whole.fma(c(-3.0), e);
    let m = m * power_of_two((left + rounding()).bits());
    let better = |y: F| {
        let h = (-(m * y)).fma(y * y, c(1.0));
        y.fma(h * h.fma(c(2.0 / 9.0), c(1.0 / 3.0)), y)
    };
    let reciprocal = better(polynomial(&RECIPROCAL_CBRT, m));
    let reciprocal = if F::IS_SINGLE { reciprocal } else { better(reciprocal) };
    let square = reciprocal * reciprocal;
    let near = m * square;
    let cube = Pair::product(near, near).times(near);
    let residue = (m - cube.hi) - cube.lo;
    let root = residue.fma(square * c(1.0 / 3.0), near) * power_of_two(third.bits());
    let root = F::select(size.lt(c(f64::INFINITY)), root, size);
    F::select(size.same(c(0.0)), size, root).copysign(x)
}

/// Length of a vector of two.
pub(crate) fn hypot<F: Real>(x: F, y: F) -> F {
    let (x, y) = (x.abs(), y.abs());
    let (greater, lesser) = (F::select(x.lt(y), y, x), F::select(x.lt(y), x, y));
    let is_small = greater.lt(c(small::<F>()));
    let is_large = greater.gt(c(1.0 / small::<F>()));
    let choose = |small: f64, large: f64| F::select(is_small, c(small), F::select(is_large, c(large), c(1.0)));
    let up = 2f64.powi(by_type::<F, _>(600, 98));
    let down = 2f64.powi(by_type::<F, _>(-600, -80));
    let (scale, back) = (choose(up, down), choose(1.0 / up, 1.0 / down));
    let (a, b) = (greater * scale, lesser * scale);
    let length = a.fma(a, b * b).sqrt() * back;
    let infinite = c::<F>(f64::INFINITY);
    F::select(x.same(infinite) | y.same(infinite), infinite, length)
}

/// Power.
pub(crate) fn pow<F: Real>(x: F, y: F) -> F {
    let size = x.abs();
    let log = log_to_double_precision(size).times(clamp(y, -GREATEST, GREATEST));
    let is_whole = y.trunc().same(y);
    let half = y * c(0.5);
    raised(x, y, log, is_whole, is_whole & !half.trunc().same(half))
}

/// The power whose exponent is less by 1.
pub(crate) fn power_below<F: Real>(x: F, y: F) -> F {
    let less = Pair::sum(y, c(-1.0));
    // Beside an infinite exponent there is no rest.
    let rest = F::select(less.lo.same(less.lo), less.lo, c(0.0));
    let exponent = Pair::new(clamp(less.hi, -GREATEST, GREATEST), rest);
    let log = log_to_double_precision(x.abs()).times_pair(exponent);
    let is_whole = y.trunc().same(y);
    let half = y * c(0.5);
    raised(x, less.hi, log, is_whole, is_whole & half.trunc().same(half))
}

/// `x` to the power `y`, whose product with the logarithm of the magnitude of `x` is given.
fn raised<F: Real>(x: F, y: F, log: Pair<F>, is_whole: F::Truth, is_odd: F::Truth) -> F {
    let size = x.abs();
    let hi = clamp(log.hi, least::<F>(), by_type::<F, _>(711.0, 90.0));
    let lo = F::select(hi.same(log.hi), log.lo, c(0.0));
    let (parts, scale) = exp_of_pair(Pair::new(hi, lo));
    let inside = scale.times(parts.value());

    let (zero, infinite) = (c::<F>(0.0), c::<F>(f64::INFINITY));
    let (is_zero, is_infinite) = (size.same(zero), size.same(infinite));
    let grows = is_zero & y.lt(zero) | is_infinite & y.gt(zero);
    let at_edge = F::select(grows, infinite, zero);
    let value = F::select(is_zero | is_infinite, at_edge, inside);

    let is_negative = c::<F>(1.0).copysign(x).lt(zero);
    let value = F::select(is_negative & is_odd, -value, value);
    let is_real = !(x.lt(zero) & !is_infinite) | is_whole;
    let value = F::select(is_real & x.same(x) & y.same(y), value, c(f64::NAN));
    let value = F::select(y.same(c(1.0)), x, value);
    F::select(y.same(zero) | x.same(c(1.0)), c(1.0), value)
}

/// The nearest whole number, halves away from 0. For any type.
pub(crate) fn round<F: Real>(x: F) -> F {
    let whole = x.trunc();
    let next = whole + c::<F>(1.0).copysign(x);
    F::select((x - whole).abs().ge(c(0.5)), next, whole).copysign(x)
}
