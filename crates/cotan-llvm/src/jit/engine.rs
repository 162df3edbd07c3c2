//! The compiler as a value: a loaded library, the host's target, and a cache.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, available_parallelism};

use super::compile::{Output, compile};
use super::error::JitError;
use super::library::Library;
use super::link::{CompiledModule, link};
use super::options::OptLevel;
use super::target::Target;
use super::thread::on_compiler_threads;
use crate::cache::{Cache, CacheError, Key, KeyBuilder, packed, unpacked};
use crate::load::{Attempt, NoLlvm, SearchConfig, Version, search};
use cotan_runtime::abi::{self, HostSymbols};
use cotan_runtime::{CodeOrigin, InstructionSet};

/// Compiles modules. It is cheap to share between threads, each of which may compile.
pub struct Engine {
    library: Arc<Library>,
    /// The machine of the library, or what code may use of it.
    target: Target,
    instructions: Option<InstructionSet>,
    attempts: Vec<Attempt>,
    cache: Option<Cache>,
    /// How many parts of a module are compiled at once.
    threads: NonZeroUsize,
    opening: Opening,
}

/// The threads that open the library ahead. They are over before the engine is gone: a process that ends while LLVM is being
/// initialised crashes.
#[derive(Default)]
struct Opening(Mutex<Vec<JoinHandle<()>>>);

impl Drop for Opening {
    fn drop(&mut self) {
        let threads = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        threads.into_iter().for_each(|thread| drop(thread.join()));
    }
}

/// One module to compile.
#[derive(Clone, Debug)]
pub struct ModuleText {
    /// Parts of the module in LLVM's textual IR, which are compiled side by side and linked together; the one that
    /// takes longest comes first.
    pub parts: Vec<String>,
    /// The functions that the host will call.
    pub exports: Vec<String>,
    /// How hard LLVM works.
    pub level: OptLevel,
}

/// A compiled module and how it came about.
#[derive(Debug)]
pub struct Compiled {
    /// The code.
    pub module: CompiledModule,
    /// Whether LLVM generated the code or the cache had it.
    pub origin: CodeOrigin,
    /// What the cache has it under.
    pub key: Key,
}

impl Engine {
    /// Searches for an LLVM; without one the error tells what was tried.
    pub fn new(config: &SearchConfig, cache: Option<Cache>) -> Result<Self, NoLlvm> {
        let (library, attempts) =
            search(config, |path| Library::at(path, cache.as_ref()), |library: &Library| library.version);
        let Some(library) = library.map(Arc::new) else {
            return Err(NoLlvm { attempts });
        };
        let threads = available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let target = library.target.clone();
        Ok(Self { library, target, instructions: None, attempts, cache, threads, opening: Opening::default() })
    }

    /// Opens the library, which other work otherwise does when it needs it.
    pub fn open(&self) -> Result<(), JitError> {
        self.library.llvm().map(|_| ())
    }

    /// Opens the library on another thread, for who is to compile in a while. Failures show then.
    pub fn open_ahead(&self) {
        if self.library.is_open() {
            return;
        }
        let library = Arc::clone(&self.library);
        let opened = std::thread::Builder::new().spawn(move || drop(library.llvm().map(|_| ())));
        // Without a thread it is opened when it is needed.
        self.opening.0.lock().unwrap_or_else(PoisonError::into_inner).extend(opened);
    }

    /// The same, but it compiles on at most so many threads.
    #[must_use]
    pub fn with_threads(self, threads: NonZeroUsize) -> Self {
        Self { threads: self.threads.min(threads), ..self }
    }

    /// The same, but its code keeps to an instruction set; an error if the machine has less than that.
    pub fn limited_to(self, set: InstructionSet) -> Result<Self, String> {
        Ok(Self { target: self.target.limited_to(set)?, instructions: Some(set), ..self })
    }

    /// The machine that code is generated for.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The instruction set that code keeps to; `None` for all that the machine has.
    #[must_use]
    pub fn instructions(&self) -> Option<InstructionSet> {
        self.instructions
    }

    /// The library in use.
    #[must_use]
    pub fn library(&self) -> &Path {
        &self.library.path
    }

    /// The version of the library in use.
    #[must_use]
    pub fn version(&self) -> Version {
        self.library.version
    }

    /// The libraries that were tried; the last one is in use.
    #[must_use]
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    /// The cache in use.
    #[must_use]
    pub fn cache(&self) -> Option<&Cache> {
        self.cache.as_ref()
    }

    /// Compiles and links `text` against `symbols`.
    pub fn compile(&self, text: &ModuleText, symbols: &HostSymbols) -> Result<Compiled, JitError> {
        let key = self.key(text);
        if let Some(module) = self.cached(&key, &text.exports, symbols) {
            return Ok(Compiled { module, origin: CodeOrigin::Cache, key });
        }
        let objects = self.generate(text, Output::Object)?;
        if let Some(cache) = &self.cache {
            cache.store(&key, &packed(&objects));
            self.library.keep(cache);
        }
        let module = link(&objects, &text.exports, symbols)?;
        Ok(Compiled { module, origin: CodeOrigin::Compiler, key })
    }

    /// The module that the cache has under a key, with these functions of it; none in any trouble.
    pub(crate) fn cached(&self, key: &Key, exports: &[String], symbols: &HostSymbols) -> Option<CompiledModule> {
        let cache = self.cache()?;
        let linked = link(&unpacked(&cache.load(key)?), exports, symbols);
        linked.map_err(|error| cache.tell(&CacheError::Unusable(error.to_string()))).ok()
    }

    /// The assembly text that `text` becomes on this machine.
    pub fn emit_assembly(&self, text: &ModuleText) -> Result<String, JitError> {
        let bytes = self.generate(text, Output::Assembly)?.concat();
        String::from_utf8(bytes).map_err(|error| JitError::CodeGeneration(error.to_string()))
    }

    /// What each part becomes.
    fn generate(&self, text: &ModuleText, output: Output) -> Result<Vec<Vec<u8>>, JitError> {
        let (target, parts, level) = (self.target.clone(), text.parts.clone(), text.level);
        let threads = self.threads.get().min(parts.len());
        let next = AtomicUsize::new(0);
        // Each thread takes the longest part that is left.
        let made = on_compiler_threads(self.library.llvm()?, threads, move |llvm| {
            let machine = target.machine(llvm, level)?;
            let mut made = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(part) = parts.get(at) else { return Ok(made) };
                made.push((at, compile(llvm, &target, &machine, part, level, output)?));
            }
        })?;
        let in_order: BTreeMap<usize, Vec<u8>> = made.into_iter().flatten().collect();
        Ok(in_order.into_values().collect())
    }

    /// Everything that the object depends on.
    fn key(&self, text: &ModuleText) -> Key {
        let parts: Vec<&str> = text.parts.iter().map(String::as_str).collect();
        self.key_of("objects", &parts, text.level)
    }

    /// A key of something of this kind that is made of these fields on this machine.
    pub(crate) fn key_of(&self, kind: &str, fields: &[&str], level: OptLevel) -> Key {
        let key = KeyBuilder::new().field(kind).field(&fields.len().to_string());
        let key = fields.iter().fold(key, |key, field| key.field(field));
        key.field(level.name())
            .field(level.passes().unwrap_or_default())
            .field(&self.target.triple)
            .field(&self.target.cpu)
            .field(&self.target.features)
            .field(&self.library.version.to_string())
            .field(&self.library.path.to_string_lossy())
            .field(&abi::VERSION.to_string())
            .finish()
    }
}
