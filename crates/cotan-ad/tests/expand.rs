//! Requests of a module: names, dependency order, limits, and the errors of malformed ones.

use crate::oracle;

use cotan_ad::{Error, Limits, derivative, expand};
use cotan_ir::{Derived, Item, Mode, Module};
use cotan_opt::InlineLimit;
use oracle::{floats, module, run, scalar};

const CUBE: &str = "
fn cube(x: f64) {
  square: f64 = mul x, x
  y: f64 = mul square, x
  return y
}
";

fn ask(module: &mut Module, name: &str, of: &str, mode: Mode, wrt: &[usize], outs: &[usize]) {
    let d = Derived { of: of.into(), mode, wrt: wrt.to_vec(), outs: outs.to_vec() };
    module.items.insert(name.into(), Item::Derived(d));
}

fn number(module: &Module, name: &str, args: &[f64], at: usize) -> f64 {
    let args: Vec<_> = args.iter().map(|x| scalar(*x)).collect();
    floats(&run(module, name, &args)[at])[0]
}

#[test]
fn a_derivative_stands_under_the_name_that_was_asked_for() {
    let mut module = module(CUBE);
    ask(&mut module, "slope", "cube", Mode::Vjp, &[0], &[0]);
    expand(&mut module, &Limits::default()).expect("expands");
    assert_eq!(module.function("slope").map(|f| f.name.to_string()), Some("slope".to_owned()));
    assert_eq!(number(&module, "slope", &[2.0, 1.0], 1), 12.0);
}

#[test]
fn derivatives_of_derivatives_and_of_their_callers_are_written_in_order() {
    let mut module = module(&format!(
        "{CUBE}
fn a_caller(x: f64) {{
  y: f64, slope: f64 = call cube.slope(x, 1.0)
  return slope
}}

fn cube.slope(x: f64, c: f64) {{
  return x, c
}}
"
    ));
    ask(&mut module, "cube.slope", "cube", Mode::Vjp, &[0], &[0]);
    ask(&mut module, "a_second", "a_caller", Mode::Vjp, &[0], &[0]);
    ask(&mut module, "a_third", "a_second", Mode::Jvp, &[0], &[1]);
    expand(&mut module, &Limits::default()).expect("expands");
    assert_eq!(number(&module, "a_caller", &[2.0], 0), 12.0);
    assert_eq!(number(&module, "a_second", &[2.0, 1.0], 1), 12.0);
    assert_eq!(number(&module, "a_third", &[2.0, 1.0, 1.0], 2), 6.0);
    assert!(module.items.values().all(|item| matches!(item, Item::Function(_))));
}

#[test]
fn functions_that_need_one_another_are_an_error_that_names_them() {
    let mut module = module(
        "
fn f(x: f64) {
  y: f64 = call g(x)
  return y
}

fn g(x: f64) {
  y: f64 = call f(x)
  return y
}
",
    );
    ask(&mut module, "df", "f", Mode::Vjp, &[0], &[0]);
    let names = ["f", "g", "f"].map(Into::into).to_vec();
    assert_eq!(expand(&mut module, &Limits::default()), Err(Error::Cycle(names)));
}

#[test]
fn a_derivative_of_itself_is_a_cycle() {
    let mut module = module(CUBE);
    ask(&mut module, "d", "d", Mode::Jvp, &[0], &[0]);
    assert_eq!(expand(&mut module, &Limits::default()), Err(Error::Cycle(["d", "d"].map(Into::into).to_vec())));
}

#[test]
fn the_order_of_derivatives_is_limited() {
    let mut module = module(CUBE);
    ask(&mut module, "d1", "cube", Mode::Jvp, &[0], &[0]);
    ask(&mut module, "d2", "d1", Mode::Jvp, &[0], &[1]);
    ask(&mut module, "d3", "d2", Mode::Jvp, &[0], &[2]);
    let limits = Limits { order: 2, ..Limits::default() };
    let error = Error::OrderLimit { function: "d3".into(), limit: 2 };
    assert_eq!(expand(&mut module.clone(), &limits), Err(error));
    assert_eq!(expand(&mut module, &Limits { order: 3, ..limits }).map(drop), Ok(()));
    assert_eq!(number(&module, "d3", &[2.0, 1.0, 1.0, 1.0], 3), 6.0);
}

