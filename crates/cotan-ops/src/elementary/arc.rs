//! Inverse circular functions.

use super::coefficients::{ASIN, ATAN, HALF_PI};
use super::exponential::at_most;
use super::real::{Pair, Real, by_type, c, polynomial};

/// `sqrt(2) - 1`, the tangent of an eighth of half a turn.
const EIGHTH: f64 = std::f64::consts::SQRT_2 - 1.0;
/// Squares of numbers between this and its reciprocal neither overflow nor vanish.
pub(super) fn small<F: Real>() -> f64 {
    2f64.powi(by_type::<F, _>(-300, -40))
}

/// The angle, from 0 to a quarter of a turn, of a point in the first quadrant whose coordinates are finite, not both 0,
/// and far from the greatest and least numbers unless their quotient is.
fn first_quadrant<F: Real>(y: F, x: F) -> Pair<F> {
    // Turned by an eighth or a quarter of a turn the point lies within an eighth of half a turn of the axis.
    let is_low = y.lt(x * c(EIGHTH));
    let is_high = x.lt(y * c(EIGHTH));
    let choose =
        |low: Pair<F>, middle: Pair<F>, high: Pair<F>| Pair::select(is_low, low, Pair::select(is_high, high, middle));
    let zero = c::<F>(0.0);
    let dividend = choose(Pair::new(y, zero), Pair::sum(y, -x), Pair::new(-x, zero));
    let divisor = choose(Pair::new(x, zero), Pair::sum(y, x), Pair::new(y, zero));
    let half_pi = HALF_PI.of::<F>();
    let turned = choose(
        Pair::of([0.0, 0.0]),
        Pair::of([half_pi[0] / 2.0, half_pi[1] / 2.0]),
        Pair::of([half_pi[0], half_pi[1]]),
    );
    // A plain quotient, because a reciprocal may overflow where the quotient does not.
    let t = dividend.hi / divisor.hi;
    let left = (-t).fma(divisor.hi, dividend.hi) + (-t).fma(divisor.lo, dividend.lo);
    let square = t * t;
    let rest = (square * t).fma(polynomial(&ATAN, square), left / divisor.hi);
    let sum = Pair::ordered_sum(turned.hi, t);
    Pair::new(sum.hi, sum.lo + (turned.lo + rest))
}

/// Inverse tangent.
pub(crate) fn atan<F: Real>(x: F) -> F {
    // So far out the angle is a quarter of a turn.
    let size = at_most(x.abs(), by_type::<F, _>(1e300, 1e30));
    first_quadrant(size, c(1.0)).value().copysign(x)
}

/// Angle of a point.
pub(crate) fn atan2<F: Real>(y: F, x: F) -> F {
    let (height, width) = (y.abs(), x.abs());
    let infinite = c::<F>(f64::INFINITY);
    let is_infinite = height.same(infinite) | width.same(infinite);
    // An infinite coordinate counts 1, beside which a finite one counts 0.
    let side = |size: F| {
        let of_infinite = F::select(size.same(infinite), c(1.0), c(0.0));
        F::select(is_infinite, of_infinite, size)
    };
    let (height, width) = (side(height), side(width));
    let greater = F::select(height.lt(width), width, height);
    let small = small::<F>();
    let scale = F::select(greater.lt(c(small)), c(1.0 / small), c(1.0));
    let scale = F::select(greater.gt(c(1.0 / small)), c(small), scale);
    // Where both are zero, the point counts as lying on the right.
    let is_origin = greater.same(c(0.0));
    let right = F::select(is_origin, c(1.0), width * scale);
    let angle = first_quadrant(height * scale, right);
    let is_left = c::<F>(1.0).copysign(x).lt(c(0.0));
    let half_pi = HALF_PI.of::<F>();
    let half_turn = angle.negated().beside(c(2.0 * half_pi[0]));
    let turned = Pair::new(half_turn.hi, half_turn.lo + c(2.0 * half_pi[1]));
    let value = Pair::select(is_left, turned, angle).value().copysign(y);
    // The coordinates replaced above may have hidden one that is not a number.
    let is_number = x.same(x) & y.same(y);
    F::select(is_number, value, c(f64::NAN))
}

/// An angle of at most a sixth of half a turn, from which both inverse functions follow.
struct Part<F: Real> {
    /// Whether it is the arc sine of the operand; else it is half of the arc cosine of the operand's magnitude.
    is_near: F::Truth,
    angle: Pair<F>,
}

fn part<F: Real>(x: F) -> Part<F> {
    let size = x.abs();
    let is_near = size.le(c(0.5));
    // Exact from 1/2 to 1: the square of the sine of half the angle.
    let half = (c::<F>(1.0) - size) * c(0.5);
    let square = F::select(is_near, x * x, half);
    let sine = Pair::select(is_near, Pair::new(x, c(0.0)), Pair::new(half, c(0.0)).root());
    let lo = (sine.hi * square).fma(polynomial(&ASIN, square), sine.lo);
    Part { is_near, angle: Pair::new(sine.hi, lo) }
}

/// Inverse sine.
pub(crate) fn asin<F: Real>(x: F) -> F {
    let Part { is_near, angle } = part(x);
    let half_pi = HALF_PI.of::<F>();
    let rest = angle.scaled(c(-2.0)).beside(c(half_pi[0]));
    let far = rest.hi + (rest.lo + c(half_pi[1]));
    F::select(is_near, angle.value(), far).copysign(x)
}

/// Inverse cosine: `pi/2` less the arc sine, or twice the angle, or what that lacks to half a turn.
pub(crate) fn acos<F: Real>(x: F) -> F {
    let Part { is_near, angle } = part(x);
    let is_negative = x.lt(c(0.0));
    let choose = |near: f64, negative: f64, positive: f64| {
        F::select(is_near, c(near), F::select(is_negative, c(negative), c(positive)))
    };
    let half_pi = HALF_PI.of::<F>();
    let sum = angle.scaled(choose(-1.0, -2.0, 2.0)).beside(choose(half_pi[0], 2.0 * half_pi[0], 0.0));
    sum.hi + (sum.lo + choose(half_pi[1], 2.0 * half_pi[1], 0.0))
}
