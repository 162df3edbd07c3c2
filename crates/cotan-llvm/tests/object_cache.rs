//! Objects come from the cache when everything they depend on is the same, and a cache in trouble
//! costs a compilation and one warning.
#![allow(unsafe_code, reason = "the tests call compiled code")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use cotan_llvm::cache::Cache;
use cotan_llvm::jit::{Compiled, Engine, ModuleText, OptLevel};
use cotan_llvm::load::SearchConfig;
use cotan_runtime::CodeOrigin;
use cotan_runtime::host_symbols;

struct Setting {
    root: tempfile::TempDir,
    /// What engines said of the cache.
    told: Arc<Mutex<Vec<String>>>,
}

impl Setting {
    fn new() -> Self {
        Self { root: tempfile::tempdir().unwrap(), told: Arc::default() }
    }

    fn folder(&self) -> PathBuf {
        self.root.path().join("objects")
    }

    /// An engine as a fresh process would make it.
    fn engine(&self) -> Engine {
        let told = Arc::clone(&self.told);
        let cache = Cache::open(self.folder(), 1 << 20).unwrap();
        let cache = cache.on_trouble(move |error| told.lock().unwrap().push(error.to_string()));
        Engine::new(&SearchConfig::default(), Some(cache)).unwrap()
    }

    /// What engines said of the cache since this was asked for the last time.
    fn told(&self) -> Vec<String> {
        std::mem::take(&mut self.told.lock().unwrap())
    }

    fn entries(&self) -> Vec<PathBuf> {
        fs::read_dir(self.folder()).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    fn damage_all(&self) {
        for path in self.entries() {
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
    assert_eq!((first.origin, second.origin), (CodeOrigin::Compiler, CodeOrigin::Cache));
    assert_eq!((call(&first, 5), call(&second, 5)), (15, 15));
}

#[test]
fn other_text_or_another_level_is_another_entry() {
    let setting = Setting::new();
    let engine = setting.engine();
    for text in [times(3, OptLevel::O2), times(4, OptLevel::O2), times(3, OptLevel::O0)] {
        assert_eq!(compile(&engine, &text).origin, CodeOrigin::Compiler);
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
    let told = setting.told();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].ends_with("damaged entry"), "{told:?}");
    assert_eq!(compile(&engine, &texts[0]).origin, CodeOrigin::Cache);
    assert_eq!(setting.told(), Vec::<String>::new());
}

/// Defect D4: the hash of an entry did not cover its name.
#[test]
fn d4_objects_under_the_name_of_others_are_compiled_again() {
    let setting = Setting::new();
    let text = |body: &str| ModuleText {
        parts: vec![format!("define i64 @f(i64 %x) {{ {body} }}")],
        exports: vec!["f".to_owned()],
        level: OptLevel::O2,
    };
    let (three, four) = (text("%y = mul i64 %x, 3 ret i64 %y"), text("%y = mul i64 %x, 4 ret i64 %y"));
    // The library is known after the first time.
    compile(&setting.engine(), &times(1, OptLevel::O0));
    let before = setting.entries();
    let added = |known: &[PathBuf]| setting.entries().into_iter().find(|path| !known.contains(path)).unwrap();
    compile(&setting.engine(), &three);
    let of_three = added(&before);
    compile(&setting.engine(), &four);
    let of_four = added(&[&before[..], std::slice::from_ref(&of_three)].concat());
    fs::copy(&of_four, &of_three).unwrap();
    let compiled = compile(&setting.engine(), &three);
    assert_eq!((compiled.origin, call(&compiled, 5)), (CodeOrigin::Compiler, 15));
    assert_eq!(setting.told(), [format!("code cache: {}: damaged entry", of_three.display())]);
}

#[test]
fn a_cache_that_vanishes_is_a_warning() {
    let setting = Setting::new();
    let engine = setting.engine();
    fs::remove_dir_all(setting.folder()).unwrap();
    let compiled = compile(&engine, &times(3, OptLevel::O2));
    assert_eq!(call(&compiled, 5), 15);
    assert_eq!(setting.told().len(), 1);
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
    for origin in [CodeOrigin::Compiler, CodeOrigin::Cache] {
        let compiled = compile(&setting.engine(), &text);
        assert_eq!(compiled.origin, origin);
        assert_eq!(call(&compiled, 20), 41);
    }
}

/// Tells the second process of the test below where to work.
const FOLDER: &str = "COTAN_TEST_FOLDER";

#[test]
fn code_out_of_the_cache_needs_no_library_that_opens() {
    let text = times(3, OptLevel::O2);
    let engine = |root: &Path| {
        let cache = Cache::open(root.join("objects"), 1 << 20).unwrap();
        Engine::new(&SearchConfig::only(root.join("libLLVM.so")), Some(cache)).unwrap()
    };
    // A process does not open a library twice, so another one does what comes before.
    if let Some(root) = std::env::var_os(FOLDER) {
        assert_eq!(compile(&engine(Path::new(&root)), &text).origin, CodeOrigin::Compiler);
        return;
    }
    let setting = Setting::new();
    let root = setting.root.path();
    let library = root.join("libLLVM.so");
    let good = setting.engine().library().canonicalize().unwrap();
    std::os::unix::fs::symlink(&good, &library).unwrap();
    let before = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "object_cache::code_out_of_the_cache_needs_no_library_that_opens"])
        .env(FOLDER, root)
        .output()
        .unwrap();
    assert!(before.status.success(), "{}", String::from_utf8_lossy(&before.stdout));
    // The same file as far as one sees without opening it.
    let known = fs::metadata(&library).unwrap();
    fs::remove_file(&library).unwrap();
    let broken = fs::File::create(&library).unwrap();
    broken.set_len(known.len()).unwrap();
    broken.set_modified(known.modified().unwrap()).unwrap();
    let engine = engine(root);
    let compiled = compile(&engine, &text);
    assert_eq!((compiled.origin, call(&compiled, 5)), (CodeOrigin::Cache, 15));
    let error = engine.compile(&times(4, OptLevel::O2), &host_symbols()).unwrap_err();
    assert!(error.to_string().starts_with("LLVM cannot be loaded: "), "{error}");
    assert!(engine.open().is_err());
}
