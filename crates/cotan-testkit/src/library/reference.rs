//! The wrappers against other libraries: every case, interpreted and compiled. Where there are floats, the two modes agree
//! with one another, away from kinks with finite differences in every argument alone, and with the gradient that a case
//! expects for a cotangent of ones.

use super::point::{Point, holds, is_finite, operands};
use super::{Library, Outcome, Wrapper};
use crate::compile::shared_machine;
use crate::derived_case::{Case, Subject, float_value, floats};
use crate::engines::Engine;
use crate::frontend::{lower, lower_to_derive};
use crate::oracles::{SECOND_ORDER, Verdict, called, dot_product, finite_difference, outcome_of, tape};
use crate::tolerances::{Property, close, tolerance};
use crate::variant::Variant;
use cotan::host::{HostValue, from_json, rebuild};
use cotan::{Program, ReadyModule, Request};
use cotan_ir::{Elem, Mode, Module};
use cotan_llvm::CompileOptions;
use cotan_ops::Value;
use cotan_runtime::CompiledFunction;
use serde_json::Value as Json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Cases with more floats are not derived twice.
const MOST_OF_SECOND_ORDER: usize = 40;

/// Every case gives what another library gives. With the outcome, how many cases finite differences could judge.
pub fn against_reference(library: &Library) -> Result<(Outcome, usize), String> {
    let programs = library.programs(Elem::F64, |_| String::new())?;
    let n_differenced = AtomicUsize::new(0);
    let outcome = library.ask(|wrapper| match Compared::new(&programs[wrapper.file], wrapper) {
        Ok(compared) => {
            let mut failures = Vec::new();
            for (k, (case, point)) in wrapper.cases.iter().zip(&wrapper.points).enumerate() {
                match compared.check(case, point) {
                    Ok(is_differenced) => {
                        n_differenced.fetch_add(usize::from(is_differenced), Ordering::Relaxed);
                    }
                    Err(e) => failures.push(format!("{}: case {k}: {e}\n{case}", wrapper.label)),
                }
            }
            (wrapper.cases.len(), failures)
        }
        Err(e) => (0, vec![format!("{}: {e}", wrapper.label)]),
    });
    Ok((outcome, n_differenced.into_inner()))
}

/// A wrapper function, lowered, differentiated and compiled once for all of its cases.
struct Compared {
    optimised: ReadyModule,
    to_derive: ReadyModule,
    compiled: Arc<CompiledFunction>,
    /// At one of the cases; none where nothing can be differentiated.
    derived: Option<Case>,
}

impl Compared {
    fn new(program: &Program, wrapper: &Wrapper) -> Result<Compared, String> {
        let request = Request::function(&wrapper.name);
        let (optimised, to_derive) = (lower(program, &request)?, lower_to_derive(program, &request)?);
        let compiled =
            shared_machine()?.compile(&optimised.module, &optimised.entry.symbol, &CompileOptions::default())?;
        let derived = derived(&to_derive, wrapper)?;
        Ok(Compared { optimised, to_derive, compiled, derived })
    }

    /// Whether derivatives were compared with finite differences.
    fn check(&self, case: &Json, point: &Point) -> Result<bool, String> {
        let args = operands(&self.optimised.entry, point)?;
        let symbol = &self.optimised.entry.symbol;
        let interpreted = called(&self.optimised.module, symbol, &args);
        let compiled = outcome_of(self.compiled.call(&args), symbol);
        for (how, outcome) in [("interpreted", interpreted), ("compiled", compiled)] {
            match (outcome, case.get("error")) {
                (Ok(values), None) => self.gives(&values, &case["result"]).map_err(|e| format!("{how}: {e}"))?,
                (Err(Ok((kind, _))), Some(code)) if code == kind.code() => {}
                (outcome, _) => return Err(format!("{how}: {outcome:?}")),
            }
        }
        match &self.derived {
            Some(derived) if case.get("error").is_none() => {
                self.derivatives(derived.at(operands(&self.to_derive.entry, point)?)?, case)
            }
            Some(_) | None => Ok(false),
        }
    }

    fn gives(&self, values: &[Value], expected: &Json) -> Result<(), String> {
        let entry = &self.optimised.entry;
        let expected = from_json(expected, &entry.signature.result)
            .map_err(|e| format!("expected result: {}: {} for {}", e.place, e.found, e.expected))?;
        let mut leaves = entry.leaf_results.iter().filter_map(|k| values.get(*k).cloned());
        let found = rebuild(&entry.signature.result, &mut leaves).ok_or("no value")?;
        same(&found, &expected)
    }

    fn derivatives(&self, derived: Case, case: &Json) -> Result<bool, String> {
        let mut is_differenced = false;
        if is_finite(&derived.results) && is_finite(&derived.subject.args) {
            holds(dot_product(&derived))?;
            holds(tape(&derived))?;
            if case["kinks"] != true {
                for k in 0..derived.wrt.len() {
                    let verdict = finite_difference(&derived.along(k));
                    is_differenced |= matches!(verdict, Verdict::Holds);
                    holds(verdict)?;
                }
                let n: usize = derived.wrt.iter().map(|k| floats(&derived.subject.args[*k]).len()).sum();
                if n <= MOST_OF_SECOND_ORDER {
                    holds((SECOND_ORDER.ask)(&derived))?;
                }
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
        let compiled = Engine::Compiled(Variant::SHIPPED, 1).run(module, &name, &derived.vjp_arguments()?);
        let compiled = compiled.map_err(|e| e.to_string())?.split_off(derived.results.len());
        let params = self.to_derive.entry.signature.params.iter();
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

/// The wrapper at its first case that gives something, derived twice; none where nothing can be differentiated.
fn derived(to_derive: &ReadyModule, wrapper: &Wrapper) -> Result<Option<Case>, String> {
    let Some(point) = wrapper.few_points().into_iter().next() else { return Ok(None) };
    let args = operands(&to_derive.entry, point)?;
    let (module, name) = (Module::clone(&to_derive.module), to_derive.entry.symbol.clone());
    let mut derived = Case::new(Subject::new(name.to_string(), module, name, args))?;
    if derived.wrt.is_empty() || derived.outs.is_empty() {
        return Ok(None);
    }
    derived.derive_twice()?;
    Ok(Some(derived))
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
