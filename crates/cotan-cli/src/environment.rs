//! What the environment says: which LLVM, how many threads, how much memory, where compiled code is kept, where the
//! checker of certificates is.

use crate::args::{Backend, EngineArgs};
use crate::diagnostics::{Failure, eprint};
use crate::exit;
use crate::machine;
use cotan::cpu::{Cache, OptLevel, SearchConfig, check_threads};
use cotan::vulkan::{Choice, DeviceOptions};
use cotan::{CallLimits, Config, Deadline, Engine, codes};
use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Once;
use std::time::UNIX_EPOCH;

/// Bytes of compiled code that are kept between runs.
pub(crate) const CACHE_BYTES: u64 = 256 << 20;

/// The engine that the options ask for.
pub(crate) fn engine(options: &EngineArgs) -> Result<Engine, Failure> {
    if let Some(option) = options.later.given() {
        let message = format!("`{option}` is not supported in this version");
        return Err(Failure::plain(exit::USAGE, codes::UNSUPPORTED_OPTION, message).help("leave it out"));
    }
    let name = match options.backend {
        Backend::Interp => "interp",
        Backend::Cpu => "cpu",
        Backend::Vulkan => "vulkan",
        Backend::Cuda => "cuda",
    };
    if options.device.is_some() && options.backend != Backend::Vulkan {
        let message = format!("`--device` names a device of Vulkan, and this is --backend {name}");
        return Err(Failure::plain(exit::USAGE, codes::UNSUPPORTED_OPTION, message).help("add --backend vulkan"));
    }
    if options.fast_math && options.backend != Backend::Vulkan {
        let message = format!("`--fast-math` is not supported by --backend {name}");
        return Err(Failure::plain(exit::USAGE, codes::UNSUPPORTED_OPTION, message)
            .help("leave it out: the bits of a program are the same on every CPU; or add --backend vulkan"));
    }
    Engine::named(name).map_err(|unknown| {
        Failure::plain(exit::USAGE, codes::UNSUPPORTED_DEVICE, unknown.to_string()).help(unknown.help())
    })
}

/// The device that `--device` names, or else `COTAN_DEVICE`.
pub(crate) fn device(option: Option<&str>) -> DeviceOptions {
    let variable = || std::env::var("COTAN_DEVICE").ok().filter(|text| !text.is_empty());
    let name = option.map(str::to_owned).or_else(variable);
    DeviceOptions { choice: name.map_or(Choice::Best, |name| Choice::of_text(&name)), ..DeviceOptions::default() }
}

/// The configuration of a compiler.
pub(crate) fn config(options: &EngineArgs) -> Result<Config, Failure> {
    let needs_llvm = matches!(options.backend, Backend::Cpu | Backend::Vulkan);
    Ok(Config {
        llvm: if needs_llvm { llvm() } else { SearchConfig::nowhere() },
        cache: if needs_llvm { cache() } else { None },
        build: build(),
        threads: threads(options.threads)?,
        level: if options.opt == "0" { OptLevel::O0 } else { OptLevel::O2 },
        width: options.width,
        instructions: options.cpu,
        quick_start: true,
        versions: options.versions,
        memory: options.memory_limit.or_else(machine::spare_memory),
        call: CallLimits { steps: options.steps, deadline: options.timeout.map(Deadline::After), cancel: None },
        trap_nan: options.trap_nan,
        device: DeviceOptions { fast_math: options.fast_math, ..device(options.device.as_deref()) },
        ..Config::default()
    })
}

/// What tells this executable from one that was built of other sources: its size, and the time at which it was written.
fn build() -> Option<String> {
    let metadata = std::fs::metadata(std::env::current_exe().ok()?).ok()?;
    let written = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{} {} {}", env!("CARGO_PKG_VERSION"), metadata.len(), written.as_nanos()))
}

/// Where to look for LLVM: `COTAN_LLVM` first, an absolute path or the name of a library that the system's loader knows.
/// The word `none` there means to look nowhere.
pub(crate) fn llvm() -> SearchConfig {
    let found = SearchConfig {
        rustup_home: rustup_home(),
        system: !loader_looks_here(std::env::var_os("LD_LIBRARY_PATH").as_deref()),
        ..SearchConfig::default()
    };
    match std::env::var_os("COTAN_LLVM") {
        Some(word) if word == "none" => SearchConfig::nowhere(),
        Some(path) if !path.is_empty() => SearchConfig { explicit: Some(PathBuf::from(path)), ..found },
        Some(_) | None => found,
    }
}

