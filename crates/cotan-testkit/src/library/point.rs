//! A function with its derivatives, asked at points on the interpreter and in machine code.

use crate::compile::shared_machine;
use crate::derived_case::{Case, Subject, float_value, floats};
use crate::frontend::lower_to_derive;
use crate::oracles::{Agreement, Ran, Verdict, dot_product, interpreted, outcome_of, same_outcome, tape};
use crate::variant::Variant;
use cotan::host::{Arguments, HostValue, fit_arguments};
use cotan::{Program, Request};
use cotan_ir::{CheckKind, Elem, Module};
use cotan_lower::entry::Entry;
use cotan_ops::Value;
use cotan_runtime::CompiledFunction;
use std::fmt;
use std::sync::Arc;

/// One value for each parameter of a wrapper, in order.
pub(super) type Point = Vec<Value>;

/// Names the directions of all cases; with an even one derivatives are written as users get them.
const SEED: u64 = 2;

/// A function with its derivatives.
pub(super) struct Prepared {
    entry: Entry,
    case: Case,
    /// The function and its derivatives in machine code, if that is to agree.
    compiled: Vec<Arc<CompiledFunction>>,
}

/// What a function does at a point.
pub(super) enum Asked {
    /// It gives results.
    Gives(Box<Given>),
    /// A check fails.
    Fails(CheckKind),
}

/// The results of a function, and its derivatives there.
pub(super) struct Given {
    pub(super) case: Case,
    /// The leaves of the result, without the lengths beside them.
    pub(super) results: Vec<Value>,
}

impl Given {
    /// Forward mode, reverse mode and the tape give the same derivatives, where there are numbers to compare.
    pub(super) fn derivatives_agree(&self) -> Result<(), String> {
        if !is_finite(&self.case.results) || !is_finite(&self.case.subject.args) {
            return Ok(());
        }
        [dot_product, tape].into_iter().try_for_each(|oracle| holds(oracle(&self.case)))
    }
}

impl Prepared {
    /// The function on both engines, which have to agree; `None` if it fails at all of these points.
    pub(super) fn new(program: &Program, function: &str, points: &[Point]) -> Result<Option<Prepared>, String> {
        let Some(mut prepared) = Prepared::interpreted(program, function, points)? else { return Ok(None) };
        let case = &prepared.case;
        // Loops get their lanes at every level, and optimising takes most of the time; the cases themselves are optimised.
        prepared.compiled =
            shared_machine()?.compile_all(&case.subject.module, &case.names(), &Variant::PLAIN.options())?;
        Ok(Some(prepared))
    }

    /// The function on the interpreter alone.
    pub(super) fn interpreted(program: &Program, function: &str, points: &[Point]) -> Result<Option<Prepared>, String> {
        let lowered = lower_to_derive(program, &Request::function(function))?;
        let (module, name) = (Module::clone(&lowered.module), lowered.entry.symbol.clone());
        for point in points {
            let args = operands(&lowered.entry, point)?;
            let subject = Subject::new(name.to_string(), module.clone(), name.clone(), args);
            if let Ok(case) = Case::new(Subject { seed: SEED, ..subject }) {
                return Ok(Some(Prepared { entry: lowered.entry, case, compiled: Vec::new() }));
            }
        }
        Ok(None)
    }

    /// What it does at a point, in machine code too.
    pub(super) fn at(&self, point: &Point) -> Result<Asked, String> {
        self.with_operands(operands(&self.entry, point)?)
    }

    /// The same, with sizes before the values.
    pub(super) fn with_operands(&self, args: Vec<Value>) -> Result<Asked, String> {
        let name = &self.case.subject.name;
        let expected = interpreted(&self.case, name, &args);
        if let Some(compiled) = self.compiled.first() {
            let agreement = Agreement::of(compiled, &self.case);
            same_outcome(ran(compiled, &args, name), expected.clone(), &agreement, "compiled")?;
        }
        match expected {
            Ok(_) => {}
            Err(Ok((kind, _))) => return Ok(Asked::Fails(kind)),
            Err(Err(e)) => return Err(e),
        }
        let case = self.case.at(args)?;
        let calls = case.calls(&case.subject.args)?;
        for ((name, compiled), args) in case.names().iter().zip(&self.compiled).zip(calls).skip(1) {
            let found = ran(compiled, &args, name);
            let agreement = Agreement::of(compiled, &case);
            same_outcome(found, interpreted(&case, name, &args), &agreement, &format!("`{name}` compiled"))?;
        }
        let results = self.entry.leaf_results.iter().map(|k| case.results[*k].clone()).collect();
        Ok(Asked::Gives(Box::new(Given { case, results })))
    }
}

