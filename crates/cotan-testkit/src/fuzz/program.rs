//! What the commands do with the text of a program, in this process: `check`, `fmt` twice, `run` and `grad` on both engines.

use super::{Corpus, Reached, arguments, engines, kind_of, tokens};
use crate::files::tests_folder;
use crate::frontend;
use crate::header::{self, named_arguments};
use crate::random::Rng;
use cotan::host::{Arguments, fit_arguments, with_defaults};
use cotan::{DerivativeForm, Program, ReadyModule, Request, derivative};
use cotan_lower::entry::Entry;
use cotan_syntax::format::format;
use cotan_syntax::{Diagnostic, FileId, dump, parse, render};
use serde_json::{Map, Value as Json};

/// Functions of a program that are called.
const FUNCTIONS: usize = 2;

/// A mutant of one of the programs.
pub(super) fn mutated(rng: &mut Rng, corpus: &Corpus) -> String {
    let pick = |rng: &mut Rng| corpus.programs.get(rng.below(corpus.programs.len())).map_or("", String::as_str);
    let (text, other) = (pick(rng), pick(rng));
    tokens::mutated(rng, text, other)
}

/// Does with a program what the commands do.
pub(super) fn judge(text: &str) -> Result<Reached, String> {
    let mut reached = Reached::new();
    formatted(text)?;
    let program = frontend::read("fuzz.cot", text, &tests_folder().join("run"))?;
    for d in &program.diagnostics {
        render::to_text(d, &program.sources, render::Style::Plain);
        let file = program.sources.get(d.primary.span.file).ok_or("a diagnostic has no file")?;
        if d.primary.span.end as usize > file.text().len() {
            return Err(format!("a diagnostic lies outside of its file: {d:?}"));
        }
        reached.insert(d.code.to_string());
    }
    if program.has_errors() {
        return Ok(reached);
    }
    let mut rng = Rng::new(hash(text));
    for call in calls(text, &program) {
        let function = Request::function(&call.function);
        let of_value =
            call.on_both(&program, &function, None, &mut rng).map_err(|e| format!("`{}`: {e}", call.function))?;
        reached.insert(format!("run: {}", of_value.said));
        let Some(Called { args, entry }) = of_value.called else { continue };
        let wrt = call.parameters(&entry);
        if wrt.is_empty() {
            continue;
        }
        let wrt: Vec<&str> = wrt.iter().map(String::as_str).collect();
        let gradient = derivative(&call.function, DerivativeForm::ValueAndGrad, &wrt);
        let of_gradient = call.on_both(&program, &gradient, Some(&args), &mut rng);
        let of_gradient = of_gradient.map_err(|e| format!("gradient of `{}` in {wrt:?}: {e}", call.function))?;
        reached.insert(format!("grad: {}", of_gradient.said));
    }
    Ok(reached)
}

/// Formats a text twice: the second time changes nothing, and neither changes the tree.
fn formatted(text: &str) -> Result<(), String> {
    let Ok(once) = format(FileId(0), text) else { return Ok(()) };
    let tree = |text: &str| {
        let (module, diagnostics) = parse(FileId(0), text);
        match diagnostics.iter().find(|d| d.is_error()) {
            Some(Diagnostic { message, .. }) => Err(format!("what is formatted has an error: {message}\n{text}")),
            None => Ok(dump::module(&module)),
        }
    };
    if tree(&once)? != tree(text)? {
        return Err(format!("formatting changes the tree:\n{once}"));
    }
    match format(FileId(0), &once) {
        Ok(twice) if twice == once => Ok(()),
        Ok(twice) => Err(format!("formatting again changes the text:\n{once}\n-----\n{twice}")),
        Err(_) => Err(format!("what is formatted can't be formatted:\n{once}")),
    }
}

/// A function that is called, and with what, if the program says so.
struct Call {
    function: String,
    wrt: Vec<String>,
    args: Option<Map<String, Json>>,
}

/// What came of a call.
struct Made {
    said: String,
    called: Option<Called>,
}

struct Called {
    args: Arguments,
    entry: Entry,
}

/// The calls of a program: those of its header, or of its first functions with random arguments.
fn calls(text: &str, program: &Program) -> Vec<Call> {
    let functions = &program.checked.program.functions;
    let is_there = |name: &str| functions.iter().any(|f| f.name == name);
    let mut calls: Vec<Call> = header::cases(text)
        .unwrap_or_default()
        .into_iter()
        .filter(|case| is_there(&case.function))
        .take(FUNCTIONS)
        .map(|case| Call { function: case.function, wrt: case.wrt, args: Some(case.args) })
        .collect();
    if calls.is_empty() {
        // Names with a dot are those of modules, and of bodies under attributes.
        let own = functions.iter().filter(|f| !f.name.contains('.')).take(FUNCTIONS);
        calls.extend(own.map(|f| Call { function: f.name.clone(), wrt: Vec::new(), args: None }));
    }
    calls
}

impl Call {
    /// Calls a function or derivative on both engines. A refusal is an answer.
    fn on_both(
        &self,
        program: &Program,
        request: &Request,
        same: Option<&Arguments>,
        rng: &mut Rng,
    ) -> Result<Made, String> {
        let refused = |said: String| Ok(Made { said, called: None });
        let lowered: ReadyModule = match frontend::lower(program, request) {
            Ok(lowered) => lowered,
            Err(message) => return refused(kind_of(&message)),
        };
        let args = match (same, &self.args) {
            (Some(args), _) => Some(args.clone()),
            (None, Some(json)) => named_arguments(json, &lowered.entry).ok(),
            (None, None) => arguments::random(rng, &lowered.entry),
        };
        let Some(args) = args else { return refused("no arguments".to_owned()) };
        let args = with_defaults(&lowered.entry.signature, args);
        let flat = match fit_arguments(&lowered.entry, &args) {
            Ok(flat) => flat,
            Err(misfit) => return refused(misfit.code().to_string()),
        };
        let said = engines::agree(&lowered, &flat)?;
        Ok(Made { said, called: Some(Called { args, entry: lowered.entry }) })
    }

    /// The parameters of the gradient.
    fn parameters(&self, entry: &Entry) -> Vec<String> {
        if !self.wrt.is_empty() {
            return self.wrt.clone();
        }
        let has_floats = |ty: &cotan_lower::entry::HostType| ty.leaves().iter().any(|leaf| leaf.elem.is_float());
        entry
            .signature
            .params
            .iter()
            .filter(|param| has_floats(&param.ty))
            .take(1)
            .map(|param| param.name.clone())
            .collect()
    }
}

/// Names a text by a number: FNV-1a, the same everywhere.
fn hash(text: &str) -> u64 {
    crate::tier::hash(text)
}
