//! Every tolerance of the tests, by property and element type.
//!
//! A comparison of `a` with `b` accepts `|a - b| <= tolerance * (1 + scale)`, where `scale` is the largest magnitude
//! that entered the two sides: derivatives are sums, and what cancels in a sum leaves its rounding behind.

use cotan_ir::Elem;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// `<u, J v>` by forward mode with `<J' u, v>` by reverse mode.
    DotProduct,
    /// Forward mode with extrapolated central differences.
    FiniteDifference,
    /// Two estimates of a central difference with one another: beyond this the point is of no use.
    DifferenceEstimate,
    /// The tape engine with the derivative passes.
    Tape,
    /// The mixed second derivatives with one another.
    SecondOrder,
    /// A program with one that computes the same by other operations.
    Rewritten,
    /// A result with a value from a closed form.
    ClosedForm,
    /// A function in single precision with the same in double precision, on the same numbers.
    Narrowed,
    /// Compiled code that adds in another order, or without rounding products of derivatives first, with the interpreter.
    Regrouped,
}

/// The tolerance for values of a float type.
pub fn tolerance(property: Property, elem: Elem) -> f64 {
    let is_single = elem == Elem::F32;
    match property {
        Property::DotProduct => pick(is_single, 1e-12, 2e-4),
        Property::FiniteDifference => pick(is_single, 1e-6, 1e-2),
        Property::DifferenceEstimate => pick(is_single, 2e-7, 5e-3),
        Property::Tape => pick(is_single, 1e-12, 2e-4),
        Property::SecondOrder => pick(is_single, 1e-9, 1e-2),
        Property::Rewritten => pick(is_single, 1e-9, 1e-3),
        Property::Regrouped => pick(is_single, 1e-10, 1e-3),
        Property::Narrowed => 1e-3,
        Property::ClosedForm => pick(is_single, 1e-12, 1e-5),
    }
}

fn pick(is_single: bool, double: f64, single: f64) -> f64 {
    if is_single { single } else { double }
}

/// Whether two numbers agree, given the largest magnitude that entered them. NaN agrees with NaN, an infinity with
/// itself.
pub fn close(a: f64, b: f64, scale: f64, tolerance: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= tolerance * (1.0 + scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_agree_relative_to_what_entered_them() {
        assert!(close(1.0, 1.0 + 1e-13, 0.0, 1e-12));
        assert!(!close(1.0, 1.0 + 1e-11, 0.0, 1e-12));
        assert!(close(1.0, 1.0 + 1e-11, 100.0, 1e-12));
    }

    #[test]
    fn what_is_no_number_agrees_with_itself_only() {
        assert!(close(f64::NAN, f64::NAN, 0.0, 0.0) && close(f64::INFINITY, f64::INFINITY, 0.0, 0.0));
        assert!(!close(f64::NAN, 1.0, 0.0, 1.0) && !close(f64::INFINITY, f64::NEG_INFINITY, 1.0, 1.0));
        assert!(!close(f64::INFINITY, 1e300, 0.0, 1.0));
    }
}
