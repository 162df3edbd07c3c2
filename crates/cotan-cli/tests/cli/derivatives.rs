//! `cotan grad`, `jvp`, `vjp`, `jacobian`, `hessian`, `hvp`.

use crate::cli::{Case, LOSS, LOSS_ARGS, example};
use serde_json::{Value as Json, json};

/// f(x, y) = x0² x1 + y x1, a scalar of a vector and a number.
const CUBIC: &str = "fn f(x: f64[2], y: f64) -> f64 = x[0] * x[0] * x[1] + y * x[1]";

fn cubic() -> Case {
    let case = Case::new(CUBIC);
    case.write("args.json", b"{\"x\": [3, 5], \"y\": 2}");
    case
}

fn with<'a>(command: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&[command, "program.cot", "--fn", "f", "--args", "args.json"], more].concat()
}

#[test]
fn gradients_by_every_engine_and_mode_agree() {
    let case = cubic();
    let expected = json!({"value": 55.0, "grad": {"x": [30.0, 11.0], "y": 5.0}});
    for more in [
        &[][..],
        &["--mode", "forward"],
        &["--mode", "reverse"],
        &["--engine", "tape"],
        &["--backend", "interp"],
        &["--opt", "0"],
        &["--threads", "1"],
    ] {
        assert_eq!(case.json(&with("grad", &[&["--wrt", "x,y"], more].concat())), expected, "{more:?}");
    }
}

#[test]
fn a_right_gradient_passes_its_check() {
    let case = cubic();
    let result = case.json(&with("grad", &["--wrt", "x", "--check"]));
    assert_eq!(result["check"]["ok"], Json::Bool(true));
    assert!(result["check"]["max_rel_err"].as_f64().expect("a number") < 1e-9, "{result}");
    let run = case.run(&with("grad", &["--wrt", "x", "--value", "--check"]));
    assert!(run.stdout.starts_with("value = 55.0\ngradient of `x`: f64[2], norm "), "{}", run.stdout);
    assert!(run.stdout.ends_with("\n  ok\n"), "{}", run.stdout);
}

#[test]
fn a_wrong_gradient_fails_its_check() {
    // The derivative is cut on purpose, so finite differences see what the gradient does not.
    let case = Case::new("fn f(x: f64) -> f64 = x * stop_gradient(x)");
    case.write("args.json", b"{\"x\": 3}");
    let run = case.run(&with("grad", &["--wrt", "x", "--check", "--json"]));
    assert_eq!(run.status, Some(1));
    assert_eq!(run.json()["grad"], json!({"x": 3.0}));
    assert_eq!(run.json()["check"]["ok"], Json::Bool(false));
}

