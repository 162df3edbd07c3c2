//! `cotan explain`: what stands in programs, one code, or what the reverse sweep of a gradient records and why.

use super::emit::request;
use super::ops::{self, of_library};
use crate::args::{Backend, EngineArgs, ExplainArgs};
use crate::diagnostics::Failure;
use crate::exit;
use crate::input;
use crate::output;
use crate::session::Session;
use cotan::codes;
use cotan::diagnostics::{closest, visible_text};
use cotan::explain::DeviceExplanation;
use cotan::manifest::{self, Kind, Manifest, ManifestEntry};
use cotan::{LANGUAGE_WORDS, LanguageWord, foreign, language_word};
use std::path::Path;

pub(crate) fn run(args: &ExplainArgs) -> Result<u8, Failure> {
    match &args.function {
        Some(name) if args.backend == Backend::Vulkan => device(name, args)?,
        Some(_) if args.grad.is_empty() => {
            let message = "`--fn` explains a gradient, and no parameter of it is named".to_owned();
            let help = "add --grad p, or --backend vulkan for the kernels of the function";
            return Err(Failure::plain(exit::USAGE, codes::UNFIT_REQUEST, message).help(help));
        }
        Some(name) => gradient(name, args)?,
        None => output::print(&subject(&args.subject)?)?,
    }
    Ok(exit::DONE)
}

/// A code, a word of the language, an operation, a module, or a name of another language.
fn subject(name: &str) -> Result<String, Failure> {
    if let Some(info) = codes::page(&name.to_uppercase()) {
        let mut text = format!("{}: {}\n\n{}\n", info.code, info.title, info.explanation);
        if !info.failing_example.is_empty() {
            text += &format!("\nReported for:\n\n{}\n", info.failing_example);
        }
        return Ok(text);
    }
    if let Some(word) = language_word(name) {
        return Ok(explained_word(word));
    }
    let manifest = of_library()?;
    let is_operation = manifest.operations.iter().any(|op| op.name == name);
    match module(&manifest, name).filter(|_| !is_operation) {
        Some(text) => Ok(text),
        None => operation(&manifest, name),
    }
}

/// A word or symbol of the language.
fn explained_word(word: &LanguageWord) -> String {
    let example: String = word.example.lines().map(|line| format!("  {line}\n")).collect();
    let (page, section) = word.reference.split_once('#').unwrap_or((word.reference, ""));
    format!("{}\n\n{}\n\n{example}\nMore: docs/reference/{page}.md#{section}\n", word.form, word.doc)
}

/// A module of the library by its whole name, or by what programs call it.
fn module(manifest: &Manifest, name: &str) -> Option<String> {
    let module = manifest.modules.iter().find(|module| module.name == name || module.name == format!("std.{name}"))?;
    Some(ops::module_table(manifest, module))
}

/// An operation by its name, in full, behind its module as programs have it, or alone if there is one of that name.
fn operation(manifest: &Manifest, name: &str) -> Result<String, Failure> {
    let is_named = |op: &ManifestEntry| op.name == name || op.name.strip_prefix("std.") == Some(name);
    let last = |op: &ManifestEntry| op.name.rsplit('.').next() == Some(name);
    let exact: Vec<&ManifestEntry> = manifest.operations.iter().filter(|op| is_named(op)).collect();
    let in_modules: Vec<&ManifestEntry> =
        manifest.operations.iter().filter(|op| !is_named(op) && op.kind == Kind::Library && last(op)).collect();
    let list = |ops: &[&ManifestEntry]| ops.iter().map(|op| format!("`{}`", op.name)).collect::<Vec<_>>().join(", ");
    match (exact.as_slice(), in_modules.as_slice()) {
        ([], [one]) => Ok(explained(one)),
        ([], []) => match (elsewhere(name), behind_namespace(name)) {
            (Some(text), _) => Ok(text),
            (None, Some(name)) => operation(manifest, name),
            (None, None) => Err(unknown(manifest, name)),
        },
        ([], several) => {
            let message = format!("`{name}` is the name of several functions: {}", list(several));
            let help = "give the name with its module";
            Err(Failure::plain(exit::USAGE, codes::UNFIT_REQUEST, message).help(help))
        }
        (found, also) => {
            let mut text = found.iter().map(|op| explained(op)).collect::<Vec<_>>().join("\n");
            if !also.is_empty() {
                text += &format!("\nIn the library: {}\n", list(also));
            }
            Ok(text)
        }
    }
}

