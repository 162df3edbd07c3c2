//! The passes over the core IR: what a program is after one of them, and how many times each runs.

use crate::{CompileError, Compiler, PASSES, Pass, Program, Request};
use cotan_ir::{Function, Module};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Why there is no pass of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPass {
    /// The pass whose name is nearest, if one is near.
    pub nearest: Option<&'static str>,
    /// The names of all passes.
    pub all: Vec<&'static str>,
}

/// The pass of this name.
pub fn pass_named(name: &str) -> Result<&'static Pass, UnknownPass> {
    let names = || PASSES.iter().map(|pass| pass.name);
    let unknown = || UnknownPass { nearest: cotan_sema::closest(name, names()), all: names().collect() };
    PASSES.iter().copied().find(|pass| pass.name == name).ok_or_else(unknown)
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
    pub fn after(pass: &'static Pass) -> PassLog {
        PassLog { kept: Some(pass.name), seen: Mutex::default() }
    }

    fn note(&self, pass: &'static Pass, f: &Function) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        *seen.runs.entry(pass.name).or_default() += 1;
        if self.kept == Some(pass.name) {
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
        let line = |pass: &&Pass| {
            let n = seen.runs.get(pass.name).copied().unwrap_or(0);
            format!("{:<24}{n:>6}  {}\n", pass.name, pass.doc)
        };
        PASSES.iter().map(line).collect()
    }
}

impl Compiler {
    /// Lowers a request and notes in a log what each pass does on its way.
    pub fn log_passes(&self, program: &Program, request: &Request, log: &PassLog) -> Result<(), CompileError> {
        self.observe(program, request, &|pass, f| log.note(pass, f))
    }
}
