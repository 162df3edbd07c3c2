//! The evaluator of the typed tree against the interpreter: values, first derivatives in both modes, and optimised
//! code.

use super::Verdict;
use super::engines::close_all;
use crate::derived_case::{Case, Subject, floats};
use crate::engines::{Engine, RunError};
use crate::evaluator::{Call, Linear, Outcome, same_host, takes_derivatives};
use crate::frontend;
use crate::generate::source::Generated;
use crate::tolerances::{Property, close, tolerance};
use cotan::host::rebuild;
use cotan::{ReadyModule, Request};
use cotan_ir::Module;
use cotan_ops::Value;

/// The evaluator gives the bits of plain IR, and fails where that fails; what contraction rounds otherwise is close; and
/// every derivative of the passes is the one that forward mode on the tree gives.
pub fn evaluator(case: &Case) -> Verdict {
    let Some(generated) = &case.subject.source else {
        return Verdict::Unusable("not made from source".to_owned());
    };
    Verdict::of((|| {
        let program = frontend::checked("generated.cot", &generated.program.text())?;
        let args = generated.named_arguments();
        let call = Call { program: &program.checked.program, function: "f", elems: &[], args: &args };
        let plain = frontend::lower_plain(&program, &Request::function("f"))?;
        let is_rounded = takes_derivatives(call.program);
        let results = compare(case, &call.value()?, generated, &plain, is_rounded)?;
        close_all(&case.results, &results, Property::Rewritten, case, "optimised and plain")?;
        derivatives(&uncontracted(case, generated, &plain)?, &call.linear()?)?;

        let optimised = frontend::lower(&program, &Request::function("f"))?;
        for bad in generated.failing() {
            let args = bad.named_arguments();
            let outcome = Call { args: &args, ..call }.value()?;
            let of_bad = |e: String| format!("with bad arguments: {e}");
            compare(case, &outcome, &bad, &plain, is_rounded).map_err(of_bad)?;
            if !outcome.may_need_less {
                compare(case, &outcome, &bad, &optimised, true).map_err(|e| of_bad(format!("optimised: {e}")))?;
            }
        }
        Ok(())
    })())
}

/// Compares the evaluator with the interpreter, to the bit or as closely as other roundings allow; gives the results.
fn compare(
    case: &Case,
    outcome: &Outcome,
    generated: &Generated,
    lowered: &ReadyModule,
    is_rounded: bool,
) -> Result<Vec<Value>, String> {
    let flat = generated.arguments_for(&lowered.entry)?;
    let ran = Engine::Interpreter.run(&lowered.module, &lowered.entry.symbol, &flat);
    let found = match &ran {
        Ok(results) => {
            let mut leaves = lowered.entry.leaf_results.iter().filter_map(|k| results.get(*k).cloned());
            Ok(rebuild(&lowered.entry.signature.result, &mut leaves).ok_or("no value")?)
        }
        Err(RunError::Check { kind, span }) => Err((*kind, *span)),
        Err(RunError::Other(e)) => return Err(e.clone()),
    };
    outcome.agrees(found.as_ref().map_err(|e| *e), |found, expected| {
        if !is_rounded {
            return same_host(found, expected);
        }
        let near = |(a, b): (f64, f64)| close(a, b, b.abs(), tolerance(Property::Rewritten, case.elem()));
        let is_near = found.floats().into_iter().zip(expected.floats()).all(near);
        if is_near { Ok(()) } else { Err(format!("expected {expected:?}, found {found:?}")) }
    })?;
    Ok(ran.unwrap_or_default())
}

/// The same case with plain IR, whose values are those of the evaluator to the bit: contraction rounds the point where a
/// derivative is taken otherwise, and the second derivative, which may be anything, multiplies that.
fn uncontracted(case: &Case, generated: &Generated, plain: &ReadyModule) -> Result<Case, String> {
    let (module, name) = (Module::clone(&plain.module), plain.entry.symbol.clone());
    let args = generated.arguments_for(&plain.entry)?;
    let subject = Subject::new(case.subject.label.clone(), module, name, args);
    // The constructs tell which tolerance holds, and the seed makes the same tangents.
    let (seed, constructs) = (case.subject.seed, case.subject.constructs.clone());
    Case::new(Subject { seed, constructs, ..subject })
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
