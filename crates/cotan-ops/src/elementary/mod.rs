//! Elementary functions as formulas of a few operations that every machine has, so that their values do not depend on
//! the machine, on its libraries, or on how many of them a processor computes at once.
//!
//! A function is written once, on the numbers of [`Real`]: on floats it is the kernel of its row, on
//! [`Traced`](traced::Traced) it leaves the [`Code`] that backends compile. All are written for f64; f32 goes through
//! it and is rounded once more, but for the few in `single`. Errors are below 2 units in the last place, which
//! `tests/elementary` states function by function.

mod arc;
mod area;
mod circular;
mod code;
mod coefficients;
mod error;
mod exponential;
mod gamma;
mod hyperbolic;
mod logarithm;
mod power;
mod real;
mod single;
mod traced;

pub(crate) use code::expansion;
pub use code::{Code, Expansion, Input, Step};
pub(crate) use real::Real;

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($($x:ident),+) = $f:path;)+) => {
        $($(#[$doc])*
        pub(crate) fn $name<F: Real>($($x: F),+) -> F {
            F::narrow($f($($x.widen()),+))
        })+
    };
}

/// `e^x`.
pub(crate) fn exp<F: Real>(x: F) -> F {
    if F::IS_SINGLE { single::exp(x) } else { F::narrow(exponential::exp(x.widen())) }
}

/// `1 - tanh(x)^2`.
pub(crate) fn sech2<F: Real>(x: F) -> F {
    if F::IS_SINGLE { single::sech2(x) } else { F::narrow(hyperbolic::sech2(x.widen())) }
}

functions! {
    /// `2^x`.
    exp2(x) = exponential::exp2;
    /// `e^x - 1`.
    expm1(x) = exponential::expm1;
    /// The natural logarithm.
    log(x) = logarithm::log;
    /// The logarithm to base 2.
    log2(x) = logarithm::log2;
    /// The logarithm to base 10.
    log10(x) = logarithm::log10;
    /// The natural logarithm of `1 + x`.
    log1p(x) = logarithm::log1p;
    /// Sine of an angle that is not far.
    near_sin(x) = circular::sin;
    /// Cosine of an angle that is not far.
    near_cos(x) = circular::cos;
    /// Tangent of an angle that is not far.
    near_tan(x) = circular::tan;
    /// Inverse sine.
    asin(x) = arc::asin;
    /// Inverse cosine.
    acos(x) = arc::acos;
    /// Inverse tangent.
    atan(x) = arc::atan;
    /// The angle of the point `(x, y)`.
    atan2(y, x) = arc::atan2;
    /// Hyperbolic sine.
    sinh(x) = hyperbolic::sinh;
    /// Hyperbolic cosine.
    cosh(x) = hyperbolic::cosh;
    /// Hyperbolic tangent.
    tanh(x) = hyperbolic::tanh;
    /// The logistic function.
    sigmoid(x) = hyperbolic::sigmoid;
    /// Inverse hyperbolic sine.
    asinh(x) = area::asinh;
    /// Inverse hyperbolic cosine.
    acosh(x) = area::acosh;
    /// Inverse hyperbolic tangent.
    atanh(x) = area::atanh;
    /// Cube root.
    cbrt(x) = power::cbrt;
    /// Length of a vector of two.
    hypot(x, y) = power::hypot;
    /// Power.
    pow(x, y) = power::pow;
    /// The power whose exponent is less by 1.
    power_below(x, y) = power::power_below;
    /// Error function.
    erf(x) = error::erf;
    /// Complement of the error function.
    erfc(x) = error::erfc;
    /// The logarithm of the gamma function of a positive number.
    positive_lgamma(x) = gamma::lgamma;
}

pub(crate) use power::round;

/// Whether an angle is far: left to the host.
pub(crate) fn is_far<F: Real>(x: F) -> F::Truth {
    circular::is_far(x.widen())
}

/// Whether a number is not positive, so that the logarithm of its gamma function is left to the host.
pub(crate) fn is_not_positive<F: Real>(x: F) -> F::Truth {
    gamma::is_not_positive(x.widen())
}

/// Functions that have code for most operands, and are left to the host for the others.
macro_rules! with_host {
    ($($(#[$doc:meta])* $name:ident = $f:path;)+) => {
        $($(#[$doc])*
        pub(crate) fn $name<F: Real<Double = f64>>(x: F) -> F {
            F::narrow($f(x.widen()))
        })+
    };
}

with_host! {
    /// Sine.
    sin = circular::any_sin;
    /// Cosine.
    cos = circular::any_cos;
    /// Tangent.
    tan = circular::any_tan;
    /// The logarithm of the magnitude of the gamma function.
    lgamma = gamma::any_lgamma;
}
