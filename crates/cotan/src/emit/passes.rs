//! The passes over the core IR: what a program is after one of them, and how many times each runs.

use crate::{CompileError, Compiler, Program, Request};
use cotan_ir::{Function, Module};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The name of a pass, and what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassDoc {
    /// How it is asked for.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub doc: &'static str,
}

/// The passes over the core IR: those of every function, and those in front of a derivative.
pub fn passes() -> impl Iterator<Item = PassDoc> {
    let of_functions = cotan_opt::PASSES.iter().map(|pass| PassDoc { name: pass.name, doc: pass.doc });
    let before_derivatives = cotan_ad::PASSES.iter().map(|pass| PassDoc { name: pass.name, doc: pass.doc });
    of_functions.chain(before_derivatives)
}

/// Why there is no pass of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPass {
    /// The pass whose name is nearest, if one is near.
    pub nearest: Option<&'static str>,
    /// The names of all passes.
    pub all: Vec<&'static str>,
}

/// The pass of this name.
pub fn pass_named(name: &str) -> Result<PassDoc, UnknownPass> {
    let names = || passes().map(|pass| pass.name);
    let unknown = || UnknownPass { nearest: cotan_sema::closest(name, names()), all: names().collect() };
    passes().find(|pass| pass.name == name).ok_or_else(unknown)
}

/// What passes did on the way of some requests.
#[derive(Debug, Default)]
pub struct PassLog {
    /// The pass whose results are kept.
    kept: Option<&'static str>,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// Runs by the name of the pass.
    runs: BTreeMap<&'static str, usize>,
    /// Each function after the last run of the pass that is kept.
    after: Module,
}

impl PassLog {
    /// A log that keeps each function after the last run of a pass.
    pub fn after(pass: PassDoc) -> PassLog {
        PassLog { kept: Some(pass.name), seen: Mutex::default() }
    }

    fn note(&self, pass: &'static str, f: &Function) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        *seen.runs.entry(pass).or_default() += 1;
        if self.kept == Some(pass) {
            seen.after.insert(f.clone());
        }
    }

    /// The functions after the last run of the pass that is kept; `None` if it did not run.
    pub fn text(&self) -> Option<String> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        (!seen.after.items.is_empty()).then(|| seen.after.to_string())
    }

    /// A line for each pass: its name, how many times it ran, and what it does.
    pub fn table(&self) -> String {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let line = |pass: PassDoc| {
            let n = seen.runs.get(pass.name).copied().unwrap_or(0);
            format!("{:<24}{n:>6}  {}\n", pass.name, pass.doc)
        };
        passes().map(line).collect()
    }
}

impl Compiler {
    /// Lowers a request and notes in a log what each pass does on its way.
    pub fn log_passes(&self, program: &Program, request: &Request, log: &PassLog) -> Result<(), CompileError> {
        self.observe(program, request, &|pass, f| log.note(pass, f))
    }
}
