//! What the environment says: which LLVM, how many threads, how much memory, where compiled code is kept, where the
//! checker of certificates is.

use crate::args::{Backend, EngineArgs};
use crate::diagnostics::{Failure, eprint};
use crate::exit;
use crate::machine;
use cotan::llvm::cache::Cache;
use cotan::llvm::jit::OptLevel;
use cotan::llvm::load::SearchConfig;
use cotan::{Config, Engine, codes};
use std::iter;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

/// Bytes of compiled code that are kept between runs.
pub(crate) const CACHE_BYTES: u64 = 256 << 20;

/// The engine that the options ask for.
pub(crate) fn engine(options: &EngineArgs) -> Result<Engine, Failure> {
    if let Some(option) = options.later.given() {
        let message = format!("`{option}` is not supported in this version");
        return Err(Failure::plain(exit::USAGE, codes::UNSUPPORTED_OPTION, message).help("leave it out"));
    }
    let device = match options.backend {
        Backend::Interp => return Ok(Engine::Interpreter),
        Backend::Cpu => return Ok(Engine::Cpu),
        Backend::Vulkan => "vulkan",
        Backend::Cuda => "cuda",
    };
    let message = format!("the device `{device}` is not supported in this version");
    let help = "the nearest that works: --backend cpu";
    Err(Failure::plain(exit::USAGE, codes::UNSUPPORTED_DEVICE, message).help(help))
}

/// The configuration of a compiler.
pub(crate) fn config(options: &EngineArgs) -> Result<Config, Failure> {
    let needs_llvm = options.backend == Backend::Cpu;
    Ok(Config {
        llvm: if needs_llvm { llvm() } else { SearchConfig::nowhere() },
        cache: if needs_llvm { cache() } else { None },
        build: build(),
        threads: threads(options.threads)?,
        level: if options.opt == "0" { OptLevel::O0 } else { OptLevel::O2 },
        width: options.width,
        quick_start: true,
        memory: options.memory_limit.or_else(machine::spare_memory),
        trap_nan: options.trap_nan,
        ..Config::default()
    })
}

/// What tells this executable from one that was built of other sources: its size, and the time at which it was written.
fn build() -> Option<String> {
    let metadata = std::fs::metadata(std::env::current_exe().ok()?).ok()?;
    let written = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{} {} {}", env!("CARGO_PKG_VERSION"), metadata.len(), written.as_nanos()))
}

/// Where to look for LLVM: `COTAN_LLVM` first. The word `none` there means to look nowhere.
pub(crate) fn llvm() -> SearchConfig {
    match std::env::var_os("COTAN_LLVM") {
        Some(word) if word == "none" => SearchConfig::nowhere(),
        Some(path) if !path.is_empty() => {
            SearchConfig { explicit: Some(PathBuf::from(path)), ..SearchConfig::default() }
        }
        Some(_) | None => SearchConfig::default(),
    }
}

/// `--threads`, or `COTAN_THREADS`; none for as many as this process may use.
pub(crate) fn threads(option: Option<NonZeroUsize>) -> Result<Option<NonZeroUsize>, Failure> {
    let Some(text) = std::env::var_os("COTAN_THREADS").filter(|text| option.is_none() && !text.is_empty()) else {
        return Ok(option);
    };
    match text.to_str().and_then(|text| text.parse().ok()) {
        Some(n) => Ok(Some(n)),
        None => {
            let message = format!("`COTAN_THREADS`: expected a number of at least 1, found `{}`", text.display());
            Err(Failure::plain(exit::USAGE, codes::UNREADABLE_FILE, message))
        }
    }
}

/// The checker of certificates: what `COTAN_CHECKER` names, or the one that `cargo xtask proofs` builds in the repository,
/// or the one beside this executable.
pub(crate) fn checker() -> Result<PathBuf, Failure> {
    let named = std::env::var_os("COTAN_CHECKER").filter(|path| !path.is_empty()).map(PathBuf::from);
    let candidates = match named {
        Some(path) => vec![path],
        None => {
            let built = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/proofs/oracle");
            let beside = std::env::current_exe().ok().map(|path| path.with_file_name("cotan-checker"));
            iter::once(PathBuf::from(built)).chain(beside).collect()
        }
    };
    candidates.into_iter().find(|path| path.is_file()).ok_or_else(|| {
        let message = "`--certify` needs the checker of certificates, which is not built";
        let help = "run `cargo xtask proofs` in the repository, or name the checker in COTAN_CHECKER";
        Failure::plain(exit::USAGE, codes::UNREADABLE_FILE, message).help(help)
    })
}

/// The folder of compiled code, in the user's cache; none if there is no home, or the folder is not safe.
pub(crate) fn cache() -> Option<Cache> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    match Cache::open(base.join("cotan").join("objects"), CACHE_BYTES) {
        Ok(cache) => Some(cache),
        Err(e) => {
            eprint(&format!("note: compiled code is not kept: {e}"));
            None
        }
    }
}
