//! Richardson extrapolation of central differences: a ladder of steps, each a quarter of the one before.
//!
//! The differences are extrapolated to step zero in a tableau (Ridders, "Accurate computation of F'(x) and F'(x)F''(x)",
//! 1982); the estimate kept is the one that its neighbours and the rounding of the function's values confirm best.

use crate::CallError;

/// What rounding and the tolerances depend on.
#[derive(Clone, Copy)]
pub(super) struct Precision {
    /// The relative rounding of values.
    pub(super) epsilon: f64,
    /// The rounding of points in units of the parameter; none where all of its values are zero.
    pub(super) of_points: f64,
    /// How many steps are taken at first.
    pub(super) n_steps: usize,
    pub(super) tolerance: f64,
    pub(super) mode_tolerance: f64,
    /// The largest part of a slope that rounding may explain where differences are to confirm it.
    pub(super) most_noise: f64,
}

pub(super) const DOUBLE: Precision = Precision {
    epsilon: f64::EPSILON,
    of_points: f64::EPSILON,
    n_steps: 6,
    tolerance: 1e-6,
    mode_tolerance: 1e-9,
    most_noise: 1e-2,
};
const EPSILON_F32: f64 = f32::EPSILON as f64;
pub(super) const SINGLE: Precision = Precision {
    epsilon: EPSILON_F32,
    of_points: EPSILON_F32,
    n_steps: 4,
    tolerance: 1e-2,
    mode_tolerance: 1e-3,
    most_noise: 1e-1,
};

/// The function along a direction: its value at a distance from the point.
pub(super) type Along<'a> = dyn FnMut(f64) -> Result<f64, CallError> + 'a;

/// The values at one step to both sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rung {
    pub(super) step: f64,
    pub(super) high: f64,
    pub(super) low: f64,
}

impl Rung {
    /// The central difference.
    pub(super) fn central(&self) -> f64 {
        (self.high - self.low) / (2.0 * self.step)
    }

    /// The difference to one side, `sign` of it.
    pub(super) fn to_side(self, at_point: f64, sign: f64) -> f64 {
        let there = if sign > 0.0 { self.high } else { self.low };
        sign * (there - at_point) / self.step
    }

    /// The larger of the slopes to both sides.
    fn steepest(&self, at_point: f64) -> f64 {
        self.to_side(at_point, 1.0).abs().max(self.to_side(at_point, -1.0).abs())
    }

    /// The error of a difference that rounding of the values and of the points explains.
    pub(super) fn noise(&self, precision: Precision, at_point: f64) -> f64 {
        noise(precision, self.high.abs().max(self.low.abs()), self.steepest(at_point), self.step)
    }
}

/// The error that rounding explains in a difference of values of this size.
pub(super) fn noise(precision: Precision, size: f64, slope: f64, step: f64) -> f64 {
    (8.0 * precision.epsilon * size + precision.of_points * slope) / step
}

/// An estimate of the derivative.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimate {
    pub(super) value: f64,
    /// The error that rounding explains.
    pub(super) noise: f64,
    /// The larger slope of a side at the step of the estimate.
    pub(super) steepest: f64,
}

/// Differences at steps that shrink.
pub(super) struct Ladder {
    pub(super) precision: Precision,
    pub(super) at_point: f64,
    /// One for each step. A step that leaves the domain of the function has no difference.
    pub(super) rungs: Vec<Rung>,
    next_step: f64,
    /// The last row of the tableau: the difference, then its extrapolations with the steps before it.
    row: Vec<f64>,
    best: Option<(f64, Estimate)>,
}

impl Ladder {
    pub(super) fn new(precision: Precision, at_point: f64, first_step: f64) -> Ladder {
        Ladder { precision, at_point, rungs: Vec::new(), next_step: first_step, row: Vec::new(), best: None }
    }

    /// The same from these rungs.
    pub(super) fn of(precision: Precision, at_point: f64, rungs: &[Rung]) -> Ladder {
        let mut ladder = Ladder::new(precision, at_point, 0.0);
        rungs.iter().for_each(|rung| ladder.add(*rung));
        ladder
    }

    /// What the differences say.
    pub(super) fn estimate(&self) -> Option<Estimate> {
        self.best.map(|(_, estimate)| estimate)
    }

    /// The error that rounding would explain at the next step.
    pub(super) fn next_noise(&self) -> f64 {
        let slope = self.rungs.last().map_or(0.0, |rung| rung.steepest(self.at_point));
        noise(self.precision, self.at_point.abs(), slope, self.next_step)
    }

    /// Takes the next step, to both sides.
    pub(super) fn climb(&mut self, along: &mut Along<'_>) -> Result<(), CallError> {
        let step = self.next_step;
        self.next_step /= 4.0;
        self.add(Rung { step, high: along(step)?, low: along(-step)? });
        Ok(())
    }

    fn add(&mut self, rung: Rung) {
        self.rungs.push(rung);
        if !rung.central().is_finite() {
            return self.row.clear();
        }
        let (noise, steepest) = (rung.noise(self.precision, self.at_point), rung.steepest(self.at_point));
        let mut row = vec![rung.central()];
        for (j, coarse) in self.row.iter().enumerate() {
            let fine = row[j];
            let value = fine + (fine - coarse) / (16f64.powi(j as i32 + 1) - 1.0);
            let doubt = (value - fine).abs().max((value - coarse).abs()) + noise / 8.0;
            if self.best.is_none_or(|(least, _)| doubt < least) {
                self.best = Some((doubt, Estimate { value, noise, steepest }));
            }
            row.push(value);
        }
        if self.best.is_none() {
            self.best = Some((f64::INFINITY, Estimate { value: rung.central(), noise, steepest }));
        }
        self.row = row;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn derivative(f: impl Fn(f64) -> f64) -> f64 {
        let mut ladder = Ladder::new(DOUBLE, f(0.0), 0.0625);
        for _ in 0..DOUBLE.n_steps {
            ladder.climb(&mut |h| Ok(f(h))).expect("the function has values");
        }
        ladder.estimate().map_or(f64::NAN, |estimate| estimate.value)
    }

    #[test]
    fn differences_are_extrapolated_to_many_digits() {
        assert!((derivative(|h| (1.0 + h).sin()) - 1f64.cos()).abs() < 1e-12);
        assert!((derivative(|h| (3.0 + h).powi(3)) - 27.0).abs() < 1e-10);
        assert_eq!(derivative(|h| 2.0 * h), 2.0);
    }

    #[test]
    fn steps_outside_the_domain_are_skipped() {
        assert!((derivative(|h| (0.01 + h).ln()) - 100.0).abs() < 1e-6);
    }
}
