//! Bisection over passes: the first pass after which a function is malformed, or gives other values.
//!
//! The observer of the pipelines is shown the function after each pass. Each version that differs from the one before is held
//! against the verifier, and against what the interpreter gives for the function that the passes began with. Loop nests
//! are held against their own verifier and interpreter. So the pass is named, and who found it.

use crate::derived_case::{Case, Subject, floats, function, options};
use crate::oracles::{agree, lowered, regrouped};
use crate::parallel::guarded;
use crate::pass_files::{VARIANTS, arguments};
use cotan_ad::{Expansion, after_pass, expand_with};
use cotan_cpu::pipeline::{OPTIMIZED, PLAIN};
use cotan_interp::RuntimeError;
use cotan_ir::{Function, Item, Mode, Module, verify};
use cotan_loops::pipeline::FOR_DEVICES;
use cotan_loops::{CPU, DEVICE, NestContext, NestPass, TaskSizes, VerifiedNests, Width};
use cotan_ops::Value;
use cotan_opt::{BEFORE_AD, BEFORE_CODE, PASSES, PassContext, Promise};
use std::cell::RefCell;
use std::fmt;

/// A pass that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guilty {
    /// Its name.
    pub pass: String,
    /// Who found it.
    pub found_by: Finder,
    /// What is wrong.
    pub reason: String,
}

/// Who finds a pass guilty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finder {
    /// The verifier: what the pass makes breaks a rule.
    Verifier,
    /// The interpreter of the core IR: it gives other values.
    Interpreter,
    /// The interpreter of loop nests: it gives other values.
    NestInterpreter,
    /// The pass itself, by a panic.
    Pass,
}

impl fmt::Display for Guilty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found_by = match self.found_by {
            Finder::Verifier => "the verifier",
            Finder::Interpreter => "the interpreter",
            Finder::NestInterpreter => "the interpreter of loop nests",
            Finder::Pass => "itself",
        };
        write!(f, "pass `{}`, found by {found_by}: {}", self.pass, self.reason)
    }
}

/// An error, and the pass that is guilty of it if there is one.
pub(crate) fn with_guilty(error: String, guilty: Option<Guilty>) -> String {
    guilty.map_or(error.clone(), |guilty| format!("{error}\nguilty: {guilty}"))
}

/// The guilty pass of a case: among those of the core IR, those in front of a derivative, and those of loop nests, for the
/// function and its first derivatives.
pub fn of_case(case: &Case) -> Option<Guilty> {
    let calls = case.calls(&case.subject.args).ok()?;
    let module = &case.subject.module;
    let names = case.names();
    let of_core = || names.iter().zip(&calls).find_map(|(name, args)| of_core(module, name, args));
    let of_nests = || names.iter().zip(&calls).find_map(|(name, args)| of_nests(module, name, args));
    of_core().or_else(|| of_preparation(module, &case.subject.name, &case.subject.args)).or_else(of_nests)
}

/// The same of the functions of a module, at arguments with which they give values. Passes that run before a derivative
/// is written are asked first.
pub fn of_module(label: &str, module: &Module) -> Option<Guilty> {
    module.functions().find_map(|f| {
        let gives_values = |args: &Vec<Value>| cotan_interp::run(module, &f.name, args, &options()).is_ok();
        let lists: Vec<Vec<Value>> =
            (0..VARIANTS).map(|variant| arguments(f, variant)).filter(gives_values).take(8).collect();
        let of_case = |args: &Vec<Value>| {
            let subject = Subject::new(label.to_owned(), module.clone(), f.name.clone(), args.clone());
            of_subject(subject)
        };
        lists.iter().find_map(|args| of_core(module, &f.name, args)).or_else(|| lists.iter().find_map(of_case))
    })
}

/// The same of a program. A panic while its derivatives are written is that of the pass it names.
pub fn of_subject(subject: Subject) -> Option<Guilty> {
    guarded(|| of_case(&Case::new(subject).ok()?)).unwrap_or_else(|reason| Some(panicked("derivative", reason)))
}