#[test]
fn a_check_is_told_where_the_gradient_goes_to_a_file() {
    let case = Case::new("fn f(x: f64) -> f64 = x * stop_gradient(x)");
    case.write("args.json", b"{\"x\": 3}");
    let run = case.run(&with("grad", &["--wrt", "x", "--check", "--out", "gradient.json"]));
    assert_eq!((run.status, run.stdout.as_str()), (Some(1), ""));
    assert!(run.stderr.contains("check of 1 entry") && run.stderr.ends_with("FAILED\n"), "{}", run.stderr);
    let run = case.run(&with("grad", &["--wrt", "x", "--out", "gradient.json"]));
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_gradient_that_is_cut_is_warned_of_where_it_is_asked_for() {
    let case = Case::new("fn f(x: f64, y: f64) -> f64 = floor(x) * y");
    case.write("args.json", b"{\"x\": 2.5, \"y\": 3}");
    let run = case.run(&with("grad", &["--wrt", "x", "--json"]));
    assert_eq!(run.json()["grad"], json!({"x": 0.0}));
    let expected = "warning[W0501]: the derivative with respect to `x` is zero everywhere";
    assert!(run.stderr.starts_with(expected), "{}", run.stderr);
    assert!(run.stderr.contains("the derivative stops here"), "{}", run.stderr);
    let run = case.run(&with("grad", &["--wrt", "y", "--json"]));
    assert_eq!(run.json()["grad"], json!({"y": 2.0}));
    assert!(!run.stderr.contains("warning"), "{}", run.stderr);
}

#[test]
fn gradients_of_structs_leave_out_what_has_none() {
    let case = Case::new("struct P { n: i64, w: f64[2] }\nfn f(p: P) -> f64 = (p.n as f64) * (+/ p.w)");
    case.write("args.json", br#"{"p": {"n": 3, "w": [1, 2]}}"#);
    for engine in ["vjp", "tape"] {
        let result = case.json(&with("grad", &["--wrt", "p", "--engine", engine, "--check"]));
        assert_eq!(result["grad"], json!({"p": {"w": [3.0, 3.0]}}), "{engine}");
        assert_eq!(result["check"]["ok"], Json::Bool(true), "{engine}");
    }
}

#[test]
fn the_first_program_passes_its_check_in_single_precision() {
    let case = Case::new(LOSS);
    case.write("args.json", LOSS_ARGS);
    let result = case.json(&["grad", "program.cot", "--fn", "loss", "--wrt", "w", "--args", "args.json", "--check"]);
    assert_eq!(result["grad"], json!({"w": [3.5, -7.0, 14.0]}));
    assert_eq!(result["check"]["ok"], Json::Bool(true), "{result}");
}

#[test]
fn tangents_and_cotangents_go_both_ways() {
    let case = cubic();
    case.write("tangent.json", b"{\"x\": [1, 0], \"y\": 10}");
    let result = case.json(&with("jvp", &["--wrt", "x,y", "--tangent", "tangent.json"]));
    assert_eq!(result, json!({"value": 55.0, "tangent": 80.0}));
    let result = case.json(&with("vjp", &["--wrt", "x,y"]));
    assert_eq!(result, json!({"value": 55.0, "cotangent": {"x": [30.0, 11.0], "y": 5.0}}));
    case.write("cotangent.json", b"{\"cotangent\": 2}");
    let result = case.json(&with("vjp", &["--wrt", "y", "--cotangent", "cotangent.json"]));
    assert_eq!(result, json!({"value": 55.0, "cotangent": {"y": 10.0}}));
}

#[test]
fn second_derivatives_are_named_by_parameter() {
    let case = cubic();
    let result = case.json(&with("hessian", &["--wrt", "x"]));
    assert_eq!(result, json!({"value": 55.0, "hessian": {"x": [[10.0, 6.0], [6.0, 0.0]]}}));
    let result = case.json(&with("hessian", &["--wrt", "x,y"]));
    let expected = json!({
        "x": {"x": [[10.0, 6.0], [6.0, 0.0]], "y": [0.0, 1.0]},
        "y": {"x": [0.0, 1.0], "y": 0.0},
    });
    assert_eq!(result["hessian"], expected);
    case.write("tangent.json", b"{\"x\": [1, 2]}");
    let result = case.json(&with("hvp", &["--wrt", "x", "--tangent", "tangent.json"]));
    assert_eq!(result, json!({"value": 55.0, "hvp": {"x": [22.0, 6.0]}}));
}

#[test]
fn jacobians_have_the_dims_of_the_result_first() {
    let case = Case::new("fn f(x: f64[2]) -> f64[3] = [x[0], x[0] * x[1], 2.0 * x[1]]");
    case.write("args.json", b"{\"x\": [3, 5]}");
    let expected = json!({"value": [3.0, 15.0, 10.0], "jacobian": {"x": [[1.0, 0.0], [5.0, 3.0], [0.0, 2.0]]}});
    for mode in ["forward", "reverse"] {
        assert_eq!(case.json(&with("jacobian", &["--wrt", "x", "--mode", mode])), expected, "{mode}");
    }
}

#[test]
fn the_mixture_of_the_readme_passes_its_check_along_random_directions() {
    let case = Case::new("");
    let (program, data) = (example("gmm/gmm.cot"), example("gmm/data/gmm_d10_K25.json"));
    let wrt = "alphas,means,icf";
    let result = case.json(&["grad", &program, "--fn", "gmm", "--wrt", wrt, "--args", &data, "--value", "--check"]);
    assert_eq!(result["check"]["ok"], Json::Bool(true), "{}", result["check"]);
}

#[test]
fn requests_that_do_not_fit_are_wrong_usage() {
    let case = cubic();
    let message = |args: &[&str]| {
        let run = case.run(args);
        assert_eq!(run.status, Some(2), "{}", run.stderr);
        run.stderr.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(message(&with("grad", &["--wrt", "z"])), "error[A0008]: `f` has no parameter `z`");
    assert_eq!(message(&["grad", "program.cot", "--fn", "g"]), "error[A0008]: there is no function `g`");
}

#[test]
fn a_mode_that_a_command_does_not_have_is_wrong_usage() {
    let case = cubic();
    case.write("tangent.json", b"{\"y\": 1.0}");
    let jvp = ["--wrt", "y", "--tangent", "tangent.json", "--mode"];
    let vjp = ["--wrt", "y", "--mode"];
    assert_eq!(case.json(&with("jvp", &[&jvp[..], &["forward"]].concat()))["tangent"], json!(5.0));
    assert_eq!(case.json(&with("vjp", &[&vjp[..], &["reverse"]].concat()))["cotangent"], json!({"y": 5.0}));
    for (command, more) in [("jvp", [&jvp[..], &["reverse"]].concat()), ("vjp", [&vjp[..], &["forward"]].concat())] {
        let run = case.run(&with(command, &more));
        assert_eq!((run.status, run.stdout.as_str()), (Some(2), ""));
        assert!(run.stderr.contains("error[A0008]: --mode: expected"), "{}", run.stderr);
    }
}

#[test]
fn a_slope_that_rounding_hides_from_differences_is_not_said_to_agree() {
    let case = Case::new("fn f(x: f64) -> f64 = 1e10 + 1e-9 * x\nfn g(x: f64) -> f64 = 1e3 + 1e-9 * x");
    let check =
        |function| case.json(&["grad", "program.cot", "--fn", function, "--set", "x=1", "--check"])["check"].take();
    let of = |function| (check(function)["verdict"].clone(), check(function)["ok"].clone());
    assert_eq!(of("f"), ("inconclusive".into(), true.into()));
    assert_eq!(of("g"), ("agrees".into(), true.into()));
    let run = case.run(&["grad", "program.cot", "--fn", "f", "--set", "x=1", "--check"]);
    assert!(run.stdout.contains("inconclusive: the rounding of the value hides the derivative"), "{}", run.stdout);
}
