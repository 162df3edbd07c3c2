//! `debug`, `assert` and formats: what a program shows of itself, on every engine and in derivatives.

use crate::cli::Case;
use serde_json::json;

/// A loss that shows what happens in it.
const SHOWN: &str = "\
struct P { w: f64, b: f64 }
fn loss(p: P, x: f64[3]) -> f64 {
  let p = debug(\"p\", p)
  let mut sum = 0.0
  for i in 0..3 {
    if i == 1 { debug(\"x[1] = {:.2}\", x[i]) }
    sum += debug(\"term\", p.w * x[i] + p.b) ** 2
  }
  debug(\"not used\", x)
  sum + 0 * +/ map(|u| debug(\"u\", u * u) * u, x)
}
fn slope(p: P, x: f64[3]) -> f64 = value_and_grad[p](loss)(p, x).0
";

const WRITTEN: &str = "\
p = P { w: 2.0, b: 1.0 }
term = 3.0
x[1] = 2.00
term = 5.0
term = 7.0
not used = [1.0, 2.0, 3.0]
u = 1.0
u = 4.0
u = 9.0
";

fn shown() -> Case {
    let case = Case::new(SHOWN);
    case.write("args.json", br#"{"p": {"w": 2, "b": 1}, "x": [1, 2, 3]}"#);
    case
}

const ENGINES: [&[&str]; 5] =
    [&[], &["--backend", "interp"], &["--opt", "0"], &["--threads", "4"], &["--versions", "at-once"]];

#[test]
fn debug_writes_once_in_order_on_every_engine_and_in_derivatives() {
    let case = shown();
    let at = ["program.cot", "--args", "args.json", "--json"];
    for engine in ENGINES {
        for (command, function) in [("run", "loss"), ("run", "slope"), ("grad", "loss")] {
            let run = case.run(&[&[command, "--fn", function], &at[..], engine].concat());
            assert_eq!((run.status, run.stderr.as_str()), (Some(0), WRITTEN), "{command} {function} {engine:?}");
        }
        let grad = case.run(&[&["grad", "--fn", "loss"], &at[..], engine].concat());
        assert_eq!(grad.json(), json!({"value": 83.0, "grad": {"p": {"w": 68.0, "b": 30.0}}}));
    }
    let hessian = case.run(&["hessian", "program.cot", "--fn", "loss", "--args", "args.json"]);
    assert_eq!(hessian.stderr, WRITTEN, "a second derivative writes once");
}

/// An identity that shows what flows through it in a derivative, of values of any type.
const WATCHED: &str = "\
struct P { w: f64, b: f64[2] }
fn watched[T: Differentiable](x: T) -> T = x
@jvp_for(watched) fn jvp[T: Differentiable](x: T, x_tan: tangent[T]) -> (T, tangent[T]) = (x, debug(\"tangent\", x_tan))
@vjp_for(watched) fn vjp[T: Differentiable](x: T, y: T, y_cot: tangent[T]) -> tangent[T] = debug(\"cotangent\", y_cot)
fn loss(w: f64) -> f64 {
  let p = watched(P { w: w, b: [w * w, 1] })
  let mut product = p.w
  for i in 0..2 { product = watched(product * (p.b[i] + 1)) }
  product
}
";

#[test]
fn tangents_and_cotangents_are_written_by_rules_in_the_order_of_the_sweep() {
    let case = Case::new(WATCHED);
    let forward = "tangent = P { w: 1.0, b: [4.0, 0.0] }\ntangent = 13.0\ntangent = 26.0\n";
    let reverse = "cotangent = 1.0\ncotangent = 2.0\ncotangent = P { w: 10.0, b: [4.0, 10.0] }\n";
    for engine in ENGINES {
        for (mode, written) in [("forward", forward), ("reverse", reverse)] {
            let at = ["grad", "program.cot", "--fn", "loss", "--set", "w=2", "--mode", mode, "--json"];
            let run = case.run(&[&at[..], engine].concat());
            assert_eq!((run.status, run.stderr.as_str()), (Some(0), written), "{mode} {engine:?}");
            assert_eq!(run.json(), json!({"value": 20.0, "grad": {"w": 26.0}}), "{mode} {engine:?}");
        }
    }
}

#[test]
fn a_check_of_a_gradient_writes_at_the_point_alone() {
    let case = shown();
    let run = case.run(&["grad", "program.cot", "--fn", "loss", "--args", "args.json", "--check"]);
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), WRITTEN), "{}", run.stdout);
}

#[test]
fn vmap_writes_in_the_order_of_positions() {
    let case = Case::new("fn f(x: f64) -> f64 = debug(\"x\", x * x)\nfn all(x: f64[3]) -> f64[3] = vmap[0](f)(x)");
    for engine in ENGINES {
        let run = case.run(&[&["run", "program.cot", "--fn", "all", "--set", "x=[1, 2, 3]"], engine].concat());
        assert_eq!(run.stderr, "x = 1.0\nx = 4.0\nx = 9.0\n", "{engine:?}");
    }
}

#[test]
fn an_assertion_says_its_message_with_its_place() {
    let case = Case::new("fn f(x: f64) -> f64 {\n  assert(x > 0, \"x is positive\")\n  x * x\n}");
    for engine in ENGINES {
        let run = case.run(&[&["grad", "program.cot", "--fn", "f", "--set", "x=-1.0"], engine].concat());
        assert_eq!(run.status, Some(3), "{}", run.stderr);
        assert!(run.stderr.contains("error[R0016]: assertion failed: x is positive"), "{}", run.stderr);
        assert!(run.stderr.contains("program.cot:2:3"), "{}", run.stderr);
    }
}
