//! The library that compiles, which is opened when something is to be compiled: code that comes from the cache does
//! without it, and opening it takes longer than all the rest of such a start.
//!
//! What must be known before, so that the cache can be asked, is kept there from one process to the next: the version and
//! the machine as LLVM sees it. It counts for the file as it was then, on a machine with the same instructions.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::UNIX_EPOCH;

use super::error::JitError;
use super::self_test::self_test;
use super::target::Target;
use super::thread::on_compiler_thread;
use crate::cache::{Cache, Key, KeyBuilder, packed, unpacked};
use crate::load::{Llvm, NEWEST_TESTED_MAJOR, OLDEST_MAJOR, Version};
use cotan_runtime::abi;

/// A libLLVM that can be used.
pub(super) struct Library {
    pub(super) path: PathBuf,
    pub(super) version: Version,
    pub(super) target: Target,
    opened: OnceLock<Result<Arc<Llvm>, JitError>>,
    /// What the cache is to have it under, until it does.
    not_kept: Mutex<Option<Key>>,
}

impl Library {
    /// The library at a path, if it can be used; the error says why not.
    pub(super) fn at(path: &Path, cache: Option<&Cache>) -> Result<Library, String> {
        let key = cache.and_then(|_| key(path));
        let path = path.to_owned();
        if let Some((version, target)) = cache.zip(key.as_ref()).and_then(|(cache, key)| known(cache, key)) {
            return Ok(Library { path, version, target, opened: OnceLock::new(), not_kept: Mutex::default() });
        }
        let llvm = open(&path)?;
        let target = on_compiler_thread(&llvm, |llvm| Target::host(llvm)).map_err(|error| error.to_string())?;
        let version = llvm.version;
        Ok(Library { path, version, target, opened: OnceLock::from(Ok(llvm)), not_kept: Mutex::new(key) })
    }

    /// Whether it was opened, or failed to be.
    pub(super) fn is_open(&self) -> bool {
        self.opened.get().is_some()
    }

    /// Lets the next process know of it.
    pub(super) fn keep(&self, cache: &Cache) {
        let key = self.not_kept.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(key) = key {
            cache.store(&key, &packed(&fields(self.version, &self.target)));
        }
    }

    /// The library, opened if it is not yet.
    pub(super) fn llvm(&self) -> Result<&Arc<Llvm>, JitError> {
        let opened = self.opened.get_or_init(|| open(&self.path).map_err(JitError::Load));
        opened.as_ref().map_err(Clone::clone)
    }
}

/// Opens a library. A version newer than the tested ones has to pass a test.
fn open(path: &Path) -> Result<Arc<Llvm>, String> {
    let llvm = Llvm::open(path)?;
    if llvm.version.is_untested() {
        llvm.self_test.get_or_init(|| self_test(&llvm)).clone()?;
    }
    Ok(llvm)
}

/// What is known of a library is kept under its file and the machine's instructions; of a name that the dynamic loader
/// looks up, and on machines that do not tell, nothing is.
fn key(path: &Path) -> Option<Key> {
    let file = path.metadata().ok()?;
    let modified = file.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let key = KeyBuilder::new()
        .field("library")
        .field(&path.to_string_lossy())
        .field(&file.len().to_string())
        .field(&modified.as_nanos().to_string())
        .field(&instructions()?)
        .field(&abi::VERSION.to_string())
        .field(&format!("{OLDEST_MAJOR} {NEWEST_TESTED_MAJOR}"));
    Some(key.finish())
}

/// Vendor, model and features of the processor.
#[cfg(target_arch = "x86_64")]
fn instructions() -> Option<String> {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    let (basic, extended) = (__cpuid(0), __cpuid(0x8000_0000));
    let model = __cpuid(1);
    // What else the first two leaves hold differs from core to core.
    let mut numbers = vec![basic.ebx, basic.ecx, basic.edx, model.eax, model.ecx, model.edx];
    if basic.eax >= 7 {
        for leaf in [__cpuid_count(7, 0), __cpuid_count(7, 1)] {
            numbers.extend([leaf.eax, leaf.ebx, leaf.ecx, leaf.edx]);
        }
    }
    if extended.eax >= 0x8000_0001 {
        let features = __cpuid(0x8000_0001);
        numbers.extend([features.ecx, features.edx]);
    }
    // These are what the system lets programs use.
    let usable = [is_x86_feature_detected!("avx"), is_x86_feature_detected!("avx512f")];
    Some(format!("{numbers:x?} {usable:?}"))
}

#[cfg(not(target_arch = "x86_64"))]
fn instructions() -> Option<String> {
    None
}

/// What is kept.
fn fields(version: Version, target: &Target) -> [String; 4] {
    [version.to_string(), target.triple.clone(), target.cpu.clone(), target.features.clone()]
}

fn known(cache: &Cache, key: &Key) -> Option<(Version, Target)> {
    let fields = unpacked(&cache.load(key)?);
    let fields: Vec<String> = fields.into_iter().map(String::from_utf8).collect::<Result<_, _>>().ok()?;
    let [version, triple, cpu, features] = <[String; 4]>::try_from(fields).ok()?;
    Some((Version::parse(&version)?, Target::new(triple, cpu, features)))
}
