//! The doctor's report: the state of this backend on this machine.

use std::path::PathBuf;

use crate::jit::{Engine, Target};
use crate::load::{Attempt, NoLlvm, Version};

/// The state of the backend, as data for a shell to print.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The library in use and its version; none if the interpreter has to serve.
    pub library: Option<(PathBuf, Version)>,
    /// What was tried, and why it was refused.
    pub attempts: Vec<Attempt>,
    /// The machine that code is generated for.
    pub target: Option<Target>,
    /// The cache in use.
    pub cache: Option<CacheReport>,
}

/// The state of the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheReport {
    /// Where it is.
    pub folder: PathBuf,
    /// Bytes in it, or why they could not be counted.
    pub bytes: Result<u64, String>,
    /// How many bytes it may grow to.
    pub max_bytes: u64,
}

impl Report {
    /// Describes the outcome of [`Engine::new`].
    #[must_use]
    pub fn new(engine: Result<&Engine, &NoLlvm>) -> Self {
        match engine {
            Ok(engine) => Self {
                library: Some((engine.library().to_owned(), engine.version())),
                attempts: engine.attempts().to_vec(),
                target: Some(engine.target().clone()),
                cache: engine.cache().map(|cache| CacheReport {
                    folder: cache.folder().to_owned(),
                    bytes: cache.size().map_err(|error| error.to_string()),
                    max_bytes: cache.max_bytes(),
                }),
            },
            Err(none) => Self { library: None, attempts: none.attempts.clone(), target: None, cache: None },
        }
    }
}