/// The guilty one among the passes in front of a derivative, of a function that needs no other.
fn of_preparation(module: &Module, name: &str, args: &[Value]) -> Option<Guilty> {
    let f = function(module, name).ok()?;
    let alone = |pass: &&cotan_ad::Pass| {
        let versions = Versions::new(module, f, args)?;
        let after = guarded(|| after_pass(&mut module.clone(), pass, f.clone()));
        versions.end(pass.name, after.map(|f| versions.see(pass.name, &f)))
    };
    let in_order = |mode: Mode| {
        let versions = Versions::new(module, f, args)?;
        let mut requests = Module::default();
        requests.insert(f.clone());
        let wrt = (0..f.params.len()).filter(|k| f.ty(f.params[*k]).is_float()).collect();
        let outs = (0..f.body.results.len()).filter(|k| f.is_float(f.body.results[*k])).collect();
        let d = cotan_ir::Derived { of: f.name.clone(), mode, wrt, outs };
        requests.items.insert(d.canonical_name(), Item::Derived(d));
        let observer = |pass: &'static str, f: &Function| versions.see(pass, f);
        let expansion = Expansion { observer: Some(&observer), ..Expansion::default() };
        let ran = guarded(|| expand_with(&mut requests, &cotan_ad::Limits::REVERSE_ALONE, expansion).map(drop));
        versions.end("derivative", ran.map(drop))
    };
    let needs_others = f.custom_vjp.is_some() || f.custom_jvp.is_some() || f.body.callees().next().is_some();
    if needs_others {
        return None;
    }
    cotan_ad::PASSES.iter().find_map(alone).or_else(|| [Mode::Jvp, Mode::Vjp].into_iter().find_map(in_order))
}

/// The guilty one among the passes of the core IR, in the pipelines and then each alone: some passes run others inside.
pub fn of_core(module: &Module, name: &str, args: &[Value]) -> Option<Guilty> {
    let f = function(module, name).ok()?;
    let context = PassContext { module: Some(module), ..PassContext::default() };
    let alone = |pass: &&'static cotan_opt::Pass| {
        let versions = Versions::new(module, f, args)?;
        let after = guarded(|| (pass.run)(f.clone(), &context));
        versions.end(pass.name, after.map(|f| versions.see(pass.name, &f)))
    };
    let in_order = || {
        let versions = Versions::new(module, f, args)?;
        let observer = |pass: &'static str, f: &Function| versions.see(pass, f);
        let context = PassContext { observer: Some(&observer), ..context };
        let ran = guarded(|| BEFORE_CODE.run(BEFORE_AD.run(f.clone(), &context), &context));
        versions.end("pipeline", ran.map(drop))
    };
    in_order().or_else(|| PASSES.iter().find_map(alone))
}

/// The guilty one among the passes of loop nests, on each way to code.
pub fn of_nests(module: &Module, name: &str, args: &[Value]) -> Option<Guilty> {
    let ways = [
        (&CPU, OPTIMIZED, Width::new(4)),
        (&CPU, OPTIMIZED, Width::new(1)),
        (&CPU, PLAIN, Width::new(4)),
        (&DEVICE, FOR_DEVICES, None),
    ];
    ways.into_iter().find_map(|(target, way, width)| {
        let tasks = TaskSizes::SMALLEST;
        let context = NestContext { width, tasks, ..NestContext::default() };
        let mut nests = lowered(module, name, target).ok()?;
        let mut judge = |pass: &str, run: &NestPassRun| {
            if let Err(reason) = guarded(|| nests.iter_mut().for_each(|nest| run(nest, &context))) {
                return Some(Guilty { pass: pass.to_owned(), found_by: Finder::Pass, reason });
            }
            let guilty = |found_by, reason| Guilty { pass: pass.to_owned(), found_by, reason };
            match VerifiedNests::new(nests.clone()) {
                Err(e) => Some(guilty(Finder::Verifier, e.to_string())),
                Ok(nests) => Some(guilty(Finder::NestInterpreter, agree(module, name, args, &nests).err()?)),
            }
        };
        let passes =
            || target.after_lowering.iter().chain(way).map(|pass: &&NestPass| (pass.name, &pass.run as &NestPassRun));
        judge("lowering", &|_, _| {}).or_else(|| passes().find_map(|(name, run)| judge(name, run)))
    })
}

/// What a pass does to a nest.
type NestPassRun = dyn Fn(&mut cotan_loops::LoopFunction, &NestContext);

/// The versions of one function on its way through passes, against what it gives at first.
struct Versions<'a> {
    module: &'a Module,
    args: &'a [Value],
    expected: Vec<Value>,
    last: RefCell<Function>,
    guilty: RefCell<Option<Guilty>>,
}

