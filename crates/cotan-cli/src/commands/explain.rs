//! `cotan explain`: one operation, one code, or what the reverse sweep of a gradient records and why.

use super::emit::request;
use crate::args::{Backend, EngineArgs, ExplainArgs};
use crate::diagnostics::Failure;
use crate::exit;
use crate::output;
use crate::session::Session;
use cotan::ir::{AccKind, Block, Dim, Function, Op, Stmt, Ty};
use cotan::syntax::{FileId, SourceMap};
use cotan::{codes, ops};
use std::fmt::Write;
use std::path::Path;

pub(crate) fn run(args: &ExplainArgs) -> Result<u8, Failure> {
    let text = match &args.function {
        Some(name) => gradient(Path::new(&args.subject), name, &args.grad)?,
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

/// What the reverse sweep of a gradient reads from its forward sweep.
fn gradient(path: &Path, name: &str, wrt: &[String]) -> Result<String, Failure> {
    let engine = EngineArgs::new(Backend::Interp);
    let session = Session::open(path, &engine)?;
    let lowered = session.lower(&request(name, wrt))?;
    let mut text = format!("gradient of `{name}` with respect to `{}`\n", wrt.join("`, `"));
    let mut n_records = 0;
    for f in lowered.module.functions() {
        n_records += records(f, &f.body, &session.program.sources, &mut text);
    }
    text += match n_records {
        0 => "Nothing is recorded: what the reverse sweep needs, it computes again.\n",
        _ => "\nEverything else that the reverse sweep needs, it computes again at the head of each region.\n",
    };
    Ok(text)
}

/// Describes the records of the loops in a block; gives their number.
fn records(f: &Function, block: &Block, sources: &SourceMap, out: &mut String) -> usize {
    let mut n = 0;
    for s in &block.stmts {
        n += records_of(f, s, sources, out);
        n += s.op.blocks().iter().map(|b| records(f, b, sources, out)).sum::<usize>();
    }
    n
}

fn records_of(f: &Function, s: &Stmt, sources: &SourceMap, out: &mut String) -> usize {
    let recorded: Vec<_> = s.results.iter().copied().filter(|v| f.vars[v.index()].record.is_some()).collect();
    if recorded.is_empty() {
        return 0;
    }
    let place = match sources.get(FileId(s.span.file)) {
        Some(file) => {
            let at = file.line_column(s.span.start);
            let line = file.text().lines().nth(at.line as usize - 1).unwrap_or_default().trim();
            format!("{}:{}:{}: {line}", file.name(), at.line, at.column)
        }
        None => "code of the compiler".to_owned(),
    };
    // Writing to a string cannot fail.
    let _ = writeln!(out, "\n{place}");
    for v in &recorded {
        let why = match &s.op {
            Op::Loop(l) => {
                let accs = l.split(&s.results).accs;
                match accs.iter().position(|acc| acc == v).map(|k| l.accs[k].kind) {
                    Some(AccKind::Log) => "one entry for each time that it is replaced; only the run knows how often",
                    Some(AccKind::Reduce(_)) => "one sum over the loop",
                    None => "one entry for each iteration, because the next one replaces what the reverse sweep reads",
                }
            }
            Op::Prim { .. }
            | Op::Tensor { .. }
            | Op::Index { .. }
            | Op::Update { .. }
            | Op::AccAdd { .. }
            | Op::Par(_)
            | Op::Switch { .. }
            | Op::Call { .. }
            | Op::Check { .. } => "handed on from a loop inside",
        };
        let _ = writeln!(out, "  records `{}`: {}, {why}", f.name_of(*v), show(f, f.ty(*v)));
    }
    recorded.len()
}

/// A type with its sizes by name.
fn show(f: &Function, ty: &Ty) -> String {
    let dim = |d: &Dim| match d {
        Dim::Const(n) => n.to_string(),
        Dim::Var(v) => f.name_of(*v).to_owned(),
    };
    if ty.is_scalar() {
        return ty.elem.to_string();
    }
    format!("{}[{}]", ty.elem, ty.dims.iter().map(dim).collect::<Vec<_>>().join(", "))
}
