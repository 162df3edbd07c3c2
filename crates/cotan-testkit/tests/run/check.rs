//! Running a test program in every way, and evaluating it directly.

use crate::run::nans;
use crate::run::parallel::in_parallel;
use crate::run::takes;
use cotan::host::{Arguments, HostValue, fit_arguments, from_json, rebuild};
use cotan::{DerivativeForm, Program, ReadyModule, Request, derivative};
use cotan_ir::{Mode, Module};
use cotan_ops::Value;
use cotan_testkit::derived_case::{Case, Subject, floats, tangent_value};
use cotan_testkit::engines::{Engine, RunError};
use cotan_testkit::evaluator::{Call, same_host, takes_derivatives};
use cotan_testkit::files::tests_folder;
use cotan_testkit::frontend::{
    calls_stay, loaded, lower, lower_plain, lower_to_derive, lower_to_derive_with_calls, lower_tree, lower_with_calls,
};
use cotan_testkit::header::{self, Expected, named_arguments};
use cotan_testkit::oracles::{
    SECOND_ORDER, Verdict, asked_forward, checkpoints_of_several_schemes, compiled_once, dot_product, forward_reverse,
    primal_value, regions, tape,
};
use cotan_testkit::shuffle::{Order, has_parallel_loops, shuffled};
use cotan_testkit::tier;
use cotan_testkit::tolerances::{Property, close, tolerance};
use cotan_testkit::variant::Variant;
use serde_json::Value as Json;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

/// The programs that also run inside a parallel loop.
pub(crate) const ALSO_IN_PARALLEL: &str = "loops/";

/// The programs whose calls stay calls, as in a program of so many calls that they are not inlined.
const OF_CALLS: &str = "calls/";

/// What is wrong with a program.
#[derive(Default)]
pub(crate) struct Failures {
    /// Cases that do not give what their header says.
    pub(crate) of_values: Vec<String>,
    /// Cases without a NaN that trap one.
    pub(crate) of_traps: Vec<String>,
}

/// Runs all cases of a program, of a chosen one also with traps for NaN.
pub(crate) fn check(name: &str, text: &str) -> Failures {
    let wrong = |e: String| Failures { of_values: vec![e], ..Failures::default() };
    let cases = match header::cases(text) {
        Ok(cases) => cases,
        Err(e) => return wrong(format!("{name}: header: {e}")),
    };
    let program = match program(name, text) {
        Ok(program) => program,
        Err(e) => return wrong(e),
    };
    let of_values = values(name, text, &program, &cases);
    let of_traps = if is_chosen(name) { nans::never_traps(name, &program, &cases) } else { Vec::new() };
    Failures { of_values, of_traps }
}

/// Runs all cases of a program; gives what is wrong.
fn values(name: &str, text: &str, program: &Program, cases: &[header::Case]) -> Vec<String> {
    let failure = |case: &header::Case, outcome: Result<(), String>| {
        Some(format!("{name}, case `{}`: {}", case.name, outcome.err()?))
    };
    let lowered = LoweredOnce::of(name, program);
    let alone = cases.iter().filter_map(|case| failure(case, Test { name, program, lowered: &lowered, case }.run()));
    let inside = |case: &header::Case| {
        let (text, case) = match in_parallel(text, case)? {
            Ok(wrapped) => wrapped,
            Err(e) => return failure(case, Err(e)),
        };
        let outcome = self::program(name, &text).and_then(|program| {
            Test { name, program: &program, lowered: &LoweredOnce::of(name, &program), case: &case }.run()
        });
        failure(&case, outcome)
    };
    let is_inside_too = name.starts_with(ALSO_IN_PARALLEL) && is_chosen(name);
    alone.chain(cases.iter().filter(|_| is_inside_too).filter_map(inside)).collect()
}

/// Whether a program goes through all that takes long. Values and gradients of the interpreter are compared with the header for each
/// program.
fn is_chosen(name: &str) -> bool {
    takes(name, 4)
}

fn program(name: &str, text: &str) -> Result<Program, String> {
    loaded(name, text, &tests_folder().join("run"))
}

