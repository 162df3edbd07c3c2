//! Where a value becomes NaN, its derivative shows it.

use crate::derived_case::{Case, float_value, floats};
use crate::tolerances::{Property, close, tolerance};
use cotan_ir::{Const, Elem};
use cotan_ops::Value;

/// How many elements of an argument are replaced, one at a time: the first, the last, and those between at equal
/// distances.
const MOST_ELEMENTS: usize = 3;

/// How many results that are no numbers are asked for a cotangent.
const MOST_RESULTS: usize = 2;

/// Counts as larger than all numbers of the cases, as NaN does where it is sorted.
const LARGE: f64 = 1e6;

/// An element of a float parameter.
#[derive(Clone, Copy, Debug)]
struct Place {
    parameter: usize,
    element: usize,
}

/// Puts `x`, NaN or an infinity, in one element at a time. `at` is the case with other arguments, `None` where a check
/// fails. A derivative beside a result that is NaN for it is NaN or an infinity. It may be a number where it does not
/// depend on the element at all, or the element is only moved: then it is what it is at a large number. A zero must be
/// one at the case itself, too: a factor that is exactly zero.
pub(crate) fn beside_nan(
    case: &Case,
    x: f64,
    at: &dyn Fn(Vec<Value>) -> Result<Option<Case>, String>,
) -> (usize, Vec<String>) {
    let places = places(case);
    let ask = |place: &Place| {
        let failure = |e| format!("{x} in element {} of float argument {}: {e}", place.element, place.parameter);
        at_place(case, *place, x, at).map_err(failure).err()
    };
    (places.len(), places.iter().filter_map(ask).collect())
}

fn places(case: &Case) -> Vec<Place> {
    let of_one = |(parameter, at): (usize, &usize)| {
        let n = case.subject.args[*at].bits.len();
        let mut elements: Vec<usize> =
            (0..MOST_ELEMENTS).map(|k| k * n.saturating_sub(1) / (MOST_ELEMENTS - 1)).filter(|k| *k < n).collect();
        elements.dedup();
        elements.into_iter().map(move |element| Place { parameter, element })
    };
    case.wrt.iter().enumerate().flat_map(of_one).collect()
}

fn at_place(
    case: &Case,
    place: Place,
    x: f64,
    at: &dyn Fn(Vec<Value>) -> Result<Option<Case>, String>,
) -> Result<(), String> {
    let replaced = |x: f64| {
        let mut args = case.subject.args.clone();
        let arg = &mut args[case.wrt[place.parameter]];
        arg.bits[place.element] = Const::float(arg.elem, x).bits();
        at(args)
    };
    let Some(found) = replaced(x)? else { return Ok(()) };
    let large = replaced(LARGE)?;
    let (tangents, plain) = (column(&found, place)?, column(case, place)?);
    let large = large.map(|large| column(&large, place)).transpose()?;
    let mut rest = MOST_RESULTS;
    for (out, (at, tangents)) in found.outs.iter().zip(&tangents).enumerate() {
        let values = floats(&found.results[*at]);
        for k in (0..values.len()).filter(|k| values[*k].is_nan()) {
            let usual = [Some(&plain), large.as_ref()].map(|all| all?.get(out)?.get(k).copied());
            let told = |e: String| format!("result {out}, element {k} is NaN, and its {e}");
            explained(tangents[k], usual).map_err(|e| told(format!("tangent {e}")))?;
            if rest > 0 {
                rest -= 1;
                let cotangent = entry(&found, out, k, place)?;
                explained(cotangent, usual).map_err(|e| told(format!("cotangent {e}")))?;
            }
        }
    }
    Ok(())
}

fn explained(derivative: f64, [plain, large]: [Option<f64>; 2]) -> Result<(), String> {
    let is = |usual: Option<f64>| {
        usual.is_some_and(|usual| close(derivative, usual, usual.abs(), tolerance(Property::Tape, Elem::F64)))
    };
    if !derivative.is_finite() || is(large) && (derivative != 0.0 || is(plain)) {
        return Ok(());
    }
    Err(format!("{derivative}; without it {plain:?}, beside a large number {large:?}"))
}

/// Zeros, and a one at an element of one of them.
fn unit(like: &[Value], which: usize, element: usize) -> Vec<Value> {
    let mut all: Vec<Value> = like.iter().map(|v| float_value(v, &vec![0.0; v.bits.len()])).collect();
    all[which].bits[element] = Const::float(all[which].elem, 1.0).bits();
    all
}

/// The tangents of all float results along one element.
fn column(case: &Case, place: Place) -> Result<Vec<Vec<f64>>, String> {
    let tangents = unit(&case.tangents, place.parameter, place.element);
    let (_, tangents) = Case { tangents, ..case.clone() }.run_jvp()?;
    Ok(tangents.iter().map(floats).collect())
}

/// The cotangent of an element for one element of a result.
fn entry(case: &Case, out: usize, element: usize, place: Place) -> Result<f64, String> {
    let cotangents = unit(&case.cotangents, out, element);
    let (_, cotangents) = Case { cotangents, ..case.clone() }.run_vjp()?;
    Ok(floats(&cotangents[place.parameter])[place.element])
}