#[test]
fn the_size_of_a_derivative_is_limited() {
    let mut module = module(CUBE);
    let d = Derived { of: "cube".into(), mode: Mode::Vjp, wrt: vec![0], outs: vec![0] };
    let limits = Limits { variables: 5, ..Limits::default() };
    let error = Error::SizeLimit { function: d.canonical_name(), limit: 5 };
    assert_eq!(derivative(&mut module, &d, &limits), Err(error));
}

#[test]
fn malformed_requests_are_errors() {
    let mut module = module(
        "
fn f(n: i64, x: f64) {
  return n, x
}
",
    );
    let mut error = |of: &str, wrt: usize, out: usize| {
        let d = Derived { of: of.into(), mode: Mode::Jvp, wrt: vec![wrt], outs: vec![out] };
        derivative(&mut module, &d, &Limits::default()).expect_err("an error")
    };
    assert_eq!(error("g", 0, 0), Error::UnknownFunction("g".into()));
    assert_eq!(error("f", 0, 1), Error::NotDifferentiable { function: "f".into(), parameter: 0 });
    assert_eq!(error("f", 7, 1), Error::NotDifferentiable { function: "f".into(), parameter: 7 });
    assert_eq!(error("f", 1, 0), Error::NoDerivativeOfResult { function: "f".into(), result: 0 });
    assert_eq!(error("f", 1, 2), Error::NoDerivativeOfResult { function: "f".into(), result: 2 });
}

/// Functions that each call the one before twice: `2^k` sines.
fn doubling(n: usize) -> Module {
    let mut text = "fn f0(x: f64) {\n  y: f64 = sin x\n  return y\n}\n".to_owned();
    for k in 1..=n {
        let callee = k - 1;
        text += &format!(
            "fn f{k}(x: f64) {{\n  y: f64 = call f{callee}(x)\n  z: f64 = call f{callee}(y)\n  return z\n}}\n"
        );
    }
    module(&text)
}

/// Defect D8: what is called twice at every level is derived once.
#[test]
fn d8_derivatives_of_calls_that_double_at_every_level_are_written_once() {
    let mut module = doubling(60);
    let d = Derived { of: "f60".into(), mode: Mode::Vjp, wrt: vec![0], outs: vec![0] };
    derivative(&mut module, &d, &Limits::default()).expect("expands");
    let n_stmts: usize = module.functions().map(|f| f.n_stmts()).sum();
    assert!(n_stmts < 20_000, "{n_stmts} statements");
}

#[test]
fn derivatives_of_calls_that_stay_are_those_of_calls_that_are_inlined() {
    let all = InlineLimit { shared_stmts: usize::MAX, ..InlineLimit::DEFAULT };
    for outer in [Mode::Jvp, Mode::Vjp] {
        let second = |inline| {
            let limits = Limits { inline, ..Limits::default() };
            let mut module = doubling(9);
            let first = Derived { of: "f9".into(), mode: Mode::Vjp, wrt: vec![0], outs: vec![0] };
            derivative(&mut module, &first, &limits).expect("expands");
            let second = Derived { of: first.canonical_name(), mode: outer, wrt: vec![0], outs: vec![1] };
            derivative(&mut module, &second, &limits).expect("expands");
            [0, 1, 2].map(|at| number(&module, &second.canonical_name(), &[0.7, 1.0, 1.0], at))
        };
        let expected = second(all);
        for inline in [InlineLimit::DEFAULT, InlineLimit::NONE] {
            for (found, expected) in second(inline).into_iter().zip(expected) {
                assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{outer:?}: {found}, not {expected}");
            }
        }
    }
}

#[test]
fn a_length_that_the_callee_names_is_in_a_derivative_what_the_caller_names_it() {
    let text = "
fn pad(n: i64, x: f64) {
  m: i64 = max n, 0
  y: f64[m] = fill x
  return m, y
}

fn f(n: i64, x: f64[n]) {
  all: f64[n, n] = par i < n (stack) {
    e: f64 = x[i]
    m: i64, y: f64[n] = call pad(n, e)
    yield y
  }
  return all
}
";
    let mut module = module(text);
    ask(&mut module, "forward", "f", Mode::Jvp, &[1], &[0]);
    ask(&mut module, "backward", "f", Mode::Vjp, &[1], &[0]);
    let limits = Limits { inline: InlineLimit::NONE, ..Limits::default() };
    expand(&mut module, &limits).expect("expands");
    assert_eq!(cotan_ir::verify_module(&module), Ok(()));
}