/// What was lowered of a program, for all its cases.
struct LoweredOnce<'a> {
    program: &'a Program,
    /// Whether calls stay calls.
    has_calls: bool,
    /// By the request, and whether it is optimised.
    made: RefCell<HashMap<(String, How), ReadyModule>>,
}

/// How a request is lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum How {
    /// As it would be run.
    Optimised,
    /// Without any optimisation.
    Plain,
}

impl LoweredOnce<'_> {
    fn of<'a>(name: &str, program: &'a Program) -> LoweredOnce<'a> {
        LoweredOnce { program, has_calls: name.starts_with(OF_CALLS), made: RefCell::default() }
    }

    fn get(&self, request: &Request, how: How) -> Result<ReadyModule, String> {
        let key = (format!("{request:?}"), how);
        if let Some(lowered) = self.made.borrow().get(&key) {
            return Ok(lowered.clone());
        }
        let lowered = match how {
            How::Optimised if self.has_calls => lower_with_calls(self.program, request),
            How::Optimised => lower(self.program, request),
            How::Plain => lower_plain(self.program, request),
        }?;
        self.made.borrow_mut().insert(key, lowered.clone());
        Ok(lowered)
    }
}

struct Test<'a> {
    /// The path of the program.
    name: &'a str,
    program: &'a Program,
    lowered: &'a LoweredOnce<'a>,
    case: &'a header::Case,
}

