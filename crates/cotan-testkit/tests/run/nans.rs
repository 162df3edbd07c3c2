//! Programs that make a NaN: a compiler that traps them says where.

use crate::run::check::place;
use cotan::host::fit_arguments;
use cotan::{CallError, Compiler, Config, DerivativeForm, Engine, Function, Program, Request, derivative};
use cotan_ir::Module;
use cotan_llvm::load::SearchConfig;
use cotan_ops::Value;
use cotan_testkit::derived_case::Subject;
use cotan_testkit::files::tests_folder;
use cotan_testkit::frontend::{loaded, lower};
use cotan_testkit::header::{self, Case, Expected, named_arguments};
use cotan_testkit::oracles::{Verdict, has_nan, nan_free, with_one_zero};
use std::cell::RefCell;
use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::sync::OnceLock;

/// Locates the NaN of every case of a program; gives what is wrong.
pub(crate) fn check(name: &str, text: &str) -> Vec<String> {
    let cases = match header::cases(text) {
        Ok(cases) => cases,
        Err(e) => return vec![format!("{name}: header: {e}")],
    };
    let program = match loaded(name, text, &tests_folder().join("run")) {
        Ok(program) => program,
        Err(e) => return vec![e],
    };
    failures(name, &cases, |case| located(&program, case))
}

/// Runs every case of a program that gives numbers with traps, and its derivatives; gives what is wrong.
pub(crate) fn never_traps(name: &str, program: &Program, cases: &[Case]) -> Vec<String> {
    let trapping = Trapping { program, made: RefCell::default() };
    failures(name, cases, |case| trapping.passes(case))
}

fn failures(name: &str, cases: &[Case], test: impl Fn(&Case) -> Result<(), String>) -> Vec<String> {
    let failure = |c: &Case| Some(format!("{name}, case `{}`: {}", c.name, test(c).err()?));
    cases.iter().filter_map(failure).collect()
}

/// The functions of a program without and with traps, each made once for all cases.
struct Trapping<'a> {
    program: &'a Program,
    /// By the request, and the position of the compiler; the last one has no traps.
    made: RefCell<HashMap<(String, usize), Rc<Function>>>,
}

impl Trapping<'_> {
    fn function(&self, request: &Request, nth: usize) -> Result<Rc<Function>, String> {
        let key = (format!("{request:?}"), nth);
        if let Some(function) = self.made.borrow().get(&key) {
            return Ok(Rc::clone(function));
        }
        let untrapped = (Engine::INTERPRETER, untrapped());
        let (engine, compiler) = compilers().get(nth).map_or(untrapped, |(engine, built)| (*engine, built));
        let made = Rc::new(function(compiler, self.program, request, engine)?);
        self.made.borrow_mut().insert(key, Rc::clone(&made));
        Ok(made)
    }
}

impl Trapping<'_> {
    /// A case that gives numbers gives them with traps too, as do its gradient on every engine and its first and second
    /// derivatives on the interpreter. Only the sign of a zero may differ, in a derivative: a sweep that starts after the
    /// value has other constants folded.
    fn passes(&self, case: &Case) -> Result<(), String> {
        let Expected::Value { .. } = case.expected else { return Ok(()) };
        let program = self.program;
        let forms = [None, Some(DerivativeForm::ValueAndGrad)];
        for form in forms.into_iter().take(if case.wrt.is_empty() { 1 } else { 2 }) {
            let request = request(case, form);
            let plain = self.function(&request, compilers().len())?;
            let args = named_arguments(&case.args, plain.entry())?;
            let flat = fit_arguments(plain.entry(), &args).map_err(|e| e.to_string())?;
            let expected = plain.call_flat(&flat).map_err(|e| e.to_string())?;
            if expected.iter().any(has_nan) {
                continue;
            }
            // Code does not depend on threads: that for many of them is enough.
            for nth in [INTERPRETER, MANY_THREADS] {
                let engine = compilers()[nth].0;
                let found = self.function(&request, nth)?.call_flat(&flat).map_err(|e| match e {
                    CallError::Nan(origin) => format!("{engine:?}: {}", origin.message(&program.sources)),
                    e @ (CallError::Arguments(_)
                    | CallError::Check(_)
                    | CallError::NanArgument(_)
                    | CallError::OutOfMemory(_)
                    | CallError::Limit(_)
                    | CallError::TimedOut
                    | CallError::Cancelled
                    | CallError::Device(_)
                    | CallError::Unsupported(_)
                    | CallError::Bug(_)) => format!("{engine:?}: {e}"),
                })?;
                if engine == Engine::INTERPRETER && !same_numbers(&found, &expected) {
                    return Err(format!("expected {expected:?}, found {found:?}"));
                }
            }
        }
        if case.wrt.is_empty() {
            return Ok(());
        }
        let lowered = lower(program, &Request::function(&case.function))?;
        let args =
            fit_arguments(&lowered.entry, &named_arguments(&case.args, &lowered.entry)?).map_err(|e| e.to_string())?;
        let (module, name) = (Module::clone(&lowered.module), lowered.entry.symbol.clone());
        let mut derived =
            cotan_testkit::derived_case::Case::new(Subject::new(case.function.clone(), module, name, args))?;
        if case.order >= 2 {
            derived.derive_twice()?;
        }
        match nan_free(&derived) {
            Verdict::Holds | Verdict::Unusable(_) => Ok(()),
            Verdict::Fails(reason) => Err(reason),
        }
    }
}

