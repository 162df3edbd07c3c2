//! Where a libLLVM may be: the places to look, in the order in which they are tried.
//!
//! No program is asked, and the folder that this process happens to work in decides nothing: what lies in it may be
//! anybody's.

use std::cmp::Reverse;
use std::fmt;
use std::path::{Component, Path, PathBuf};

use super::library::{NEWEST_TESTED_MAJOR, OLDEST_MAJOR};
use crate::trust::check_file;

/// What put a candidate on the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The path that the caller gave; the shells take it from `COTAN_LLVM`.
    Explicit,
    /// The toolchain that built Cotan.
    BuildTime,
    /// A Rust toolchain in the folder of `rustup`.
    Toolchain,
    /// A further path that the caller gave.
    Extra,
    /// A library known to the system's dynamic loader.
    System,
}

impl Origin {
    /// Why a candidate may not be used, whatever it holds. A path that the caller gave is the caller's decision, if it
    /// means the same wherever this process works; what Cotan finds of itself has to be out of the hands of others.
    pub(super) fn refusal(self, path: &Path) -> Option<String> {
        match self {
            Origin::BuildTime | Origin::Toolchain => {
                let distrust = check_file(path).err()?;
                Some(if distrust.path == path { distrust.reason } else { distrust.to_string() })
            }
            Origin::Explicit | Origin::Extra | Origin::System if path.is_absolute() || is_bare(path) => None,
            Origin::Explicit | Origin::Extra | Origin::System => {
                Some("expected an absolute path, or the name of a library that the system's loader knows".to_owned())
            }
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Origin::Explicit => "named by the user",
            Origin::BuildTime => "recorded when Cotan was built",
            Origin::Toolchain => "of a Rust toolchain",
            Origin::Extra => "a further path",
            Origin::System => "known to the system's loader",
        })
    }
}

/// Where to look. The library reads no environment, so a shell fills this in.
#[derive(Clone, Debug)]
pub struct SearchConfig {
    /// A library file, or a folder that holds one, by an absolute path, or a name for the system's dynamic loader; tried
    /// first.
    pub explicit: Option<PathBuf>,
    /// Whether to try the library recorded when Cotan was built.
    pub build_time: bool,
    /// The folder of `rustup`, whose toolchains have a library each.
    pub rustup_home: Option<PathBuf>,
    /// More files or folders.
    pub extra: Vec<PathBuf>,
    /// Whether to ask the system's dynamic loader.
    pub system: bool,
}

impl Default for SearchConfig {
    /// Everything except paths that a caller gives.
    fn default() -> Self {
        Self { explicit: None, build_time: true, rustup_home: None, extra: Vec::new(), system: true }
    }
}

impl SearchConfig {
    /// Looks nowhere: the way to run as if no LLVM were there.
    #[must_use]
    pub fn nowhere() -> Self {
        Self { explicit: None, build_time: false, rustup_home: None, extra: Vec::new(), system: false }
    }

    /// Looks at one file or folder only.
    #[must_use]
    pub fn only(path: impl Into<PathBuf>) -> Self {
        Self { explicit: Some(path.into()), ..Self::nowhere() }
    }

    /// The candidates in order. The iterator is lazy: folders are listed when their turn comes.
    pub(super) fn candidates(&self) -> impl Iterator<Item = (Origin, PathBuf)> {
        let explicit = self.explicit.iter().flat_map(|path| libraries_at(path));
        let build_time = self.build_time.then(recorded_library).flatten();
        let toolchain = self.rustup_home.iter().flat_map(|home| toolchain_libraries(home));
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

/// The libraries of the toolchains of `rustup`: those of the stable ones first, then in the order of names from the last to
/// the first, which goes from new to old.
fn toolchain_libraries(home: &Path) -> Vec<PathBuf> {
    let Ok(toolchains) = home.join("toolchains").read_dir() else {
        return Vec::new();
    };
    let mut names: Vec<_> = toolchains.filter_map(|toolchain| Some(toolchain.ok()?.path())).collect();
    let is_stable =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"stable"));
    names.sort_by_key(|path| (!is_stable(path), Reverse(path.clone())));
    names.iter().flat_map(|toolchain| libraries_in(&toolchain.join("lib"))).collect()
}

/// A file stands for itself, even if it does not exist: the attempt then says so. What is no absolute path is not looked at.
fn libraries_at(path: &Path) -> Vec<PathBuf> {
    if path.is_absolute() && path.is_dir() { libraries_in(path) } else { vec![path.to_owned()] }
}

/// Whether a path is a name without a folder, which the dynamic loader looks up in its own folders.
fn is_bare(path: &Path) -> bool {
    let mut parts = path.components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(name)), None) if name == path.as_os_str())
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
            rustup_home: None,
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
    fn toolchains_are_listed_and_the_stable_one_comes_first() {
        let home = tempfile::tempdir().unwrap();
        for name in ["1.80.0-x", "1.95.0-x", "nightly-x", "stable-x", "empty"] {
            let lib = home.path().join("toolchains").join(name).join("lib");
            std::fs::create_dir_all(&lib).unwrap();
            if name != "empty" {
                std::fs::write(lib.join("libLLVM.so.22.1"), "").unwrap();
            }
        }
        let config = SearchConfig { rustup_home: Some(home.path().into()), ..SearchConfig::nowhere() };
        let expected = ["stable-x", "nightly-x", "1.95.0-x", "1.80.0-x"]
            .map(|name| (Origin::Toolchain, home.path().join("toolchains").join(name).join("lib/libLLVM.so.22.1")));
        assert_eq!(config.candidates().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_current_folder_gives_a_path_no_meaning() {
        for path in ["./libLLVM.so", "lib/libLLVM.so", ".", "..", "lib/", "../libLLVM.so", ""] {
            assert!(Origin::Explicit.refusal(Path::new(path)).is_some(), "{path}");
        }
        // The tests of a crate run in its folder, which has one of this name.
        for path in ["/nowhere/libLLVM.so", "libLLVM.so.19.1", "src"] {
            assert_eq!(Origin::Explicit.refusal(Path::new(path)), None, "{path}");
            assert_eq!(libraries_at(Path::new(path)), [PathBuf::from(path)]);
        }
    }

    #[test]
    fn what_others_can_write_is_used_only_where_the_caller_named_it() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("libLLVM.so");
        std::fs::write(&library, "").unwrap();
        assert_eq!(Origin::BuildTime.refusal(&library), None);
        std::fs::set_permissions(&library, std::fs::Permissions::from_mode(0o666)).unwrap();
        let refusal = Some("other users can write to it (mode 666)".to_owned());
        assert_eq!(Origin::BuildTime.refusal(&library), refusal);
        assert_eq!(Origin::Toolchain.refusal(&library), refusal);
        assert_eq!(Origin::Explicit.refusal(&library), None);
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
