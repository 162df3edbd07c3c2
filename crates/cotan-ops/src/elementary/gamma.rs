//! The logarithm of the gamma function: from 8 on Stirling's series (Abramowitz and Stegun, 6.1.41), below that a
//! polynomial around 2, reached by the recurrence (6.1.15). What is not positive is left to the host and reflected (6.1.17).

use super::coefficients::{GAMMA, GAMMA_SLOPE, LN_PI, SIN_PI, STIRLING, STIRLING_CONSTANT};
use super::exponential::rounding;
use super::logarithm::{log, log_of_pair, log_to_double_precision};
use super::real::{Machine, Pair, Real, c, polynomial};

/// From here on Stirling's series is used.
const LARGE: f64 = 8.0;
/// The greatest number of steps from 2 to what is less than [`LARGE`].
const STEPS: u32 = 6;

/// Whether a number is left to the host.
pub(crate) fn is_not_positive<F: Real>(x: F) -> F::Truth {
    x.le(c(0.0))
}

/// `log(gamma(x))` for positive `x`.
pub(crate) fn lgamma<F: Real>(x: F) -> F {
    F::select(x.lt(c(f64::INFINITY)), positive(x).value(), x)
}

fn positive<F: Real>(x: F) -> Pair<F> {
    let (is_large, is_low, is_least) = (x.ge(c(LARGE)), x.lt(c(1.5)), x.lt(c(0.5)));
    // `x` lies `steps` steps above or below `2 + t`, with `|t|` up to 1/2.
    let beyond = x - c(2.0);
    let steps = (beyond + rounding()) - rounding();
    let t = F::select(is_least, x, F::select(is_low, x - c(1.0), beyond - steps));
    let step = |k: u32| F::select(steps.ge(c(k.into())), x - c(k.into()), c(1.0));
    let above = (2..=STEPS).fold(Pair::new(step(1), c(0.0)), |product, k| product.times(step(k)));
    let below = Pair::select(is_least, Pair::product(x, x).beside(x), Pair::new(x, c(0.0)));
    let product = Pair::select(is_low, below, above);

    let product = Pair::select(is_large, Pair::new(x, c(0.0)), product);
    // Between 1 and 1.5 the logarithm and the polynomial cancel out to a third, for which f32 has too few bits.
    let log = if F::IS_SINGLE {
        let log = log_to_double_precision(product.hi);
        Pair::new(log.hi, log.lo + product.lo / product.hi)
    } else {
        log_of_pair(product, c(0.0))
    };
    let signed = Pair::select(is_low, log.negated(), log);
    let at_two = GAMMA_SLOPE.of::<F>();
    let slope = Pair::ordered_sum(c(at_two[0]), t * polynomial(&GAMMA, t));
    let beside = Pair::new(slope.hi, slope.lo + c(at_two[1])).times(t);
    let small = signed.plus(beside.hi);
    let small = Pair::new(small.hi, small.lo + beside.lo);

    // Settled, or its first part, which is a little too large, would overflow before the value does.
    let main = log.settled().plus(c(-1.0)).times(x - c(0.5));
    let reciprocal = c::<F>(1.0) / x;
    let series = reciprocal.fma(polynomial(&STIRLING, reciprocal * reciprocal), c(STIRLING_CONSTANT.of::<F>()[0]));
    // Where the first part overflows, the second is not a number.
    let rest = F::select(main.hi.lt(c(f64::INFINITY)), main.lo + series, c(0.0));
    Pair::select(is_large, Pair::new(main.hi, rest), small)
}

/// `log |gamma(x)|` for any `x`.
pub(crate) fn any_lgamma<F: Machine>(x: F) -> F {
    if is_not_positive(x) { F::narrow(reflected(x.widen())) } else { lgamma(x) }
}

/// `log |gamma(x)|` for an `x` that is not positive.
fn reflected(x: f64) -> f64 {
    if x == x.trunc() {
        return f64::INFINITY;
    }
    if x > -1e-20 {
        return -log(-x);
    }
    // `|gamma(x) gamma(-x)| = pi / |x sin(pi x)|`, the sine by the distance to the nearest whole number.
    let distance = (x - x.round()).abs();
    let sine = distance * polynomial(&SIN_PI, distance * distance);
    let divisor = log_of_pair(Pair::product(-x, sine), 0.0);
    let mirrored = positive(-x);
    let sum = Pair::sum(-divisor.hi, -mirrored.hi);
    let total = sum.plus(LN_PI.double[0]);
    total.hi + (total.lo + (LN_PI.double[1] - divisor.lo - mirrored.lo))
}
