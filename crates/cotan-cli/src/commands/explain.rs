//! `cotan explain`: one operation, one code, or what the reverse sweep of a gradient records and why.

use super::emit::request;
use crate::args::{Backend, EngineArgs, ExplainArgs};
use crate::diagnostics::Failure;
use crate::exit;
use crate::input::RawArguments;
use crate::output;
use crate::session::Session;
use cotan::{codes, ops};
use std::path::Path;

pub(crate) fn run(args: &ExplainArgs) -> Result<u8, Failure> {
    let text = match &args.function {
        Some(name) => gradient(name, args)?,
        None => subject(&args.subject)?,
    };
    output::print(&text)?;
    Ok(exit::DONE)
}

/// An operation or a code.
fn subject(name: &str) -> Result<String, Failure> {
    if let Some(text) = ops::explain(name) {
        return Ok(text);
    }
    let Some(info) = codes::page(&name.to_uppercase()) else {
        let message = format!("`{name}` is neither an operation nor a code");
        let help = "`cotan ops` lists the operations; codes stand in brackets in messages, such as `E0101`; a program \
                    needs --fn and --grad";
        return Err(Failure::plain(exit::USAGE, codes::UNFIT_REQUEST, message).help(help));
    };
    let mut text = format!("{}: {}\n\n{}\n", info.code, info.title, info.explanation);
    if !info.failing_example.is_empty() {
        text += &format!("\nReported for:\n\n{}\n", info.failing_example);
    }
    Ok(text)
}

/// What the reverse sweep of a gradient records and why.
fn gradient(name: &str, args: &ExplainArgs) -> Result<String, Failure> {
    // Nothing is run for formulas; numbers may take the loops that decide how long others are.
    let engine = EngineArgs::new(if args.inputs.is_given() { Backend::Cpu } else { Backend::Interp });
    let session = Session::open(Path::new(&args.subject), &engine)?;
    let raw = RawArguments::read(&args.inputs)?;
    let request = session.at_types_of(&raw, request(name, &args.grad));
    let mut explanation = session.explain(&request)?;
    if args.inputs.is_given() {
        let counter = session.bind(name, explanation.counter.clone())?;
        explanation.count(&session.call(name, &counter, &raw)?);
    }
    Ok(if args.json {
        format!("{}\n", explanation.to_json())
    } else {
        format!("gradient of `{name}` with respect to `{}`\n\n{explanation}", args.grad.join("`, `"))
    })
}
