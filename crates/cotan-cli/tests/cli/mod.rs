//! The built command on small programs: output, exit codes, files.

mod cache;
mod certify;
mod data;
mod derivatives;
mod devices;
mod environment;
mod errors;
mod figures;
mod fixes;
mod fmt;
mod folders;
mod help;
mod hostile;
mod inputs;
mod limits;
mod looking_inside;
mod manifest;
mod messages;
mod nans;
mod pages;
mod programs;
mod run;
mod sessions;
mod sparse;
mod testing;
mod tools;
mod watching;

use cotan_testkit::accept::Measured;
use cotan_testkit::accept::sound::Part;
use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder of its own with a program in it.
struct Case {
    folder: TempDir,
}

/// What a command did.
struct Run {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Case {
    /// A folder that holds `program.cot`.
    fn new(program: &str) -> Case {
        let case = Case { folder: tempfile::tempdir().expect("a folder") };
        case.write("program.cot", program.as_bytes());
        case
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, content: &[u8]) {
        std::fs::write(self.path(name), content).expect("a file");
    }

    /// The command in this folder, without what the environment of the test says.
    fn command(&self, args: &[&str]) -> Command {
        self.command_at(Path::new(env!("CARGO_BIN_EXE_cotan")), args)
    }

    /// The same of a copy of the command.
    fn command_at(&self, executable: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(executable);
        command.args(args).current_dir(self.folder.path());
        command
            .env_remove("COTAN_LLVM")
            .env_remove("COTAN_THREADS")
            .env_remove("COTAN_CHECKER")
            .env_remove("COTAN_DEVICE")
            .env("XDG_CACHE_HOME", self.path("cache"));
        command
    }

    fn run(&self, args: &[&str]) -> Run {
        Run::of(self.command(args).output().expect("the command runs"))
    }

    /// The one JSON object on stdout of a run that must succeed.
    fn json(&self, args: &[&str]) -> Json {
        let run = self.run(&[args, &["--json"]].concat());
        assert_eq!(run.status, Some(0), "{}{}", run.stdout, run.stderr);
        run.json()
    }
}

impl Run {
    fn of(output: Output) -> Run {
        Run {
            status: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    fn json(&self) -> Json {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {}{}", self.stdout, self.stderr))
    }

    /// Code, line and column of the first diagnostic.
    fn first_diagnostic(&self) -> (String, u64, u64) {
        let first = self.json()["diagnostics"][0].clone();
        let number = |key: &str| first[key].as_u64().unwrap_or_default();
        (first["code"].as_str().unwrap_or_default().to_owned(), number("line"), number("column"))
    }
}

/// That a line of acceptance holds for the command, in a part of its cases.
fn holds(measure: fn(&Path, Part) -> Result<Measured, String>) {
    let measured = measure(Path::new(env!("CARGO_BIN_EXE_cotan")), Part::Sample).expect("a measurement");
    assert!(measured.holds, "{}", measured.text);
}

/// A file of the repository's examples.
fn example(path: &str) -> String {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    examples.join(path).display().to_string()
}

/// The program that this project starts from.
const LOSS: &str = "\
fn loss[N](w: f32[N], x: f32[N], y: f32) -> f32 {
  let pred = +/(w .* x)
  let err = pred - y
  err * err
}
@grad(w) fn dloss_dw[N](w: f32[N], x: f32[N], y: f32) -> f32[N] = loss(w, x, y)
";

const LOSS_ARGS: &[u8] = b"{\"w\": [1, 2, 3], \"x\": [0.5, -1, 2], \"y\": 1}";
