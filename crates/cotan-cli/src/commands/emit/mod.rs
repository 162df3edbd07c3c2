//! `cotan emit`: any step of the compiler as text.

mod checks;
mod dot;
mod passes;

use crate::args::{Backend, EmitArgs, EngineArgs, Stage};
use crate::diagnostics::Failure;
use crate::exit;
use crate::output;
use crate::session::{Session, read_program};
use cotan::ir::{Function, Module};
use cotan::llvm::CompileOptions;
use cotan::sema::typed;
use cotan::sema::types::Type;
use cotan::syntax::ast::ItemKind;
use cotan::syntax::{FileId, dump, parse};
use cotan::{DerivativeForm, ReadyModule, Request, codes, derivative};
use std::sync::Arc;

pub(crate) fn run(args: &EmitArgs) -> Result<u8, Failure> {
    if args.stage == Some(Stage::Ast) {
        return syntax_tree(args);
    }
    let after = args.after.as_deref().map(passes::named).transpose()?;
    let needs_llvm = matches!(args.stage, Some(Stage::Llvm | Stage::Asm));
    let engine = EngineArgs { backend: if needs_llvm { Backend::Cpu } else { Backend::Interp }, ..args.engine.clone() };
    let session = Session::open(&args.file, &engine)?;
    let text = match (args.stage, after, &args.function) {
        (_, Some(pass), _) => passes::after(&session, &requests(&session, args), pass)?,
        (Some(Stage::Passes) | None, None, _) => passes::list(&session, &requests(&session, args))?,
        (Some(wanted), None, Some(name)) => stage(&session, name, &session.lower(&request(name, &args.grad))?, wanted)?,
        (Some(wanted), None, None) => every_function(&session, wanted)?,
    };
    output::print(&text)?;
    Ok(exit::DONE)
}

/// A function, or its value and gradient.
pub(super) fn request(name: &str, grad: &[String]) -> Request {
    let wrt: Vec<&str> = grad.iter().map(String::as_str).collect();
    if wrt.is_empty() { Request::function(name) } else { derivative(name, DerivativeForm::ValueAndGrad, &wrt) }
}

fn syntax_tree(args: &EmitArgs) -> Result<u8, Failure> {
    let (_, text) = read_program(&args.file)?;
    let (mut module, _) = parse(FileId(0), &text);
    if let Some(name) = &args.function {
        module.items.retain(|item| matches!(&item.kind, ItemKind::Function(f) if f.signature.name.name == *name));
        if module.items.is_empty() {
            let message = format!("there is no function `{name}`");
            return Err(Failure::plain(exit::USAGE, codes::UNFIT_REQUEST, message));
        }
    }
    output::print(&dump::module(&module))?;
    Ok(exit::DONE)
}

/// The one function that is asked for, or all.
fn requests(session: &Session, args: &EmitArgs) -> Vec<Request> {
    match &args.function {
        Some(name) => vec![request(name, &args.grad)],
        None => callable(session).map(|f| Request::function(f.name.as_str())).collect(),
    }
}

/// The functions of the file that a host can call.
fn callable(session: &Session) -> impl Iterator<Item = &typed::Function> {
    let functions = session.program.checked.program.functions.iter();
    functions.filter(|f| f.name_span.file == FileId(0) && is_callable(f))
}

/// Every function of the file that a host can call, each with what it needs.
fn every_function(session: &Session, wanted: Stage) -> Result<String, Failure> {
    let mut all = Module::default();
    let mut texts = Vec::new();
    for function in callable(session) {
        let lowered = session.lower(&Request::function(function.name.as_str()))?;
        match wanted {
            // One module: functions that several need stand there once.
            Stage::Ir | Stage::Dot | Stage::Loops => {
                all.items.extend(lowered.module.items.iter().map(|(name, item)| (name.clone(), item.clone())));
            }
            Stage::Llvm | Stage::Asm => texts.push(stage(session, &function.name, &lowered, wanted)?),
            Stage::Ast | Stage::Passes => {}
        }
    }
    texts.push(module_text(session, &all, wanted, &session.compiler.compile_options()));
    Ok(texts.concat())
}

/// Functions that take functions, or are for any type or rank, exist only where they are called.
fn is_callable(function: &typed::Function) -> bool {
    !function.is_shapeless() && function.params.iter().all(|p| !matches!(p.ty, Type::Function(_)))
}

fn stage(session: &Session, name: &str, lowered: &ReadyModule, stage: Stage) -> Result<String, Failure> {
    let backend = || {
        let none = |e: &dyn std::fmt::Display| Failure::plain(exit::USAGE, codes::UNSUPPORTED_DEVICE, e.to_string());
        session.compiler.backend().map_err(|e| none(e))
    };
    let options = session.compiler.compile_options();
    let failed = |e: cotan::llvm::CompileError| Failure::bug(format!("`{name}`: {e}"));
    let symbol = &lowered.entry.symbol;
    let plain = session.compiler.plain(&lowered.module, &lowered.entry);
    let run = plain.as_ref().unwrap_or(&lowered.module);
    match stage {
        Stage::Llvm => backend()?.llvm_ir(run, symbol, &options).map_err(failed),
        Stage::Asm => backend()?.assembly(run, symbol, &options).map_err(failed),
        Stage::Loops => Ok(module_text(session, run, stage, &options)),
        Stage::Ast | Stage::Passes | Stage::Ir | Stage::Dot => {
            Ok(module_text(session, &lowered.module, stage, &options))
        }
    }
}

fn module_text(session: &Session, module: &Module, stage: Stage, options: &CompileOptions) -> String {
    match stage {
        Stage::Dot => dot::module(module),
        Stage::Loops => {
            let nest = |f: &Arc<Function>| format!("{}{}", options.nest(f), checks::text(&session.program.sources, f));
            let nests: Vec<String> = module.functions().map(nest).collect();
            nests.join("\n")
        }
        Stage::Ir => module.to_string(),
        Stage::Ast | Stage::Passes | Stage::Llvm | Stage::Asm => String::new(),
    }
}