fn ran(compiled: &CompiledFunction, args: &[Value], name: &str) -> Ran {
    outcome_of(compiled.call(args), name)
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Asked::Gives(given) => write!(f, "gives {:?}", given.results),
            Asked::Fails(kind) => write!(f, "fails with {}", kind.code()),
        }
    }
}

/// A function with the points that it is asked at.
pub(super) struct Side<'a> {
    pub(super) program: &'a Program,
    pub(super) name: &'a str,
    pub(super) points: Vec<Point>,
}

/// Asks one function in machine code too, and on the interpreter another one, which says what is expected: how many
/// points there are, and what is wrong.
pub(super) fn compare(
    found: &Side<'_>,
    expected: &Side<'_>,
    agree: impl Fn(&Given, Given) -> Result<(), String>,
) -> (usize, Vec<String>) {
    let failed = |e: String| (0, vec![format!("`{}`: {e}", found.name)]);
    let prepared = match Prepared::new(found.program, found.name, &found.points) {
        Ok(prepared) => prepared,
        Err(e) => return failed(e),
    };
    let other = match Prepared::interpreted(expected.program, expected.name, &expected.points) {
        Ok(other) => other,
        Err(e) => return failed(format!("`{}`: {e}", expected.name)),
    };
    let (prepared, other) = match (prepared, other) {
        (Some(prepared), Some(other)) => (prepared, other),
        // Nothing but errors; which ones is seen where the function itself is asked.
        (None, None) => return (0, Vec::new()),
        (Some(_), None) => return failed(format!("`{}` alone fails at every point", expected.name)),
        (None, Some(_)) => return failed("it fails at every point".to_owned()),
    };
    let at = |point: &Point, other_point: &Point| match (prepared.at(point)?, other.at(other_point)?) {
        (Asked::Gives(found), Asked::Gives(expected)) => agree(&found, *expected),
        (Asked::Fails(found), Asked::Fails(expected)) if found == expected => Ok(()),
        (found, expected) => Err(format!("{found}, expected what {expected}")),
    };
    let mut failures = Vec::new();
    for (point, other_point) in found.points.iter().zip(&expected.points) {
        if let Err(e) = at(point, other_point) {
            failures.push(format!("`{}`: {e}\n{point:?}", found.name));
        }
    }
    (found.points.len(), failures)
}

/// The operands of a call at a point: sizes, then values.
pub(super) fn operands(entry: &Entry, point: &[Value]) -> Result<Vec<Value>, String> {
    let value = |v: &Value| v.scalar().map_or_else(|| HostValue::Tensor(v.clone()), HostValue::Scalar);
    let args: Arguments = entry.signature.params.iter().zip(point).map(|(p, v)| (p.name.clone(), value(v))).collect();
    fit_arguments(entry, &args).map_err(|e| e.to_string())
}

/// The value with its floats in another type; others are as they are.
pub(super) fn converted(value: &Value, elem: Elem) -> Value {
    let like = Value { elem, ..value.clone() };
    if value.elem.is_float() { float_value(&like, &floats(value)) } else { value.clone() }
}

/// All values with their floats in another type.
pub(super) fn all_converted(values: &[Value], elem: Elem) -> Vec<Value> {
    values.iter().map(|value| converted(value, elem)).collect()
}

/// Whether all floats are numbers.
pub(super) fn is_finite(values: &[Value]) -> bool {
    values.iter().flat_map(floats).all(f64::is_finite)
}

/// An oracle that cannot judge is content.
pub(super) fn holds(verdict: Verdict) -> Result<(), String> {
    match verdict {
        Verdict::Holds | Verdict::Unusable(_) => Ok(()),
        Verdict::Fails(reason) => Err(reason),
    }
}
