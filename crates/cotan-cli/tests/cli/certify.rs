//! Gradients before a checker of certificates: a script that says what a test wants, and the proved one.

use crate::cli::{Case, Run};
use std::io::Write;
use std::path::{Path, PathBuf};

const PROGRAM: &str = "\
fn f(x: f64, y: f64) -> f64 = x * sin(y) + exp(x)
fn g(x: f64) -> f64 = lgamma(x)
";

const F: [&str; 11] =
    ["grad", "program.cot", "--fn", "f", "--wrt", "x,y", "--set", "x=0.5", "--set", "y=2", "--certify"];

/// Where the sources of this command have the proved checker, if it is built.
fn proved() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/proofs/oracle");
    let found = path.is_file();
    if !found {
        let _ = writeln!(std::io::stderr(), "the checker of certificates is not built: cargo xtask proofs");
    }
    found.then_some(path)
}

/// The command with a checker.
fn run(case: &Case, checker: &Path, args: &[&str]) -> Run {
    Run::of(case.command(args).env("COTAN_CHECKER", checker).output().expect("the command runs"))
}

#[test]
fn without_a_checker_nothing_is_computed() {
    // The program has an error, which is not looked for.
    let case = Case::new("fn f(");
    let found = run(&case, Path::new("/nonexistent"), &F);
    assert_eq!((found.status, found.stdout.as_str()), (Some(2), ""));
    let expected = "error[A0006]: `--certify` needs the checker of certificates, which is not there\n  help: run `cargo xtask \
                    proofs` in the repository, and name its `target/proofs/oracle` in COTAN_CHECKER, or copy that beside \
                    this command as `cotan-checker`\n";
    assert_eq!(found.stderr, expected);
    let found = run(&case, Path::new("/nonexistent"), &[&F[..], &["--json"]].concat());
    assert_eq!((found.status, found.first_diagnostic().0, found.stderr.as_str()), (Some(2), "A0006".to_owned(), ""));
}

#[test]
fn certificates_are_of_compiled_gradients_in_reverse_mode() {
    let case = Case::new(PROGRAM);
    for (options, message, help) in [
        (&["--engine", "tape"], "the gradient that is compiled from the program", "--engine tape"),
        (&["--mode", "forward"], "the gradient in reverse mode", "--mode forward"),
    ] {
        let found = case.run(&[&F[..], options].concat());
        let expected = format!("error[U0002]: `--certify` needs {message}\n  help: leave out `{help}`\n");
        assert_eq!((found.status, found.stdout.as_str(), found.stderr), (Some(2), "", expected));
    }
}

#[cfg(unix)]
mod scripts {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A checker that keeps what it reads and how it is called, and answers with a line.
    fn script(case: &Case, answer: &str) -> PathBuf {
        let path = case.path("checker");
        case.write("checker", format!("#!/bin/sh\ncat > read\necho \"$@\" > called\necho '{answer}'\n").as_bytes());
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("executable");
        path
    }

    /// How many steps of a program, and lines of code, a certificate has.
    fn sizes(certificate: &str) -> (usize, usize) {
        let count = |words: &[&str]| {
            let is_one = |line: &&str| line.split(' ').next().is_some_and(|word| words.contains(&word));
            certificate.lines().filter(is_one).count()
        };
        (count(&["use", "constant", "choice"]), count(&["code"]))
    }

    #[test]
    fn the_checker_reads_a_certificate_and_its_word_counts() {
        let case = Case::new(PROGRAM);
        let plain = case.run(&F[..F.len() - 1]);
        let checker = script(&case, "accepted");
        let found = run(&case, &checker, &F);
        assert_eq!((found.status, found.stderr.as_str()), (Some(0), ""));
        let read = |name: &str| std::fs::read_to_string(case.path(name)).expect("the checker ran");
        let certificate = read("read");
        assert_eq!(read("called"), "certify\n");
        assert!(certificate.starts_with("inputs 2\n") && certificate.ends_with("\nend\n"), "{certificate}");
        let (steps, code) = sizes(&certificate);
        assert!(steps >= 3 && code >= 4, "{certificate}");
        let line = format!("certificate: accepted (program of {} values, {code} lines of gradient code)\n", 2 + steps);
        assert_eq!(found.stdout, plain.stdout + &line);

        let found = run(&case, &checker, &[&F[..], &["--json"]].concat());
        assert_eq!(found.status, Some(0));
        let expected = serde_json::json!({"verdict": "accepted", "program": 2 + steps, "code": code});
        assert_eq!(found.json()["certificate"], expected);
        assert_eq!(found.json()["grad"].as_object().map(|grad| grad.len()), Some(2));
    }

