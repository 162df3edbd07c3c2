//! The search for a usable libLLVM, which keeps what it tried and why each candidate was refused.

use std::fmt;
use std::path::{Path, PathBuf};

use super::candidates::{Origin, SearchConfig};
use super::library::Version;

/// One candidate that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The file, or the name given to the dynamic loader.
    pub path: PathBuf,
    /// Why it was on the list.
    pub origin: Origin,
    /// The version in use, or why the candidate was refused.
    pub outcome: Result<Version, String>,
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.outcome {
            Ok(version) => write!(f, "{}: LLVM {version}", self.path.display()),
            Err(reason) => write!(f, "{}: {reason}", self.path.display()),
        }
    }
}

/// No candidate was usable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoLlvm {
    /// What was tried, in order.
    pub attempts: Vec<Attempt>,
}

impl fmt::Display for NoLlvm {
    /// One line, for a user who did not ask: what happened, and what helps.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no LLVM found")?;
        if let Some(message) = explicit_failure(&self.attempts) {
            write!(f, " ({message})")?;
        } else {
            write!(f, " ({} places tried)", self.attempts.len())?;
        }
        write!(f, ": the interpreter is used; install libLLVM 19 or newer, or a Rust toolchain")?;
        if self.attempts.is_empty() { Ok(()) } else { write!(f, "; `cotan doctor` says what was refused and why") }
    }
}

impl std::error::Error for NoLlvm {}

/// The refusal of a path that the user named, which must not pass unnoticed even if another
/// library is then found.
#[must_use]
pub fn explicit_failure(attempts: &[Attempt]) -> Option<String> {
    attempts
        .iter()
        .find(|attempt| attempt.origin == Origin::Explicit && attempt.outcome.is_err())
        .map(ToString::to_string)
}

/// Tries the candidates of `config` in order until one can be used; `version` says which version it is.
pub(crate) fn search<T>(
    config: &SearchConfig,
    try_one: impl Fn(&Path) -> Result<T, String>,
    version: impl Fn(&T) -> Version,
) -> (Option<T>, Vec<Attempt>) {
    let mut attempts = Vec::new();
    for (origin, path) in config.candidates() {
        let tried = origin.refusal(&path).map_or_else(|| try_one(&path), Err);
        attempts.push(Attempt { path, origin, outcome: tried.as_ref().map(&version).map_err(Clone::clone) });
        if let Ok(library) = tried {
            return (Some(library), attempts);
        }
    }
    (None, attempts)
}