/// The name without a module of another language in front: that of `np.linspace`. What begins with `std` is meant here.
fn behind_namespace(name: &str) -> Option<&str> {
    let (first, name) = name.split_once('.')?;
    (first != "std" && foreign::is_namespace(first)).then_some(name)
}

/// What to write in place of a name of another language.
fn elsewhere(name: &str) -> Option<String> {
    let path: Vec<&str> = name.split('.').collect();
    let row = foreign::ty(&path).or_else(|| foreign::value(&path))?;
    Some(match (row.code, row.why) {
        ("", why) => format!("`{name}` is a name of other languages: {why}\n"),
        (code, "") => format!("`{name}` is a name of other languages: write `{code}`\n"),
        (code, why) => format!("`{name}` is a name of other languages: write `{code}`\n{why}\n"),
    })
}

fn unknown(manifest: &Manifest, name: &str) -> Failure {
    let names = manifest.operations.iter().flat_map(|op| [Some(op.name.as_str()), op.name.rsplit('.').next()]);
    let words = LANGUAGE_WORDS.iter().flat_map(|word| word.words).map(|word| Some(*word));
    let help = match closest(name, names.chain(words).flatten()) {
        Some(near) => format!("did you mean `{near}`? `cotan ops WORD` searches names and descriptions"),
        None => {
            "`cotan ops WORD` searches names and descriptions; codes stand in brackets in messages, such as `E0101`; a \
                 program needs --fn and --grad"
                .to_owned()
        }
    };
    let message = format!("`{name}` is neither a word of programs nor a code");
    Failure::plain(exit::USAGE, codes::UNFIT_REQUEST, message).help(&help)
}

/// One operation in full.
fn explained(op: &ManifestEntry) -> String {
    match op.kind {
        Kind::Primitive | Kind::Tensor => manifest::explain(&op.name).unwrap_or_default(),
        Kind::Prelude | Kind::Library => {
            let group = if op.kind == Kind::Library { op.group.as_str() } else { "the prelude" };
            let mut lines = vec![op.signature.clone(), format!("  {}", op.doc), format!("  from {group}")];
            if !op.dtypes.is_empty() {
                lines.push(format!("  T: {}", op.dtypes.join(" ")));
            }
            for operand in &op.operands {
                let note = operand.note.as_ref().map(|note| format!(", {note}")).unwrap_or_default();
                lines.push(format!("  {}: {}{note}", operand.name, operand.differentiability));
            }
            for kink in op.kinks.iter().filter(|kink| kink.operation != op.name) {
                lines.push(format!("  `{}`: {}", kink.operation, kink.convention));
            }
            lines.join("\n") + "\n"
        }
    }
}

/// Prints how a function, or its value and gradient, runs on a device.
fn device(name: &str, args: &ExplainArgs) -> Result<(), Failure> {
    if args.inputs.is_given() {
        let message = "`--backend vulkan` explains kernels for all sizes, and arguments were given".to_owned();
        let failure = Failure::plain(exit::USAGE, codes::UNSUPPORTED_OPTION, message);
        return Err(failure.help("leave out --args and --set"));
    }
    let session = Session::open(Path::new(&args.subject), &EngineArgs::new(Backend::Interp))?;
    let lowered = session.lower(&request(name, &args.grad))?;
    let explanation = DeviceExplanation::of(&lowered).map_err(Failure::bug)?;
    if args.json {
        return output::print_json(&explanation.to_json().to_string());
    }
    output::print(&visible_text(&explanation.to_string()))
}

/// Prints what the reverse sweep of a gradient records and why.
fn gradient(name: &str, args: &ExplainArgs) -> Result<(), Failure> {
    // Nothing is run for formulas; numbers may take the loops that decide how long others are.
    let engine = EngineArgs::new(if args.inputs.is_given() { Backend::Cpu } else { Backend::Interp });
    let session = Session::open(Path::new(&args.subject), &engine)?;
    let raw = input::read(&args.inputs)?;
    let request = session.at_types_of(&raw, request(name, &args.grad));
    let mut explanation = session.explain(&request)?;
    if args.inputs.is_given() {
        let counter = session.bind(name, explanation.counter.clone())?;
        explanation.count(&session.call(name, &counter, &raw)?);
    }
    if args.json {
        return output::print_json(&explanation.to_json().to_string());
    }
    let text = format!("gradient of `{name}` with respect to `{}`\n\n{explanation}", args.grad.join("`, `"));
    output::print(&visible_text(&text))
}
