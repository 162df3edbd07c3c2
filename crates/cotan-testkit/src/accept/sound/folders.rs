//! Hostile current folders: programs, libraries and settings lie where a careless search would find them. Each leaves a mark
//! when it runs or is loaded; none may.

use super::super::folder::Folder;
use super::super::{Line, Measured};
use super::ran::{Ran, run};
use super::{Part, Tally};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(super) const LINES: &[Line] = &[Line {
    title: "hostile current folders: toolchains, settings, compilers, libraries and checkers planted in them",
    bar: "at least 10, right results, nothing of them runs or loads, also where the recorded LLVM is missing",
    measure: |place| hostile(&place.built.join("cotan"), Part::Whole),
}];

const PROGRAM: &str = "fn f(x: f64) -> f64 = x * x\n";
const ARGS: [&str; 10] = ["grad", "program.cot", "--fn", "f", "--wrt", "x", "--set", "x=3", "--backend", "cpu"];
const OUTPUT: &str = "gradient of `x` = 6.0\n";

/// What lies in a folder, and what the environment says there.
struct Hostile {
    what: &'static str,
    /// Files with their contents; `SCRIPT` and `LIBRARY` stand for what leaves a mark, and `HERE` for the folder.
    files: &'static [(&'static str, &'static str)],
    env: &'static [(&'static str, &'static str)],
    /// More arguments, and the exit code that they lead to.
    more: &'static [&'static str],
    status: i32,
}

const SCRIPT: &str = "SCRIPT";
const LIBRARY: &str = "LIBRARY";

const fn hostile_folder(
    what: &'static str,
    files: &'static [(&'static str, &'static str)],
    env: &'static [(&'static str, &'static str)],
) -> Hostile {
    Hostile { what, files, env, more: &[], status: 0 }
}

const LIBRARIES: &[(&str, &str)] = &[
    ("libLLVM.so", LIBRARY),
    ("libLLVM.so.22.1", LIBRARY),
    ("libLLVM-22.so.1", LIBRARY),
    ("libLLVM.so.19.1", LIBRARY),
    ("lib/libLLVM.so.22.1", LIBRARY),
];
const TOOLCHAIN: &[(&str, &str)] = &[
    ("rustup/toolchains/stable-x/lib/libLLVM.so.22.1", LIBRARY),
    (".rustup/toolchains/stable-x/lib/libLLVM.so.22.1", LIBRARY),
];

const FOLDERS: &[Hostile] = &[
    hostile_folder(
        "rust-toolchain.toml with a path",
        &[
            ("rust-toolchain.toml", "[toolchain]\npath = \"HERE/evil\"\n"),
            ("evil/bin/rustc", SCRIPT),
            ("evil/lib/libLLVM.so.22.1", LIBRARY),
        ],
        &[],
    ),
    hostile_folder(
        "rust-toolchain of the old form",
        &[("rust-toolchain", "[toolchain]\npath = \"HERE/evil\"\n"), ("evil/bin/rustc", SCRIPT)],
        &[],
    ),
    hostile_folder(
        ".cargo/config.toml",
        &[
            (
                ".cargo/config.toml",
                "[build]\nrustc = \"evil/rustc\"\nrustc-wrapper = \"evil/rustc\"\n[env]\nCOTAN_LLVM = \"evil\"\n",
            ),
            ("evil/rustc", SCRIPT),
        ],
        &[],
    ),
    hostile_folder(
        "compilers, first on the search path",
        &[("rustc", SCRIPT), ("cargo", SCRIPT), ("rustup", SCRIPT)],
        &[("PATH", ".:/usr/bin:/bin")],
    ),
    hostile_folder("libraries under every name", LIBRARIES, &[]),
    hostile_folder("libraries, and a loader that looks here", LIBRARIES, &[("LD_LIBRARY_PATH", "/nonexistent:")]),
    hostile_folder("libraries, and a loader with a relative path", LIBRARIES, &[("LD_LIBRARY_PATH", "lib")]),
    hostile_folder("COTAN_LLVM is a relative file", LIBRARIES, &[("COTAN_LLVM", "./libLLVM.so")]),
    hostile_folder("COTAN_LLVM is a relative folder", LIBRARIES, &[("COTAN_LLVM", "lib/")]),
    hostile_folder("COTAN_LLVM is a name that lies here", LIBRARIES, &[("COTAN_LLVM", "libLLVM.so.22.1")]),
    hostile_folder("COTAN_LLVM is the name of a folder that lies here", LIBRARIES, &[("COTAN_LLVM", "lib")]),
    hostile_folder("RUSTUP_HOME is relative", TOOLCHAIN, &[("RUSTUP_HOME", "rustup")]),
    hostile_folder("HOME is the current folder", TOOLCHAIN, &[("HOME", "."), ("RUSTUP_HOME", "")]),
    Hostile {
        what: "a checker of certificates",
        files: &[("cotan-checker", SCRIPT), ("target/proofs/oracle", SCRIPT), ("oracle", SCRIPT)],
        env: &[("PATH", ".:/usr/bin:/bin")],
        more: &["--certify"],
        status: 2,
    },
    Hostile {
        what: "COTAN_CHECKER is relative",
        files: &[("cotan-checker", SCRIPT)],
        env: &[("COTAN_CHECKER", "./cotan-checker")],
        more: &["--certify"],
        status: 2,
    },
    Hostile {
        what: "COTAN_CHECKER is a name",
        files: &[("cotan-checker", SCRIPT)],
        env: &[("COTAN_CHECKER", "cotan-checker"), ("PATH", ".:/usr/bin:/bin")],
        more: &["--certify"],
        status: 2,
    },
];

