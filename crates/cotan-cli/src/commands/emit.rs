//! `cotan emit`: any step of the compiler as text.

use crate::args::{Backend, EmitArgs, EngineArgs, Stage};
use crate::diagnostics::Failure;
use crate::exit;
use crate::output;
use crate::session::{Session, read_program};
use cotan::emit::{self, EmitError};
use cotan::{DerivativeForm, ReadyModule, Request, codes, derivative};

pub(crate) fn run(args: &EmitArgs) -> Result<u8, Failure> {
    let Some(stage) = lowered_stage(args.stage) else { return syntax_tree(args) };
    let needs_llvm = matches!(stage, emit::Stage::Llvm | emit::Stage::Assembly);
    let engine = EngineArgs { backend: if needs_llvm { Backend::Cpu } else { Backend::Interp }, ..args.engine.clone() };
    let session = Session::open(&args.file, &engine)?;
    let text = match &args.function {
        Some(name) => {
            let lowered = session.lower(&request(name, &args.grad))?;
            let text = session.compiler.emit(&session.program, &lowered, stage);
            text.map_err(emit_failure)?
        }
        None => every_function(&session, stage)?,
    };
    output::print(&text)?;
    Ok(exit::DONE)
}

/// The step, if it comes after the lowering.
fn lowered_stage(stage: Stage) -> Option<emit::Stage> {
    match stage {
        Stage::Ast => None,
        Stage::Ir => Some(emit::Stage::Ir),
        Stage::Dot => Some(emit::Stage::Dot),
        Stage::Loops => Some(emit::Stage::Loops),
        Stage::Llvm => Some(emit::Stage::Llvm),
        Stage::Asm => Some(emit::Stage::Assembly),
    }
}

/// A function, or its value and gradient.
pub(super) fn request(name: &str, grad: &[String]) -> Request {
    let wrt: Vec<&str> = grad.iter().map(String::as_str).collect();
    if wrt.is_empty() { Request::function(name) } else { derivative(name, DerivativeForm::ValueAndGrad, &wrt) }
}

fn syntax_tree(args: &EmitArgs) -> Result<u8, Failure> {
    let (_, text) = read_program(&args.file)?;
    let name = args.function.as_deref();
    let tree = emit::syntax_tree(&text, name).ok_or_else(|| {
        let message = format!("there is no function `{}`", name.unwrap_or_default());
        Failure::plain(exit::USAGE, codes::UNFIT_REQUEST, message)
    })?;
    output::print(&tree)?;
    Ok(exit::DONE)
}

/// Every function of the file that a host can call, each with what it needs.
fn every_function(session: &Session, stage: emit::Stage) -> Result<String, Failure> {
    let lower = |name: &str| session.lower(&Request::function(name));
    let all: Vec<ReadyModule> = session.program.callable_functions().map(lower).collect::<Result<_, _>>()?;
    session.compiler.emit_all(&session.program, &all, stage).map_err(emit_failure)
}

fn emit_failure(error: EmitError) -> Failure {
    match error {
        EmitError::NoLlvm(message) => Failure::plain(exit::USAGE, codes::UNSUPPORTED_DEVICE, message),
        EmitError::Backend(message) => Failure::bug(message),
    }
}
