//! Objects come from the cache when everything they depend on is the same, and a cache in trouble
//! costs a compilation and one warning.
#![allow(unsafe_code, reason = "the tests call compiled code")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::PathBuf;

use cotan_llvm::cache::Cache;
use cotan_llvm::jit::{Compiled, Engine, ModuleText, ObjectOrigin, OptLevel};
use cotan_llvm::load::SearchConfig;
use cotan_llvm::runtime::host_symbols;

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

    /// An engine as a fresh process would make it.
    fn engine(&self) -> Engine {
        let cache = Cache::open(self.folder(), 1 << 20).unwrap();
        Engine::new(&SearchConfig::default(), Some(cache)).unwrap()
    }

    fn damage_all(&self) {
        for entry in fs::read_dir(self.folder()).unwrap() {
            let path = entry.unwrap().path();
            let mut bytes = fs::read(&path).unwrap();
            *bytes.last_mut().unwrap() ^= 1;
            fs::write(&path, bytes).unwrap();
        }
    }
}

fn times(factor: i64, level: OptLevel) -> ModuleText {
    ModuleText {
        parts: vec![format!("define i64 @f(i64 %x) {{ %y = mul i64 %x, {factor} ret i64 %y }}")],
        exports: vec!["f".to_owned()],
        level,
    }
}

fn compile(engine: &Engine, text: &ModuleText) -> Compiled {
    engine.compile(text, &host_symbols()).unwrap()
}

fn call(compiled: &Compiled, x: i64) -> i64 {
    let address = compiled.module.address("f").unwrap();
    // SAFETY: this is the signature in the text, and the module outlives the call.
    let function: extern "C" fn(i64) -> i64 = unsafe { std::mem::transmute(address) };
    function(x)
}

#[test]
fn the_same_text_comes_from_the_cache_and_computes_the_same() {
    let setting = Setting::new();
    let text = times(3, OptLevel::O2);
    let first = compile(&setting.engine(), &text);
    let second = compile(&setting.engine(), &text);
    assert_eq!((first.origin, second.origin), (ObjectOrigin::Compiler, ObjectOrigin::Cache));
    assert_eq!((call(&first, 5), call(&second, 5)), (15, 15));
}

#[test]
fn other_text_or_another_level_is_another_entry() {
    let setting = Setting::new();
    let engine = setting.engine();
    for text in [times(3, OptLevel::O2), times(4, OptLevel::O2), times(3, OptLevel::O0)] {
        assert_eq!(compile(&engine, &text).origin, ObjectOrigin::Compiler);
    }
}

#[test]
fn a_damaged_entry_is_compiled_again_with_one_warning_and_repaired() {
    let setting = Setting::new();
    let texts = [times(3, OptLevel::O2), times(4, OptLevel::O2)];
    let engine = setting.engine();
    texts.iter().for_each(|text| drop(compile(&engine, text)));
    setting.damage_all();
    let [first, second] = texts.each_ref().map(|text| compile(&engine, text));
    assert_eq!((call(&first, 5), call(&second, 5)), (15, 20));
    let warning = first.warning.unwrap().to_string();
    assert!(warning.ends_with("damaged entry"), "{warning}");
    assert!(second.warning.is_none());
    assert_eq!(compile(&engine, &texts[0]).origin, ObjectOrigin::Cache);
}

#[test]
fn a_cache_that_vanishes_is_a_warning() {
    let setting = Setting::new();
    let engine = setting.engine();
    fs::remove_dir_all(setting.folder()).unwrap();
    let compiled = compile(&engine, &times(3, OptLevel::O2));
    assert_eq!(call(&compiled, 5), 15);
    assert!(compiled.warning.is_some());
}

#[test]
fn parts_of_a_module_call_each_other_now_and_out_of_the_cache() {
    let setting = Setting::new();
    let text = ModuleText {
        parts: vec![
            "declare hidden i64 @twice(i64)
            define i64 @f(i64 %x) { %y = call i64 @twice(i64 %x) %z = add i64 %y, 1 ret i64 %z }"
                .to_owned(),
            "declare hidden i64 @same(i64)
            define hidden i64 @twice(i64 %x) { %s = call i64 @same(i64 %x) %y = mul i64 %s, 2 ret i64 %y }"
                .to_owned(),
            "define hidden i64 @same(i64 %x) { ret i64 %x }".to_owned(),
        ],
        exports: vec!["f".to_owned()],
        level: OptLevel::O2,
    };
    for origin in [ObjectOrigin::Compiler, ObjectOrigin::Cache] {
        let compiled = compile(&setting.engine(), &text);
        assert_eq!(compiled.origin, origin);
        assert_eq!(call(&compiled, 20), 41);
    }
}
