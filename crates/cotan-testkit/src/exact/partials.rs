//! The partials of the op table in closed form.

use super::functions::{cosh, exp, ln, ln_2, pi, power, sin_cos, sinh};
use super::gamma::polygamma;
use super::number::Number;
use cotan_ir::{Elem, OperandElem, ResultElem};
use cotan_ops::PrimRow;

/// A partial derivative as a function of the operands.
pub type Exact = fn(&[Number]) -> Number;

fn whole(n: i64) -> Number {
    Number::whole(n)
}

fn zero(_: &[Number]) -> Number {
    Number::ZERO
}

fn one(_: &[Number]) -> Number {
    whole(1)
}

fn minus_one(_: &[Number]) -> Number {
    whole(-1)
}

fn first(a: &[Number]) -> Number {
    a[0]
}

fn second(a: &[Number]) -> Number {
    a[1]
}

/// 1 where it holds, else 0.
fn indicator(holds: bool) -> Number {
    whole(i64::from(holds))
}

fn sign(x: Number) -> Number {
    if x.is_zero() { x } else { whole(if x.is_negative() { -1 } else { 1 }) }
}

fn square(x: Number) -> Number {
    x * x
}

/// `x^(-1/2)`.
fn over_root(x: Number) -> Number {
    x.sqrt().reciprocal()
}

fn ln_10() -> Number {
    ln(whole(10))
}

/// `a1 a0^(a1 - 1)` for a whole `a1`, and any power of a positive number.
fn power_slope(a: &[Number]) -> Number {
    let less = a[1] - whole(1);
    let size = power(a[0].abs(), less);
    let is_odd = less.quarter() % 2 == 1;
    a[1] * if a[0].is_negative() && is_odd { -size } else { size }
}

/// The same of the power below.
fn power_below_slope(a: &[Number]) -> Number {
    power_slope(&[a[0], a[1] - whole(1)])
}

/// Which of the operands of a clamp the result is.
fn clamped(a: &[Number], k: usize) -> Number {
    let raised = usize::from(a[0].is_less(&a[1]));
    let chosen = if a[2].is_less(&a[raised]) { 2 } else { raised };
    indicator(chosen == k)
}

/// `2/sqrt(pi) e^-x^2`.
fn bell(a: &[Number]) -> Number {
    whole(2) * over_root(pi()) * exp(-square(a[0]))
}

