//! The operations of the standard library against other libraries: every case of `spec/operations/*.json`, by the
//! wrapper function beside it, interpreted and compiled. Where there are floats, the two modes agree with one another,
//! away from kinks with finite differences, and with the gradient that a case expects for a cotangent of ones.

use cotan::host::{Arguments, HostValue, fit_arguments, from_json, rebuild};
use cotan::{Lowered, Program, Request};
use cotan_ir::{Elem, Mode, Module};
use cotan_llvm::CompiledFunction;
use cotan_llvm::jit::OptLevel;
use cotan_ops::Value;
use cotan_testkit::case::{Case, Subject, float_value, floats};
use cotan_testkit::engines::{Engine, RunError};
use cotan_testkit::files::{files, report, workspace_file};
use cotan_testkit::front::{loaded, lower, lower_to_derive};
use cotan_testkit::machine::{compile, shared_backend};
use cotan_testkit::oracles::{Verdict, dot_product, finite_difference};
use cotan_testkit::parallel;
use cotan_testkit::tolerances::{Property, close, tolerance};
use serde_json::Value as Json;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The cases of one wrapper function.
struct Group {
    program: usize,
    function: String,
    cases: Vec<Json>,
}

#[test]
fn operations_of_the_library_give_what_other_libraries_give_and_their_derivatives_agree() {
    let mut programs: Vec<(String, Program)> = Vec::new();
    let mut groups: Vec<Group> = Vec::new();
    let mut unread = Vec::new();
    // `COTAN_OPERATIONS=conv` runs the files with that in their name alone.
    let wanted = std::env::var("COTAN_OPERATIONS").unwrap_or_default();
    for path in files(&workspace_file("spec/operations"), ".json") {
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        if name.contains(&wanted) {
            match read(&path, &name, programs.len()) {
                Ok((program, mut of_file)) => {
                    programs.push((name, program));
                    groups.append(&mut of_file);
                }
                Err(e) => unread.push(format!("{name}: {e}")),
            }
        }
    }
    let n_differenced = AtomicUsize::new(0);
    let failures = parallel::map(&groups, |group| {
        let (name, program) = &programs[group.program];
        let failure = |e: String| format!("{name}.{}: {e}", group.function);
        match Wrapper::new(program, &group.function) {
            Ok(wrapper) => {
                let cases = group.cases.iter().enumerate();
                let outcome = |(k, case)| match wrapper.check(case) {
                    Ok(is_differenced) => {
                        n_differenced.fetch_add(usize::from(is_differenced), Ordering::Relaxed);
                        None
                    }
                    Err(e) => Some(failure(format!("case {k}: {e}\n{case}"))),
                };
                cases.filter_map(outcome).collect()
            }
            Err(e) => vec![failure(e)],
        }
    });
    let n = groups.iter().map(|group| group.cases.len()).sum();
    report(unread.into_iter().chain(failures.concat()).collect(), n);
    // An oracle that can't judge says so and passes, which must not be the rule.
    let n_differenced = n_differenced.into_inner();
    assert!(!wanted.is_empty() || n > 900 && n_differenced > 600, "{n} cases, {n_differenced} of them differenced");
}

/// The wrapper functions of a module and the cases of each. A wrapper without cases is a mistake, too.
fn read(path: &std::path::Path, name: &str, program: usize) -> Result<(Program, Vec<Group>), String> {
    let text = |path: &std::path::Path| std::fs::read_to_string(path).map_err(|e| e.to_string());
    let wrappers =
        loaded(&format!("{name}.cot"), &text(&path.with_extension("cot"))?, &workspace_file("spec/operations"))?;
    let json: Json = serde_json::from_str(&text(path)?).map_err(|e| e.to_string())?;
    let mut groups: Vec<Group> = Vec::new();
    for case in json["cases"].as_array().ok_or("no list of cases")? {
        let function = case["function"].as_str().ok_or("a case without a function")?;
        match groups.iter_mut().find(|group| group.function == function) {
            Some(group) => group.cases.push(case.clone()),
            None => groups.push(Group { program, function: function.to_owned(), cases: vec![case.clone()] }),
        }
    }
    let text = text(&path.with_extension("cot"))?;
    let declared = text.lines().filter_map(|line| line.strip_prefix("fn ")?.split(['[', '(']).next());
    let forgotten: Vec<&str> = declared.filter(|f| groups.iter().all(|group| group.function != *f)).collect();
    if forgotten.is_empty() { Ok((wrappers, groups)) } else { Err(format!("no case for {forgotten:?}")) }
}

/// A wrapper function, lowered and compiled once for all of its cases.
struct Wrapper {
    optimised: Lowered,
    to_derive: Lowered,
    compiled: CompiledFunction,
}

impl Wrapper {
    fn new(program: &Program, function: &str) -> Result<Wrapper, String> {
        let request = Request::function(function);
        let (optimised, to_derive) = (lower(program, &request)?, lower_to_derive(program, &request)?);
        let compiled = compile(shared_backend()?, &optimised.module, &optimised.entry.symbol, OptLevel::O2)?;
        Ok(Wrapper { optimised, to_derive, compiled })
    }

