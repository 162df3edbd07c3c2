//! No page is ever writable and executable: not while modules are compiled and linked, not while
//! they run, not after they are gone. The process of this test runs no other, as its pages are counted.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "the tests call compiled code")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use cotan_llvm::jit::{Engine, ModuleText, OptLevel};
use cotan_llvm::load::SearchConfig;
use cotan_runtime::host_symbols;

/// Set in the process that is watched.
const WATCHED: &str = "COTAN_WATCHED_PAGES";

/// No machine has smaller pages.
const LEAST_PAGE: usize = 4096;

/// The lines of the process's memory map with these permissions.
fn mappings(permissions: &str) -> Vec<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines()
        .filter(|line| line.split(' ').nth(1).is_some_and(|p| p.starts_with(permissions)))
        .map(str::to_owned)
        .collect()
}

/// How many bytes may be executed. Pages of several modules may lie side by side, in one mapping.
fn executable_bytes() -> u64 {
    let size = |line: &String| {
        let (start, end) = line.split(' ').next().unwrap().split_once('-').unwrap();
        u64::from_str_radix(end, 16).unwrap() - u64::from_str_radix(start, 16).unwrap()
    };
    mappings("r-x").iter().map(size).sum()
}

/// Ends the watch, also where an assertion fails.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn no_page_is_writable_and_executable_at_any_time() {
    if std::env::var_os(WATCHED).is_some() {
        return watch();
    }
    let this = "pages::no_page_is_writable_and_executable_at_any_time";
    let watched = Command::new(std::env::current_exe().unwrap()).args(["--exact", this]).env(WATCHED, "1").output();
    let watched = watched.unwrap();
    let output = String::from_utf8_lossy(&watched.stdout);
    assert!(watched.status.success() && output.contains("1 passed"), "{output}");
}

fn watch() {
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
        let ends = Ends(&done);
        let engine = Engine::new(&SearchConfig::default(), None).unwrap();
        let before = executable_bytes();
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
        assert!(executable_bytes() >= before + (modules.len() * LEAST_PAGE) as u64);
        for (i, module) in (0..).zip(&modules) {
            let address = module.address("f").unwrap();
            // SAFETY: this is the signature in the text.
            let function: extern "C" fn(i64) -> i64 = unsafe { std::mem::transmute(address) };
            assert_eq!(function(7), 7 * i);
        }
        drop(modules);
        assert!(executable_bytes() <= before);
        drop(ends);
        assert!(watcher.join().unwrap() > 20);
    });
}
