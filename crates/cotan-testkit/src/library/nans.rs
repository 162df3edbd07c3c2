//! The wrappers at points where one number is NaN or infinite.

use super::point::{Asked, Point, Prepared, is_finite};
use super::{Library, Outcome, Wrapper};
use crate::oracles::beside_nan;
use cotan::Program;
use cotan_ir::Elem;
use cotan_ops::Value;

/// Wrappers whose derivative is a number beside a NaN that an infinity makes, and why.
const NUMBER_BESIDE_NAN: &[(&str, &str)] = &[
    ("complex.inverse", "the inverse of an infinite square: the coefficient is exactly 0"),
    ("fft.mel_filters", "differences are divided by an infinite width: the coefficient is exactly 0"),
    ("losses.binary_cross_entropy", "an infinite logit of a sure truth: the coefficient is exactly 0"),
    ("losses.cosine_distance", INFINITE_NORM),
    ("losses.cosine_similarity", INFINITE_NORM),
    ("losses.kl_divergence", "a share of an infinite one: the coefficient is exactly 0"),
    ("nn.celu", "what is divided by an infinite `alpha` is exactly 0"),
    ("nn.l2_normalize", INFINITE_NORM),
    ("nn.rms_norm", INFINITE_NORM),
    ("optim.adam", INFINITE_ROOT),
    ("optim.adam__number", INFINITE_ROOT),
    ("optim.adamw", INFINITE_ROOT),
];
const INFINITE_NORM: &str = "a row is divided by an infinite norm: the coefficient is exactly 0";
const INFINITE_ROOT: &str = "the step is divided by an infinite root: the coefficient is exactly 0";

/// With NaN in one element, compiled code does what the interpreter does, and where a result is NaN for it, so is its
/// derivative in that element, if not for a reason.
pub fn nans(library: &Library) -> Result<Outcome, String> {
    with(library, f64::NAN, &[])
}

/// The same with an infinity.
pub fn infinities(library: &Library) -> Result<Outcome, String> {
    with(library, f64::INFINITY, NUMBER_BESIDE_NAN)
}

fn with(library: &Library, x: f64, listed: &[(&str, &str)]) -> Result<Outcome, String> {
    let programs = library.programs(Elem::F64, |_| String::new())?;
    let mut outcome = library.ask_some(&format!("{x}"), |wrapper| {
        if !wrapper.takes_floats() {
            return (0, Vec::new());
        }
        let outcome = ask(wrapper, &programs[wrapper.file], x);
        let (asked, mut failures) = outcome.unwrap_or_else(|e| (0, vec![format!("`{}`: {e}", wrapper.label)]));
        if let Some((label, reason)) = listed.iter().find(|(label, _)| *label == wrapper.label) {
            let none = format!("`{label}` is listed ({reason}), and nothing fails");
            failures = if failures.is_empty() { vec![none] } else { Vec::new() };
        }
        (asked, failures)
    });
    outcome.failures.extend(library.unknown(listed.iter().map(|(label, _)| *label)));
    Ok(outcome)
}

fn ask(wrapper: &Wrapper, program: &Program, x: f64) -> Result<(usize, Vec<String>), String> {
    let points: Vec<Point> = wrapper.few_points().into_iter().filter(|p| is_finite(p)).cloned().collect();
    let Some(prepared) = Prepared::new(program, &wrapper.name, &points)? else { return Ok((0, Vec::new())) };
    // A check that fails is an answer, and compiled code has given the same.
    let at = |args: Vec<Value>| match prepared.with_operands(args)? {
        Asked::Gives(given) => Ok(Some(given.case)),
        Asked::Fails(_) => Ok(None),
    };
    let (mut asked, mut failures) = (0, Vec::new());
    for point in &points {
        let Asked::Gives(given) = prepared.at(point)? else { continue };
        let (n, of_point) = beside_nan(&given.case, x, &at);
        asked += n;
        failures.extend(of_point.into_iter().map(|e| format!("`{}`: {e}\n{point:?}", wrapper.label)));
    }
    Ok((asked, failures))
}
