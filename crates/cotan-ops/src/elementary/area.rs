//! Inverse hyperbolic functions: logarithms of sums, which are kept in two parts.

use super::logarithm::{at_edges, log_of_pair};
use super::real::{Pair, Real, by_type, c};

/// From here on the square of a number hides 1 beside it.
fn large<F: Real>() -> F {
    c(by_type::<F, _>(1e9, 1e5))
}

/// `log(1 + x)` for a positive `x`; where `is_large` holds, `log(2 large)` instead.
fn log_beyond_one<F: Real>(x: Pair<F>, is_large: F::Truth, large: F) -> F {
    let sum = Pair::sum(c(1.0), x.hi);
    let sum = Pair::new(sum.hi, sum.lo + x.lo);
    let of = Pair::select(is_large, Pair::new(large, c(0.0)), sum);
    at_edges(of.hi, log_of_pair(of, F::select(is_large, c(1.0), c(0.0))).value())
}

/// Inverse hyperbolic sine: with `q = x^2`, `log(1 + x + q/(1 + sqrt(1 + q)))`.
pub(crate) fn asinh<F: Real>(x: F) -> F {
    let size = x.abs();
    let square = Pair::product(size, size);
    let root = square.plus(c(1.0)).root();
    let rest = square.over(root.plus(c(1.0)));
    let argument = rest.plus(size);
    log_beyond_one(argument, size.gt(large()), size).copysign(x)
}

/// Inverse hyperbolic cosine: with `t = x - 1`, `log(1 + t + sqrt(t (t + 2)))`.
pub(crate) fn acosh<F: Real>(x: F) -> F {
    let less = Pair::sum(x, c(-1.0));
    let root = less.times_pair(Pair::sum(x, c(1.0))).root();
    let argument = Pair::sum(root.hi, less.hi);
    let argument = Pair::new(argument.hi, argument.lo + (root.lo + less.lo));
    let value = log_beyond_one(argument, x.gt(large()), x);
    F::select(x.lt(c(1.0)), c(f64::NAN), value)
}

/// Inverse hyperbolic tangent: half of `log(1 + 2 x/(1 - x))`.
pub(crate) fn atanh<F: Real>(x: F) -> F {
    let size = x.abs();
    let quotient = Pair::new(size + size, c(0.0)).over(Pair::sum(c(1.0), -size));
    let sum = Pair::sum(c(1.0), quotient.hi);
    let sum = Pair::new(sum.hi, sum.lo + quotient.lo);
    let value = log_of_pair(sum, c(0.0)).value() * c(0.5);
    let value = F::select(size.lt(c(1.0)), value, c(f64::NAN));
    F::select(size.same(c(1.0)), c(f64::INFINITY), value).copysign(x)
}
