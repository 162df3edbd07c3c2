//! The derivatives of the logarithm of the gamma function, by their asymptotic series far out, by the recurrence from
//! there, and by reflection for negative numbers.

use super::functions::{ln, pi, sin_cos};
use super::number::{Float, Number};
use std::sync::OnceLock;

/// From here on the asymptotic series has enough digits, for a derivative of order 0.
const FAR: i64 = 70;
/// Terms of the series.
const TERMS: usize = 60;

fn whole(n: i64) -> Number {
    Number::whole(n)
}

/// The Bernoulli numbers of even index, from the second on. The recurrence loses digits, so it runs with many.
fn bernoulli() -> &'static [Number] {
    static NUMBERS: OnceLock<Vec<Number>> = OnceLock::new();
    NUMBERS.get_or_init(|| {
        type Wide = Float<24>;
        let mut all = vec![Wide::whole(1)];
        let mut row = vec![Wide::whole(1), Wide::whole(1)];
        for m in 1..=2 * TERMS {
            let mut next = vec![Wide::whole(1)];
            next.extend(row.windows(2).map(|pair| pair[0] + pair[1]));
            next.push(Wide::whole(1));
            row = next;
            let sum = all.iter().zip(&row).fold(Wide::ZERO, |sum, (b, choose)| sum + *b * *choose);
            all.push(if m > 1 && m % 2 == 1 { Wide::ZERO } else { -sum / Wide::whole(m as i64 + 1) });
        }
        all.iter().skip(2).step_by(2).map(Wide::resized).collect()
    })
}

/// The derivative of `digamma` of order `n`, 0 being `digamma` itself; `x` is no whole number below 1.
pub fn polygamma(n: i64, x: Number) -> Number {
    if x.is_negative() {
        let mirrored = polygamma(n, whole(1) - x);
        let signed = if n % 2 == 0 { mirrored } else { -mirrored };
        return signed - cotangent_slope(n, x);
    }
    let far = whole(FAR + n);
    let (mut x, mut steps) = (x, Number::ZERO);
    while x.is_less(&far) {
        steps = steps + reciprocal_power(x, n + 1);
        x = x + whole(1);
    }
    let square = (x * x).reciprocal();
    if n == 0 {
        let mut power = whole(1);
        let terms = bernoulli().iter().zip(1..).fold(Number::ZERO, |sum, (b, k)| {
            power = power * square;
            sum + *b * power / whole(2 * k)
        });
        return ln(x) - x.scaled(1).reciprocal() - terms - steps;
    }
    // Everything over n!: 1/(n x^n), 1/(2 x^(n + 1)), then b (2k + n - 1)!/((2k)! n! x^(2k + n)).
    let lowest = reciprocal_power(x, n);
    let mut factor = lowest / whole(n);
    let start = factor + (lowest / x).scaled(-1);
    let series = bernoulli().iter().zip(1..).fold(start, |sum, (b, k)| {
        let top = 2 * k + n;
        factor = factor * square * whole((top - 2) * (top - 1)) / whole((2 * k - 1) * 2 * k);
        sum + *b * factor
    });
    let value = (1..=n).fold(series + steps, |value, j| value * whole(j));
    if n % 2 == 0 { -value } else { value }
}

/// `x^-n`.
fn reciprocal_power(x: Number, n: i64) -> Number {
    (0..n).fold(whole(1), |power, _| power * x).reciprocal()
}

/// The derivative of order `n` of `pi cot(pi x)`: `pi^(n + 1)` times a polynomial `p` in the cotangent, whose derivative
/// is `-(1 + c^2) p'`.
fn cotangent_slope(n: i64, x: Number) -> Number {
    let (sine, cosine) = sin_cos(pi() * (x - x.round()));
    let cotangent = cosine / sine;
    let mut polynomial = vec![Number::ZERO, whole(1)];
    for _ in 0..n {
        let mut next = vec![Number::ZERO; polynomial.len() + 1];
        for (k, coefficient) in polynomial.iter().enumerate().skip(1) {
            let slope = -(*coefficient * whole(k as i64));
            next[k - 1] = next[k - 1] + slope;
            next[k + 1] = next[k + 1] + slope;
        }
        polynomial = next;
    }
    let value = polynomial.iter().rev().fold(Number::ZERO, |sum, coefficient| sum * cotangent + *coefficient);
    (0..=n).fold(value, |value, _| value * pi())
}
