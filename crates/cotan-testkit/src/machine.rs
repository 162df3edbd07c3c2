//! Compiled code for tests: the backend, at every optimisation level and number of threads.

use cotan_ir::Module;
use cotan_llvm::jit::{Engine, OptLevel};
use cotan_llvm::load::SearchConfig;
use cotan_llvm::runtime::Pool;
use cotan_llvm::{Backend, CompileOptions, CompiledFunction};
use cotan_ops::Registry;
use cotan_opt::passes::plain_products::plain_products;
use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};

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

/// The backend on two threads, shared by all tests of a process.
pub fn shared_backend() -> Result<&'static Backend, &'static str> {
    static BACKEND: OnceLock<Result<Backend, String>> = OnceLock::new();
    let made =
        BACKEND.get_or_init(|| Ok(backend(2)?.with_registry(REGISTRY.get().copied().unwrap_or(Registry::standard()))));
    made.as_ref().map_err(String::as_str)
}

/// Functions of a module in machine code, compiled together.
pub fn compile_all(
    backend: &Backend,
    module: &Module,
    names: &[String],
    level: OptLevel,
) -> Result<Vec<CompiledFunction>, String> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    backend
        .compile_all(module, &names, &CompileOptions { level, ..CompileOptions::default() })
        .map_err(|e| format!("{names:?} do not compile: {e}"))
}

/// A function of a module in machine code.
pub fn compile(backend: &Backend, module: &Module, name: &str, level: OptLevel) -> Result<CompiledFunction, String> {
    backend
        .compile(module, name, &CompileOptions { level, ..CompileOptions::default() })
        .map_err(|e| format!("`{name}` does not compile: {e}"))
}

/// The code of a function that the library runs first: products of derivatives are plain. `None` if there are none.
pub fn compile_plain(
    backend: &Backend,
    module: &Module,
    name: &str,
    options: CompileOptions,
) -> Result<Option<CompiledFunction>, String> {
    let Some(plain) = plain_products(module, name) else { return Ok(None) };
    let options = CompileOptions { has_plain_products: true, ..options };
    let compiled = backend.compile(&plain, name, &options);
    compiled.map(Some).map_err(|e| format!("`{name}` with plain products does not compile: {e}"))
}
