//! The memory-checking job: the tests of the crates with `unsafe` under AddressSanitizer, which sees what Rust does, and
//! programs under Valgrind, which sees compiled code too. Neither is skipped in silence.

use crate::{cargo, print};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The system whose sanitizer is used. It is named in builds, so that build scripts and macros are built without it.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The crates with `unsafe`.
const UNSAFE: [&str; 2] = ["cotan-runtime", "cotan-llvm"];

/// Of these the parts that call no foreign function.
const WITHOUT_FOREIGN: [(&str, [&str; 2]); 2] = [
    ("cotan-runtime", ["host::partial_sums", "call::buffers"]),
    ("cotan-llvm", ["jit::link::relocate", "cache::packed"]),
];

/// Programs under Valgrind.
const PROGRAMS: &str = "100";

/// What Valgrind exits with where it has something to report.
const REPORTED: i32 = 99;

/// Runs both parts, and Miri where it is installed.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<()> {
    match args {
        [] => {
            address_sanitizer(root)?;
            valgrind(root)?;
            miri(root)
        }
        [part] if part == "asan" => address_sanitizer(root),
        [part] if part == "valgrind" => valgrind(root),
        _ => bail!("`memcheck` takes asan, valgrind, or nothing for both"),
    }
}

/// The tests of the crates with `unsafe`. A stable compiler takes the flag where `RUSTC_BOOTSTRAP` is set, here alone.
fn address_sanitizer(root: &Path) -> Result<()> {
    let runtime = runtime(root)?;
    if !runtime.is_some_and(|runtime| runtime.is_file()) {
        bail!(
            "memcheck: the toolchain has no AddressSanitizer runtime for {TARGET}; this part can't be run on this machine"
        );
    }
    let folder = root.join("target/asan").display().to_string();
    // Requests that no machine can grant are refused, as they are without the sanitizer: tests ask for them.
    let options = "detect_leaks=0:allocator_may_return_null=1";
    let env = [("RUSTC_BOOTSTRAP", "1"), ("RUSTFLAGS", "-Zsanitizer=address"), ("ASAN_OPTIONS", options)];
    let packages = UNSAFE.iter().flat_map(|name| ["--package", *name]);
    let tests: Vec<&str> = ["test", "--locked", "--lib", "--tests"].into_iter().chain(packages).collect();
    let place = ["--target", TARGET, "--target-dir", folder.as_str()];
    cargo(&[tests.as_slice(), &place].concat(), &env)?;
    print(&format!("memcheck: AddressSanitizer: the tests of {} pass without a report\n", UNSAFE.join(" and ")));
    Ok(())
}

/// Where the runtime of the compiler that cargo uses should be.
fn runtime(root: &Path) -> Result<Option<PathBuf>> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--print", "sysroot"]).current_dir(root).output();
    let output = output.context("asking rustc for its folder")?;
    let folder =
        PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()).join("lib/rustlib").join(TARGET).join("lib");
    let Ok(entries) = folder.read_dir() else { return Ok(None) };
    let is_runtime =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().ends_with("_rt.asan.a"));
    Ok(entries.flatten().map(|entry| entry.path()).find(is_runtime))
}

/// Programs of `tests/run` with their gradients, compiled and called. Valgrind tells programs of a CPU without AVX-512, which
/// it does not know, so neither LLVM nor a library takes any. That LLVM, which has a C++ library of its own in it, gives memory
/// back in another way than it asked for it is no report; `valgrind.supp` has what else is right.
fn valgrind(root: &Path) -> Result<()> {
    if !runs(Command::new("valgrind").arg("--version")) {
        bail!("memcheck: valgrind is not installed; install the package `valgrind` to run this part");
    }
    cargo(&["build", "--workspace", "--locked", "--bin", "memcheck"], &[])?;
    let built = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let output = Command::new("valgrind")
        .args(["--quiet", "--smc-check=all-non-file", "--leak-check=no", "--show-mismatched-frees=no"])
        .arg(format!("--suppressions={}", root.join("xtask/valgrind.supp").display()))
        .arg(format!("--error-exitcode={REPORTED}"))
        .arg(built.join("debug/memcheck"))
        .arg(PROGRAMS)
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .context("running valgrind")?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    match output.status.code() {
        Some(0) => print(&format!("memcheck: Valgrind: {text}: no report\n")),
        Some(REPORTED) => bail!("memcheck: valgrind reports errors; they stand above"),
        Some(_) | None => bail!("memcheck: the programs under valgrind failed: {}", output.status),
    }
    Ok(())
}

/// The parts that call no foreign function, where Miri is installed.
fn miri(root: &Path) -> Result<()> {
    if !runs(Command::new("cargo").args(["miri", "--version"]).current_dir(root)) {
        print(
            "memcheck: Miri is not installed, so it was not run (rustup component add miri, on a nightly toolchain)\n",
        );
        return Ok(());
    }
    let folder = root.join("target/miri").display().to_string();
    for (name, parts) in WITHOUT_FOREIGN {
        let package = ["miri", "test", "--locked", "--package", name, "--lib", "--target-dir", folder.as_str(), "--"];
        cargo(&[package.as_slice(), &parts].concat(), &[])?;
    }
    print("memcheck: Miri: the parts without foreign functions pass without a report\n");
    Ok(())
}

/// Whether a program can be run, with nothing shown.
fn runs(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}
