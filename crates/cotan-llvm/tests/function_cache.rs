//! Functions are found in the cache under what they were made of, as they were, and only there.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan_ir::{CheckKind, Span, VerifiedModule, parse_module};
use cotan_llvm::cache::{Cache, Key};
use cotan_llvm::jit::{Engine, OptLevel};
use cotan_llvm::load::SearchConfig;
use cotan_llvm::{Backend, CompileOptions, Width};
use cotan_ops::{Registry, Value};
use cotan_runtime::CodeOrigin;
use cotan_runtime::Pool;
use cotan_runtime::RuntimeError;
use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

const PICK: &str = "fn pick(N: i64, x: f64[N], i: i64) {
  in_range: bool = in_range i, N
  j: i64 = check in_range R0001(i, N) i @1:7..11
  elem: f64 = x[j]
  mul: f64 = mul elem, 2.0
  return mul
}
";

struct Setting {
    root: tempfile::TempDir,
}

impl Setting {
    fn new() -> Self {
        Self { root: tempfile::tempdir().unwrap() }
    }

    fn folder(&self) -> PathBuf {
        self.root.path().join("objects")
    }

    /// A backend as a fresh process would make it.
    fn backend(&self) -> Backend {
        let cache = Cache::open(self.folder(), 1 << 20).unwrap();
        let engine = Engine::new(&SearchConfig::default(), Some(cache)).unwrap();
        Backend::new(engine, Arc::new(Pool::new(NonZeroUsize::MIN).unwrap()))
    }
}

fn pick() -> VerifiedModule {
    VerifiedModule::new(parse_module(PICK, Registry::standard()).unwrap()).unwrap()
}

fn key(backend: &Backend, made_of: &[&str]) -> Key {
    backend.key(made_of, &CompileOptions::default()).unwrap()
}

#[test]
fn a_kept_function_gives_the_same_results_and_errors_and_its_module() {
    let setting = Setting::new();
    let first = setting.backend();
    let module = pick();
    let made =
        first.compile_and_keep(&key(&first, &["here"]), &module, &module, "pick", &CompileOptions::default()).unwrap();
    assert_eq!(made.origin(), CodeOrigin::Compiler);
    let second = setting.backend();
    let (found, kept) = second.kept(&key(&second, &["here"]), "pick").unwrap();
    assert_eq!(kept.origin(), CodeOrigin::Cache);
    assert_eq!(found, module);
    let args = |i: i64| [Value::i64s(&[], &[2]), Value::f64s(&[2], &[1.5, -4.0]), Value::i64s(&[], &[i])];
    for function in [&made, &kept] {
        assert_eq!(function.call(&args(1)).unwrap(), [Value::f64s(&[], &[-8.0])]);
        let span = Span::new(1, 7, 11);
        let error = RuntimeError::Check { kind: CheckKind::IndexRange, args: vec![2, 2], span };
        assert_eq!(function.call(&args(2)).unwrap_err(), error);
    }
}

#[test]
fn nothing_is_found_under_another_key_or_name() {
    let setting = Setting::new();
    let backend = setting.backend();
    let options = CompileOptions::default();
    backend.compile_and_keep(&key(&backend, &["a", "b"]), &pick(), &pick(), "pick", &options).unwrap();
    for other in [&["a"][..], &["ab"], &["b", "a"], &["a", "b", ""]] {
        assert!(backend.kept(&key(&backend, other), "pick").is_none(), "{other:?}");
    }
    let unoptimised =
        backend.key(&["a", "b"], &CompileOptions { level: OptLevel::O0, ..CompileOptions::default() }).unwrap();
    assert!(backend.kept(&unoptimised, "pick").is_none());
    let scalar = CompileOptions { width: Width::new(1), ..CompileOptions::default() };
    assert!(backend.kept(&backend.key(&["a", "b"], &scalar).unwrap(), "pick").is_none());
    assert!(backend.kept(&key(&backend, &["a", "b"]), "other").is_none());
    assert!(backend.kept(&key(&backend, &["a", "b"]), "pick").is_some());
}

#[test]
fn a_function_whose_code_or_entry_is_lost_or_damaged_is_not_found() {
    let setting = Setting::new();
    let backend = setting.backend();
    let key = key(&backend, &["here"]);
    let files = || -> Vec<PathBuf> { fs::read_dir(setting.folder()).unwrap().map(|e| e.unwrap().path()).collect() };
    // Whatever is compiled first, the library is then known.
    backend.compile(&pick(), "pick", &CompileOptions { level: OptLevel::O0, ..CompileOptions::default() }).unwrap();
    let before = files();
    backend.compile_and_keep(&key, &pick(), &pick(), "pick", &CompileOptions::default()).unwrap();
    let all: Vec<PathBuf> = files().into_iter().filter(|path| !before.contains(path)).collect();
    assert_eq!(all.len(), 2);
    for path in &all {
        let whole = fs::read(path).unwrap();
        fs::remove_file(path).unwrap();
        assert!(backend.kept(&key, "pick").is_none());
        let mut damaged = whole.clone();
        *damaged.last_mut().unwrap() ^= 1;
        fs::write(path, damaged).unwrap();
        assert!(backend.kept(&key, "pick").is_none());
        fs::write(path, whole).unwrap();
    }
    assert!(backend.kept(&key, "pick").is_some());
}

#[test]
fn without_a_cache_there_is_no_key() {
    let engine = Engine::new(&SearchConfig::default(), None).unwrap();
    let backend = Backend::new(engine, Arc::new(Pool::new(NonZeroUsize::MIN).unwrap()));
    assert!(backend.key(&["here"], &CompileOptions::default()).is_none());
}
