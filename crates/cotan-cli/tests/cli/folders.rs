//! What lies in the current folder is data: nothing of it is run or loaded.

use crate::cli::{Case, Run, holds};
use cotan_testkit::accept::sound;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// Defect D3: where the recorded LLVM was absent, a `rust-toolchain.toml` of the current folder chose a program to run.
#[test]
fn d3_nothing_of_a_hostile_folder_runs_or_loads() {
    holds(sound::folders::hostile);
}

/// Defect D3: the checker was run at a path that the build had recorded.
#[test]
fn d3_the_checker_is_named_by_an_absolute_path() {
    let case = Case::new("fn f(x: f64) -> f64 = x * x\n");
    case.write("checker", b"#!/bin/sh\ncat > /dev/null\necho accepted\n");
    fs::set_permissions(case.path("checker"), fs::Permissions::from_mode(0o755)).expect("its owner");
    let certify = |checker: &str| {
        let args = ["grad", "program.cot", "--fn", "f", "--set", "x=3", "--certify"];
        Run::of(case.command(&args).env("COTAN_CHECKER", checker).output().expect("the command runs"))
    };
    for relative in ["checker", "./checker"] {
        let run = certify(relative);
        assert_eq!((run.status, run.stdout.as_str()), (Some(2), ""));
        let expected = format!("error[A0006]: `COTAN_CHECKER`: expected an absolute path, found `{relative}`");
        assert!(run.stderr.starts_with(&expected), "{}", run.stderr);
    }
    assert_eq!(certify(&case.path("checker").display().to_string()).status, Some(0));
}
