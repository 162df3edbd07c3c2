//! Errors: codes, places, exit codes, and files left alone.

use crate::cli::Case;

const INDEX: &str = "\
fn main() -> f64 {
  let v = [1.0, 2.0]
  let mut s = 0.0
  for i in 0..3 {
    s += v[i]
  }
  s
}
";

#[test]
fn run_time_errors_have_code_place_and_exit_code() {
    let case = Case::new(INDEX);
    for backend in ["cpu", "interp"] {
        let run = case.run(&["run", "program.cot", "--backend", backend]);
        assert_eq!((run.status, run.stdout.as_str()), (Some(3), ""));
        let lines: Vec<&str> = run.stderr.lines().take(2).collect();
        let expected = "error[R0001]: index out of range: expected 0 <= index < 2, found 2";
        assert_eq!(lines, [expected, " --> program.cot:5:12"], "{backend}");
        assert_eq!(run.stderr.matches("5:12").count(), 1, "the place is told once: {}", run.stderr);
        let run = case.run(&["run", "program.cot", "--backend", backend, "--json"]);
        assert_eq!((run.status, run.first_diagnostic()), (Some(3), ("R0001".to_owned(), 5, 12)));
    }
}

#[test]
fn every_page_of_a_run_time_error_shows_that_error() {
    for info in cotan::codes::RUN_TIME.iter().filter(|info| !info.failing_example.is_empty()) {
        let case = Case::new(info.failing_example);
        let run = case.run(&["run", "program.cot", "--backend", "interp", "--json"]);
        assert_eq!(run.status, Some(3), "{}: {}{}", info.code, run.stdout, run.stderr);
        assert_eq!(run.first_diagnostic().0, info.code.as_str());
    }
}

#[test]
fn errors_of_a_program_end_the_command() {
    let case = Case::new("fn main() -> f64 = missing");
    let run = case.run(&["run", "program.cot"]);
    assert_eq!(run.status, Some(1));
    assert!(run.stderr.contains("`missing`") && run.stderr.contains("program.cot:1:20"), "{}", run.stderr);
    let run = case.run(&["run", "program.cot", "--json"]);
    let (code, line, column) = run.first_diagnostic();
    assert!(code.starts_with('E'), "{code}");
    assert_eq!((run.status, line, column), (Some(1), 1, 20));
}

#[test]
fn text_that_is_no_text_has_a_place() {
    let case = Case::new("");
    case.write("program.cot", b"fn main() -> i64 = 0\n# \xff\n");
    for command in ["run", "check"] {
        let run = case.run(&[command, "program.cot", "--json"]);
        assert_eq!((run.status, run.first_diagnostic().1, run.first_diagnostic().2), (Some(1), 2, 3));
    }
}

#[test]
fn files_of_results_are_left_alone_on_errors() {
    let case = Case::new(INDEX);
    case.write("out.json", b"precious");
    assert_eq!(case.run(&["run", "program.cot", "--out", "out.json"]).status, Some(3));
    assert_eq!(std::fs::read(case.path("out.json")).expect("still there"), b"precious");
    let left: Vec<_> = std::fs::read_dir(case.path("")).expect("a folder").flatten().map(|e| e.file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains("out.json.")), "{left:?}");
}

#[test]
fn memory_beyond_the_limit_is_an_error_of_the_run() {
    let case = Case::new("fn main() -> f64 = +/ tabulate(1000000, |i| sin(i as f64) + (+/ zeros[f64](i)))");
    for backend in ["cpu", "interp"] {
        let run = case.run(&["run", "program.cot", "--memory-limit", "100000", "--backend", backend, "--json"]);
        assert_eq!((run.status, run.first_diagnostic().0.as_str()), (Some(3), "R0100"), "{}", run.stdout);
    }
}

/// Records one number per iteration, in a counted loop and in one whose length the run finds out.
const RECORDING: &str = "@mode(reverse) fn f(x: f64, n: i64) -> f64 {
  let mut y = x
  for i in 0..n {
    y = sin(y) + 0.01
  }
  y
}
@mode(reverse) fn g(x: f64, n: i64) -> f64 {
  let mut y = x
  let mut k = 0
  while k < n && y > -2.0 {
    y = sin(y) + 0.01
    k += 1
  }
  y
}";

#[test]
fn a_record_beyond_the_limit_names_its_loop_and_the_remedy() {
    let case = Case::new(RECORDING);
    case.write("t.json", b"{\"x\": 1.0}");
    let commands = [
        ("grad", vec!["--wrt", "x"]),
        ("vjp", vec!["--wrt", "x"]),
        ("jacobian", vec!["--wrt", "x", "--mode", "reverse"]),
        ("hessian", vec!["--wrt", "x"]),
        ("hvp", vec!["--wrt", "x", "--tangent", "t.json"]),
        ("bench", vec!["--grad", "x"]),
    ];
    for (command, more) in &commands {
        for (function, line) in [("f", 3), ("g", 11)] {
            let args = [
                &[*command, "program.cot", "--fn", function, "--set", "x=0.5", "--set", "n=200000"],
                more.as_slice(),
                &["--memory-limit", "1000000"],
            ]
            .concat();
            let run = case.run(&[args.as_slice(), &["--json"]].concat());
            assert_eq!(run.status, Some(3), "{args:?}: {}{}", run.stdout, run.stderr);
            assert_eq!(run.first_diagnostic(), ("R0100".to_owned(), line, 3), "{args:?}: {}", run.stdout);
            let message = run.json()["diagnostics"][0].to_string();
            for part in
                ["out of memory: the record of `y", "in this loop", "the limit is 1000000 bytes", "@checkpoint(sqrt)"]
            {
                assert!(message.contains(part), "{args:?}: {message}");
            }
        }
    }
    for backend in ["cpu", "interp"] {
        let grad = ["grad", "program.cot", "--fn", "g", "--set", "x=0.5", "--wrt", "x", "--backend", backend];
        let run = case.run(&[&grad[..], &["--set", "n=200000", "--memory-limit", "1000000"]].concat());
        assert!(run.stderr.starts_with("error[R0100]: out of memory: the record of `y"), "{}", run.stderr);
        assert!(run.stderr.contains(" --> program.cot:11:3\n"), "{}", run.stderr);
        assert!(run.stderr.contains("while k < n && y > -2.0 {"), "{}", run.stderr);
        let run = case.run(&[&grad[..], &["--set", "n=20000", "--memory-limit", "1000000"]].concat());
        assert_eq!(run.status, Some(0), "{}", run.stderr);
    }
}

#[test]
fn what_this_version_does_not_have_is_refused_in_one_line() {
    let case = Case::new("fn main() -> i64 = 0");
    for (option, code) in [
        ("--backend=cuda", "error[U0001]: the device `cuda`"),
        ("--unchecked", "error[U0002]: `--unchecked`"),
        ("--fast-math", "error[U0002]: `--fast-math` is not supported by --backend cpu"),
    ] {
        let run = case.run(&["run", "program.cot", option]);
        assert_eq!(run.status, Some(2), "{option}");
        assert!(run.stderr.starts_with(code), "{}", run.stderr);
    }
    assert_eq!(case.run(&["run", "program.cot", "--no-such-option"]).status, Some(2));
    assert_eq!(case.run(&["run", "missing.cot"]).status, Some(2));
    assert_eq!(case.run(&["repl"]).status, Some(2));
}
