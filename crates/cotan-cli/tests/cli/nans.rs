//! Traps for NaN.

use crate::cli::Case;

const SLOPES: &str = "\
fn f(v: f64[3]) -> f64 {
  let mut s = 0.0
  for i in 0..3 { s += sqrt(v[i]) - cbrt(v[i]) }
  s
}
@test fn a_root_of_what_is_negative() -> bool = isnan(f([1.0, -1.0, 0.0]))
";

const EXPECTED: &str = "NaN from `+`: the cotangent in `sqrt(v[i])` with elem_cot = -inf, elem_cot = inf, \
                        in iteration 1 of the loop at 3:3";

fn case() -> Case {
    let case = Case::new(SLOPES);
    case.write("zero.json", b"{\"v\": [1, 0, 4]}");
    case.write("negative.json", b"{\"v\": [1, 2, -4]}");
    case.write("nan.json", b"{\"v\": [1, 2, \"nan\"]}");
    case.write("clean.json", b"{\"v\": [1, 2, 4]}");
    case
}

#[test]
fn a_nan_of_a_gradient_is_an_error_of_the_run() {
    let case = case();
    for backend in ["cpu", "interp"] {
        let call = ["grad", "program.cot", "--fn", "f", "--args", "zero.json", "--trap-nan", "--backend", backend];
        let run = case.run(&call);
        let first = format!("error[R0012]: {EXPECTED}");
        assert_eq!((run.status, run.stderr.lines().next()), (Some(3), Some(first.as_str())), "{}", run.stdout);
        let run = case.run(&[call.as_slice(), &["--json"]].concat());
        assert_eq!((run.status, run.first_diagnostic()), (Some(3), ("R0012".to_owned(), 3, 24)));
        let diagnostic = &run.json()["diagnostics"][0];
        assert_eq!(diagnostic["message"], EXPECTED);
        assert!(diagnostic["help"].as_str().is_some_and(|help| help.contains("@vjp_for")), "{diagnostic}");
    }
}

#[test]
fn a_nan_of_a_value_is_found_in_the_value_whatever_is_asked_for() {
    let case = case();
    let expected = ("R0012".to_owned(), 3, 24);
    for command in [&["run"][..], &["grad"], &["jacobian"], &["bench", "--grad", "v", "--budget", "0.01"]] {
        let call = [command, &["program.cot", "--fn", "f", "--args", "negative.json", "--trap-nan", "--json"]].concat();
        let run = case.run(&call);
        assert_eq!((run.status, run.first_diagnostic()), (Some(3), expected.clone()), "{call:?}");
        let message = run.json()["diagnostics"][0]["message"].to_string();
        assert!(message.contains("the value of `sqrt(v[i])` with `v[i]` = -4.0, in iteration 2"), "{message}");
    }
    let run = case.run(&["test", "program.cot", "--trap-nan", "--json"]);
    assert_eq!((run.status, &run.json()["tests"][0]["diagnostics"][0]["code"]), (Some(1), &"R0012".into()));
    assert_eq!(case.run(&["test", "program.cot"]).status, Some(0));
}

#[test]
fn an_argument_that_makes_the_result_nan_is_named() {
    let case = case();
    let run = case.run(&["run", "program.cot", "--fn", "f", "--args", "nan.json", "--trap-nan", "--json"]);
    assert_eq!((run.status, run.first_diagnostic()), (Some(3), ("R0012".to_owned(), 1, 6)), "{}", run.stdout);
    let message = run.json()["diagnostics"][0]["message"].to_string();
    assert!(message.contains("the result is NaN, and so is argument `v` at [2]"), "{message}");
}

#[test]
fn a_call_without_nan_gives_the_same_with_traps() {
    let case = case();
    for backend in ["cpu", "interp"] {
        let call = ["grad", "program.cot", "--fn", "f", "--args", "clean.json", "--backend", backend];
        assert_eq!(case.json(&call), case.json(&[call.as_slice(), &["--trap-nan"]].concat()));
    }
}

#[test]
fn the_tape_has_no_traps() {
    let case = case();
    let call = ["grad", "program.cot", "--fn", "f", "--args", "zero.json", "--trap-nan", "--engine", "tape"];
    let run = case.run(&call);
    assert_eq!(run.status, Some(2));
    assert!(run.stderr.starts_with("error[U0002]: `--trap-nan`"), "{}", run.stderr);
}