    /// Whether derivatives were compared with finite differences.
    fn check(&self, case: &Json) -> Result<bool, String> {
        let args = arguments(&self.optimised, case)?;
        let interpreted = Engine::Interpreter.run(&self.optimised.module, &self.optimised.entry.symbol, &args);
        let compiled = self.compiled.call(&args).map_err(|e| match e {
            cotan_llvm::RuntimeError::Check { kind, span, .. } => RunError::Check { kind, span },
            other @ (cotan_llvm::RuntimeError::Argument(_)
            | cotan_llvm::RuntimeError::OutOfMemory(_)
            | cotan_llvm::RuntimeError::Cancelled
            | cotan_llvm::RuntimeError::OutOfSteps
            | cotan_llvm::RuntimeError::Bug(_)) => RunError::Other(other.to_string()),
        });
        for (how, outcome) in [("interpreted", interpreted), ("compiled", compiled)] {
            match (outcome, case.get("error")) {
                (Ok(values), None) => self.gives(&values, &case["result"]).map_err(|e| format!("{how}: {e}"))?,
                (Err(RunError::Check { kind, .. }), Some(code)) if code == kind.code() => {}
                (outcome, _) => return Err(format!("{how}: {:?}", outcome.map_err(|e| e.to_string()))),
            }
        }
        if case.get("error").is_some() { Ok(false) } else { self.derivatives(case) }
    }

    fn gives(&self, values: &[Value], expected: &Json) -> Result<(), String> {
        let entry = &self.optimised.entry;
        let expected = from_json(expected, &entry.result)
            .map_err(|e| format!("expected result: {}: {} for {}", e.place, e.found, e.expected))?;
        let mut leaves = entry.leaf_results.iter().filter_map(|k| values.get(*k).cloned());
        let found = rebuild(&entry.result, &mut leaves).ok_or("no value")?;
        same(&found, &expected)
    }

    fn derivatives(&self, case: &Json) -> Result<bool, String> {
        let args = arguments(&self.to_derive, case)?;
        let (module, name) = (self.to_derive.module.as_ref().clone(), self.to_derive.entry.symbol.clone());
        let derived = Case::new(Subject::new(name.to_string(), module, name, args))?;
        if derived.wrt.is_empty() || derived.outs.is_empty() {
            return Ok(false);
        }
        let mut is_differenced = false;
        let is_finite = |values: &[Value]| values.iter().flat_map(floats).all(f64::is_finite);
        if is_finite(&derived.results) && is_finite(&derived.subject.args) {
            holds(dot_product(&derived))?;
            if case["kinks"] != true {
                let verdict = finite_difference(&derived);
                is_differenced = matches!(verdict, Verdict::Holds);
                holds(verdict)?;
            }
        }
        if let Some(expected) = case.get("gradient") {
            self.gradient(derived, expected)?;
        }
        Ok(is_differenced)
    }

    /// With a cotangent of ones, the gradient is the expected one.
    fn gradient(&self, mut derived: Case, expected: &Json) -> Result<(), String> {
        derived.cotangents = derived
            .outs
            .iter()
            .map(|at| float_value(&derived.results[*at], &vec![1.0; floats(&derived.results[*at]).len()]))
            .collect();
        let interpreted = derived.run_vjp()?.1;
        let (module, name): (&Module, _) = (&derived.subject.module, derived.first(Mode::Vjp).canonical_name());
        let compiled = Engine::Compiled(OptLevel::O2, 1).run(module, &name, &derived.vjp_arguments()?);
        let compiled = compiled.map_err(|e| e.to_string())?.split_off(derived.results.len());
        let params = self.to_derive.entry.params.iter();
        let of_floats = params.filter(|p| p.ty.leaves().iter().all(|leaf| leaf.elem.is_float()));
        for (k, param) in of_floats.enumerate() {
            let Some(json) = expected.get(&param.name) else { continue };
            let expected = from_json(json, &param.ty).map_err(|e| format!("{} for {}", e.found, e.expected))?.floats();
            for (how, found) in [("interpreted", floats(&interpreted[k])), ("compiled", floats(&compiled[k]))] {
                near(&found, &expected).map_err(|e| format!("gradient in `{}`, {how}: {e}", param.name))?;
            }
        }
        Ok(())
    }
}

fn arguments(lowered: &Lowered, case: &Json) -> Result<Vec<Value>, String> {
    let mut args = Arguments::new();
    for (name, json) in case["args"].as_object().ok_or("no arguments")? {
        let value = match lowered.entry.params.iter().find(|p| p.name == *name) {
            Some(param) => {
                from_json(json, &param.ty).map_err(|e| format!("`{name}`: {} for {}", e.found, e.expected))?
            }
            None => return Err(format!("there is no parameter `{name}`")),
        };
        args.insert(name.clone(), value);
    }
    fit_arguments(&lowered.entry, &args).map_err(|e| e.to_string())
}

/// Equal in what is not a float and in shape, and near in floats.
fn same(found: &HostValue, expected: &HostValue) -> Result<(), String> {
    if found.map_floats(&mut |_| 0.0) != expected.map_floats(&mut |_| 0.0) {
        return Err(format!("expected {expected:?}, found {found:?}"));
    }
    near(&found.floats(), &expected.floats())
}

fn near(found: &[f64], expected: &[f64]) -> Result<(), String> {
    let scale = expected.iter().filter(|x| x.is_finite()).fold(0.0, |m: f64, x| m.max(x.abs()));
    let tolerance = tolerance(Property::ClosedForm, Elem::F64);
    let is_near = found.iter().zip(expected).all(|(a, b)| close(*a, *b, scale, tolerance));
    if is_near && found.len() == expected.len() {
        Ok(())
    } else {
        Err(format!("expected {expected:?}, found {found:?}"))
    }
}

fn holds(verdict: Verdict) -> Result<(), String> {
    match verdict {
        Verdict::Holds | Verdict::Unusable(_) => Ok(()),
        Verdict::Fails(reason) => Err(reason),
    }
}