fn same_numbers(found: &[Value], expected: &[Value]) -> bool {
    found.iter().map(with_one_zero).eq(expected.iter().map(with_one_zero))
}

/// Whether a NaN of the program is made by a derivative.
pub(crate) fn is_of_a_derivative(text: &str) -> bool {
    let cases = header::cases(text).unwrap_or_default();
    cases.iter().any(|case| matches!(case.expected, Expected::Nan { form: Some(_), .. }))
}

/// Every engine says the same of the NaN, as the header does.
fn located(program: &Program, case: &Case) -> Result<(), String> {
    let Expected::Nan { form, line, column, message } = &case.expected else {
        return Err("a program of this folder makes a NaN".to_owned());
    };
    for (engine, compiler) in compilers() {
        let function = function(compiler, program, &request(case, *form), *engine)?;
        let args = named_arguments(&case.args, function.entry())?;
        let at = format!("{engine:?}");
        match function.call(&args) {
            Err(CallError::Nan(origin)) => {
                let found = (place(program, origin.span()), origin.message(&program.sources));
                if found != ((*line, *column), message.clone()) {
                    return Err(format!("{at}: expected {line}:{column} {message:?}, found {found:?}"));
                }
            }
            other => return Err(format!("{at}: no NaN, but {other:?}")),
        }
    }
    Ok(())
}

fn request(case: &Case, form: Option<DerivativeForm>) -> Request {
    let wrt: Vec<&str> = case.wrt.iter().map(String::as_str).collect();
    form.map_or_else(|| Request::function(&case.function), |form| derivative(&case.function, form, &wrt))
}

type Built = Result<Compiler, String>;

fn function(compiler: &Built, program: &Program, request: &Request, engine: Engine) -> Result<Function, String> {
    compiler.as_ref().map_err(Clone::clone)?.function(program, request, engine).map_err(|e| e.to_string())
}

/// The interpreter without traps.
fn untrapped() -> &'static Built {
    static COMPILER: OnceLock<Built> = OnceLock::new();
    COMPILER.get_or_init(|| Compiler::new(Config { llvm: SearchConfig::nowhere(), ..Config::default() }))
}

/// Their positions among the compilers.
const INTERPRETER: usize = 0;
const MANY_THREADS: usize = 2;

/// The interpreter, and compiled code on one and on three threads.
fn compilers() -> &'static [(Engine, Built); 3] {
    static COMPILERS: OnceLock<[(Engine, Built); 3]> = OnceLock::new();
    // Where nothing traps, code is called once.
    let compiler = |llvm, threads| {
        let (threads, quick_start) = (NonZeroUsize::new(threads), threads > 1);
        Compiler::new(Config { llvm, threads, quick_start, trap_nan: true, ..Config::default() })
    };
    let llvm = || SearchConfig { explicit: std::env::var_os("COTAN_LLVM").map(Into::into), ..SearchConfig::default() };
    COMPILERS.get_or_init(|| {
        [
            (Engine::INTERPRETER, compiler(SearchConfig::nowhere(), 1)),
            (Engine::CPU, compiler(llvm(), 1)),
            (Engine::CPU, compiler(llvm(), 3)),
        ]
    })
}