/// The partials of every row that has some: one for each operand that is no integer and no truth value.
static TABLE: &[(&str, &[Exact])] = &[
    ("add", &[one, one]),
    ("sub", &[one, minus_one]),
    ("mul", &[second, first]),
    ("mulz", &[second, first]),
    ("mulg", &[second, first]),
    ("mulc", &[second, first]),
    ("div", &[|a| a[1].reciprocal(), |a| -(a[0] / square(a[1]))]),
    ("neg", &[minus_one]),
    ("fma", &[second, first, one]),
    ("sqrt", &[|a| over_root(a[0]).scaled(-1)]),
    ("rsqrt", &[|a| -(over_root(a[0]) / a[0]).scaled(-1)]),
    ("cbrt", &[|a| power(a[0].abs(), whole(-2) / whole(3)) / whole(3)]),
    ("recip", &[|a| -square(a[0]).reciprocal()]),
    ("square", &[|a| a[0].scaled(1)]),
    ("powi", &[power_slope]),
    ("pow", &[power_slope, |a| power(a[0], a[1]) * ln(a[0])]),
    ("power_below", &[power_below_slope, |a| power(a[0], a[1] - whole(1)) * ln(a[0])]),
    ("abs", &[|a| sign(a[0])]),
    ("sign", &[zero]),
    ("floor", &[zero]),
    ("ceil", &[zero]),
    ("trunc", &[zero]),
    ("round", &[zero]),
    ("copysign", &[|a| sign(a[0]) * sign(a[1]), zero]),
    ("stop_gradient", &[zero]),
    ("after", &[one, zero]),
    ("with_derivative_of", &[zero, one]),
    ("rem", &[one, |a| -(a[0] / a[1]).trunc()]),
    ("hypot", &[|a| a[0] * over_root(square(a[0]) + square(a[1])), |a| a[1] * over_root(square(a[0]) + square(a[1]))]),
    ("max", &[|a| indicator(a[1].is_less(&a[0])), |a| indicator(a[0].is_less(&a[1]))]),
    ("min", &[|a| indicator(a[0].is_less(&a[1])), |a| indicator(a[1].is_less(&a[0]))]),
    ("wins", &[zero, zero]),
    ("share", &[|a| indicator(a[2].is_less(&a[1])), zero, zero]),
    ("clamp", &[|a| clamped(a, 0), |a| clamped(a, 1), |a| clamped(a, 2)]),
    ("relu", &[|a| indicator(!a[0].is_negative())]),
    ("exp", &[|a| exp(a[0])]),
    ("exp2", &[|a| ln_2() * exp(a[0] * ln_2())]),
    ("expm1", &[|a| exp(a[0])]),
    ("log", &[|a| a[0].reciprocal()]),
    ("log2", &[|a| (a[0] * ln_2()).reciprocal()]),
    ("log10", &[|a| (a[0] * ln_10()).reciprocal()]),
    ("log1p", &[|a| (whole(1) + a[0]).reciprocal()]),
    ("sin", &[|a| sin_cos(a[0]).1]),
    ("cos", &[|a| -sin_cos(a[0]).0]),
    ("tan", &[|a| square(sin_cos(a[0]).1).reciprocal()]),
    ("asin", &[|a| over_root((whole(1) - a[0]) * (whole(1) + a[0]))]),
    ("acos", &[|a| -over_root((whole(1) - a[0]) * (whole(1) + a[0]))]),
    ("atan", &[|a| (whole(1) + square(a[0])).reciprocal()]),
    ("atan2", &[|a| a[1] / (square(a[0]) + square(a[1])), |a| -(a[0] / (square(a[0]) + square(a[1])))]),
    ("sinh", &[|a| cosh(a[0])]),
    ("cosh", &[|a| sinh(a[0])]),
    ("tanh", &[|a| square(cosh(a[0])).reciprocal()]),
    ("sech2", &[|a| -(sinh(a[0]) / (square(cosh(a[0])) * cosh(a[0]))).scaled(1)]),
    ("asinh", &[|a| over_root(whole(1) + square(a[0]))]),
    ("acosh", &[|a| over_root((a[0] - whole(1)) * (a[0] + whole(1)))]),
    ("atanh", &[|a| ((whole(1) - a[0]) * (whole(1) + a[0])).reciprocal()]),
    ("sigmoid", &[|a| ((whole(1) + exp(a[0])) * (whole(1) + exp(-a[0]))).reciprocal()]),
    ("erf", &[bell]),
    ("erfc", &[|a| -bell(a)]),
    ("lgamma", &[|a| polygamma(0, a[0])]),
    ("digamma", &[|a| polygamma(1, a[0])]),
    ("polygamma", &[|a| polygamma(a[1].rough() as i64 + 1, a[0])]),
    ("select", &[|a| a[0], |a| whole(1) - a[0]]),
];

/// The partials of a row, one for each operand of its element type; `None` for a row that has none.
pub fn exact_partials(row: &PrimRow) -> Option<&'static [Exact]> {
    TABLE.iter().find(|(name, _)| *name == row.name()).map(|(_, partials)| *partials)
}

/// Whether a row gives nothing that moves smoothly with floats: it is for integers or truth values, gives such, or only
/// changes the type.
pub fn without_partials(row: &PrimRow) -> bool {
    let takes_floats = row.sig.operands.contains(&OperandElem::T) && row.sig.domain.has(Elem::F64);
    let gives_floats = matches!(row.sig.result, ResultElem::T);
    !takes_floats || !gives_floats
}
