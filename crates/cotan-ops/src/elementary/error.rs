//! The error function: near 0 a polynomial, beyond 1/2 one for its complement, freed of its decay (M. M. Shepherd and
//! J. G. Laframboise, 1981).

use super::coefficients::{ERF, ERFC};
use super::exponential::{Scale, clamp, exp_of_pair};
use super::real::{Pair, Real, by_type, c, polynomial, polynomial_in_parts};

/// Up to here the error function is taken from its own polynomial.
const NEAR: f64 = 0.5;

/// `erf(x)` for `|x|` up to 1/2.
fn near<F: Real>(x: F) -> Pair<F> {
    Pair::new(x, x * polynomial(&ERF, x * x))
}

/// `erfc(x)` for a positive `x` from 1/2 on, less a scale.
fn far<F: Real>(x: F) -> (Pair<F>, Scale<F>) {
    let x = clamp(x, NEAR, by_type::<F, _>(27.3, 10.6));
    let t = (x - c(3.7)) / (x + c(3.7));
    let slow = polynomial_in_parts(&ERFC, t).over(Pair::sum(c(1.0), x + x));
    let (decay, scale) = exp_of_pair(Pair::product(-x, x));
    (decay.times_pair(slow), scale)
}

/// Error function.
pub(crate) fn erf<F: Real>(x: F) -> F {
    let size = x.abs();
    let (complement, scale) = far(size);
    let negative = Pair::new(scale.times(-complement.hi), scale.times(-complement.lo));
    F::select(size.le(c(NEAR)), near(size).value(), negative.beside(c(1.0)).value()).copysign(x)
}

/// Complement of the error function.
pub(crate) fn erfc<F: Real>(x: F) -> F {
    let size = x.abs();
    let (complement, scale) = far(size);
    let beyond = scale.times(complement.value());
    let beyond = F::select(x.lt(c(0.0)), c::<F>(2.0) - beyond, beyond);
    F::select(size.le(c(NEAR)), near(x).negated().beside(c(1.0)).value(), beyond)
}
