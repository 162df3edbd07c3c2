//! One-sided derivatives: whether a kink near the point explains what differences say of a derivative.
//!
//! A side on which all decisions are those of the point is *clean*: no kink lies within the step, and the difference to
//! that side is that of one formula. If exactly one side is clean, the derivative has to be that side's. If none is, the
//! point is at a kink or among many, and the derivative lies between those of the sides (an element of the Clarke
//! subdifferential of a function of one variable). A side whose differences grow as the step shrinks is at a jump, and says
//! nothing.

use super::ladder::{Precision, Rung};

/// The difference to one side of which the function has values, at the finest step that rounding allows.
#[derive(Clone, Copy, Debug)]
struct Side {
    slope: f64,
    /// The error that rounding and curvature explain.
    allowance: f64,
    /// Whether it grows as the step shrinks.
    diverges: bool,
}

/// Whether a kink explains a derivative that differences do not confirm. `rungs` go from coarse to fine, `clean` tells of
/// the lower and the upper side, `accepted` is the error that passes.
pub(super) fn explains(
    derivative: f64,
    rungs: &[Rung],
    at_point: f64,
    clean: [bool; 2],
    precision: Precision,
    accepted: f64,
) -> bool {
    let [lower, upper] = [-1.0, 1.0].map(|sign| side(rungs, at_point, sign, precision, accepted));
    let sides = [lower, upper].into_iter().flatten();
    if derivative.is_infinite() {
        // A vertical slope, as that of a root at 0.
        return sides.clone().any(|side| side.diverges && side.slope * derivative > 0.0);
    }
    let is_at = |side: Side| (derivative - side.slope).abs() <= side.allowance;
    match (clean, lower, upper) {
        ([true, false], Some(clean), _) | ([false, true], _, Some(clean)) => is_at(clean),
        (_, None, None) => false,
        _ => {
            let steady: Vec<Side> = sides.filter(|side| !side.diverges).collect();
            let below = steady.iter().map(|side| side.slope - side.allowance).fold(f64::INFINITY, f64::min);
            let above = steady.iter().map(|side| side.slope + side.allowance).fold(f64::NEG_INFINITY, f64::max);
            steady.is_empty() || below <= derivative && derivative <= above
        }
    }
}

/// Whether the slopes of the two sides differ by more than rounding and curvature explain.
pub(super) fn disagree(rungs: &[Rung], at_point: f64, precision: Precision, accepted: f64) -> bool {
    let sides = [-1.0, 1.0].map(|sign| side(rungs, at_point, sign, precision, accepted));
    let [Some(lower), Some(upper)] = sides else { return false };
    lower.diverges || upper.diverges || (lower.slope - upper.slope).abs() > lower.allowance + upper.allowance
}

fn side(rungs: &[Rung], at_point: f64, sign: f64, precision: Precision, accepted: f64) -> Option<Side> {
    let [.., coarse, middle, fine] = rungs else { return None };
    let [coarse, middle, slope] = [coarse, middle, fine].map(|rung| rung.to_side(at_point, sign));
    if !(coarse.is_finite() && middle.is_finite() && slope.is_finite()) {
        return None;
    }
    let grows = |fine: f64, coarse: f64| fine.abs() > 1.5 * coarse.abs();
    let diverges = grows(slope, middle) && grows(middle, coarse);
    // A one-sided difference has half the width of a central one.
    let allowance = accepted + 2.0 * fine.noise(precision, at_point) + (slope - middle).abs();
    Some(Side { slope, allowance, diverges })
}

#[cfg(test)]
mod tests {
    use super::super::ladder::DOUBLE;
    use super::*;

    fn rungs(f: impl Fn(f64) -> f64) -> Vec<Rung> {
        let steps = (0..8).map(|k| 0.0625 * 0.25f64.powi(k));
        steps.map(|step| Rung { step, high: f(step), low: f(-step) }).collect()
    }

    fn accepts(f: fn(f64) -> f64, clean: [bool; 2], derivative: f64) -> bool {
        explains(derivative, &rungs(f), f(0.0), clean, DOUBLE, 1e-6)
    }

    #[test]
    fn at_a_kink_the_derivative_lies_between_those_of_the_sides() {
        let [inside, outside] = [[-1.0, 0.0, 0.5, 1.0], [-1.5, -1.01, 1.01, 2.0]];
        assert!(inside.iter().all(|d| accepts(f64::abs, [false, false], *d)));
        assert!(!outside.iter().any(|d| accepts(f64::abs, [false, false], *d)));
    }

    #[test]
    fn beside_a_kink_it_is_that_of_the_clean_side() {
        assert!(accepts(|x| x.max(0.0), [false, false], 0.0));
        let bent = |x: f64| if x < 1e-9 { 3.0 * x } else { 5.0 * x - 2e-9 };
        assert!(accepts(bent, [true, false], 3.0) && !accepts(bent, [true, false], 4.0));
    }

    #[test]
    fn a_function_without_values_explains_nothing() {
        assert!(!accepts(|_| f64::NAN, [false, false], 0.0));
    }

    #[test]
    fn a_jump_leaves_the_other_side_to_judge() {
        let step = |x: f64| if x > 0.0 { 1.0 + x } else { 2.0 * x };
        assert!(accepts(step, [false, false], 2.0) && !accepts(step, [false, false], 5.0));
        assert!(disagree(&rungs(step), 0.0, DOUBLE, 1e-6) && !disagree(&rungs(f64::sin), 0.0, DOUBLE, 1e-6));
    }
}
