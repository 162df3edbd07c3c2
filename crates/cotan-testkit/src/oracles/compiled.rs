//! Compiled code against the interpreter: values, derivatives and errors. Bit for bit, but for code whose lanes add up.

use super::Verdict;
use super::engines::{close_all, same_bits};
use crate::case::{Case, options};
use crate::machine::{compile_all, compile_plain, shared_backend};
use crate::tolerances::Property;
use cotan_interp::RuntimeError;
use cotan_ir::{CheckKind, Function, Module, Span};
use cotan_llvm::jit::OptLevel;
use cotan_llvm::{CallOptions, CompileOptions, CompiledFunction, RuntimeError as CompiledError, TaskSizes, Width};
use cotan_ops::Value;

/// The function, its forward and its reverse derivative do what they do on the interpreter, whatever the optimisation.
pub fn compiled(case: &Case) -> Verdict {
    Verdict::of([OptLevel::O0, OptLevel::O2].into_iter().try_for_each(|level| compiled_at(case, level)))
}

/// The same at one level: programs with even seeds are not optimised, those with odd ones are.
pub fn compiled_once(case: &Case) -> Verdict {
    let level = if case.subject.seed.is_multiple_of(2) { OptLevel::O0 } else { OptLevel::O2 };
    Verdict::of(compiled_at(case, level))
}

/// One of the three in one variant of compilation, by the seed, with an LLVM that is done soon.
pub fn compiled_quickly(case: &Case) -> Verdict {
    Verdict::of((|| {
        let number = case.subject.seed as usize / 2;
        let names = case.names();
        let which = number % names.len();
        let name = names.get(which).ok_or("a case has functions")?;
        let quick = CompileOptions { is_quick: true, ..CompileOptions::default() };
        let (options, how) = match number / names.len() % 5 {
            0 => (quick, "with all lanes"),
            1 => (CompileOptions { level: OptLevel::O0, ..quick }, "without lanes"),
            2 => (CompileOptions { width: Width::new(1), ..quick }, "at width 1"),
            3 => (CompileOptions { width: Width::new(4), ..quick }, "at width 4"),
            _ => {
                let tasks = TaskSizes { steps_of_task: 1.0, steps_of_range: 1.0, ..TaskSizes::default() };
                (CompileOptions { tasks: Some(tasks), ..quick }, "in the smallest tasks")
            }
        };
        let function = shared_backend()?.compile(&case.subject.module, name, &options);
        let function = function.map_err(|e| format!("`{name}` does not compile: {e}"))?;
        let agree = Agreement::of(&function, case);
        let what = format!("`{name}` made quickly {how}");
        for args in case.argument_lists() {
            let args = case.calls(args)?.into_iter().nth(which).unwrap_or_default();
            let found = outcome_of(function.call(&args), &what);
            same_outcome(found, interpreted(case, name, &args), &agree, &what)?;
        }
        Ok(())
    })())
}

/// The same code optimised for running, where it gives results: with them, checks of what nobody needs may be gone.
fn optimised(case: &Case) -> Result<(), String> {
    let mut module = case.subject.module.clone();
    let functions: Vec<Function> = module.functions().map(|f| f.as_ref().clone()).collect();
    for f in functions {
        module.insert(cotan_opt::optimize(f));
    }
    let names = case.names();
    let functions = compile_all(shared_backend()?, &module, &names, OptLevel::O2)?;
    for ((name, function), args) in names.iter().zip(&functions).zip(case.calls(&case.subject.args)?) {
        let found = function.call(&args).map_err(|e| format!("`{name}` optimised and compiled fails: {e}"))?;
        let what = format!("`{name}` optimised and compiled");
        Agreement::of(function, case).check(&found, &case.run(name, &args)?, &what)?;
    }
    // One of the derivatives as the library runs it first.
    let (names, calls) = (case.names(), case.calls(&case.subject.args)?);
    let which = 1 + case.subject.seed as usize % 2;
    if let (Some(name), Some(args)) = (names.get(which), calls.get(which))
        && let Some(plain) = compile_plain(shared_backend()?, &module, name, CompileOptions::default())?
    {
        let what = format!("`{name}` with plain products");
        let run = |plain: &CompiledFunction, what: &str| {
            plain.call_with(args, &CallOptions::default()).map_err(|e| format!("{what} fails: {e}"))
        };
        let outcome = run(&plain, &what)?;
        if !outcome.has_nan {
            Agreement::of(&plain, case).check(&outcome.values, &case.run(name, args)?, &what)?;
        }
        let width = if case.subject.seed % 4 < 2 { 1 } else { 4 };
        let narrow = CompileOptions { width: Width::new(width), ..CompileOptions::default() };
        let quick = CompileOptions { is_quick: true, ..CompileOptions::default() };
        let mut variants = vec![(narrow, format!("at width {width}")), (quick, "made quickly".to_owned())];
        // Few programs have wavefronts.
        if case.subject.seed.is_multiple_of(3) {
            let tasks = TaskSizes { steps_of_task: 1.0, steps_of_range: 1.0, ..TaskSizes::default() };
            let in_tasks = CompileOptions { tasks: Some(tasks), ..CompileOptions::default() };
            variants.push((in_tasks, "in the smallest tasks".to_owned()));
        }
        for (options, how) in variants {
            if let Some(other) = compile_plain(shared_backend()?, &module, name, options)? {
                let what = format!("{what} {how}");
                same_bits(&run(&other, &what)?.values, &outcome.values, &what)?;
            }
        }
    }
    Ok(())
}

