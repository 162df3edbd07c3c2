//! The evaluator of the typed tree against the interpreter: values, first derivatives in both modes, and optimised
//! code.

use super::Verdict;
use super::engines::close_all;
use crate::case::{Case, floats, options};
use crate::evaluator::{Call, Linear, same_host, takes_derivatives};
use crate::front;
use crate::tolerances::{Property, close, tolerance};
use cotan::Request;
use cotan::host::rebuild;

/// The evaluator gives the bits of plain IR; what contraction rounds otherwise is close; and every derivative of the
/// passes is the one that forward mode on the tree gives.
pub fn evaluator(case: &Case) -> Verdict {
    let Some(generated) = &case.subject.source else {
        return Verdict::Unusable("not made from source".to_owned());
    };
    Verdict::of((|| {
        let program = front::checked("generated.cot", &generated.program.text())?;
        let args = generated.named_arguments();
        let call = Call { program: &program.checked.program, function: "f", elems: &[], args: &args };
        let outcome = call.value()?;

        let plain = front::lower_plain(&program, &Request::function("f"))?;
        let flat = generated.arguments_for(&plain.entry)?;
        let results = cotan_interp::run(&plain.module, &plain.entry.symbol, &flat, &options());
        let results = results.map_err(|e| format!("plain IR fails: {e}; the evaluator gives {outcome:?}"))?;
        let mut leaves = plain.entry.leaf_results.iter().filter_map(|k| results.get(*k).cloned());
        let found = rebuild(&plain.entry.result, &mut leaves).ok_or("no value")?;
        outcome.agrees(Ok(&found), |found, expected| {
            if !takes_derivatives(call.program) {
                return same_host(found, expected);
            }
            let near = |(a, b): (f64, f64)| close(a, b, b.abs(), tolerance(Property::Rewritten, case.elem()));
            let is_near = found.floats().into_iter().zip(expected.floats()).all(near);
            if is_near { Ok(()) } else { Err(format!("expected {expected:?}, found {found:?}")) }
        })?;
        close_all(&case.results, &results, Property::Rewritten, case, "optimised and plain")?;
        derivatives(case, &call.linear()?)
    })())
}

/// The derivatives of the passes are those of the evaluator.
fn derivatives(case: &Case, linear: &Linear) -> Result<(), String> {
    let tolerance = tolerance(Property::Rewritten, case.elem());
    let tangents: Vec<f64> = case.tangents.iter().flat_map(floats).collect();
    let cotangents: Vec<f64> = case.cotangents.iter().flat_map(floats).collect();
    let forward: Vec<f64> = case.run_jvp()?.1.iter().flat_map(floats).collect();
    let reverse: Vec<f64> = case.run_vjp()?.1.iter().flat_map(floats).collect();
    if linear.rows.len() != forward.len() || linear.rows.iter().any(|row| row.len() != reverse.len()) {
        return Err(format!("{} results and {} arguments by the passes", forward.len(), reverse.len()));
    }
    for (k, (row, found)) in linear.rows.iter().zip(&forward).enumerate() {
        let terms = || row.iter().zip(&tangents).map(|(d, t)| product(*d, *t));
        let (expected, scale) = (terms().sum::<f64>(), terms().map(f64::abs).sum());
        if !close(*found, expected, scale, tolerance) {
            return Err(format!("tangent of result {k}: {found} by the jvp, {expected} by the evaluator"));
        }
    }
    for (k, found) in reverse.iter().enumerate() {
        let terms = || linear.rows.iter().zip(&cotangents).map(|(row, c)| product(row[k], *c));
        let (expected, scale) = (terms().sum::<f64>(), terms().map(f64::abs).sum());
        if !close(*found, expected, scale, tolerance) {
            return Err(format!("cotangent of argument {k}: {found} by the vjp, {expected} by the evaluator"));
        }
    }
    Ok(())
}

/// The product in which an exact zero wins.
fn product(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}
