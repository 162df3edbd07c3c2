//! What can go wrong with the cache. Each is a warning: the code is compiled instead.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::trust::Distrust;

/// Why the cache, or one entry of it, was not used.
#[derive(Debug)]
pub enum CacheError {
    /// The folder or an entry could have been written by somebody else, or is not what it should be.
    Unsafe {
        /// The folder or the entry.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Reading or writing failed.
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// An entry is not what was stored under its name.
    Corrupt(PathBuf),
    /// An entry could not be linked.
    Unusable(String),
}

impl From<Distrust> for CacheError {
    fn from(Distrust { path, reason }: Distrust) -> Self {
        Self::Unsafe { path, reason }
    }
}

impl fmt::Display for CacheError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "code cache: ")?;
        match self {
            Self::Unsafe { path, reason } => write!(f, "{}: {reason}", path.display()),
            Self::Io { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Corrupt(path) => write!(f, "{}: damaged entry", path.display()),
            Self::Unusable(reason) => write!(f, "an entry cannot be used: {reason}"),
        }
    }
}

impl std::error::Error for CacheError {}
