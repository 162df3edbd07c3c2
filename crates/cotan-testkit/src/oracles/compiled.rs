//! Compiled code against the interpreter: values, derivatives and errors. Bit for bit, but for code whose lanes add up.

use super::Verdict;
use super::comparison::same_bits;
use super::engines::close_all;
use crate::compile::shared_machine;
use crate::derived_case::{Case, options};
use crate::tier;
use crate::tolerances::Property;
use crate::variant::Variant;
use cotan_interp::RuntimeError;
use cotan_ir::{CheckKind, Function, Module, Span};
use cotan_llvm::{CompileOptions, TaskSizes};
use cotan_ops::Value;
use cotan_opt::{OPTIMIZE, PassContext};
use cotan_runtime::{CallOptions, CompiledFunction, RuntimeError as CompiledError};

/// A way to compile functions of a case, and to compare what they do.
type Way = fn(&Case) -> Result<(), String>;

/// The code of all three functions of a case: the function, its forward and its reverse derivative.
const OF_ALL: [Way; 3] = [
    |case| as_written(case, Variant::PLAIN),
    |case| as_written(case, Variant::QUICK),
    |case| optimised(case, if tier::is_campaign() { Variant::SHIPPED } else { Variant::QUICK }),
];

/// The function, its forward and its reverse derivative do what they do on the interpreter, compiled in one way of the
/// seven, that of the case's name; in all of them in the campaign. LLVM takes most of the time of the tests, so it works
/// as hard as for users only in the ways that are about that.
pub fn compiled_once(case: &Case) -> Verdict {
    let (n, name) = (OF_ALL.len() + Variant::OF_SAME_BITS.len(), &case.subject.label);
    Verdict::of(tier::chosen(&Vec::from_iter(0..n), 1, name).into_iter().try_for_each(|k| match OF_ALL.get(k) {
        Some(way) => way(case),
        None => {
            let variant = Variant::OF_SAME_BITS[k - OF_ALL.len()];
            let is_quick = variant.is_quick && variant != Variant::QUICK && !tier::is_campaign();
            same_bits_as_shipped(case, Variant { is_quick, ..Variant::SHIPPED }, variant)
        }
    }))
}

/// The same in every way.
pub fn compiled(case: &Case) -> Verdict {
    Verdict::of((|| {
        OF_ALL.iter().try_for_each(|way| way(case))?;
        optimised(case, Variant::SHIPPED)?;
        Variant::OF_SAME_BITS.iter().try_for_each(|variant| same_bits_as_shipped(case, Variant::SHIPPED, *variant))
    })())
}

/// One of the three functions in one variant of compilation, by the seed, with an LLVM that is done soon.
pub fn compiled_quickly(case: &Case) -> Verdict {
    Verdict::of((|| {
        let (number, names) = (case.subject.seed as usize / 2, case.names());
        let which = number % names.len();
        let variant = Variant { is_quick: true, ..Variant::ALL[number / names.len() % Variant::ALL.len()] };
        let function = shared_machine()?.compile(&case.subject.module, &names[which], &variant.options())?;
        let (agree, what) = (Agreement::of(&function, case), format!("`{}` compiled, {variant:?}", names[which]));
        for args in case.argument_lists() {
            let args = &case.calls(args)?[which];
            let found = outcome_of(function.call(args), &what);
            same_outcome(found, interpreted(case, &names[which], args), &agree, &what)?;
        }
        Ok(())
    })())
}

/// The functions compiled as they are, on all arguments.
fn as_written(case: &Case, variant: Variant) -> Result<(), String> {
    let names = case.names();
    let functions = shared_machine()?.compile_all(&case.subject.module, &names, &variant.options())?;
    for args in case.argument_lists() {
        for ((name, function), args) in names.iter().zip(&functions).zip(case.calls(args)?) {
            let what = format!("`{name}` compiled, {variant:?}");
            let found = outcome_of(function.call(&args), &what);
            let agree = Agreement::of(function, case);
            same_outcome(found, interpreted(case, name, &args), &agree, &what)?;
        }
    }
    Ok(())
}

/// The same code optimised for running, where it gives results: with them, checks of what nobody needs may be gone.
fn optimised(case: &Case, variant: Variant) -> Result<(), String> {
    let (module, names) = (optimised_module(case), case.names());
    let functions = shared_machine()?.compile_all(&module, &names, &variant.options())?;
    for ((name, function), args) in names.iter().zip(&functions).zip(case.calls(&case.subject.args)?) {
        let found = function.call(&args).map_err(|e| format!("`{name}` optimised and compiled fails: {e}"))?;
        let what = format!("`{name}` optimised and compiled");
        Agreement::of(function, case).check(&found, &case.run(name, &args)?, &what)?;
    }
    Ok(())
}

pub(super) fn optimised_module(case: &Case) -> Module {
    let mut module = case.subject.module.clone();
    let functions: Vec<Function> = module.functions().map(|f| f.as_ref().clone()).collect();
    for f in functions {
        module.insert(OPTIMIZE.run(f, &PassContext::default()));
    }
    module
}

/// One of the derivatives as the library runs it first, if it has products, and the same in a variant.
fn same_bits_as_shipped(case: &Case, shipped: Variant, variant: Variant) -> Result<(), String> {
    let (module, machine) = (optimised_module(case), shared_machine()?);
    let (names, calls) = (case.names(), case.calls(&case.subject.args)?);
    let which = 1 + tier::hash(&case.subject.label) as usize / 8 % 2;
    let (name, args) = (&names[which], &calls[which]);
    let Some(shipped) = machine.compile_plain(&module, name, shipped.options())? else { return Ok(()) };
    let run = |code: &CompiledFunction, what: &str| {
        code.call_with(args, &CallOptions::default()).map_err(|e| format!("{what} fails: {e}"))
    };
    let what = format!("`{name}` with plain products");
    let outcome = run(&shipped, &what)?;
    if !outcome.has_nan {
        Agreement::of(&shipped, case).check(&outcome.values, &case.run(name, args)?, &what)?;
    }
    // Smaller chunks are a way of adding up of their own.
    let options = variant.options();
    let options = CompileOptions { tasks: options.tasks.map(TaskSizes::in_usual_chunks), ..options };
    let Some(other) = machine.compile_plain(&module, name, options)? else { return Ok(()) };
    let what = format!("{what}, {variant:?}");
    same_bits(&run(&other, &what)?.values, &outcome.values, &what)
}

/// The outcome of a call of compiled code.
pub(crate) fn outcome_of(called: Result<Vec<Value>, CompiledError>, what: &str) -> Ran {
    called.map_err(|e| match e {
        CompiledError::Check { kind, span, .. } => Ok((kind, span)),
        other @ (CompiledError::Argument(_)
        | CompiledError::OutOfMemory(_)
        | CompiledError::Cancelled
        | CompiledError::OutOfSteps
        | CompiledError::TimedOut
        | CompiledError::BadExtents(_)
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
