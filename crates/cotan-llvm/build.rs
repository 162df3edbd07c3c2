//! Records where the Rust toolchain that builds this crate keeps its own libLLVM, so that a
//! compiled program finds an LLVM without any package being installed.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=RUSTC");
    let recorded = toolchain_library().unwrap_or_default();
    println!("cargo:rustc-env=COTAN_RECORDED_LIBLLVM={}", recorded.display());
}

/// The first real shared library named `libLLVM*` of the toolchain's `lib` folder.
fn toolchain_library() -> Option<PathBuf> {
    let rustc = std::env::var_os("RUSTC")?;
    let output = Command::new(rustc).args(["--print", "sysroot"]).output().ok()?;
    let sysroot = String::from_utf8(output.stdout).ok()?;
    let mut libraries: Vec<PathBuf> = Path::new(sysroot.trim())
        .join("lib")
        .read_dir()
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| is_shared_llvm(path))
        .collect();
    libraries.sort();
    libraries.into_iter().next()
}

/// Beside the library lies a linker script of a few bytes under a similar name.
fn is_shared_llvm(path: &Path) -> bool {
    const SMALLEST_LIBRARY: u64 = 1 << 20;
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with("libLLVM"))
        && path.metadata().is_ok_and(|data| data.len() >= SMALLEST_LIBRARY)
}