impl<'a> Versions<'a> {
    /// A function that gives values for its arguments; of another one nothing can be told.
    fn new(module: &'a Module, f: &Function, args: &'a [Value]) -> Option<Versions<'a>> {
        let expected = cotan_interp::run(module, &f.name, args, &options()).ok()?;
        Some(Versions { module, args, expected, last: RefCell::new(f.clone()), guilty: RefCell::default() })
    }

    /// Judges the function after a pass.
    fn see(&self, pass: &str, f: &Function) {
        let is_another = f.name != self.last.borrow().name;
        if is_another || *f == *self.last.borrow() || self.guilty.borrow().is_some() {
            return;
        }
        self.last.replace(f.clone());
        let found = self.judge(pass, f).err();
        self.guilty.replace(found.map(|(found_by, reason)| Guilty { pass: pass.to_owned(), found_by, reason }));
    }

    fn judge(&self, pass: &str, f: &Function) -> Result<(), (Finder, String)> {
        verify(self.module, f).map_err(|errors| (Finder::Verifier, errors[0].to_string()))?;
        let promise = PASSES.iter().find(|of| of.name == pass).map_or(Promise::Bits, |of| of.promise);
        match promise {
            Promise::Bits | Promise::Rounding => {}
            Promise::UnlessNan | Promise::Traps => return Ok(()),
        }
        let mut module = self.module.clone();
        module.insert(f.clone());
        match cotan_interp::run(&module, &f.name, self.args, &options()) {
            // Exact arithmetic knows no overflow.
            Ok(values) if promise == Promise::Rounding && !(are_finite(&values) && are_finite(&self.expected)) => {
                Ok(())
            }
            Ok(values) => regrouped(&values, &self.expected).map_err(|reason| (Finder::Interpreter, reason)),
            Err(RuntimeError::Limit(_)) => Ok(()),
            Err(error) => Err((Finder::Interpreter, format!("expected values, found: {error}"))),
        }
    }

    /// The guilty pass, if there was one. A panic on the way is that of the pass it names, or of `pass`.
    fn end(&self, pass: &str, ran: Result<(), String>) -> Option<Guilty> {
        let guilty = self.guilty.borrow_mut().take();
        guilty.or_else(|| ran.err().map(|reason| panicked(pass, reason)))
    }
}

/// The pass that a panic names, or `pass`.
fn panicked(pass: &str, reason: String) -> Guilty {
    let named = reason.split_once("bug: pass `").and_then(|(_, rest)| rest.split_once('`'));
    let found_by = if reason.contains("malformed") { Finder::Verifier } else { Finder::Pass };
    Guilty { pass: named.map_or(pass, |(name, _)| name).to_owned(), found_by, reason }
}

fn are_finite(values: &[Value]) -> bool {
    values.iter().all(|value| floats(value).iter().all(|x| x.is_finite()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotan_ir::parse_module;
    use cotan_ops::Registry;

    const TEXT: &str = "fn f(x: f64) {\n  y: f64 = sin x\n  z: f64 = cos y\n  return z\n}\n";

    /// What is said of a function after a pass that makes this of it.
    fn said(text: &str) -> Option<String> {
        let read = |text: &str| parse_module(text, Registry::standard()).expect("a module");
        let (module, after) = (read(TEXT), read(text));
        let args = [Value::f64s(&[], &[0.5])];
        let f = function(&module, "f").expect("a function");
        let versions = Versions::new(&module, f, &args).expect("values");
        versions.see("cse", f);
        versions.see("licm", function(&after, "f").expect("a function"));
        versions.see("dce", f);
        versions.end("pipeline", Ok(())).map(|guilty| guilty.to_string())
    }

    #[test]
    fn the_first_pass_after_which_something_is_wrong_is_named() {
        assert_eq!(said(TEXT), None);
        let other = said(&TEXT.replace("cos", "sin")).expect("other values");
        assert!(other.starts_with("pass `licm`, found by the interpreter: value 0: expected "), "{other}");
        let malformed = said(&TEXT.replace("z: f64 = cos y", "z: f64 = add y, 1")).expect("a broken rule");
        assert!(malformed.starts_with("pass `licm`, found by the verifier: in `f`: "), "{malformed}");
    }

    #[test]
    fn passes_are_not_blamed_for_nothing() {
        let module = parse_module(TEXT, Registry::standard()).expect("a module");
        assert_eq!(of_module("sines", &module), None);
    }
}
