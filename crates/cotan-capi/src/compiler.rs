//! Compilers and programs.

use crate::handle::{Handle, Object, Slots};
use crate::status::{CotanError, Failure, Outcome, Status, status_of};
use cotan::{CallLimits, Compiler, Config, Deadline, Engine, Loader, Program};
use std::ffi::{CStr, c_char};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

/// `cotan_config`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
#[expect(missing_docs, reason = "the header says what they are")]
pub struct CotanConfig {
    pub backend: i32,
    pub threads: u32,
    pub memory: u64,
    pub steps: u64,
    pub milliseconds: u64,
    pub trap_nan: i32,
    pub reserved: i32,
}

/// A compiler.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) compiler: Compiler,
    pub(crate) engine: Engine,
    pub(crate) slots: Arc<Slots>,
}

/// A program without errors, and its compiler.
#[derive(Debug)]
pub(crate) struct ProgramState {
    pub(crate) program: Program,
    pub(crate) made_by: Arc<State>,
}

/// Modules beside a program.
struct Files;

impl Loader for Files {
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        match std::fs::read(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// The text behind a pointer.
///
/// # Safety
/// It is NULL, or ends with a zero, and stays as it is for as long as the text is used.
pub(crate) unsafe fn text<'t>(what: &str, pointer: *const c_char) -> Outcome<&'t str> {
    if pointer.is_null() {
        return Err(Failure::null(what));
    }
    // SAFETY: by this function's contract.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|_| Failure::new(Status::Value, format!("`{what}` is not UTF-8")))
}

/// What is behind a pointer that something is written to.
///
/// # Safety
/// It is NULL, or something of the type may be written to it.
pub(crate) unsafe fn write<T>(what: &str, out: *mut T, value: impl FnOnce() -> Outcome<T>) -> Outcome<()> {
    if out.is_null() {
        return Err(Failure::null(what));
    }
    let value = value()?;
    // SAFETY: by this function's contract.
    unsafe { out.write(value) };
    Ok(())
}

/// The version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn cotan_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

fn made(config: &CotanConfig) -> Outcome<Handle> {
    let engine = match config.backend {
        0 => Engine::CPU,
        1 => Engine::INTERPRETER,
        2 => Engine::VULKAN,
        other => return Err(Failure::new(Status::Value, format!("there is no backend {other}"))),
    };
    let some = |n: u64| (n > 0).then_some(n);
    let deadline = some(config.milliseconds).map(|n| Deadline::After(Duration::from_millis(n)));
    let config = Config {
        threads: NonZeroUsize::new(config.threads as usize),
        memory: some(config.memory),
        call: CallLimits { steps: some(config.steps), deadline, cancel: None },
        trap_nan: config.trap_nan != 0,
        ..Config::default()
    };
    let compiler = Compiler::new(config).map_err(|error| Failure::new(Status::Value, error.to_string()))?;
    let slots = Arc::new(Slots::default());
    let state = State { compiler, engine, slots: Arc::clone(&slots) };
    Ok(slots.handle(Object::Compiler(Arc::new(state))))
}

/// A compiler.
///
/// # Safety
/// Pointers are NULL or point to what the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cotan_compiler_new(
    config: *const CotanConfig,
    out: *mut Handle,
    error: *mut CotanError,
) -> Status {
    // SAFETY: by this function's contract.
    unsafe { status_of(error, || write("out", out, || made(&config.as_ref().copied().unwrap_or_default()))) }
}

/// Frees a compiler.
///
/// # Safety
/// The handle is zero, or one that this library made.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cotan_compiler_free(compiler: Handle) -> Status {
    let slots = |object: &Object| match object {
        Object::Compiler(state) => Some(Arc::clone(&state.slots)),
        Object::Program(_) | Object::Function(_) => None,
    };
    // SAFETY: by this function's contract.
    unsafe { status_of(std::ptr::null_mut(), || compiler.free("a compiler", slots)) }
}

fn handle_of(made_by: Arc<State>, program: Program) -> Outcome<Handle> {
    if program.has_errors() {
        return Err(Failure::of_diagnostics(Status::Program, &program.diagnostics, &program.sources));
    }
    let slots = Arc::clone(&made_by.slots);
    Ok(slots.handle(Object::Program(Arc::new(ProgramState { program, made_by }))))
}

/// Checks a file.
///
/// # Safety
/// The handle is zero, or one that this library made; pointers are NULL or point to what the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cotan_program_load(
    compiler: Handle,
    path: *const c_char,
    out: *mut Handle,
    error: *mut CotanError,
) -> Status {
    let load = || {
        // SAFETY: by this function's contract.
        let (made_by, path) = unsafe { (compiler.compiler()?, text("path", path)?) };
        let read = std::fs::read_to_string(path);
        let source = read.map_err(|error| Failure::new(Status::File, format!("reading {path}: {error}")))?;
        let program = made_by.compiler.load(path, &source, &Files);
        handle_of(made_by, program)
    };
    // SAFETY: by this function's contract.
    unsafe { status_of(error, || write("out", out, load)) }
}

/// Checks a text.
///
/// # Safety
/// The handle is zero, or one that this library made; pointers are NULL or point to what the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cotan_program_parse(
    compiler: Handle,
    name: *const c_char,
    source: *const c_char,
    out: *mut Handle,
    error: *mut CotanError,
) -> Status {
    let parse = || {
        // SAFETY: by this function's contract.
        let (made_by, name, source) = unsafe { (compiler.compiler()?, text("name", name)?, text("text", source)?) };
        let program = made_by.compiler.check(name, source);
        handle_of(made_by, program)
    };
    // SAFETY: by this function's contract.
    unsafe { status_of(error, || write("out", out, parse)) }
}

/// Frees a program.
///
/// # Safety
/// The handle is zero, or one that this library made.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cotan_program_free(program: Handle) -> Status {
    let slots = |object: &Object| match object {
        Object::Program(state) => Some(Arc::clone(&state.made_by.slots)),
        Object::Compiler(_) | Object::Function(_) => None,
    };
    // SAFETY: by this function's contract.
    unsafe { status_of(std::ptr::null_mut(), || program.free("a program", slots)) }
}
