//! Why a module was not compiled.

use std::fmt;

/// Why a module was not compiled. None of these is the fault of a user's program: the text comes
/// from Cotan's own emitter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JitError {
    /// The text is not LLVM IR, or breaks a rule of it.
    InvalidIr(String),
    /// LLVM refused to generate code.
    CodeGeneration(String),
    /// The object could not be linked, for instance because a symbol is not provided by the host.
    Link(String),
    /// The library, which was there when it was looked for, cannot be opened.
    Load(String),
    /// LLVM gave up; this library compiles nothing more in this process.
    Fatal(String),
    /// No thread for the compiler could be started, or it died.
    Thread(String),
}

impl fmt::Display for JitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidIr(message) => write!(f, "invalid LLVM IR: {message}"),
            Self::CodeGeneration(message) => write!(f, "LLVM generates no code: {message}"),
            Self::Link(message) => write!(f, "compiled code does not link: {message}"),
            Self::Load(message) => write!(f, "LLVM cannot be loaded: {message}"),
            Self::Fatal(message) => write!(f, "LLVM gave up: {message}"),
            Self::Thread(message) => write!(f, "no compiler thread: {message}"),
        }
    }
}

impl std::error::Error for JitError {}