/// What leaves marks.
struct Marks {
    folder: Folder,
    library: PathBuf,
}

impl Marks {
    /// The library is compiled by the C compiler that links Rust programs too.
    fn new() -> Result<Marks, String> {
        let folder = Folder::new()?;
        let mark = folder.path("mark");
        let source = format!(
            "#include <fcntl.h>\n__attribute__((constructor)) static void mark(void) {{ creat(\"{}\", 0600); }}\n",
            mark.display()
        );
        folder.write("mark.c", source)?;
        let library = folder.path("mark.so");
        let made =
            Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(folder.path("mark.c")).output();
        let made = made.map_err(|e| format!("running the C compiler: {e}"))?;
        if made.status.success() {
            Ok(Marks { folder, library })
        } else {
            Err(String::from_utf8_lossy(&made.stderr).into_owned())
        }
    }

    /// Whether anything ran or was loaded since this was asked for the last time.
    fn is_left(&self) -> bool {
        fs::remove_file(self.folder.path("mark")).is_ok()
    }

    /// Plants a file.
    fn plant(&self, place: &Folder, name: &str, content: &str) -> Result<(), String> {
        match content {
            LIBRARY => place.write(name, fs::read(&self.library).map_err(|e| e.to_string())?),
            SCRIPT => {
                place.write(
                    name,
                    format!("#!/bin/sh\n: > '{}'\necho /nonexistent\n", self.folder.path("mark").display()),
                )?;
                fs::set_permissions(place.path(name), Permissions::from_mode(0o755)).map_err(|e| e.to_string())
            }
            text => place.write(name, text.replace("HERE", &place.0.display().to_string())),
        }
    }
}

/// The command in a folder with an environment, and before it whatever hides the recorded library.
fn command(cotan: &Path, place: &Folder, hidden: Option<&Path>, args: &[&str]) -> Command {
    let mut command = match hidden {
        None => Command::new(cotan),
        Some(library) => {
            let mut command = Command::new("/usr/bin/env");
            let script = "mount --bind /dev/null \"$0\" && exec \"$@\"";
            command.args(["unshare", "-m", "sh", "-c", script]).arg(library).arg(cotan);
            command
        }
    };
    command.args(args).current_dir(&place.0);
    for name in ["COTAN_LLVM", "COTAN_CHECKER", "COTAN_THREADS", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(name);
    }
    command.env("XDG_CACHE_HOME", place.path("cache"));
    command
}

/// Whether a run gave what it is to give. Where the recorded library is hidden a line may say that the interpreter runs.
fn judge(ran: &Ran, status: i32, is_marked: bool) -> Result<(), String> {
    let expected = if status == 0 { OUTPUT } else { "" };
    if is_marked {
        Err(format!("something ran or was loaded: {}", ran.shown()))
    } else if ran.status != Some(status) || ran.stdout != expected {
        Err(ran.shown())
    } else {
        Ok(())
    }
}

/// The library in use, if it is the recorded one and can be hidden.
fn recorded(cotan: &Path, place: &Folder) -> Result<Option<PathBuf>, String> {
    let ran = run(&mut command(cotan, place, None, &["doctor", "--json"]))?;
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).map_err(|e| format!("{e}: {}", ran.shown()))?;
    if report["llvm"]["origin"] != "recorded when Cotan was built" {
        return Ok(None);
    }
    let Some(library) = report["llvm"]["library"].as_str().map(PathBuf::from) else { return Ok(None) };
    let ran = run(&mut command(cotan, place, Some(&library), &["doctor", "--json"]))?;
    Ok((ran.status == Some(0)).then_some(library))
}

/// Every folder, with the recorded library and without it.
pub fn hostile(cotan: &Path, part: Part) -> Result<Measured, String> {
    let marks = Marks::new()?;
    let library = recorded(cotan, &Folder::new()?)?;
    let mut tally = Tally::default();
    let step = if part == Part::Whole { 1 } else { 3 };
    for hostile in FOLDERS.iter().step_by(step) {
        for hidden in [None, library.as_deref()].into_iter().take(if library.is_some() { 2 } else { 1 }) {
            let place = Folder::new()?;
            place.write("program.cot", PROGRAM)?;
            for (name, content) in hostile.files {
                marks.plant(&place, name, content)?;
            }
            for (args, status) in [(&[&ARGS[..], hostile.more].concat()[..], hostile.status), (&["doctor"][..], 0)] {
                let mut command = command(cotan, &place, hidden, args);
                command.envs(hostile.env.iter().copied());
                let ran = run(&mut command)?;
                let is_marked = marks.is_left();
                let outcome = if args == ["doctor"] {
                    if is_marked { Err(format!("something ran or was loaded: {}", ran.shown())) } else { Ok(()) }
                } else {
                    judge(&ran, status, is_marked)
                };
                let with = if hidden.is_some() { ", no recorded LLVM" } else { "" };
                tally.count(ran.seconds, outcome.map_err(|e| format!("{}{with}: {e}", hostile.what)));
            }
        }
    }
    let remark = if library.is_some() { "" } else { " (with the recorded LLVM only: this user can't hide it)" };
    Ok(tally.measured(&format!("commands in {} hostile folders", FOLDERS.len().div_ceil(step)), remark))
}
