//! The compiler as a value: a loaded library, the host's target, and a cache.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::compile::{Output, compile};
use super::error::JitError;
use super::link::{CompiledModule, link};
use super::options::OptLevel;
use super::self_test::self_test;
use super::symbols::HostSymbols;
use super::target::Target;
use super::thread::on_compiler_thread;
use crate::abi;
use crate::cache::{Cache, CacheError, Key, KeyBuilder};
use crate::load::{Attempt, Llvm, NoLlvm, SearchConfig, Version, search};

/// Compiles modules. It is cheap to share between threads, each of which may compile.
pub struct Engine {
    llvm: Arc<Llvm>,
    attempts: Vec<Attempt>,
    target: Target,
    cache: Option<Cache>,
    /// Whether the one warning about the cache was given.
    cache_warned: AtomicBool,
}

/// One module to compile.
#[derive(Clone, Debug)]
pub struct ModuleText {
    /// The module in LLVM's textual IR.
    pub ir: String,
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
    /// Whether LLVM generated code or the cache had it.
    pub origin: ObjectOrigin,
    /// The first trouble with the cache that this engine met; the module is whole regardless.
    pub warning: Option<CacheError>,
}

/// Where an object came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectOrigin {
    /// LLVM generated it now.
    Compiler,
    /// It was read from the cache.
    Cache,
}

impl Engine {
    /// Searches for an LLVM; without one the error tells what was tried.
    pub fn new(config: &SearchConfig, cache: Option<Cache>) -> Result<Self, NoLlvm> {
        let (llvm, mut attempts) = search(config, self_test);
        let Some(llvm) = llvm else {
            return Err(NoLlvm { attempts });
        };
        match on_compiler_thread(&llvm, |llvm| Target::host(llvm)) {
            Ok(target) => Ok(Self { llvm, attempts, target, cache, cache_warned: AtomicBool::new(false) }),
            Err(error) => {
                // The last attempt is the one that succeeded until here.
                if let Some(last) = attempts.last_mut() {
                    last.outcome = Err(error.to_string());
                }
                Err(NoLlvm { attempts })
            }
        }
    }

    /// The machine that code is generated for.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The library in use.
    #[must_use]
    pub fn library(&self) -> &Path {
        &self.llvm.path
    }

    /// The version of the library in use.
    #[must_use]
    pub fn version(&self) -> Version {
        self.llvm.version
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
        let mut trouble = None;
        if let Some(cache) = &self.cache {
            match cache.load(&key) {
                Ok(Some(object)) => match self.link(object, text, symbols) {
                    Ok(module) => return Ok(self.compiled(module, ObjectOrigin::Cache, None)),
                    Err(error) => trouble = Some(CacheError::Unusable(error.to_string())),
                },
                Ok(None) => {}
                Err(error) => trouble = Some(error),
            }
        }
        let object = self.generate(text, Output::Object)?;
        if let Some(cache) = &self.cache
            && let Err(error) = cache.store(&key, &object)
        {
            trouble.get_or_insert(error);
        }
        let module = self.link(object, text, symbols)?;
        Ok(self.compiled(module, ObjectOrigin::Compiler, trouble))
    }

    /// The assembly text that `text` becomes on this machine.
    pub fn emit_assembly(&self, text: &ModuleText) -> Result<String, JitError> {
        let bytes = self.generate(text, Output::Assembly)?;
        String::from_utf8(bytes).map_err(|error| JitError::CodeGeneration(error.to_string()))
    }

    fn generate(&self, text: &ModuleText, output: Output) -> Result<Vec<u8>, JitError> {
        let (target, ir, level) = (self.target.clone(), text.ir.clone(), text.level);
        on_compiler_thread(&self.llvm, move |llvm| compile(llvm, &target, &ir, level, output))
    }

    fn link(&self, object: Vec<u8>, text: &ModuleText, symbols: &HostSymbols) -> Result<CompiledModule, JitError> {
        let (exports, symbols) = (text.exports.clone(), symbols.clone());
        on_compiler_thread(&self.llvm, move |llvm| link(llvm, &object, &exports, &symbols))
    }

    fn compiled(&self, module: CompiledModule, origin: ObjectOrigin, trouble: Option<CacheError>) -> Compiled {
        let warning = trouble.filter(|_| !self.cache_warned.swap(true, Ordering::Relaxed));
        Compiled { module, origin, warning }
    }

    /// Everything that the object depends on.
    fn key(&self, text: &ModuleText) -> Key {
        KeyBuilder::new()
            .field(&text.ir)
            .field(text.level.name())
            .field(text.level.passes().unwrap_or_default())
            .field(&self.target.triple)
            .field(&self.target.cpu)
            .field(&self.target.features)
            .field(&self.llvm.version.to_string())
            .field(&self.llvm.path.to_string_lossy())
            .field(&abi::VERSION.to_string())
            .finish()
    }
}