/// The folder of `rustup`: in the home of this user, which the password entry tells where the environment does not.
fn rustup_home() -> Option<PathBuf> {
    absolute("RUSTUP_HOME").or_else(|| Some(std::env::home_dir().filter(|home| home.is_absolute())?.join(".rustup")))
}

/// Whether the dynamic loader looks into the current folder: `LD_LIBRARY_PATH` names it by an empty or relative part, mostly
/// by mistake. It is then not asked for libraries by their names.
fn loader_looks_here(folders: Option<&OsStr>) -> bool {
    let is_relative = |folder: &[u8]| !folder.starts_with(b"/");
    folders.is_some_and(|folders| {
        !folders.is_empty() && folders.as_encoded_bytes().split(|byte| matches!(byte, b':' | b';')).any(is_relative)
    })
}

/// A variable that names a file or a folder. A relative path would mean another one in each folder.
fn absolute(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// `--threads`, or `COTAN_THREADS`; none for as many as this process may use.
pub(crate) fn threads(option: Option<NonZeroUsize>) -> Result<Option<NonZeroUsize>, Failure> {
    let refuse = |name: &str, why: String| {
        let help = "leave it out: there is one thread for each core then";
        Failure::plain(exit::USAGE, codes::NUMBER_OUT_OF_RANGE, format!("`{name}`: {why}")).help(help)
    };
    let variable = || std::env::var_os("COTAN_THREADS").filter(|text| !text.is_empty());
    let (name, wanted) = match (option, variable()) {
        (Some(n), _) => ("--threads", n),
        (None, None) => return Ok(None),
        (None, Some(text)) => {
            let name = "COTAN_THREADS";
            let number = text.to_str().and_then(|text| text.parse().ok());
            let why = || format!("expected a number of at least 1, found `{}`", text.display());
            (name, number.ok_or_else(|| refuse(name, why()))?)
        }
    };
    check_threads(wanted).map_err(|why| refuse(name, why))?;
    Ok(Some(wanted))
}

/// The checker of certificates: what `COTAN_CHECKER` names, or else the one beside this executable.
pub(crate) fn checker() -> Result<PathBuf, Failure> {
    let unusable =
        |message: String, help: &str| Failure::plain(exit::USAGE, codes::UNREADABLE_FILE, message).help(help);
    let named = std::env::var_os("COTAN_CHECKER").filter(|path| !path.is_empty()).map(PathBuf::from);
    if let Some(relative) = named.as_ref().filter(|path| !path.is_absolute()) {
        let message = format!("`COTAN_CHECKER`: expected an absolute path, found `{}`", relative.display());
        return Err(unusable(
            message,
            "write the path from the root: another folder may hold another file of that name",
        ));
    }
    let beside = || std::env::current_exe().ok().map(|path| path.with_file_name("cotan-checker"));
    named.or_else(beside).filter(|path| path.is_file()).ok_or_else(|| {
        let message = "`--certify` needs the checker of certificates, which is not there".to_owned();
        let help = "run `cargo xtask proofs` in the repository, and name its `target/proofs/oracle` in COTAN_CHECKER, or copy \
                    that beside this command as `cotan-checker`";
        unusable(message, help)
    })
}

/// The folder of compiled code, in the user's cache; none if there is no home, or the folder is not safe.
pub(crate) fn cache() -> Option<Cache> {
    let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    match Cache::open(base.join("cotan").join("objects"), CACHE_BYTES) {
        Ok(cache) => Some(cache.on_trouble(|e| say_once(&format!("warning: compiled code is made again: {e}")))),
        Err(e) => {
            say_once(&format!("warning: compiled code is not kept: {e}"));
            None
        }
    }
}

/// What there is to say about the folder of compiled code, of which a command that runs many programs opens many.
fn say_once(text: &str) {
    static SAID: Once = Once::new();
    SAID.call_once(|| eprint(text));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_or_relative_part_of_the_loaders_path_is_the_current_folder() {
        for path in [":", ":/lib", "/lib:", "/a::/b", ".", "lib", "/a;lib"] {
            assert!(loader_looks_here(Some(OsStr::new(path))), "{path}");
        }
        for path in ["", "/lib", "/a:/b"] {
            assert!(!loader_looks_here(Some(OsStr::new(path))), "{path}");
        }
        assert!(!loader_looks_here(None));
    }
}
