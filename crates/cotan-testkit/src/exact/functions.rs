//! Elementary functions of [`Number`], from their series.

use super::number::{Float, Number};
use std::sync::OnceLock;

/// Numbers in which an angle of 2^1024 loses its turns and keeps its digits.
type Wide = Float<24>;

/// `atan(1/n)` for a whole `n`, or with `sign` 1 the inverse hyperbolic tangent.
fn inverse_tangent(n: i64, sign: i64) -> Wide {
    let step = Wide::whole(n * n).reciprocal();
    let mut power = Wide::whole(n).reciprocal();
    let mut sum = Wide::ZERO;
    let mut k = 0;
    while !power.is_zero() && power.exponent() > -64 * 24 - 8 {
        sum = sum + power / Wide::whole(2 * k + 1);
        power = power * step * Wide::whole(sign);
        k += 1;
    }
    sum
}

/// Pi, by Machin's formula.
fn wide_pi() -> Wide {
    static PI: OnceLock<Wide> = OnceLock::new();
    *PI.get_or_init(|| Wide::whole(16) * inverse_tangent(5, -1) - Wide::whole(4) * inverse_tangent(239, -1))
}

/// Pi.
pub fn pi() -> Number {
    wide_pi().resized()
}

/// The natural logarithm of 2.
pub fn ln_2() -> Number {
    static LN_2: OnceLock<Wide> = OnceLock::new();
    let value = LN_2.get_or_init(|| {
        Wide::whole(18) * inverse_tangent(26, 1) - Wide::whole(2) * inverse_tangent(4801, 1)
            + Wide::whole(8) * inverse_tangent(8749, 1)
    });
    value.resized()
}

fn whole(n: i64) -> Number {
    Number::whole(n)
}

/// The sum of a power series: from a first term, each one is the last times `square` over the product of two whole numbers.
fn series(first: Number, square: Number, start: i64) -> Number {
    let (mut term, mut sum, mut k) = (first, first, start);
    while !term.is_zero() && term.exponent() > sum.exponent() - 340 {
        term = term * square / whole(k * (k + 1));
        sum = sum + term;
        k += 2;
    }
    sum
}

/// `e^x`. What is out of all reach is a power of two as far out.
pub fn exp(x: Number) -> Number {
    if x.exponent() > 40 {
        return whole(1).scaled(if x.is_negative() { -1 << 40 } else { 1 << 40 });
    }
    let turns = (x / ln_2()).round();
    let rest = (x - turns * ln_2()).scaled(-12);
    let (mut term, mut sum, mut k) = (whole(1), whole(1), 1);
    while !term.is_zero() && term.exponent() > -340 {
        term = term * rest / whole(k);
        sum = sum + term;
        k += 1;
    }
    let value = (0..12).fold(sum, |value, _| value * value);
    value.scaled(turns.rough() as i64)
}

/// The natural logarithm of a positive number.
pub fn ln(x: Number) -> Number {
    let mut exponent = x.exponent();
    let mut mantissa = x.scaled(-exponent);
    if mantissa.rough() < 0.7 {
        exponent -= 1;
        mantissa = mantissa.scaled(1);
    }
    let mut near = Number::of(mantissa.rough().ln());
    for _ in 0..2 {
        // Halley's method: each step makes three times as many digits right.
        let power = exp(near);
        near = near + (mantissa - power) * whole(2) / (mantissa + power);
    }
    near + whole(exponent) * ln_2()
}

/// `x^y` for a positive `x`.
pub fn power(x: Number, y: Number) -> Number {
    exp(y * ln(x))
}

/// Sine and cosine of an angle up to 2^1024.
pub fn sin_cos(x: Number) -> (Number, Number) {
    let quarter = wide_pi().scaled(-1);
    let wide: Wide = x.resized();
    let turns = (wide / quarter).round();
    let rest: Number = (wide - turns * quarter).resized();
    let square = -(rest * rest);
    let (sine, cosine) = (series(rest, square, 2), series(whole(1), square, 1));
    match turns.quarter() {
        0 => (sine, cosine),
        1 => (cosine, -sine),
        2 => (-sine, -cosine),
        _ => (-cosine, sine),
    }
}

/// Hyperbolic sine.
pub fn sinh(x: Number) -> Number {
    if x.exponent() <= 0 { series(x, x * x, 2) } else { (exp(x) - exp(-x)).scaled(-1) }
}

/// Hyperbolic cosine.
pub fn cosh(x: Number) -> Number {
    (exp(x) + exp(-x)).scaled(-1)
}
