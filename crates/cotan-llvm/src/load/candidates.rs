//! Where a libLLVM may be: the places to look, in the order in which they are tried.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::library::{NEWEST_TESTED_MAJOR, OLDEST_MAJOR};

/// What put a candidate on the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The path that the caller gave; the shells take it from `COTAN_LLVM`.
    Explicit,
    /// The toolchain that built Cotan.
    BuildTime,
    /// A Rust toolchain found at run time.
    Toolchain,
    /// A further path that the caller gave.
    Extra,
    /// A library known to the system's dynamic loader.
    System,
}

/// Where to look. The library reads no environment, so a shell fills this in.
#[derive(Clone, Debug)]
pub struct SearchConfig {
    /// A library file, or a folder that holds one; tried first.
    pub explicit: Option<PathBuf>,
    /// Whether to try the library recorded when Cotan was built.
    pub build_time: bool,
    /// The `rustc` to ask for its sysroot, if nothing before it was usable.
    pub rustc: Option<PathBuf>,
    /// More files or folders.
    pub extra: Vec<PathBuf>,
    /// Whether to ask the system's dynamic loader.
    pub system: bool,
}

impl Default for SearchConfig {
    /// Everything except explicit paths; `rustc` is found through the search path.
    fn default() -> Self {
        Self { explicit: None, build_time: true, rustc: Some(PathBuf::from("rustc")), extra: Vec::new(), system: true }
    }
}

impl SearchConfig {
    /// Looks nowhere: the way to run as if no LLVM were there.
    #[must_use]
    pub fn nowhere() -> Self {
        Self { explicit: None, build_time: false, rustc: None, extra: Vec::new(), system: false }
    }

    /// Looks at one file or folder only.
    #[must_use]
    pub fn only(path: impl Into<PathBuf>) -> Self {
        Self { explicit: Some(path.into()), ..Self::nowhere() }
    }

    /// The candidates in order. The iterator is lazy: `rustc` is asked when its turn comes.
    pub(super) fn candidates(&self) -> impl Iterator<Item = (Origin, PathBuf)> {
        let explicit = self.explicit.iter().flat_map(|path| libraries_at(path));
        let build_time = self.build_time.then(recorded_library).flatten();
        let toolchain = self.rustc.iter().flat_map(|rustc| toolchain_libraries(rustc));
        let extra = self.extra.iter().flat_map(|path| libraries_at(path));
        let system = self.system.then(system_names).into_iter().flatten();
        let tag = |origin| move |path| (origin, path);
        explicit
            .map(tag(Origin::Explicit))
            .chain(build_time.map(tag(Origin::BuildTime)))
            .chain(toolchain.map(tag(Origin::Toolchain)))
            .chain(extra.map(tag(Origin::Extra)))
            .chain(system.map(tag(Origin::System)))
    }
}

/// The library that `build.rs` found beside the compiler.
fn recorded_library() -> Option<PathBuf> {
    let path = env!("COTAN_RECORDED_LIBLLVM");
    (!path.is_empty()).then(|| PathBuf::from(path))
}

/// The libraries in the sysroot of `rustc`; none if it cannot be run.
fn toolchain_libraries(rustc: &Path) -> Vec<PathBuf> {
    let Ok(output) = Command::new(rustc).args(["--print", "sysroot"]).output() else {
        return Vec::new();
    };
    let Ok(sysroot) = String::from_utf8(output.stdout) else {
        return Vec::new();
    };
    libraries_in(&Path::new(sysroot.trim()).join("lib"))
}

/// A file stands for itself, even if it does not exist: the attempt then says so.
fn libraries_at(path: &Path) -> Vec<PathBuf> {
    if path.is_dir() { libraries_in(path) } else { vec![path.to_owned()] }
}

/// The files of `folder` named like a shared libLLVM, in a fixed order.
fn libraries_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = folder.read_dir() else {
        return Vec::new();
    };
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with("libLLVM") && (name.contains(".so") || name.ends_with(".dylib")))
        })
        .collect();
    // `libLLVM.so.22.1` before `libLLVM-22.so`, which may be a linker script for it.
    found.sort_by_key(|path| (path.to_string_lossy().contains("libLLVM-"), path.clone()));
    found
}

/// Names for the dynamic loader: tested versions from new to old, then versions not seen yet.
fn system_names() -> Vec<PathBuf> {
    const UNSEEN_MAJORS: u32 = 3;
    let tested = (OLDEST_MAJOR..=NEWEST_TESTED_MAJOR).rev();
    let unseen = NEWEST_TESTED_MAJOR + 1..=NEWEST_TESTED_MAJOR + UNSEEN_MAJORS;
    tested
        .chain(unseen)
        .flat_map(|major| {
            if cfg!(target_os = "macos") {
                vec![
                    format!("/opt/homebrew/opt/llvm@{major}/lib/libLLVM.dylib"),
                    format!("/usr/local/opt/llvm@{major}/lib/libLLVM.dylib"),
                ]
            } else {
                vec![format!("libLLVM.so.{major}.1"), format!("libLLVM-{major}.so.1"), format!("libLLVM-{major}.so")]
            }
        })
        .map(PathBuf::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_explicit_path_comes_first_and_the_system_last() {
        let config = SearchConfig {
            explicit: Some("/nowhere/explicit.so".into()),
            build_time: false,
            rustc: None,
            extra: vec!["/nowhere/extra.so".into()],
            system: true,
        };
        let found: Vec<_> = config.candidates().take(3).collect();
        assert_eq!(
            found,
            [
                (Origin::Explicit, "/nowhere/explicit.so".into()),
                (Origin::Extra, "/nowhere/extra.so".into()),
                (Origin::System, system_names()[0].clone()),
            ]
        );
    }

    #[test]
    fn a_library_comes_before_the_linker_script_that_points_to_it() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["libLLVM-22-rust.so", "libLLVM.so.22.1", "librustc.so", "libLLVM.a"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let names: Vec<_> =
            libraries_in(folder.path()).iter().map(|path| path.file_name().unwrap().to_owned()).collect();
        assert_eq!(names, ["libLLVM.so.22.1", "libLLVM-22-rust.so"]);
    }

    #[test]
    fn a_rustc_that_cannot_be_run_gives_no_candidate() {
        assert_eq!(toolchain_libraries(Path::new("/nowhere/rustc")), Vec::<PathBuf>::new());
    }
}
