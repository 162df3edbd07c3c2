//! What a call of the library gives: a status, and an error with a text.

use cotan::diagnostics::{Diagnostic, SourceMap, Style, to_text};
use cotan::{CallError, CompileError};
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// `cotan_status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
#[expect(missing_docs, reason = "the header says what they are")]
pub enum Status {
    Ok = 0,
    Null = 1,
    Handle = 2,
    Value = 3,
    File = 4,
    Program = 5,
    Request = 6,
    Argument = 7,
    Check = 8,
    Memory = 9,
    Limit = 10,
    Device = 11,
    Internal = 12,
}

impl Status {
    /// All of them, by their numbers.
    pub const ALL: [Status; 13] = [
        Status::Ok,
        Status::Null,
        Status::Handle,
        Status::Value,
        Status::File,
        Status::Program,
        Status::Request,
        Status::Argument,
        Status::Check,
        Status::Memory,
        Status::Limit,
        Status::Device,
        Status::Internal,
    ];
}

/// `cotan_error`.
#[derive(Debug)]
#[repr(C)]
#[expect(missing_docs, reason = "the header says what they are")]
pub struct CotanError {
    pub status: i32,
    pub code: [c_char; 12],
    pub text: *mut c_char,
}

/// Why a call of the library has no result.
#[derive(Debug)]
pub(crate) struct Failure {
    status: Status,
    code: String,
    text: String,
}

pub(crate) type Outcome<T> = Result<T, Failure>;

impl Failure {
    pub(crate) fn new(status: Status, text: impl Into<String>) -> Failure {
        Failure { status, code: String::new(), text: text.into() }
    }

    /// A pointer that is NULL, by what it points to.
    pub(crate) fn null(what: &str) -> Failure {
        Failure::new(Status::Null, format!("`{what}` is NULL"))
    }

    pub(crate) fn of_diagnostics(status: Status, all: &[Diagnostic], sources: &SourceMap) -> Failure {
        let code = all.first().map(|first| first.code.as_str().to_owned()).unwrap_or_default();
        let texts: Vec<String> = all.iter().map(|one| to_text(one, sources, Style::Plain)).collect();
        Failure { status, code, text: texts.join("\n") }
    }

    pub(crate) fn of_compilation(error: &CompileError, all: &[Diagnostic], sources: &SourceMap) -> Failure {
        let status = match error {
            CompileError::Device(_) | CompileError::NoDevice(_) => Status::Device,
            CompileError::Diagnostics(_)
            | CompileError::Request(_)
            | CompileError::Unsupported(_)
            | CompileError::Derivative(_)
            | CompileError::Backend(_) => Status::Request,
        };
        Failure::of_diagnostics(status, all, sources)
    }

    pub(crate) fn of_call(error: &CallError, diagnostic: Diagnostic, sources: &SourceMap) -> Failure {
        let status = match error {
            CallError::Arguments(_) => Status::Argument,
            CallError::Check(_) | CallError::Nan(_) | CallError::NanArgument(_) => Status::Check,
            CallError::OutOfMemory(_) => Status::Memory,
            CallError::Limit(_) | CallError::TimedOut | CallError::Cancelled => Status::Limit,
            CallError::Device(_) | CallError::Unsupported(_) => Status::Device,
            CallError::Bug(_) => Status::Internal,
        };
        Failure::of_diagnostics(status, &[diagnostic], sources)
    }
}

/// Does the work of a function of the header; what goes wrong is written to `error`, and nothing unwinds.
///
/// # Safety
/// `error` is NULL or points to an error that may be written.
pub(crate) unsafe fn status_of(error: *mut CotanError, work: impl FnOnce() -> Outcome<()>) -> Status {
    // Nothing that stays behind is half changed: locks recover from poison, and handles are read or replaced in one step.
    let outcome = catch_unwind(AssertUnwindSafe(work));
    let outcome = outcome.unwrap_or_else(|_| Err(Failure::new(Status::Internal, "a bug of Cotan: it panicked")));
    let Err(failure) = outcome else { return Status::Ok };
    let status = failure.status;
    if !error.is_null() {
        // SAFETY: by this function's contract.
        unsafe { error.write(CotanError::of(failure)) };
    }
    status
}

impl CotanError {
    fn of(failure: Failure) -> CotanError {
        let mut code = [0; 12];
        for (to, from) in code.iter_mut().zip(failure.code.bytes().take(11)) {
            *to = from as c_char;
        }
        // A text has no zero in it but those of a program's own texts.
        let text = CString::new(failure.text.replace('\0', " ")).unwrap_or_default();
        CotanError { status: failure.status as i32, code, text: text.into_raw() }
    }
}

/// Gives back the text of an error.
///
/// # Safety
/// `error` is NULL, or points to an error of this library, or to zeros.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cotan_error_free(error: *mut CotanError) {
    // SAFETY: by this function's contract.
    let Some(error) = (unsafe { error.as_mut() }) else { return };
    let text = std::mem::replace(&mut error.text, std::ptr::null_mut());
    if !text.is_null() {
        // SAFETY: by this function's contract it is the text of an error of this library, which made it so.
        drop(unsafe { CString::from_raw(text) });
    }
    *error = CotanError { status: 0, code: [0; 12], text: std::ptr::null_mut() };
}
