//! Runs signatures and compares what happens with what must happen.

use super::{Call, Expected, Signature, Size, signature};
use crate::parallel;
use cotan::host::{Arguments, HostValue};
use cotan::{CallError, Compiler, Config, Engine, Function, Program, Request};
use cotan_llvm::jit::OptLevel;
use cotan_syntax::Diagnostic;
use std::ops::Range;
use std::sync::OnceLock;

/// So many signatures make a program.
const IN_A_PROGRAM: u64 = 25;
/// One program in so many is optimised; the others are compiled quickly.
const OPTIMISED: u64 = 8;

/// What signatures and their calls came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The signatures.
    pub signatures: usize,
    /// Those with an error before the program runs.
    pub told: usize,
    /// Calls, on each engine.
    pub calls: usize,
    /// Calls whose arguments are refused.
    pub refused: usize,
    /// Calls that end in a failed check.
    pub failed: usize,
}

impl Counts {
    fn plus(self, other: Counts) -> Counts {
        Counts {
            signatures: self.signatures + other.signatures,
            told: self.told + other.told,
            calls: self.calls + other.calls,
            refused: self.refused + other.refused,
            failed: self.failed + other.failed,
        }
    }
}

/// Judges signatures by number; the error is what went wrong, with the text.
pub fn judge(numbers: Range<u64>) -> Result<Counts, String> {
    let starts: Vec<u64> = numbers.clone().step_by(IN_A_PROGRAM as usize).collect();
    let outcomes = parallel::map(&starts, |start| {
        let part = *start..(start + IN_A_PROGRAM).min(numbers.end);
        parallel::guarded(|| judge_program(part)).and_then(|outcome| outcome)
    });
    outcomes.into_iter().try_fold(Counts::default(), |all, counts| counts.map(|counts| all.plus(counts)))
}

fn judge_program(numbers: Range<u64>) -> Result<Counts, String> {
    let optimises = (numbers.start / IN_A_PROGRAM).is_multiple_of(OPTIMISED);
    let all: Vec<Signature> = numbers.map(signature).collect();
    let (text, places) = program(&all);
    let compiler = compiler(optimises)?;
    let checked = compiler.check("signatures.cot", &text);
    for (signature, place) in all.iter().zip(&places) {
        let told: Vec<&Diagnostic> =
            checked.diagnostics.iter().filter(|d| d.is_error() && is_within(d, place)).collect();
        let wanted = signature.told();
        let is_right = told.first().map(|d| d.code.as_str()) == wanted
            && told.iter().all(|d| matches!(d.code.as_str(), "E0405" | "E0415"));
        if !is_right {
            let found: Vec<String> = told.iter().map(|d| format!("{} {}", d.code, d.message)).collect();
            return Err(format!("expected {wanted:?} at check time, found {found:?} for\n{}", signature.text()));
        }
    }
    let mut counts = Counts { signatures: all.len(), ..Counts::default() };
    counts.told = all.iter().filter(|signature| signature.told().is_some()).count();
    let runs: Vec<Signature> = all.into_iter().filter(|signature| signature.told().is_none()).collect();
    let (text, places) = program(&runs);
    let checked = compiler.check("signatures.cot", &text);
    if checked.has_errors() {
        return Err(format!("{:?} for\n{text}", checked.diagnostics));
    }
    for (signature, place) in runs.iter().zip(&places) {
        let calls = judge_calls(compiler, &checked, signature, place)?;
        counts = counts.plus(calls);
    }
    Ok(counts)
}

/// The text of a program, and where each function stands in it.
fn program(signatures: &[Signature]) -> (String, Vec<Range<u32>>) {
    let mut text = String::new();
    let mut places = Vec::new();
    for signature in signatures {
        let start = text.len() as u32;
        text += &signature.text();
        places.push(start..text.len() as u32);
    }
    (text, places)
}

/// Whether a mistake is told of a place: there, or elsewhere with a fix that reaches it.
fn is_within(d: &Diagnostic, place: &Range<u32>) -> bool {
    place.contains(&d.primary.span.start) || d.fix.iter().any(|edit| place.contains(&edit.span.start))
}

fn compiler(optimises: bool) -> Result<&'static Compiler, String> {
    static COMPILERS: [OnceLock<Result<Compiler, String>>; 2] = [const { OnceLock::new() }; 2];
    let level = if optimises { OptLevel::O2 } else { OptLevel::O0 };
    let made = COMPILERS[usize::from(optimises)].get_or_init(|| Compiler::new(Config { level, ..Config::default() }));
    made.as_ref().map_err(Clone::clone)
}

fn judge_calls(
    compiler: &Compiler,
    program: &Program,
    signature: &Signature,
    place: &Range<u32>,
) -> Result<Counts, String> {
    let mut counts = Counts::default();
    for engine in [Engine::INTERPRETER, Engine::CPU] {
        let made = compiler.function(program, &Request::function(signature.name.as_str()), engine);
        let function = made.map_err(|e| format!("{e} for\n{}", signature.text()))?;
        for call in &signature.calls {
            let expected = signature.expected(*call);
            let found = outcome(&function, signature, *call, place);
            let is_also_right = || found.as_ref().is_ok_and(|found| signature.also_right(*call) == Some(*found));
            if found != Ok(expected) && !is_also_right() {
                let text = signature.text();
                return Err(format!("{engine:?}, {call:?}: expected {expected:?}, found {found:?} for\n{text}"));
            }
            if matches!(engine, Engine::CPU) {
                counts.calls += 1;
                counts.refused += usize::from(expected == Expected::Refused);
                counts.failed += usize::from(matches!(expected, Expected::Fails(_)));
            }
        }
    }
    Ok(counts)
}

/// What a call comes to; the error is what no call may come to.
fn outcome(function: &Function, signature: &Signature, call: Call, place: &Range<u32>) -> Result<Expected, String> {
    match function.call(&arguments(signature, call)) {
        Ok(value) => Ok(Expected::Gives(value.floats().iter().sum())),
        Err(CallError::Arguments(misfit)) if matches!(misfit.code().as_str(), "A0004" | "A0009") => {
            Ok(Expected::Refused)
        }
        Err(CallError::Check(failure)) if place.contains(&failure.span.start) => Ok(Expected::Fails(failure.kind)),
        Err(other) => Err(format!("{other:?}")),
    }
}

fn arguments(signature: &Signature, call: Call) -> Arguments {
    let ones = |n: i64| HostValue::f64s(&[n], &vec![1.0; n as usize]);
    let numbers = |dims: &[i64]| {
        let n: i64 = dims.iter().product();
        HostValue::f64s(dims, &(0..n).map(|k| (k + 1) as f64).collect::<Vec<f64>>())
    };
    let x = match signature.body {
        super::Body::Kernel(_) => numbers(&[2, call.found]),
        super::Body::At(_)
        | super::Body::Sum(_)
        | super::Body::Length(_)
        | super::Body::Part(..)
        | super::Body::Write(_)
        | super::Body::WriteSlice(_)
        | super::Body::Ones(_)
        | super::Body::Tabulate(_)
        | super::Body::Loop(_)
        | super::Body::Inner(_)
        | super::Body::Result(_) => numbers(&[call.found]),
    };
    let mut args: Arguments = [("x".to_owned(), x), ("n".to_owned(), HostValue::i64(call.value))].into();
    match signature.sized {
        Size::Solved => {}
        Size::Beside => drop(args.insert("y".to_owned(), ones(call.size))),
        Size::Named => drop(args.insert("N".to_owned(), HostValue::i64(call.size))),
    }
    args
}
