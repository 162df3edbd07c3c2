//! Entries of the cache and the linker: an object that was changed is refused, or linked; the code in it is never called.

use super::Reached;
use super::loaders::changed;
use crate::files::{files, workspace_file};
use crate::frontend;
use crate::random::Rng;
use cotan::Request;
use cotan_llvm::cache::{Cache, Key};
use cotan_llvm::jit::{Engine, ModuleText, OptLevel};
use cotan_llvm::load::SearchConfig;
use cotan_llvm::{CompileOptions, emit};
use cotan_loops::VerifiedNests;
use cotan_runtime::abi::HostSymbols;
use cotan_runtime::{CodeOrigin, host_symbols};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// A function with constants, calls of mathematical functions, calls of the host, and checks.
const PROGRAM: &str = "\
fn f[N](x: f64[N], at: i64[N]) -> f64 {
  let mut s = 0.0
  for i in 0..N { s += sin(x[at[i]]) * 0.12345 + exp(x[i]) }
  let w = tabulate(N, |i| s * x[i])
  +/ w
}
";

/// What the store of a process holds.
const BYTES: u64 = 64 << 20;

/// An engine with a cache of its own that has one entry.
struct Kept {
    engine: Engine,
    symbols: HostSymbols,
    text: ModuleText,
    key: Key,
    payload: Vec<u8>,
    /// The file of the entry, and what is in it.
    path: PathBuf,
    file: Vec<u8>,
}

impl Kept {
    fn new() -> Result<Kept, String> {
        static FOLDERS: AtomicU64 = AtomicU64::new(0);
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let folder = workspace_file(&format!("target/fuzz/cache-{}-{number}", std::process::id()));
        fs::create_dir_all(folder.parent().unwrap_or(&folder)).map_err(|e| e.to_string())?;
        let llvm = std::env::var_os("COTAN_LLVM").map(Into::into);
        let config = SearchConfig { explicit: llvm, ..SearchConfig::default() };
        let cache = Cache::open(&folder, BYTES).map_err(|e| e.to_string())?;
        let engine = Engine::new(&config, Some(cache)).map_err(|e| e.to_string())?;
        let symbols = host_symbols();
        let lowered = frontend::lower(&frontend::checked("link.cot", PROGRAM)?, &Request::function("f"))?;
        let f = lowered.module.function(&lowered.entry.symbol).ok_or("no function")?;
        let nests = VerifiedNests::new(vec![CompileOptions::default().nest(f)]).map_err(|e| e.to_string())?;
        let text = emit::emit(&nests, OptLevel::O0).whole();
        let compiled = engine.compile(&text, &symbols).map_err(|e| e.to_string())?;
        let cache = engine.cache().ok_or("no cache")?;
        let payload = cache.load(&compiled.key).ok_or("nothing was kept")?;
        // The engine keeps what it knows of the library there, too.
        let all = files(&folder, "").into_iter().filter_map(|path| Some((fs::read(&path).ok()?, path)));
        let (file, path) = all.into_iter().find(|(file, _)| file.ends_with(&payload)).ok_or("there is no entry")?;
        Ok(Kept { key: compiled.key, engine, symbols, text, payload, path, file })
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(folder) = self.path.parent() {
            // What is left there is of no use to anybody, and of no harm.
            drop(fs::remove_dir_all(folder));
        }
    }
}

thread_local! {
    static KEPT: Result<Kept, String> = Kept::new();
}

/// A changed object behind a byte: 0 for what is stored in an entry, else the file of an entry.
pub(super) fn input(rng: &mut Rng) -> Vec<u8> {
    let is_file = rng.chance(0.2);
    let whole = KEPT.with(|kept| match kept {
        Ok(kept) if is_file => kept.file.clone(),
        Ok(kept) => kept.payload.clone(),
        Err(_) => Vec::new(),
    });
    [vec![u8::from(is_file)], changed(rng, whole)].concat()
}

/// Compiles with that in the cache.
pub(super) fn load(input: &[u8]) -> Result<Reached, String> {
    let Some((kind, bytes)) = input.split_first() else { return Ok(Reached::new()) };
    KEPT.with(|kept| {
        let kept = kept.as_ref().map_err(Clone::clone)?;
        let cache = kept.engine.cache().ok_or("no cache")?;
        if *kind == 0 {
            cache.store(&kept.key, bytes);
        } else {
            fs::write(&kept.path, bytes).map_err(|e| e.to_string())?;
        }
        let compiled = kept.engine.compile(&kept.text, &kept.symbols);
        let compiled = compiled.map_err(|e| format!("a changed entry stands in the way: {e}"))?;
        if *kind != 0 && compiled.origin == CodeOrigin::Cache && bytes != kept.file {
            return Err("a changed file of an entry is used".to_owned());
        }
        let said = match compiled.origin {
            CodeOrigin::Cache => "linked",
            CodeOrigin::Compiler => "compiled",
        };
        Ok(Reached::from([said.to_owned()]))
    })
}
