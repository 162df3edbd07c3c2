//! One call on both engines, within bounds: the same values to the bit, or the same check at the same place.

use super::Reached;
use crate::compile::shared_machine;
use crate::oracles::same_bits;
use crate::variant::Variant;
use cotan::ReadyModule;
use cotan_interp::{Limits, Options, RuntimeError};
use cotan_ir::{CheckKind, Module, PrintOptions, Span, print_module};
use cotan_ops::Value;
use cotan_runtime::Watch;
use cotan_runtime::{CallOptions, CompiledFunction, RuntimeError as CompiledError};
use std::sync::Arc;

/// Steps of the interpreter.
const STEPS: u64 = 100_000;

/// Bytes of the interpreter.
const BYTES: u64 = 64 << 20;

/// How much more compiled code may take where the interpreter is done within its bounds: it counts steps and bytes in
/// another way.
const SLACK: u64 = 16;

/// What became of a call, as far as engines have to agree on it.
enum Outcome {
    Values(Vec<Value>),
    Check(CheckKind, Span),
    Limit(String),
}

/// Calls a function on both engines. Gives the outcome in a word.
pub(super) fn agree(lowered: &ReadyModule, args: &[Value]) -> Result<String, String> {
    let (module, name) = (&lowered.module, &*lowered.entry.symbol);
    let expected = interpreted(module, name, args)?;
    let (machine, quick) = (shared_machine()?, Variant::QUICK.options());
    // What runs first of derivatives: it may give other last digits, and must not do worse.
    if let Some(plain) = machine.compile_plain(module, name, quick.clone())? {
        compiled(&plain, args)?;
    }
    let function = machine.compile(module, name, &quick)?;
    let found = compiled(&function, args)?;
    let is_same = same(&found, &expected);
    match (is_same, function.regroups_sums()) {
        (Ok(()), _) => Ok(word(&expected)),
        // What differs after sums were added in another order may differ by much; code that keeps the order may not.
        (Err(_), true) => {
            let plain = machine.compile(module, name, &Variant::PLAIN.options())?;
            same(&compiled(&plain, args)?, &expected).map(|()| format!("{}, regrouped", word(&expected)))
        }
        (Err(e), false) => Err(e),
    }
}

fn word(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Values(_) => "a value".to_owned(),
        Outcome::Check(kind, _) => kind.code().to_owned(),
        Outcome::Limit(_) => "a limit".to_owned(),
    }
}

fn shown(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Values(values) => format!("{values:?}"),
        Outcome::Check(kind, span) => format!("{} at {span:?}", kind.code()),
        Outcome::Limit(message) => message.clone(),
    }
}

fn same(found: &Outcome, expected: &Outcome) -> Result<(), String> {
    match (found, expected) {
        // The bounds of the engines are not the same.
        (_, Outcome::Limit(_)) => Ok(()),
        (Outcome::Values(found), Outcome::Values(expected)) => same_bits(found, expected, "compiled code"),
        (Outcome::Check(kind, span), Outcome::Check(other, place)) if (kind, span) == (other, place) => Ok(()),
        (found, expected) => Err(format!("compiled code: {}, interpreter: {}", shown(found), shown(expected))),
    }
}

fn interpreted(module: &Module, name: &str, args: &[Value]) -> Result<Outcome, String> {
    let limits = Limits { steps: STEPS, bytes: BYTES, ..Limits::default() };
    match cotan_interp::run(module, name, args, &Options { limits, ..Options::default() }) {
        Ok(values) => Ok(Outcome::Values(values)),
        Err(RuntimeError::Check(failure)) => Ok(Outcome::Check(failure.kind, failure.span)),
        Err(e @ (RuntimeError::Limit(_) | RuntimeError::OutOfMemory(_))) => Ok(Outcome::Limit(e.to_string())),
        Err(e @ (RuntimeError::Argument(_) | RuntimeError::Undefined(_) | RuntimeError::Bug(_))) => {
            Err(format!("the interpreter: {e}"))
        }
    }
}

fn compiled(function: &CompiledFunction, args: &[Value]) -> Result<Outcome, String> {
    let steps = i64::try_from(STEPS * SLACK).unwrap_or(i64::MAX);
    let options = CallOptions {
        max_bytes: usize::try_from(BYTES * SLACK).unwrap_or(usize::MAX),
        watch: Some(Arc::new(Watch::new(Some(steps)))),
        ..CallOptions::default()
    };
    match function.call_with_output(args, &options, &mut |_| {}) {
        Ok(outcome) => Ok(Outcome::Values(outcome.values)),
        Err(CompiledError::Check { kind, span, .. }) => Ok(Outcome::Check(kind, span)),
        Err(e @ (CompiledError::OutOfMemory(_) | CompiledError::OutOfSteps)) => Ok(Outcome::Limit(e.to_string())),
        Err(
            e @ (CompiledError::Argument(_)
            | CompiledError::Cancelled
            | CompiledError::TimedOut
            | CompiledError::BadExtents(_)
            | CompiledError::Bug(_)),
        ) => Err(format!("compiled code: {e}")),
    }
}

/// The operations of a module, by the words that stand for them in its text.
pub(super) fn operations(module: &Module) -> Reached {
    let text = print_module(module, PrintOptions::default());
    let words = text.lines().filter_map(|line| line.split_once(" = ")?.1.split([' ', '(', '[', '<']).next());
    words.map(|word| format!("op {word}")).collect()
}
