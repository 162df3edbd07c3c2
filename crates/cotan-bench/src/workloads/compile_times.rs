//! Compile times: a value with its gradient for the first time, and found in the cache by the next process.

use crate::Instance;
use anyhow::{Context, Result};
use cotan::cpu::Cache;
use cotan::{Compiler, Config, Engine};
use cotan_measure::{check, function};
use serde::Serialize;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Instant;

/// The most bytes of the cache; a function takes some ten thousand.
const CACHE_BYTES: u64 = 1 << 26;

/// Seconds from the text of a program to code, on one thread.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CompileTimes {
    /// With a cache that knows nothing.
    pub first_s: f64,
    /// With the cache that the first time has left.
    pub cached_s: f64,
}

impl CompileTimes {
    /// Compiles an instance twice, with a cache in a folder that is made for it and removed.
    pub fn measure(instance: &Instance, within: &Path) -> Result<CompileTimes> {
        let folder = within.join(format!("cache-{}", std::process::id()));
        let once = || {
            let cache = Cache::open(&folder, CACHE_BYTES).with_context(|| format!("using {}", folder.display()))?;
            let build = Some(env!("CARGO_PKG_NAME").to_owned());
            let threads = Some(NonZeroUsize::MIN);
            let config = Config { cache: Some(cache), build, threads, ..Config::default() };
            let compiler = Compiler::new(config).map_err(anyhow::Error::msg)?;
            let start = Instant::now();
            let program = check(&compiler, instance)?;
            for request in std::iter::once(&instance.function).chain(&instance.gradient) {
                function(&compiler, &program, request, Engine::CPU)?;
            }
            Ok(start.elapsed().as_secs_f64())
        };
        let times = once().and_then(|first_s| Ok(CompileTimes { first_s, cached_s: once()? }));
        // What cannot be removed lies in the target folder.
        let _ = std::fs::remove_dir_all(&folder);
        times
    }
}