fn compiled_at(case: &Case, level: OptLevel) -> Result<(), String> {
    match level {
        OptLevel::O0 => {}
        OptLevel::O2 => optimised(case)?,
    }
    let names = case.names();
    let functions = compile_all(shared_backend()?, &case.subject.module, &names, level)?;
    for args in case.argument_lists() {
        for ((name, function), args) in names.iter().zip(&functions).zip(case.calls(args)?) {
            let what = format!("`{name}` compiled at {level:?}");
            let found = outcome_of(function.call(&args), &what);
            let agree = Agreement::of(function, case);
            same_outcome(found, interpreted(case, name, &args), &agree, &what)?;
        }
    }
    Ok(())
}

/// The outcome of a call of compiled code.
pub(crate) fn outcome_of(called: Result<Vec<Value>, CompiledError>, what: &str) -> Ran {
    called.map_err(|e| match e {
        CompiledError::Check { kind, span, .. } => Ok((kind, span)),
        other @ (CompiledError::Argument(_)
        | CompiledError::OutOfMemory(_)
        | CompiledError::Cancelled
        | CompiledError::OutOfSteps
        | CompiledError::Bug(_)) => Err(format!("{what} fails: {other}")),
    })
}

/// How closely compiled code has to agree with the interpreter.
pub(crate) struct Agreement<'a> {
    is_exact: bool,
    case: &'a Case,
}

impl Agreement<'_> {
    pub(crate) fn of<'a>(function: &CompiledFunction, case: &'a Case) -> Agreement<'a> {
        Agreement { is_exact: !function.regroups_sums(), case }
    }

    pub(crate) fn check(&self, found: &[Value], expected: &[Value], what: &str) -> Result<(), String> {
        if self.is_exact {
            return same_bits(found, expected, what);
        }
        if found.len() != expected.len() {
            return Err(format!("{what}: expected {} values, found {}", expected.len(), found.len()));
        }
        for (found, expected) in found.iter().zip(expected).filter(|(found, _)| !found.elem.is_float()) {
            same_bits(std::slice::from_ref(found), std::slice::from_ref(expected), what)?;
        }
        close_all(found, expected, Property::Regrouped, self.case, what)
    }
}

/// Results, or the check that failed; anything else is a failure of what is tested.
pub(crate) type Ran = Result<Vec<Value>, Result<(CheckKind, Span), String>>;

/// A call of a function of a module on the interpreter.
pub(crate) fn called(module: &Module, name: &str, args: &[Value]) -> Ran {
    cotan_interp::run(module, name, args, &options()).map_err(|e| check_of(e, name))
}

/// A call of a function of a case on the interpreter.
pub(crate) fn interpreted(case: &Case, name: &str, args: &[Value]) -> Ran {
    called(&case.subject.module, name, args)
}

/// The failed check that an error of the interpreter or of the tape engine reports.
pub(super) fn check_of(e: RuntimeError, name: &str) -> Result<(CheckKind, Span), String> {
    match e {
        RuntimeError::Check(failure) => Ok((failure.kind, failure.span)),
        other @ (RuntimeError::Argument(_)
        | RuntimeError::Limit(_)
        | RuntimeError::OutOfMemory(_)
        | RuntimeError::Undefined(_)
        | RuntimeError::Bug(_)) => Err(format!("`{name}` fails: {other}")),
    }
}

/// Whether compiled code did what the interpreter did.
pub(crate) fn same_outcome(found: Ran, expected: Ran, agree: &Agreement, what: &str) -> Result<(), String> {
    match (found, expected) {
        (Ok(found), Ok(expected)) => agree.check(&found, &expected, what),
        (Err(Ok(found)), Err(Ok(expected))) if found == expected => Ok(()),
        (Err(Err(e)), _) | (_, Err(Err(e))) => Err(e),
        (Ok(_), Err(Ok(expected))) => Err(format!("{what}: no error, expected {expected:?}")),
        (Err(Ok(found)), expected) => Err(format!("{what}: fails with {found:?}, expected {expected:?}")),
    }
}