impl Test<'_> {
    fn run(&self) -> Result<(), String> {
        let function = Request::function(&self.case.function);
        if let Expected::Nan { .. } = self.case.expected {
            return Err("programs that make a NaN stand in `tests/run/nans`".to_owned());
        }
        self.evaluates(&function).map_err(|e| format!("evaluator: {e}"))?;
        match &self.case.expected {
            Expected::Error { code, file, line, column } => {
                let file = file.as_deref().unwrap_or_else(|| file_name(self.program, 0));
                let expected = (code.as_str(), file, *line, *column);
                self.fails(&function, expected)?;
                let wrt: Vec<&str> = self.case.wrt.iter().map(String::as_str).collect();
                if wrt.is_empty() {
                    return Ok(());
                }
                for form in [DerivativeForm::ValueAndGrad, DerivativeForm::Grad] {
                    let request = derivative(&self.case.function, form, &wrt);
                    self.fails(&request, expected).map_err(|e| format!("{}: {e}", form.as_str()))?;
                }
                Ok(())
            }
            Expected::Nan { .. } => Ok(()),
            Expected::Value { value, grad } => {
                self.gives(&function, value)?;
                self.keeps_its_bits_when_shuffled(&function)?;
                let wrt: Vec<&str> = self.case.wrt.iter().map(String::as_str).collect();
                if wrt.is_empty() {
                    return Ok(());
                }
                let gradient = derivative(&self.case.function, DerivativeForm::Grad, &wrt);
                self.gives(&gradient, &expected_gradient(grad, &wrt))?;
                if is_chosen(self.name) { self.agrees(&function, &wrt) } else { Ok(()) }
            }
        }
    }

    /// The evaluator of the typed tree gives what the header says, and the interpreter of plain IR gives the same: the
    /// same bits, or the same check at the same place.
    fn evaluates(&self, request: &Request) -> Result<(), String> {
        let plain = self.lowered.get(request, How::Plain)?;
        let args = self.named_arguments(&plain)?;
        let call = Call {
            program: &self.program.checked.program,
            function: &self.case.function,
            elems: &request.elems,
            args: &args,
        };
        let outcome = call.value()?;
        let flat = fit_arguments(&plain.entry, &args).map_err(|e| e.to_string())?;
        let engine = match Engine::Interpreter.run(&plain.module, &plain.entry.symbol, &flat) {
            Ok(results) => Ok(result(&plain, &results).ok_or("no value")?),
            Err(RunError::Check { kind, span }) => Err((kind, span)),
            Err(RunError::Other(e)) => return Err(e),
        };
        let bits_or_close = |found: &HostValue, expected: &HostValue| {
            if takes_derivatives(call.program) {
                same(found, expected, tolerance(Property::Tape, cotan_ir::Elem::F64).max(self.case.tolerance))
            } else {
                same_host(found, expected)
            }
        };
        outcome.agrees(engine.as_ref().map_err(|e| *e), bits_or_close)?;
        match (&self.case.expected, outcome.value) {
            (Expected::Value { value, grad }, Ok(found)) => {
                let expected = from_json(value, &plain.entry.signature.result).map_err(|e| e.expected)?;
                same(&found, &expected, self.case.tolerance)?;
                let wrt: Vec<&str> = self.case.wrt.iter().map(String::as_str).collect();
                if wrt.is_empty() {
                    return Ok(());
                }
                let gradient = call.gradient(&wrt)?.value.map_err(|f| format!("the gradient fails: {f:?}"))?;
                let request = derivative(&self.case.function, DerivativeForm::Grad, &wrt);
                let ty = self.lowered.get(&request, How::Plain)?;
                let expected =
                    from_json(&expected_gradient(grad, &wrt), &ty.entry.signature.result).map_err(|e| e.expected)?;
                same(&gradient, &expected, self.case.tolerance).map_err(|e| format!("gradient: {e}"))
            }
            // The interpreter reports a check that it may report; the header says which.
            (Expected::Error { .. }, Err(_)) => Ok(()),
            (expected, found) => Err(format!("expected {expected:?}, found {found:?}")),
        }
    }

    /// Every engine, with and without optimisation, gives the value.
    fn gives(&self, request: &Request, expected: &Json) -> Result<(), String> {
        for (how, lowered, engine) in self.ways(request, Engine::of)? {
            let args = self.arguments(&lowered)?;
            let expected = from_json(expected, &lowered.entry.signature.result)
                .map_err(|e| format!("expected value: {}: {} for {}", e.place, e.found, e.expected))?;
            let at = || format!("{:?} on {engine:?}, {how:?}", request.form.as_ref().map(|d| d.form));
            let mut output = String::new();
            let results =
                engine.run_with_output(&lowered.module, &lowered.entry.symbol, &args, &mut |text| output += text);
            let results = results.map_err(|e| format!("{}: {e}", at()))?;
            self.printed(&output).map_err(|e| format!("{}: {e}", at()))?;
            let found = result(&lowered, &results).ok_or_else(|| format!("{}: no value", at()))?;
            same(&found, &expected, self.case.tolerance).map_err(|e| format!("{}: {e}", at()))?;
        }
        Ok(())
    }

    /// With the iterations of parallel loops in other orders, one after the other, the function gives the same bits.
    fn keeps_its_bits_when_shuffled(&self, request: &Request) -> Result<(), String> {
        let tree = &self.program.checked.program;
        if !has_parallel_loops(tree) {
            return Ok(());
        }
        let run = |lowered: ReadyModule| {
            let args = self.arguments(&lowered)?;
            Engine::Interpreter.run(&lowered.module, &lowered.entry.symbol, &args).map_err(|e| e.to_string())
        };
        let expected = run(self.lowered.get(request, How::Plain)?)?;
        for order in [Order::SEQUENTIAL].into_iter().chain(Order::SHUFFLED) {
            let found = run(lower_tree(&shuffled(tree, order), request)?).map_err(|e| format!("{order:?}: {e}"))?;
            if found != expected {
                return Err(format!("{order:?}: expected {expected:?}, found {found:?}"));
            }
        }
        Ok(())
    }

    /// Forward mode, the tape and second derivatives agree with reverse mode, which keeps its bits under checkpoints and its
    /// numbers where loops are differentiated forward.
    fn agrees(&self, request: &Request, wrt: &[&str]) -> Result<(), String> {
        let text: String = self.program.sources.iter().map(|(_, file)| file.text()).collect();
        let has_calls = self.lowered.has_calls || calls_stay(&text);
        let lower = if has_calls { lower_to_derive_with_calls } else { lower_to_derive };
        let lowered = lower(self.program, request)?;
        let (module, name) = (Module::clone(&lowered.module), lowered.entry.symbol.clone());
        let label = format!("{}: {}", self.name, self.case.function);
        let subject = Subject::new(label, module, name, self.arguments(&lowered)?);
        let case = Case::new(subject)?;
        let oracles =
            [primal_value, dot_product, tape, forward_reverse, checkpoints_of_several_schemes, regions, compiled_once];
        oracles.into_iter().try_for_each(|ask| holds(ask(&case)))?;
        unit_tangents(&case, &lowered, wrt)?;
        if self.case.order < 2 {
            return Ok(());
        }
        let forward = asked_forward(&case)?;
        for case in [Some(case), forward].iter_mut().flatten() {
            case.derive_twice()?;
            holds((SECOND_ORDER.ask)(case))?;
        }
        Ok(())
    }

    /// Every engine fails with the same code at the same place.
    fn fails(&self, request: &Request, expected: (&str, &str, u32, u32)) -> Result<(), String> {
        for (how, lowered, engine) in self.ways(request, Engine::by_threads)? {
            let args = self.arguments(&lowered)?;
            let mut output = String::new();
            let outcome =
                engine.run_with_output(&lowered.module, &lowered.entry.symbol, &args, &mut |text| output += text);
            self.printed(&output).map_err(|e| format!("{engine:?}, {how:?}: {e}"))?;
            let found = match outcome {
                Err(RunError::Check { kind, span }) => {
                    let (line, column) = place(self.program, span);
                    (kind.code(), file_name(self.program, span.file), line, column)
                }
                Err(RunError::Other(e)) => return Err(format!("{engine:?}, {how:?}: {e}")),
                Ok(values) => return Err(format!("{engine:?}, {how:?}: no error, but {values:?}")),
            };
            if found != expected {
                return Err(format!("{engine:?}, {how:?}: expected {expected:?}, found {found:?}"));
            }
        }
        Ok(())
    }

    /// Whether the output is what the header says.
    fn printed(&self, found: &str) -> Result<(), String> {
        match &self.case.output {
            Some(expected) if expected != found => Err(format!("expected the output {expected:?}, found {found:?}")),
            Some(_) | None => Ok(()),
        }
    }

    fn arguments(&self, lowered: &ReadyModule) -> Result<Vec<Value>, String> {
        let args = self.named_arguments(lowered)?;
        fit_arguments(&lowered.entry, &args).map_err(|e| e.to_string())
    }

    fn named_arguments(&self, lowered: &ReadyModule) -> Result<Arguments, String> {
        named_arguments(&self.case.args, &lowered.entry)
    }

    /// The engines that run this program, those of its name, and what each of them runs: the interpreter both what is
    /// optimised and what is not, and so does compiled code in the campaign; else one variant of it runs one of the two, for
    /// every second program.
    fn ways(
        &self,
        request: &Request,
        engines: fn(&str, usize) -> Vec<Engine>,
    ) -> Result<Vec<(How, ReadyModule, Engine)>, String> {
        let mut ways = Vec::new();
        let both = [How::Optimised, How::Plain];
        let turn = tier::hash(self.name) as usize / Variant::ALL.len() % both.len();
        for engine in engines(self.name, 1) {
            let hows = match engine {
                Engine::Interpreter => both.to_vec(),
                Engine::Compiled(..) if tier::is_campaign() => both.to_vec(),
                Engine::Compiled(..) if takes(self.name, 2) => vec![both[turn]],
                Engine::Compiled(..) => Vec::new(),
            };
            for how in hows {
                ways.push((how, self.lowered.get(request, how)?, engine));
            }
        }
        Ok(ways)
    }
}

