//! No page is ever writable and executable: not while modules are compiled and linked, not while
//! they run, not after they are gone.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "the tests call compiled code")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicBool, Ordering};

use cotan_llvm::jit::{Engine, ModuleText, OptLevel};
use cotan_llvm::load::SearchConfig;
use cotan_llvm::runtime::host_symbols;

/// The lines of the process's memory map with these permissions.
fn mappings(permissions: &str) -> Vec<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines()
        .filter(|line| line.split(' ').nth(1).is_some_and(|p| p.starts_with(permissions)))
        .map(str::to_owned)
        .collect()
}

#[test]
fn no_page_is_writable_and_executable_at_any_time() {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut looks = 0;
            while !done.load(Ordering::Relaxed) {
                assert_eq!(mappings("rwx"), Vec::<String>::new());
                looks += 1;
            }
            looks
        });
        let engine = Engine::new(&SearchConfig::default(), None).unwrap();
        let before = mappings("r-x").len();
        let mut modules = Vec::new();
        for i in 0..20 {
            let text = ModuleText {
                parts: vec![format!("define i64 @f(i64 %x) {{ %y = mul i64 %x, {i} ret i64 %y }}")],
                exports: vec!["f".to_owned()],
                level: OptLevel::O2,
            };
            modules.push(engine.compile(&text, &host_symbols()).unwrap().module);
        }
        // The code is in pages of its own, so that the search above had something to find.
        assert!(mappings("r-x").len() >= before + modules.len());
        for (i, module) in (0..).zip(&modules) {
            let address = module.address("f").unwrap();
            // SAFETY: this is the signature in the text.
            let function: extern "C" fn(i64) -> i64 = unsafe { std::mem::transmute(address) };
            assert_eq!(function(7), 7 * i);
        }
        drop(modules);
        assert!(mappings("r-x").len() <= before);
        done.store(true, Ordering::Relaxed);
        assert!(watcher.join().unwrap() > 20);
    });
}
