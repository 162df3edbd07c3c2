//! `cotan run`.

use crate::cli::{Case, LOSS, LOSS_ARGS, example};
use serde_json::json;

#[test]
fn the_first_program_and_its_gradient_are_right() {
    let case = Case::new(LOSS);
    case.write("args.json", LOSS_ARGS);
    for backend in ["cpu", "interp"] {
        let run = |name| case.json(&["run", "program.cot", "--fn", name, "--args", "args.json", "--backend", backend]);
        assert_eq!(run("loss"), json!({"result": 12.25}));
        assert_eq!(run("dloss_dw"), json!({"result": [3.5, -7.0, 14.0]}));
    }
}

#[test]
fn main_speaks_through_the_exit_code() {
    let case = Case::new("fn main() -> i64 = 300");
    let run = case.run(&["run", "program.cot"]);
    assert_eq!((run.status, run.stdout.as_str()), (Some(44), ""));
    let run = case.run(&["run", "program.cot", "--fn", "main"]);
    assert_eq!((run.status, run.stdout.as_str()), (Some(0), "300\n"));
    assert_eq!(case.json(&["run", "program.cot"]), json!({"result": 300}));
}

#[test]
fn negative_results_of_main_wrap_like_exit_codes_do() {
    assert_eq!(Case::new("fn main() -> i32 = -1").run(&["run", "program.cot"]).status, Some(255));
}