fn file_name(program: &Program, file: u32) -> &str {
    program.sources.get(cotan_syntax::FileId(file)).map_or("<unknown>", |file| file.name())
}

/// The result of a run in the types of the source.
fn result(lowered: &ReadyModule, results: &[Value]) -> Option<HostValue> {
    let mut leaves = lowered.entry.leaf_results.iter().filter_map(|k| results.get(*k).cloned());
    rebuild(&lowered.entry.signature.result, &mut leaves)
}

/// The gradients of several parameters as a list, that of one as itself.
fn expected_gradient(grad: &serde_json::Map<String, Json>, wrt: &[&str]) -> Json {
    match wrt {
        [name] => grad[*name].clone(),
        names => names.iter().map(|name| grad[*name].clone()).collect::<Vec<_>>().into(),
    }
}

/// Line and column of a place in the source.
pub(crate) fn place(program: &Program, span: cotan_ir::Span) -> (u32, u32) {
    let file = program.sources.get(cotan_syntax::FileId(span.file));
    let place = file.map(|f| f.line_column(span.start));
    place.map_or((0, 0), |p| (p.line, p.column))
}

fn holds(verdict: Verdict) -> Result<(), String> {
    match verdict {
        Verdict::Holds | Verdict::Unusable(_) => Ok(()),
        Verdict::Fails(reason) => Err(reason),
    }
}

