//! Compiled code for tests: the backend, at every optimisation level and number of threads.
//!
//! Code depends neither on threads nor on arguments, so what a process has compiled lately is kept: cases of one function,
//! points of one operation and numbers of threads share it.

mod store;

use cotan_ir::{Module, VerifiedModule};
use cotan_llvm::jit::Engine;
use cotan_llvm::load::SearchConfig;
use cotan_llvm::{Backend, CompileOptions};
use cotan_ops::Registry;
use cotan_opt::plain_products;
use cotan_runtime::CompiledFunction;
use cotan_runtime::Pool;
use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};
use store::Store;

/// The backend that runs parallel loops on so many threads, or why there is none.
pub fn backend(threads: usize) -> Result<Backend, String> {
    let llvm = std::env::var_os("COTAN_LLVM").map(Into::into);
    let engine = Engine::new(&SearchConfig { explicit: llvm, ..SearchConfig::default() }, None);
    let threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
    let pool = Pool::new(threads)?;
    Ok(Backend::new(engine.map_err(|e| e.to_string())?, Arc::new(pool)))
}

/// The operations that compiled code of a process calls.
static REGISTRY: OnceLock<&'static Registry> = OnceLock::new();

/// Lets the compiled code of this process call operations that are not of the op table. Only before the first use of the
/// shared backend.
pub fn use_registry(registry: &'static Registry) {
    REGISTRY.get_or_init(|| registry);
}

/// A backend, and what it has compiled.
pub struct Machine {
    backend: Backend,
    store: Store,
}

impl Machine {
    /// A machine that has compiled nothing yet.
    fn new(threads: usize) -> Result<Machine, String> {
        let registry = REGISTRY.get().copied().unwrap_or(Registry::standard());
        Ok(Machine { backend: backend(threads)?.with_registry(registry), store: Store::default() })
    }

    /// Functions of a module in machine code, compiled together.
    pub fn compile_all(
        &self,
        module: &Module,
        names: &[String],
        options: &CompileOptions,
    ) -> Result<Vec<Arc<CompiledFunction>>, String> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.made(module, &names, options).map_err(|e| format!("{names:?} do not compile: {e}"))
    }

    /// A function of a module in machine code.
    pub fn compile(
        &self,
        module: &Module,
        name: &str,
        options: &CompileOptions,
    ) -> Result<Arc<CompiledFunction>, String> {
        let made =
            self.made(module, &[name], options).and_then(|all| all.into_iter().next().ok_or("no code".to_owned()));
        made.map_err(|e| format!("`{name}` does not compile: {e}"))
    }

    /// The code of a function that the library runs first: products of derivatives are plain. `None` if there are none.
    pub fn compile_plain(
        &self,
        module: &Module,
        name: &str,
        options: CompileOptions,
    ) -> Result<Option<Arc<CompiledFunction>>, String> {
        let Some(plain) = plain_products(module, name) else { return Ok(None) };
        let options = CompileOptions { has_plain_products: true, ..options };
        let compiled = self.compile(&plain, name, &options);
        compiled.map(Some).map_err(|e| format!("with plain products, {e}"))
    }

    fn made(
        &self,
        module: &Module,
        names: &[&str],
        options: &CompileOptions,
    ) -> Result<Vec<Arc<CompiledFunction>>, String> {
        self.store.get(module, names, options, || {
            let functions =
                self.backend.compile_all(&verified(module.clone())?, names, options).map_err(|e| e.to_string())?;
            Ok(functions.into_iter().map(Arc::new).collect())
        })
    }
}

/// A module as backends take it, or what breaks a rule.
pub fn verified(module: Module) -> Result<VerifiedModule, String> {
    VerifiedModule::new(module).map_err(|all| format!("a module is malformed: {all:?}"))
}

/// The machine with two threads, shared by all tests of a process.
pub fn shared_machine() -> Result<&'static Machine, &'static str> {
    static MACHINE: OnceLock<Result<Machine, String>> = OnceLock::new();
    MACHINE.get_or_init(|| Machine::new(2)).as_ref().map_err(String::as_str)
}

/// The most threads that a call of a test is shared by.
pub const MOST_THREADS: usize = 4;

/// The machine with the most threads, for calls that say how many of them they use.
pub fn threaded_machine() -> Result<&'static Machine, &'static str> {
    static MACHINE: OnceLock<Result<Machine, String>> = OnceLock::new();
    MACHINE.get_or_init(|| Machine::new(MOST_THREADS)).as_ref().map_err(String::as_str)
}