    #[test]
    fn what_is_not_shown_fails_like_a_check_does() {
        let case = Case::new(PROGRAM);
        for (answer, reason) in [
            ("not shown: value 3", "value 3"),
            ("refused a line", "the checker refuses the certificate: a line"),
            ("perhaps", "the checker answers `perhaps`"),
        ] {
            let checker = script(&case, answer);
            let found = run(&case, &checker, &[&F[..], &["--check"]].concat());
            let line = format!("\n  ok\ncertificate: not shown: {reason}\n");
            assert_eq!((found.status, found.stderr.as_str()), (Some(1), ""));
            assert!(found.stdout.ends_with(&line), "{}", found.stdout);
            let found = run(&case, &checker, &[&F[..], &["--json"]].concat());
            assert_eq!(found.status, Some(1));
            let verdict = &found.json()["certificate"];
            assert_eq!((&verdict["verdict"], &verdict["reason"]), (&"not shown".into(), &reason.into()));
        }
    }

    #[test]
    fn no_certificate_is_told_with_its_reason() {
        let case = Case::new(PROGRAM);
        let checker = script(&case, "accepted");
        let call = ["grad", "program.cot", "--fn", "g", "--set", "x=0.5", "--certify"];
        let found = run(&case, &checker, &call);
        assert_eq!((found.status, found.stderr.as_str()), (Some(1), ""));
        let reason = "the proofs know no rule for `lgamma`";
        assert!(found.stdout.ends_with(&format!("\ncertificate: none: {reason}\n")), "{}", found.stdout);
        let found = run(&case, &checker, &[&call[..], &["--json"]].concat());
        assert_eq!(found.json()["certificate"], serde_json::json!({"verdict": "none", "reason": reason}));
        assert!(!case.path("read").exists());
    }

    #[test]
    fn files_of_arrays_hold_the_gradient_alone() {
        let case = Case::new(PROGRAM);
        let checker = script(&case, "accepted");
        for file in ["r.npz", "r.json"] {
            let found = run(&case, &checker, &[&F[..], &["--out", file]].concat());
            assert_eq!((found.status, found.stdout.as_str()), (Some(0), ""), "{file}");
            assert!(found.stderr.starts_with("certificate: accepted "), "{file}: {}", found.stderr);
        }
        let object: serde_json::Value =
            serde_json::from_slice(&std::fs::read(case.path("r.json")).expect("a file")).expect("JSON");
        assert_eq!(object["certificate"]["verdict"], "accepted");
    }

    #[test]
    fn a_checker_that_cannot_run_is_unreadable() {
        let case = Case::new(PROGRAM);
        let found = run(&case, &case.path("program.cot"), &F);
        assert_eq!((found.status, found.stdout.as_str()), (Some(2), ""));
        assert!(found.stderr.starts_with("error[A0006]: running the checker `"), "{}", found.stderr);
    }
}

#[test]
fn the_proved_checker_confirms_gradients_of_formulas_and_loops() {
    let Some(checker) = proved() else { return };
    let case = Case::new(&format!(
        "{PROGRAM}fn s(v: f64[3], y: f64) -> f64 {{\n  let mut s = y\n  for i in 0..3 {{ s = sin(s) * v[i] }}\n  s\n}}\n"
    ));
    case.write("s.json", br#"{"v": [1, 2, 3], "y": 0.5}"#);
    let installed = installed(&case, &checker);
    for call in [&F[..], &["grad", "program.cot", "--fn", "s", "--wrt", "v,y", "--args", "s.json", "--certify"]] {
        let found = run(&case, &checker, call);
        assert_eq!((found.status, found.stderr.as_str()), (Some(0), ""), "{}", found.stdout);
        let line = found.stdout.lines().last().unwrap_or_default();
        assert!(line.starts_with("certificate: accepted (program of "), "{line}");
        // Beside the command, the same checker is found without a name.
        let beside = case.command_at(&installed, call).output().expect("the command runs");
        assert_eq!(Run::of(beside).stdout, found.stdout);
    }
}

/// A copy of the command in a folder of its own, with a checker beside it.
fn installed(case: &Case, checker: &Path) -> PathBuf {
    let folder = case.path("bin");
    std::fs::create_dir(&folder).expect("a folder");
    let command = folder.join("cotan");
    std::fs::copy(env!("CARGO_BIN_EXE_cotan"), &command).expect("a copy of the command");
    std::fs::copy(checker, folder.join("cotan-checker")).expect("a copy of the checker");
    command
}