/// Forward mode in the direction of every single element gives that element of the gradient.
fn unit_tangents(case: &Case, lowered: &ReadyModule, wrt: &[&str]) -> Result<(), String> {
    let [out] = case.outs.as_slice() else { return Ok(()) };
    if !case.results[*out].dims.is_empty() {
        return Ok(());
    }
    let mut one = case.clone();
    one.cotangents = vec![tangent_value(&case.results[*out], &[1.0])];
    let gradient = one.run_vjp()?.1;
    let active = active_leaves(lowered, wrt);
    let name = case.first(Mode::Jvp).canonical_name();
    for (k, at) in case.wrt.iter().enumerate().filter(|(_, at)| active.contains(at)) {
        let expected = floats(&gradient[k]);
        let scale = expected.iter().filter(|x| x.is_finite()).fold(0.0, |m: f64, x| m.max(x.abs()));
        for (element, expected) in expected.into_iter().enumerate() {
            let mut tangents: Vec<Value> = case
                .wrt
                .iter()
                .map(|p| Value::zeros(case.subject.args[*p].elem.computed(), &case.subject.args[*p].dims))
                .collect();
            tangents[k].bits[element] = cotan_ir::Const::float(tangents[k].elem, 1.0).bits();
            let results = case.run(&name, &[case.subject.args.as_slice(), &tangents].concat())?;
            let found = floats(&results[results.len() - 1])[0];
            if !close(found, expected, scale, tolerance(Property::ClosedForm, case.elem())) {
                return Err(format!("operand {at}, element {element}: {found} forward, {expected} in reverse"));
            }
        }
    }
    Ok(())
}

/// The positions of the operands that parameters consist of.
fn active_leaves(lowered: &ReadyModule, wrt: &[&str]) -> BTreeSet<usize> {
    let mut at = lowered.entry.signature.sizes.len();
    let mut out = BTreeSet::new();
    for param in &lowered.entry.signature.params {
        let n = param.ty.leaves().len();
        if wrt.contains(&param.name.as_str()) {
            out.extend(at..at + n);
        }
        at += n;
    }
    out
}

/// Whether two values have one shape and agree, floats within the tolerance.
fn same(found: &HostValue, expected: &HostValue, tolerance: f64) -> Result<(), String> {
    let scalars = |v: &HostValue| {
        let mut out = Vec::new();
        v.each_scalar(&mut |c| out.push(c));
        out
    };
    let (a, b) = (scalars(found), scalars(expected));
    let scale = b.iter().filter_map(|c| c.as_float()).filter(|x| x.is_finite()).fold(0.0, |m: f64, x| m.max(x.abs()));
    let agree = |(x, y): (&cotan_ir::Const, &cotan_ir::Const)| match (x.as_float(), y.as_float()) {
        (Some(x), Some(y)) => close(x, y, scale, tolerance),
        _ => x == y,
    };
    if a.len() == b.len() && a.iter().zip(&b).all(agree) {
        return Ok(());
    }
    Err(format!("expected {b:?}, found {a:?}"))
}
