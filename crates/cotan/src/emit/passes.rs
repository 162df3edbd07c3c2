//! The passes on the way of a program, over the core IR and over loop nests: what a program is after one of them, and how
//! many times each runs.

use crate::{CompileError, Compiler, Program, Request};
use cotan_cpu::pipeline::NEST_PASSES;
use cotan_ir::{Function, Module, Symbol};
use cotan_llvm::CompileOptions;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The name of a pass, and what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassDoc {
    /// How it is asked for.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub doc: &'static str,
}

/// Every pass: over the core IR, those of every function and those in front of a derivative; then those over loop nests.
pub fn passes() -> impl Iterator<Item = PassDoc> {
    let of_functions = cotan_opt::PASSES.iter().map(|pass| PassDoc { name: pass.name, doc: pass.doc });
    let before_derivatives = cotan_ad::PASSES.iter().map(|pass| PassDoc { name: pass.name, doc: pass.doc });
    let of_nests = NEST_PASSES.iter().map(|pass| PassDoc { name: pass.name, doc: pass.doc });
    of_functions.chain(before_derivatives).chain(of_nests)
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
    /// Each loop nest after it, as text.
    nests: BTreeMap<Symbol, String>,
}

impl PassLog {
    /// A log that keeps each function after the last run of a pass.
    pub fn after(pass: PassDoc) -> PassLog {
        PassLog { kept: Some(pass.name), seen: Mutex::default() }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, pass: &'static str, f: &Function) {
        let mut seen = self.seen();
        *seen.runs.entry(pass).or_default() += 1;
        if self.kept == Some(pass) {
            seen.after.insert(f.clone());
        }
    }

    fn note_nest(&self, f: &Function, options: &CompileOptions) {
        let mut seen = self.seen();
        for pass in options.nest_passes(None) {
            *seen.runs.entry(pass.name).or_default() += 1;
        }
        if let Some(nest) = self.kept.and_then(|pass| options.nest_after(f, pass)) {
            seen.nests.insert(f.name.clone(), nest.to_string());
        }
    }

    /// The functions after the last run of the pass that is kept; `None` if it did not run.
    pub fn text(&self) -> Option<String> {
        let seen = self.seen();
        let nests = || seen.nests.values().map(String::as_str).collect::<Vec<_>>().join("\n");
        match (seen.after.items.is_empty(), seen.nests.is_empty()) {
            (false, _) => Some(seen.after.to_string()),
            (true, false) => Some(nests()),
            (true, true) => None,
        }
    }

    /// A line for each pass: its name, how many times it ran, and what it does.
    pub fn table(&self) -> String {
        let seen = self.seen();
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
        let module = self.observe(program, request, &|pass, f| log.note(pass, f))?;
        let options = self.compile_options();
        module.functions().for_each(|f| log.note_nest(f, &options));
        Ok(())
    }
}
