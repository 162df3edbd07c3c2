//! The wrappers at points where one number is NaN or infinite.

use super::point::{Asked, Given, Point, Prepared, is_finite, with_element};
use super::{Library, Outcome, Wrapper};
use crate::case::{float_value, floats};
use crate::tolerances::{Property, close, tolerance};
use cotan::Program;
use cotan_ir::Elem;
use cotan_ops::Value;

/// How many elements of an argument are replaced, one at a time: the first, the last, and those between at equal
/// distances.
const MOST_ELEMENTS: usize = 3;

/// How many results that are no numbers are asked for a cotangent.
const MOST_RESULTS: usize = 2;

/// Counts as larger than all numbers of the cases, as NaN does where it is sorted.
const LARGE: f64 = 1e6;

/// With NaN in one element, compiled code does what the interpreter does, and where a result is NaN for it, so is its
/// derivative in that element; see [`explained`] for what else it may be.
pub fn nans(library: &Library) -> Result<Outcome, String> {
    with(library, f64::NAN)
}

/// The same with an infinity.
pub fn infinities(library: &Library) -> Result<Outcome, String> {
    with(library, f64::INFINITY)
}

fn with(library: &Library, x: f64) -> Result<Outcome, String> {
    let programs = library.programs(Elem::F64, |_| String::new())?;
    Ok(library.ask(|wrapper| {
        if !wrapper.takes_floats() {
            return (0, Vec::new());
        }
        ask(wrapper, &programs[wrapper.file], x).unwrap_or_else(|e| (0, vec![format!("`{}`: {e}", wrapper.label)]))
    }))
}

fn ask(wrapper: &Wrapper, program: &Program, x: f64) -> Result<(usize, Vec<String>), String> {
    let points: Vec<Point> = wrapper.few_points().into_iter().filter(|p| is_finite(p)).cloned().collect();
    let Some(prepared) = Prepared::new(program, &wrapper.name, &points)? else { return Ok((0, Vec::new())) };
    let (mut asked, mut failures) = (0, Vec::new());
    for point in &points {
        let Asked::Gives(plain) = prepared.at(point)? else { continue };
        for place in places(point) {
            asked += 1;
            if let Err(e) = at_place(&prepared, point, &plain, place, x) {
                failures.push(format!(
                    "`{}` with {x} at element {} of argument {}: {e}\n{point:?}",
                    wrapper.label, place.element, place.argument
                ));
            }
        }
    }
    Ok((asked, failures))
}

/// An element of an argument.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The argument.
    argument: usize,
    /// Which of the arguments with floats that is.
    parameter: usize,
    element: usize,
}

fn places(point: &Point) -> Vec<Place> {
    let of_floats = point.iter().enumerate().filter(|(_, v)| v.elem.is_float()).enumerate();
    let of_one = |(parameter, (argument, value)): (usize, (usize, &Value))| {
        let last = value.bits.len().saturating_sub(1);
        let mut elements: Vec<usize> = (0..MOST_ELEMENTS).map(|k| k * last / (MOST_ELEMENTS - 1)).collect();
        elements.dedup();
        elements.retain(|_| !value.bits.is_empty());
        elements.into_iter().map(move |element| Place { argument, parameter, element })
    };
    of_floats.flat_map(of_one).collect()
}

fn at_place(prepared: &Prepared, point: &Point, plain: &Given, place: Place, x: f64) -> Result<(), String> {
    let replaced = |x: f64| {
        let mut point = point.clone();
        point[place.argument] = with_element(&point[place.argument], place.element, x);
        prepared.at(&point)
    };
    // A check that fails is an answer: compiled code has given the same.
    let Asked::Gives(found) = replaced(x)? else { return Ok(()) };
    let large = match replaced(LARGE)? {
        Asked::Gives(large) => Some(large),
        Asked::Fails(_) => None,
    };
    let tangents = column(&found, place)?;
    let usual = [Some(plain), large.as_deref()].map(|given| given.map(|given| column(given, place)).transpose());
    let [plain_tangents, large_tangents] = usual;
    let (plain_tangents, large_tangents) = (plain_tangents?, large_tangents?);
    let mut rest = MOST_RESULTS;
    for (out, (values, tangents)) in float_results(&found).into_iter().zip(&tangents).enumerate() {
        for (k, value) in values.iter().enumerate().filter(|(_, value)| value.is_nan()) {
            let at = |all: &Option<Vec<Vec<f64>>>| all.as_ref().and_then(|all| all.get(out)?.get(k).copied());
            let usual = [at(&plain_tangents), at(&large_tangents)];
            let _ = value;
            explained(tangents[k], usual).map_err(|e| format!("result {out}, element {k} is NaN, its tangent {e}"))?;
            if rest > 0 {
                rest -= 1;
                let cotangent = entry(&found, out, k, place)?;
                explained(cotangent, usual)
                    .map_err(|e| format!("result {out}, element {k} is NaN, its cotangent {e}"))?;
            }
        }
    }
    Ok(())
}

/// A derivative beside a result that is NaN is NaN or an infinity. It may be a number where it does not depend on the
/// element at all, or the element is only moved: then it is what it is at a large number. A zero must be one at the
/// case itself, too: a factor that is exactly zero.
fn explained(derivative: f64, [plain, large]: [Option<f64>; 2]) -> Result<(), String> {
    let is = |usual: Option<f64>| {
        usual.is_some_and(|usual| close(derivative, usual, usual.abs(), tolerance(Property::Tape, Elem::F64)))
    };
    if !derivative.is_finite() || is(large) && (derivative != 0.0 || is(plain)) {
        return Ok(());
    }
    Err(format!("{derivative}, at the case {plain:?}, with a large number {large:?}"))
}

/// The tangents of all float results along one element.
fn column(given: &Given, place: Place) -> Result<Vec<Vec<f64>>, String> {
    let mut case = given.case.clone();
    for (k, tangent) in case.tangents.iter_mut().enumerate() {
        *tangent = float_value(tangent, &vec![0.0; tangent.bits.len()]);
        if k == place.parameter {
            *tangent = with_element(tangent, place.element, 1.0);
        }
    }
    Ok(case.run_jvp()?.1.iter().map(floats).collect())
}

/// The cotangent of one element for one element of a result.
fn entry(given: &Given, out: usize, element: usize, place: Place) -> Result<f64, String> {
    let mut case = given.case.clone();
    for (k, cotangent) in case.cotangents.iter_mut().enumerate() {
        *cotangent = float_value(cotangent, &vec![0.0; cotangent.bits.len()]);
        if k == out {
            *cotangent = with_element(cotangent, element, 1.0);
        }
    }
    Ok(floats(&case.run_vjp()?.1[place.parameter])[place.element])
}

fn float_results(given: &Given) -> Vec<Vec<f64>> {
    given.case.outs.iter().map(|k| floats(&given.case.results[*k])).collect()
}
