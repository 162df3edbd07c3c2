//! Forward mode against central differences, extrapolated, with a filter for points at which those say nothing.

use super::Verdict;
use crate::derived_case::{Case, dot, float_value, floats};
use crate::tolerances::{Property, close, tolerance};
use cotan_ir::Elem;
use cotan_ops::Value;

/// A numerical derivative, or why there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Difference {
    /// Two estimates agree on this.
    Estimate(f64),
    /// The estimates disagree, or one side has another slope than the other: a kink, a jump, or too rough a function.
    Rough,
}

/// Step sizes to try, the largest first.
const STEPS: [f64; 3] = [4e-3, 5e-4, 6e-5];

/// The derivative of `f` at 0 by central differences at steps `h`, `h/2`, `h/4`, extrapolated (Richardson, 1911).
///
/// A kink at 0 itself is symmetric and fools central differences at every step; it shows in the slopes of the two
/// sides, whose difference shrinks with the step where `f` is smooth.
fn richardson<E>(h: f64, tolerance: f64, f: &mut impl FnMut(f64) -> Result<f64, E>) -> Result<Difference, E> {
    let middle = f(0.0)?;
    let mut central = [0.0; 3];
    let mut bend = [0.0; 3];
    for (k, (central, bend)) in central.iter_mut().zip(&mut bend).enumerate() {
        let h = h / f64::from(1 << k);
        let (above, below) = (f(h)?, f(-h)?);
        *central = (above - below) / (2.0 * h);
        *bend = (above - 2.0 * middle + below).abs() / h;
    }
    let [rough, better] = [0, 1].map(|k| (4.0 * central[k + 1] - central[k]) / 3.0);
    let estimate = (16.0 * better - rough) / 15.0;
    let scale = central.iter().fold(0.0, |m: f64, c| m.max(c.abs()));
    let is_kink = bend[2] > 0.7 * bend[0] && bend[2] > 100.0 * tolerance * (1.0 + scale);
    let is_smooth = estimate.is_finite() && !is_kink && close(better, estimate, scale, tolerance);
    Ok(if is_smooth { Difference::Estimate(estimate) } else { Difference::Rough })
}

/// A numerical derivative at 0: the first that `agrees`, or what the smallest step says. A kink or a jump may lie so that
/// estimates at one step agree with one another and are wrong; a wrong derivative is wrong at every step.
pub fn numerical_derivative<E>(
    tolerance: f64,
    mut f: impl FnMut(f64) -> Result<f64, E>,
    agrees: impl Fn(f64) -> bool,
) -> Result<Difference, E> {
    let mut last = Difference::Rough;
    for h in STEPS {
        last = richardson(h, tolerance, &mut f)?;
        if let Difference::Estimate(estimate) = last
            && agrees(estimate)
        {
            break;
        }
    }
    Ok(last)
}

/// The tangent by forward mode is the numerical derivative in the same direction.
pub fn finite_difference(case: &Case) -> Verdict {
    if case.elem() == Elem::F32 {
        return Verdict::Unusable("differences of f32 are mostly rounding".to_owned());
    }
    if case.subject.constructs.iter().any(|c| c.hides_from_differences()) {
        return Verdict::Unusable("differences see what derivatives do not".to_owned());
    }
    let along = |h: f64| -> Result<f64, String> {
        let mut args = case.subject.args.clone();
        for (at, tangent) in case.wrt.iter().zip(&case.tangents) {
            args[*at] = moved(&args[*at], tangent, h);
        }
        let results = case.run(&case.subject.name, &args)?;
        let floats: Vec<Value> = case.outs.iter().map(|k| results[*k].clone()).collect();
        // A length that depends on the arguments is a jump.
        let same_shape = floats.iter().zip(&case.cotangents).all(|(a, b)| a.dims == b.dims);
        Ok(if same_shape { dot(&floats, &case.cotangents).0 } else { f64::NAN })
    };
    let outcome = case.run_jvp().and_then(|(_, tangents)| {
        let (expected, scale) = dot(&tangents, &case.cotangents);
        let agrees = |x: f64| close(x, expected, scale, tolerance(Property::FiniteDifference, Elem::F64));
        let found = numerical_derivative(tolerance(Property::DifferenceEstimate, Elem::F64), along, agrees)?;
        Ok(match found {
            Difference::Rough => Verdict::Unusable("a kink or jump near the point".to_owned()),
            Difference::Estimate(estimate) if agrees(estimate) => Verdict::Holds,
            Difference::Estimate(estimate) => {
                Verdict::Fails(format!("forward mode gives {expected}, finite differences {estimate}"))
            }
        })
    });
    outcome.unwrap_or_else(Verdict::Fails)
}

fn moved(x: &Value, tangent: &Value, h: f64) -> Value {
    let elements: Vec<f64> = floats(x).iter().zip(floats(tangent)).map(|(a, t)| a + h * t).collect();
    float_value(x, &elements)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(f: impl Fn(f64) -> f64, expected: Option<f64>) {
        let agrees = |x: f64| expected.is_some_and(|expected| (x - expected).abs() < 1e-8);
        let found = numerical_derivative(1e-7, |h| Ok::<f64, ()>(f(h)), agrees).unwrap();
        match (found, expected) {
            (Difference::Estimate(found), Some(_)) => assert!(agrees(found), "{found}"),
            (found, expected) => assert_eq!((found, expected), (Difference::Rough, None)),
        }
    }

    #[test]
    fn smooth_functions_have_a_numerical_derivative() {
        check(|h| (1.0 + h).sin(), Some(1.0f64.cos()));
        check(|h| 3.0 * h, Some(3.0));
        check(|_| 7.0, Some(0.0));
        check(|h| (2.0 * h).exp() * (0.3 + h).tanh(), Some(2.0 * 0.3f64.tanh() + 1.0 - 0.3f64.tanh().powi(2)));
    }

    #[test]
    fn kinks_and_jumps_are_noticed() {
        check(|h| h.abs() + h, None);
        check(|h| (h - 1e-5).max(0.0), None);
        check(|h| if h < 1e-6 { 0.0 } else { 1.0 }, None);
        check(|h| if h < 1e-6 { h } else { h + 3e-8 }, None);
    }

    #[test]
    fn a_kink_within_the_largest_step_does_not_matter() {
        for at in [3.9e-3, 2.5e-3, 1.1e-3, 6e-4] {
            check(|h| h + 1e-3 * (h - at).max(0.0), Some(1.0));
        }
    }

    #[test]
    fn a_wrong_derivative_is_told_though_other_steps_are_tried() {
        let found = numerical_derivative(1e-7, |h| Ok::<f64, ()>((1.0 + h).sin()), |x| (x - 0.541).abs() < 1e-8);
        let Ok(Difference::Estimate(found)) = found else { panic!("{found:?}") };
        assert!((found - 1.0f64.cos()).abs() < 1e-8, "{found}");
    }
}
