//! Runs of loop nests on their interpreter, beside those of the core IR on its own.

use super::comparison::{regrouped, same_bits};
use crate::derived_case::options;
use cotan_ir::{CheckKind, Module, Span};
use cotan_loops::node::walk;
use cotan_loops::{LoopFunction, Node, TargetKind, VerifiedNests, lower_only};
use cotan_ops::Value;
use std::collections::BTreeMap;

/// One call on both interpreters.
pub(crate) fn agree(module: &Module, name: &str, args: &[Value], nests: &VerifiedNests) -> Result<(), String> {
    let (mut expected_text, mut text) = (String::new(), String::new());
    let expected = cotan_interp::run_with_output(module, name, args, &options(), &mut |text| expected_text += text);
    let expected = match expected {
        Ok(values) => Ok(values),
        Err(cotan_interp::RuntimeError::Check(failure)) => Err((failure.kind, failure.args, failure.span)),
        Err(other) => return Err(format!("on the core IR, {other}")),
    };
    let limits = cotan_nest::Options { steps: STEPS, ..cotan_nest::Options::default() };
    let found = cotan_nest::run_with_output(nests, name, args, &limits, &mut |piece| text += piece);
    if text != expected_text {
        return Err(format!("expected the output {expected_text:?}, found {text:?}"));
    }
    agrees(found, &expected, nests.iter().any(|nest| nest.regroups_sums))
}

/// Enough for any program of the tests, and a bound on one that does not end.
const STEPS: u64 = 2_000_000_000;

/// What a run of the interpreter of the core IR gives: values, or a failed check.
type Expected = Result<Vec<Value>, (CheckKind, Vec<i128>, Span)>;

fn agrees(
    found: Result<Vec<Value>, cotan_nest::RuntimeError>,
    expected: &Expected,
    regroups: bool,
) -> Result<(), String> {
    match (found, expected) {
        (Ok(found), Ok(expected)) if regroups => regrouped(&found, expected),
        (Ok(found), Ok(expected)) => same_bits(&found, expected, "results"),
        (Err(cotan_nest::RuntimeError::Check(found)), Err((kind, args, span)))
            if (found.kind, &found.args, found.span) == (*kind, args, *span) =>
        {
            Ok(())
        }
        (Ok(found), Err(expected)) => Err(format!("expected {expected:?}, found {found:?}")),
        (Err(found), expected) => Err(format!("expected {expected:?}, found {found:?}")),
    }
}

/// The nests of a function and of all that it calls, lowered.
pub(crate) fn lowered(module: &Module, name: &str, target: &'static TargetKind) -> Result<Vec<LoopFunction>, String> {
    let mut nests = BTreeMap::new();
    let mut wanted = vec![name.to_owned()];
    while let Some(name) = wanted.pop() {
        if nests.contains_key(&name) {
            continue;
        }
        let f = module.function(&name).ok_or_else(|| format!("there is no function `{name}`"))?;
        let nest = lower_only(f, target);
        callees(&nest.body, &mut wanted);
        nests.insert(name, nest);
    }
    Ok(nests.into_values().collect())
}

fn callees(nodes: &[Node], names: &mut Vec<String>) {
    walk(nodes, &mut |node| {
        if let Node::Call { callee, .. } = node {
            names.push(callee.to_string());
        }
    });
}
