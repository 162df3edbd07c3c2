//! Runs of loop nests on their interpreter, beside those of the core IR on its own.

use super::comparison::{regrouped, same_bits};
use crate::derived_case::options;
use cotan_device::Plan;
use cotan_ir::{CheckKind, Module, Span};
use cotan_loops::node::walk;
use cotan_loops::{LoopFunction, Node, TargetKind, VerifiedNests, lower_only};
use cotan_ops::Value;
use std::collections::BTreeMap;

/// One call on both interpreters.
pub(crate) fn agree(module: &Module, name: &str, args: &[Value], nests: &VerifiedNests) -> Result<(), String> {
    let regroups = nests.iter().any(|nest| nest.regroups_sums);
    beside_core_ir(module, name, args, regroups, |limits, output| {
        cotan_nest::run_with_output(nests, name, args, limits, output).map_err(|error| match error {
            cotan_nest::RuntimeError::Check(failure) => Failed::Check(failure.kind, failure.args, failure.span),
            cotan_nest::RuntimeError::Argument(_)
            | cotan_nest::RuntimeError::OutOfMemory(_)
            | cotan_nest::RuntimeError::OutOfSteps
            | cotan_nest::RuntimeError::TooLittleRoom
            | cotan_nest::RuntimeError::Bug { .. } => Failed::Otherwise(error.to_string()),
        })
    })
}

/// One call on the interpreter of the core IR, and on the reference device by a plan.
pub(crate) fn agree_on_plan(module: &Module, name: &str, args: &[Value], plan: &Plan) -> Result<(), String> {
    beside_core_ir(module, name, args, plan.function.regroups_sums, |limits, output| {
        cotan_nest::run_plan_with_output(plan, args, limits, output).map_err(|error| match error {
            cotan_device::RunError::Check { kind, args, span } => Failed::Check(kind, args, span),
            cotan_device::RunError::Arguments(_)
            | cotan_device::RunError::OutOfMemory(_)
            | cotan_device::RunError::OutOfSteps
            | cotan_device::RunError::Stopped
            | cotan_device::RunError::Needs(_)
            | cotan_device::RunError::ForHost
            | cotan_device::RunError::Device(_)
            | cotan_device::RunError::Bug(_) => Failed::Otherwise(error.to_string()),
        })
    })
}

/// Why a run has no results.
pub(super) enum Failed {
    Check(CheckKind, Vec<i128>, Span),
    Otherwise(String),
}

/// Runs something with these limits and this output, and compares it with the core IR.
pub(super) fn beside_core_ir(
    module: &Module,
    name: &str,
    args: &[Value],
    regroups: bool,
    run: impl FnOnce(&cotan_nest::Options, &mut dyn FnMut(&str)) -> Result<Vec<Value>, Failed>,
) -> Result<(), String> {
    let (mut expected_text, mut text) = (String::new(), String::new());
    let expected = cotan_interp::run_with_output(module, name, args, &options(), &mut |text| expected_text += text);
    let expected = match expected {
        Ok(values) => Ok(values),
        Err(cotan_interp::RuntimeError::Check(failure)) => Err((failure.kind, failure.args, failure.span)),
        Err(other) => return Err(format!("on the core IR, {other}")),
    };
    let limits = cotan_nest::Options { steps: STEPS, ..cotan_nest::Options::default() };
    let found = run(&limits, &mut |piece| text += piece);
    if text != expected_text {
        return Err(format!("expected the output {expected_text:?}, found {text:?}"));
    }
    agrees(found, &expected, regroups)
}

/// Enough for any program of the tests, and a bound on one that does not end.
const STEPS: u64 = 2_000_000_000;

/// What a run of the interpreter of the core IR gives: values, or a failed check.
type Expected = Result<Vec<Value>, (CheckKind, Vec<i128>, Span)>;

fn agrees(found: Result<Vec<Value>, Failed>, expected: &Expected, regroups: bool) -> Result<(), String> {
    match (found, expected) {
        (Ok(found), Ok(expected)) if regroups => regrouped(&found, expected),
        (Ok(found), Ok(expected)) => same_bits(&found, expected, "results"),
        (Err(Failed::Check(kind, args, span)), Err(expected))
            if (kind, &args, span) == (expected.0, &expected.1, expected.2) =>
        {
            Ok(())
        }
        (Ok(found), Err(expected)) => Err(format!("expected {expected:?}, found {found:?}")),
        (Err(Failed::Check(kind, args, span)), expected) => {
            Err(format!("expected {expected:?}, found {:?}", (kind, args, span)))
        }
        (Err(Failed::Otherwise(found)), expected) => Err(format!("expected {expected:?}, found: {found}")),
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
