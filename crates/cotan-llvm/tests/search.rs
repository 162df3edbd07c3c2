//! Which LLVM is found, what is said about those that are not used, and that the environment does
//! not matter.
#![allow(unsafe_code, reason = "the tests call compiled code")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use cotan_llvm::Report;
use cotan_llvm::jit::{Engine, ModuleText, OptLevel};
use cotan_llvm::load::{OLDEST_MAJOR, Origin, SearchConfig, explicit_failure};
use cotan_runtime::host_symbols;

fn one_plus(engine: &Engine, x: i64) -> i64 {
    let text = ModuleText {
        parts: vec!["define i64 @f(i64 %x) { %y = add i64 %x, 1 ret i64 %y }".to_owned()],
        exports: vec!["f".to_owned()],
        level: OptLevel::O2,
    };
    let module = engine.compile(&text, &host_symbols()).unwrap().module;
    // SAFETY: this is the signature in the text, and the module outlives the call.
    let function: extern "C" fn(i64) -> i64 = unsafe { std::mem::transmute(module.address("f").unwrap()) };
    function(x)
}

#[test]
fn the_toolchain_that_built_this_is_enough() {
    let config = SearchConfig { build_time: true, ..SearchConfig::nowhere() };
    let engine = Engine::new(&config, None).unwrap();
    assert_eq!(engine.attempts().len(), 1);
    assert_eq!(engine.attempts()[0].origin, Origin::BuildTime);
    assert!(engine.version().major >= OLDEST_MAJOR);
    assert_eq!(one_plus(&engine, 41), 42);
}

#[test]
fn a_toolchain_found_at_run_time_is_enough() {
    let recorded = Engine::new(&SearchConfig { build_time: true, ..SearchConfig::nowhere() }, None).unwrap();
    // A folder of `rustup` with a broken toolchain and that which built this.
    let home = tempfile::tempdir().unwrap();
    let broken = home.path().join("toolchains/stable-a/lib");
    std::fs::create_dir_all(&broken).unwrap();
    std::fs::write(broken.join("libLLVM.so.22.1"), "no library").unwrap();
    let sysroot = recorded.library().parent().unwrap().parent().unwrap();
    std::os::unix::fs::symlink(sysroot, home.path().join("toolchains/1.95.0")).unwrap();
    let config = SearchConfig { rustup_home: Some(home.path().into()), ..SearchConfig::nowhere() };
    let engine = Engine::new(&config, None).unwrap();
    let outcomes: Vec<_> = engine.attempts().iter().map(|tried| (tried.origin, tried.outcome.is_ok())).collect();
    assert_eq!(outcomes, [(Origin::Toolchain, false), (Origin::Toolchain, true)]);
    assert_eq!(one_plus(&engine, 1), 2);
}

/// Defect D3: `rustc` was run, which a file of the current folder could choose.
#[test]
fn d3_a_toolchain_that_others_can_write_is_refused_with_the_reason() {
    let recorded = Engine::new(&SearchConfig { build_time: true, ..SearchConfig::nowhere() }, None).unwrap();
    let home = tempfile::tempdir().unwrap();
    let lib = home.path().join("toolchains/stable-a/lib");
    std::fs::create_dir_all(&lib).unwrap();
    std::os::unix::fs::symlink(recorded.library(), lib.join("libLLVM.so")).unwrap();
    let config = SearchConfig { rustup_home: Some(home.path().into()), ..SearchConfig::nowhere() };
    assert!(Engine::new(&config, None).is_ok());
    std::fs::set_permissions(&lib, std::fs::Permissions::from_mode(0o777)).unwrap();
    let none = Engine::new(&config, None).err().unwrap();
    let reason = format!("{}: other users can write to it (mode 777)", lib.display());
    assert_eq!(none.attempts[0].outcome, Err(reason));
    assert!(none.to_string().ends_with("; `cotan doctor` says what was refused and why"), "{none}");
}

#[test]
fn a_wrong_explicit_path_is_reported_and_another_library_serves() {
    let config = SearchConfig { explicit: Some(PathBuf::from("/nowhere/libLLVM.so")), ..SearchConfig::default() };
    let engine = Engine::new(&config, None).unwrap();
    assert_eq!(one_plus(&engine, 1), 2);
    let message = explicit_failure(engine.attempts()).unwrap();
    assert!(message.starts_with("/nowhere/libLLVM.so: "), "{message}");
    assert!(message.contains("No such file"), "{message}");
}

#[test]
fn a_file_that_is_no_library_is_refused_with_the_reason() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "INPUT(libLLVM.so.22.1)").unwrap();
    let none = Engine::new(&SearchConfig::only(file.path()), None).err().unwrap();
    assert_eq!(none.attempts.len(), 1);
    let reason = none.attempts[0].outcome.clone().unwrap_err();
    assert!(reason.contains("invalid ELF header") || reason.contains("too short"), "{reason}");
}

#[test]
fn a_library_without_the_c_api_is_refused_with_the_reason() {
    let none = Engine::new(&SearchConfig::only("libm.so.6"), None).err().unwrap();
    let reason = none.attempts[0].outcome.clone().unwrap_err();
    assert_eq!(reason, "it is no libLLVM, or one older than 16");
}

#[test]
fn with_every_llvm_hidden_one_line_says_so() {
    let none = Engine::new(&SearchConfig::nowhere(), None).err().unwrap();
    assert_eq!(
        none.to_string(),
        "no LLVM found (0 places tried): the interpreter is used; install libLLVM 19 or newer, \
         or a Rust toolchain"
    );
    assert_eq!(Report::new(Err(&none)).library, None);
}

#[test]
fn the_report_names_library_and_machine() {
    let engine = Engine::new(&SearchConfig::default(), None).unwrap();
    let report = Report::new(Ok(&engine));
    let (path, version) = report.library.unwrap();
    assert_eq!(path, engine.library());
    assert_eq!(version, engine.version());
    assert_eq!(report.target.unwrap().cpu, engine.target().cpu);
}

/// Debian's LLVM 19, where it is installed.
#[test]
fn the_oldest_supported_version_compiles() {
    match Engine::new(&SearchConfig::only("libLLVM.so.19.1"), None) {
        Ok(engine) => assert_eq!(one_plus(&engine, 2), 3),
        Err(none) => eprintln!("skipped: {none}"),
    }
}

/// Runs the test above once more in a process with an empty environment and another directory.
#[test]
fn an_empty_environment_and_another_directory_do_not_matter() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "search::the_toolchain_that_built_this_is_enough"])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .current_dir("/")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("1 passed"), "{text}");
}
