//! One loaded libLLVM: opened, checked and initialised once per process, never unloaded.

use std::ffi::{CStr, c_char, c_uint};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use libloading::Library;

use super::api::{Api, Error, GetVersion, TARGET_INITIALIZERS};
use super::fatal::on_fatal_error;

/// The version of an LLVM library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// Major version: 22 in 22.1.8.
    pub major: u32,
    /// Minor version.
    pub minor: u32,
    /// Patch level.
    pub patch: u32,
}

impl Version {
    fn check_age(self) -> Result<(), String> {
        if self.major >= OLDEST_MAJOR {
            return Ok(());
        }
        Err(format!("LLVM {self} is older than {OLDEST_MAJOR}, the oldest that is supported"))
    }

    /// The version that prints so.
    pub(crate) fn parse(text: &str) -> Option<Version> {
        let mut numbers = text.split('.').map(|number| number.parse().ok());
        let version = Version { major: numbers.next()??, minor: numbers.next()??, patch: numbers.next()?? };
        numbers.next().is_none().then_some(version)
    }

    /// Whether Cotan's own tests never ran with a version as new as this one.
    pub(crate) fn is_untested(self) -> bool {
        self.major > NEWEST_TESTED_MAJOR
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// The oldest major version whose C API and IR dialect Cotan's text uses.
pub const OLDEST_MAJOR: u32 = 19;
/// The newest major version that Cotan's own tests run with.
pub const NEWEST_TESTED_MAJOR: u32 = 22;

/// A libLLVM in this process.
pub(crate) struct Llvm {
    pub(crate) path: PathBuf,
    pub(crate) version: Version,
    pub(crate) api: Api,
    /// The outcome of the self-test that an untested version has to pass, run at most once.
    pub(crate) self_test: OnceLock<Result<(), String>>,
    /// Set when LLVM gave up on some thread, which may have left its locks held.
    pub(crate) gave_up: AtomicBool,
}

/// The libraries opened so far. LLVM's own state (targets, the fatal error handler) belongs to the
/// process, so the record of what was initialised does as well.
static OPENED: Mutex<Vec<Arc<Llvm>>> = Mutex::new(Vec::new());

impl Llvm {
    /// Opens `path` (a file, or a bare name for the dynamic loader to find), or gives the library
    /// back if this process opened it before. The error says why it cannot be used.
    pub(crate) fn open(path: &Path) -> Result<Arc<Self>, String> {
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = opened.iter().find(|llvm| llvm.path == path) {
            return Ok(Arc::clone(known));
        }
        let llvm = Arc::new(Self::load(path)?);
        opened.push(Arc::clone(&llvm));
        Ok(llvm)
    }

    fn load(path: &Path) -> Result<Self, String> {
        // SAFETY: loading runs the library's initialisers; those of libLLVM only fill its own tables.
        let library = unsafe { Library::new(path) }.map_err(|error| with_sources(&error))?;
        let version = version_of(&library)?;
        version.check_age()?;
        // SAFETY: `LLVMGetVersion` answered, so this is a libLLVM; it is leaked below.
        let api = unsafe { Api::bind(&library) }.map_err(|error| with_sources(&error))?;
        for name in TARGET_INITIALIZERS {
            // SAFETY: these functions take nothing, give nothing, and may be called repeatedly.
            unsafe {
                let initialize: libloading::Symbol<'_, unsafe extern "C" fn()> =
                    library.get(name.as_bytes()).map_err(|error| with_sources(&error))?;
                initialize();
            }
        }
        // SAFETY: the handler has the declared signature and lives as long as the process.
        unsafe { (api.InstallFatalErrorHandler)(on_fatal_error) };
        // LLVM registers destructors and per-thread state that outlive any one user.
        std::mem::forget(library);
        Ok(Self { path: path.to_owned(), version, api, self_test: OnceLock::new(), gave_up: AtomicBool::new(false) })
    }

    /// Copies a message that LLVM allocated, and gives it back to LLVM.
    ///
    /// # Safety
    /// `message` is null or came from a function whose result `LLVMDisposeMessage` frees.
    pub(crate) unsafe fn take_message(&self, message: *mut c_char) -> String {
        if message.is_null() {
            return String::new();
        }
        // SAFETY: by this function's contract a NUL-terminated string owned by the caller.
        unsafe {
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            (self.api.DisposeMessage)(message);
            text
        }
    }

    /// Turns an `LLVMErrorRef`, which is null for success, into a result; the error is consumed.
    ///
    /// # Safety
    /// `error` is null or an error not yet consumed.
    pub(crate) unsafe fn take_error(&self, error: *mut Error) -> Result<(), String> {
        if error.is_null() {
            return Ok(());
        }
        // SAFETY: by this function's contract; reading the message consumes the error.
        unsafe {
            let message = (self.api.GetErrorMessage)(error);
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            (self.api.DisposeErrorMessage)(message);
            Err(text)
        }
    }
}

fn version_of(library: &Library) -> Result<Version, String> {
    // SAFETY: the signature is that of `llvm-c/Core.h`.
    let get_version: libloading::Symbol<'_, GetVersion> =
        unsafe { library.get(b"LLVMGetVersion\0") }.map_err(|_| "it is no libLLVM, or one older than 16".to_owned())?;
    let (mut major, mut minor, mut patch): (c_uint, c_uint, c_uint) = (0, 0, 0);
    // SAFETY: the three pointers are valid for writes.
    unsafe { get_version(&mut major, &mut minor, &mut patch) };
    Ok(Version { major, minor, patch })
}

/// The loader's own message stands in the source of libloading's error.
fn with_sources(error: &libloading::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => source.to_string(),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_before_the_oldest_are_refused_and_those_after_the_newest_are_untested() {
        let version = |major| Version { major, minor: 1, patch: 8 };
        assert_eq!(
            version(18).check_age(),
            Err("LLVM 18.1.8 is older than 19, the oldest that is supported".to_owned())
        );
        assert_eq!(version(19).check_age(), Ok(()));
        assert_eq!(Version::parse(&version(19).to_string()), Some(version(19)));
        assert_eq!(Version::parse("19.1"), None);
        assert!(!version(22).is_untested());
        assert!(version(23).is_untested());
    }
}
