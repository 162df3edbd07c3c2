//! The digamma function and its derivatives.
//!
//! Above a bound by the asymptotic series (Abramowitz and Stegun, 6.3.18 and 6.4.11), below it by stepping up with the
//! recurrence (6.3.5, 6.4.6), for negative arguments by reflection (6.3.7, 6.4.7). `f32` computes in `f64`.

use crate::elementary;
use crate::num::Num;
use std::f64::consts::PI;

/// The greatest order of [`Gamma::polygamma`].
pub const MAX_ORDER: i64 = 100;

/// The Bernoulli numbers of even index, from the second on.
pub const BERNOULLI: [f64; 10] = [
    1.0 / 6.0,
    -1.0 / 30.0,
    1.0 / 42.0,
    -1.0 / 30.0,
    5.0 / 66.0,
    -691.0 / 2730.0,
    7.0 / 6.0,
    -3617.0 / 510.0,
    43867.0 / 798.0,
    -174_611.0 / 330.0,
];

/// A float with the gamma function's family.
pub trait Gamma: Num {
    /// The derivative of the logarithm of the gamma function.
    fn digamma(self) -> Self;
    /// The derivative of `digamma` of the given order.
    fn polygamma(self, order: i64) -> Self;
}

impl Gamma for f64 {
    fn digamma(self) -> f64 {
        digamma(self)
    }

    fn polygamma(self, order: i64) -> f64 {
        polygamma(self, order)
    }
}

impl Gamma for f32 {
    fn digamma(self) -> f32 {
        digamma(self.into()) as f32
    }

    fn polygamma(self, order: i64) -> f32 {
        polygamma(self.into(), order) as f32
    }
}

fn is_pole(x: f64) -> bool {
    x <= 0.0 && x == libm::floor(x)
}

/// `cot(pi x)`; only the distance to the nearest whole number matters.
fn cot_pi(x: f64) -> f64 {
    1.0 / elementary::tan(PI * (x - libm::round(x)))
}

fn digamma(x: f64) -> f64 {
    if x.is_nan() || is_pole(x) {
        return f64::NAN;
    }
    if x < 0.0 {
        return digamma(1.0 - x) - PI * cot_pi(x);
    }
    let (mut x, mut steps) = (x, 0.0);
    while x < 12.0 {
        steps += 1.0 / x;
        x += 1.0;
    }
    let mut power = 1.0;
    let mut series = 0.0;
    for (k, bernoulli) in BERNOULLI.iter().enumerate() {
        power /= x * x;
        series += bernoulli / (2.0 * (k as f64 + 1.0)) * power;
    }
    elementary::log(x) - 0.5 / x - series - steps
}

fn polygamma(x: f64, order: i64) -> f64 {
    if order == 0 {
        return digamma(x);
    }
    if !(1..=MAX_ORDER).contains(&order) || x.is_nan() || is_pole(x) {
        return f64::NAN;
    }
    let n = order as usize;
    let parity = if n.is_multiple_of(2) { 1.0 } else { -1.0 };
    if x < 0.0 {
        return parity * polygamma(1.0 - x, order) - cot_derivative(x, n);
    }
    if x == f64::INFINITY {
        return 0.0;
    }
    let (mut x, mut steps) = (x, 0.0);
    while x < 15.0 + n as f64 {
        steps += scaled_factorial(n, x) / x;
        x += 1.0;
    }
    // (n - 1)! / x^n, then (2k + n - 1)! / ((2k)! x^(2k + n)).
    let mut factor = scaled_factorial(n - 1, x) / x;
    let mut series = factor + factor * n as f64 / (2.0 * x);
    for (k, bernoulli) in BERNOULLI.iter().enumerate() {
        let even = 2.0 * (k as f64 + 1.0);
        let top = even + n as f64;
        factor *= (top - 2.0) * (top - 1.0) / ((even - 1.0) * even * x * x);
        series += bernoulli * factor;
    }
    -parity * (series + steps)
}

/// `n! / x^n`, without overflow on the way.
fn scaled_factorial(n: usize, x: f64) -> f64 {
    (1..=n).map(|j| j as f64 / x).product()
}

/// The derivative of order `n` of `pi cot(pi x)`: `pi^(n + 1)` times a polynomial in `cot(pi x)`, which each derivative
/// step `p -> -(1 + c^2) p'` makes one degree higher.
fn cot_derivative(x: f64, n: usize) -> f64 {
    let mut polynomial = vec![0.0, 1.0];
    for _ in 0..n {
        let mut next = vec![0.0; polynomial.len() + 1];
        for (k, coefficient) in polynomial.iter().enumerate().skip(1) {
            let slope = -(k as f64) * coefficient;
            next[k - 1] += slope;
            next[k + 1] += slope;
        }
        polynomial = next;
    }
    let c = cot_pi(x);
    let value = polynomial.iter().rev().fold(0.0, |sum, coefficient| sum * c + coefficient);
    (0..=n).fold(value, |v, _| v * PI)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{found} is not {expected}");
    }

    #[test]
    fn known_values() {
        near(digamma(1.0), -0.577_215_664_901_532_9);
        near(digamma(0.5), -1.963_510_026_021_423_5);
        near(digamma(-0.5), 0.036_489_973_978_576_52);
        near(digamma(100.0), 4.600_161_852_738_087);
        near(polygamma(1.0, 1), PI * PI / 6.0);
        near(polygamma(0.5, 1), PI * PI / 2.0);
        near(polygamma(-0.5, 1), PI * PI / 2.0 + 4.0);
        near(polygamma(1.0, 2), -2.404_113_806_319_188_6);
        near(polygamma(-0.5, 2), polygamma(0.5, 2) + 16.0);
        near(polygamma(1.0, 3), PI.powi(4) / 15.0);
    }

    #[test]
    fn poles_and_odd_orders_give_nan() {
        for x in [0.0, -1.0, -7.0] {
            assert!(digamma(x).is_nan() && polygamma(x, 1).is_nan());
        }
        assert!(polygamma(1.0, -1).is_nan() && polygamma(1.0, 101).is_nan());
    }
}
