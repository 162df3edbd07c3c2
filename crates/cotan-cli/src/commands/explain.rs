//! `cotan explain`: one operation, one code, or what the reverse sweep of a gradient records and why.

use super::emit::request;
use super::ops::of_library;
use crate::args::{Backend, EngineArgs, ExplainArgs};
use crate::diagnostics::Failure;
use crate::exit;
use crate::input;
use crate::output;
use crate::session::Session;
use cotan::codes;
use cotan::diagnostics::{closest, visible_text};
use cotan::manifest::{self, Kind, Manifest, ManifestEntry};
use std::path::Path;

pub(crate) fn run(args: &ExplainArgs) -> Result<u8, Failure> {
    match &args.function {
        Some(name) => gradient(name, args)?,
        None => output::print(&subject(&args.subject)?)?,
    }
    Ok(exit::DONE)
}

/// An operation or a code.
fn subject(name: &str) -> Result<String, Failure> {
    if let Some(info) = codes::page(&name.to_uppercase()) {
        let mut text = format!("{}: {}\n\n{}\n", info.code, info.title, info.explanation);
        if !info.failing_example.is_empty() {
            text += &format!("\nReported for:\n\n{}\n", info.failing_example);
        }
        return Ok(text);
    }
    operation(&of_library()?, name)
}

/// An operation by its name, or a function of the library by its name in its module, if there is one of that name.
fn operation(manifest: &Manifest, name: &str) -> Result<String, Failure> {
    let last = |op: &ManifestEntry| op.name.rsplit('.').next() == Some(name);
    let exact: Vec<&ManifestEntry> = manifest.operations.iter().filter(|op| op.name == name).collect();
    let in_modules: Vec<&ManifestEntry> =
        manifest.operations.iter().filter(|op| op.name != name && op.kind == Kind::Library && last(op)).collect();
    let list = |ops: &[&ManifestEntry]| ops.iter().map(|op| format!("`{}`", op.name)).collect::<Vec<_>>().join(", ");
    match (exact.as_slice(), in_modules.as_slice()) {
        ([], [one]) => Ok(explained(one)),
        ([], []) => {
            let names = manifest.operations.iter().flat_map(|op| [Some(op.name.as_str()), op.name.rsplit('.').next()]);
            let help = match closest(name, names.flatten()) {
                Some(near) => format!("did you mean `{near}`? `cotan ops` lists the operations"),
                None => {
                    "`cotan ops` lists the operations; codes stand in brackets in messages, such as `E0101`; a program \
                         needs --fn and --grad"
                        .to_owned()
                }
            };
            let message = format!("`{name}` is neither an operation nor a code");
            Err(Failure::plain(exit::USAGE, codes::UNFIT_REQUEST, message).help(&help))
        }
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
