//! `cotan emit`: any step of the compiler as text.

use crate::args::{Backend, EmitArgs, EngineArgs, Stage};
use crate::diagnostics::Failure;
use crate::exit;
use crate::output;
use crate::session::{Session, read_program};
use cotan::emit::{self, EmitError, PassLog};
use cotan::{DerivativeForm, ReadyModule, Request, codes, derivative};

pub(crate) fn run(args: &EmitArgs) -> Result<u8, Failure> {
    let text = match (args.after.as_deref(), args.stage) {
        (Some(pass), _) => after(args, pass)?,
        (None, Some(Stage::Ast)) => syntax_tree(args)?,
        (None, Some(Stage::Passes) | None) => {
            let log = PassLog::default();
            log_passes(args, &log)?;
            log.table()
        }
        (None, Some(Stage::Ir)) => lowered(args, emit::Stage::Ir)?,
        (None, Some(Stage::Dot)) => lowered(args, emit::Stage::Dot)?,
        (None, Some(Stage::Loops)) => lowered(args, emit::Stage::Loops)?,
        (None, Some(Stage::DeviceLoops)) => lowered(args, emit::Stage::DeviceLoops)?,
        (None, Some(Stage::Plan)) => lowered(args, emit::Stage::Plan)?,
        (None, Some(Stage::Spirv)) => lowered(args, emit::Stage::Spirv)?,
        (None, Some(Stage::Llvm)) => lowered(args, emit::Stage::Llvm)?,
        (None, Some(Stage::Asm)) => lowered(args, emit::Stage::Assembly)?,
    };
    output::print(&text)?;
    Ok(exit::DONE)
}

/// A step after the lowering, of one function or of all.
fn lowered(args: &EmitArgs, stage: emit::Stage) -> Result<String, Failure> {
    let backend = match stage {
        emit::Stage::Llvm | emit::Stage::Assembly => Backend::Cpu,
        emit::Stage::Spirv => Backend::Vulkan,
        emit::Stage::Ir | emit::Stage::Dot | emit::Stage::Loops | emit::Stage::DeviceLoops | emit::Stage::Plan => {
            Backend::Interp
        }
    };
    let session = open(args, backend)?;
    let Some(name) = &args.function else { return every_function(&session, stage) };
    let lowered = session.lower(&request(name, &args.grad))?;
    session.compiler.emit(&session.program, &lowered, stage).map_err(emit_failure)
}

fn open(args: &EmitArgs, backend: Backend) -> Result<Session, Failure> {
    Session::open(&args.file, &EngineArgs { backend, ..args.engine.clone() })
}

/// The functions after the last run of a pass.
fn after(args: &EmitArgs, name: &str) -> Result<String, Failure> {
    let pass = emit::pass_named(name).map_err(|unknown| {
        let all = unknown.all.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let help = match unknown.nearest {
            Some(near) => format!("did you mean `{near}`? The passes are {all}"),
            None => format!("the passes are {all}"),
        };
        Failure::plain(exit::USAGE, codes::UNFIT_REQUEST, format!("there is no pass `{name}`")).help(&help)
    })?;
    let log = PassLog::after(pass);
    log_passes(args, &log)?;
    log.text().ok_or_else(|| {
        let message = format!("the pass `{name}` does not run on the way of this program");
        let help = "`cotan emit FILE --stage passes` says how many times each pass runs";
        Failure::plain(exit::USAGE, codes::UNFIT_REQUEST, message).help(help)
    })
}

/// Notes the passes on the way of the function that is asked for, or of all that a host can call.
fn log_passes(args: &EmitArgs, log: &PassLog) -> Result<(), Failure> {
    let session = open(args, Backend::Interp)?;
    let requests: Vec<Request> = match &args.function {
        Some(name) => vec![request(name, &args.grad)],
        None => session.program.callable_functions().map(Request::function).collect(),
    };
    requests.iter().try_for_each(|request| session.log_passes(request, log))
}

/// A function, or its value and gradient.
pub(super) fn request(name: &str, grad: &[String]) -> Request {
    let wrt: Vec<&str> = grad.iter().map(String::as_str).collect();
    if wrt.is_empty() { Request::function(name) } else { derivative(name, DerivativeForm::ValueAndGrad, &wrt) }
}

fn syntax_tree(args: &EmitArgs) -> Result<String, Failure> {
    let (_, text) = read_program(&args.file)?;
    let name = args.function.as_deref();
    emit::syntax_tree(&text, name).ok_or_else(|| {
        let message = format!("there is no function `{}`", name.unwrap_or_default());
        Failure::plain(exit::USAGE, codes::UNFIT_REQUEST, message)
    })
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
        EmitError::NoDevice(none) => {
            Failure::plain(exit::USAGE, codes::UNSUPPORTED_DEVICE, none.to_string()).help(none.help())
        }
        EmitError::Backend(message) => Failure::bug(message),
    }
}