#[test]
fn structured_values_go_in_and_out() {
    let case = Case::new(
        "struct P { n: i64, x: f64[2] }\n\
         fn f(p: P, t: (bool, f32)) -> (P, f32, f64[2, 0]) = (p, t.1, zeros[f64]([2, 0]))",
    );
    case.write("args.json", br#"{"p": {"n": 7, "x": ["nan", "-inf"]}, "t": [true, 0.1]}"#);
    let expected = json!({"result": [{"n": 7, "x": ["nan", "-inf"]}, 0.1, {"shape": [2, 0], "data": []}]});
    assert_eq!(case.json(&["run", "program.cot", "--fn", "f", "--args", "args.json"]), expected);
}

#[test]
fn results_are_written_to_files_in_every_format() {
    let case = Case::new("fn f[N](x: f64[N]) -> f64[N] = 2.0 .* x");
    case.write("args.json", b"{\"x\": [1, 2]}");
    let to = |name| case.run(&["run", "program.cot", "--fn", "f", "--args", "args.json", "--out", name]);
    for name in ["out.json", "out.npy", "out.npz"] {
        let run = to(name);
        assert_eq!((run.status, run.stdout.as_str()), (Some(0), ""), "{}", run.stderr);
    }
    assert_eq!(std::fs::read_to_string(case.path("out.json")).expect("written"), "{\"result\": [2.0, 4.0]}\n");
    let again = case.json(&["run", "program.cot", "--fn", "f", "--args", "x=out.npy"]);
    assert_eq!(again, json!({"result": [4.0, 8.0]}));
    assert_eq!(to("out.txt").status, Some(2));
}

#[test]
fn a_mixture_is_fitted_to_flowers_and_the_loss_falls() {
    let case = Case::new("");
    let data = example("gmm/data/iris.json");
    let result = case.json(&["run", &example("gmm/gmm.cot"), "--fn", "fit", "--args", &data]);
    let losses: Vec<f64> =
        result["result"][1].as_array().expect("a list").iter().filter_map(serde_json::Value::as_f64).collect();
    let (first, last) = (losses[0], losses[losses.len() - 1]);
    assert!(losses.iter().all(|x| x.is_finite()));
    assert!(last < 0.6 * first, "{first} {last}");
}

#[test]
fn a_network_learns_to_read_digits_and_its_loss_has_a_derivative() {
    let case = Case::new("");
    let program = example("digits/digits.cot");
    let run = case.run(&["run", &program]);
    let share = run.stdout.split_whitespace().last().and_then(|word| word.parse::<f64>().ok());
    assert!(share.is_some_and(|share| share >= 0.9), "{}{}", run.stdout, run.stderr);
    let grad = ["grad", &program, "--fn", "loss_at", "--wrt", "scale", "--set", "scale=1", "--check"];
    assert_eq!(case.json(&grad)["check"]["ok"], json!(true));
}

#[test]
fn arguments_that_are_left_out_take_the_defaults_of_their_parameters() {
    let case = Case::new(
        "fn f(x: f64, scale: f64 = 2.0, shift: (f64[2], i64) = ([1.0, -inf], 3)) -> (f64, i64) = \
         (scale * x + shift.0[0], shift.1)",
    );
    let call = |more: &[&str]| case.run(&[&["run", "program.cot", "--fn", "f", "--json"], more].concat());
    assert_eq!(call(&["--set", "x=3"]).json(), json!({"result": [7.0, 3]}));
    assert_eq!(call(&["--set", "x=3", "--set", "scale=5"]).json(), json!({"result": [16.0, 3]}));
    let missing = call(&[]);
    assert_eq!(missing.status, Some(2));
    assert!(missing.stdout.contains("A0001"), "{}", missing.stdout);
    let case = Case::new("fn f(w: f64, h: f64 = w, d: f64 = h) -> f64 = w * h * d");
    let call = |more: &[&str]| case.json(&[&["run", "program.cot", "--fn", "f"], more].concat());
    assert_eq!(call(&["--set", "w=3"]), json!({"result": 27.0}));
    assert_eq!(call(&["--set", "w=3", "--set", "h=2"]), json!({"result": 12.0}));
    let case = Case::new("fn f(x: f64, scale: f64 = 2.0) -> f64 = scale * x * x");
    let grad = ["grad", "program.cot", "--fn", "f", "--set", "x=3", "--wrt", "x,scale", "--check"];
    let result = case.json(&grad);
    assert_eq!(result["grad"], json!({"x": 12.0, "scale": 9.0}));
    assert_eq!(result["check"]["ok"], json!(true));
}

#[test]
fn a_function_for_any_element_type_is_called_at_that_of_the_arrays() {
    let case = Case::new(
        "fn f[T: Float, N](x: T[N], s: T) -> T = s * +/ x\n\
         fn narrow() -> f32[2] = [0.1, 0.2]\n\
         fn any[T: Differentiable](x: T) -> T = x",
    );
    let file = case.run(&["run", "program.cot", "--fn", "narrow", "--out", "x.npy"]);
    assert_eq!(file.status, Some(0), "{}", file.stderr);
    let sum = |name: &str| case.json(&["run", "program.cot", "--fn", name, "--args", "x=x.npy", "--set", "s=1"]);
    assert_eq!(sum("f"), json!({"result": 0.3}));
    let any = case.run(&["run", "program.cot", "--fn", "any", "--args", "x=x.npy"]);
    assert_eq!(any.status, Some(1));
    assert!(any.stderr.contains("help: write a function that calls it with the types that you mean"), "{}", any.stderr);
}

#[test]
fn a_product_and_a_sum_are_rounded_once_on_every_backend() {
    let case = Case::new(
        "fn sum(a: f64, b: f64, c: f64) -> f64 = a * b + c\n\
         fn difference(a: f64, b: f64, c: f64) -> f64 = a * b - -c\n\
         fn tensor(a: f64, b: f64, c: f64) -> f64 = ([a] .* [b] .+ c)[0]\n\
         fn written(a: f64, b: f64, c: f64) -> f64 = fma(a, b, c)",
    );
    case.write(
        "args.json",
        br#"{"a": 1.000000000931322574615478515625, "b": 0.999999999068677425384521484375, "c": -1}"#,
    );
    for name in ["sum", "difference", "tensor", "written"] {
        for backend in ["interp", "cpu"] {
            let args = ["run", "program.cot", "--fn", name, "--args", "args.json", "--backend", backend];
            // Rounded twice, this is 0.
            assert_eq!(case.json(&args), json!({"result": -2f64.powi(-60)}), "{name}, {backend}");
        }
    }
}
