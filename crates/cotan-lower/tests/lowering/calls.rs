//! Calls, generics, lambdas, functions as arguments.

use crate::lowering::harness::*;

#[test]
fn lambdas_capture_and_functions_are_passed() {
    let source = "fn twice(f: (f64) -> f64, x: f64) -> f64 = f(f(x))
fn inc(x: f64) -> f64 = x + 1.0
fn f(a: f64, x: f64) -> (f64, f64) = (twice(|y| a * y, x), twice(inc, x))";
    assert_eq!(floats(source, "f", &[f(3.0), f(2.0)]), [[18.0], [4.0]]);
}

#[test]
fn functions_are_passed_on() {
    let source = "fn twice(f: (f64) -> f64, x: f64) -> f64 = f(f(x))
fn four(f: (f64) -> f64, x: f64) -> f64 = twice(|y| twice(f, y), x)
fn f(a: f64, x: f64) -> f64 = four(|y| a * y, x)";
    assert_eq!(float(source, "f", &[f(3.0), f(2.0)]), 162.0);
}

#[test]
fn a_return_in_a_lambda_leaves_the_lambda() {
    let source = "fn f[N](v: f64[N]) -> f64[N] = map(|x| { if x < 0.0 { return 0.0 }; let y = x * x; y }, v)";
    assert_eq!(floats(source, "f", &[v(&[-1.0, 2.0, 3.0])]), [[0.0, 4.0, 9.0]]);
}

#[test]
fn generic_functions_work_at_each_type() {
    let source = "fn total[T: Numeric, N](v: T[N]) -> T {
  let mut s = v[0] - v[0]
  for x in v { s += x }
  s
}
fn f[N](x: f64[N], k: i64[N]) -> (f64, i64) = (total(x), total(k))";
    assert_eq!(floats(source, "f", &[v(&[1.5, 2.0]), iv(&[3, 4])]), [[3.5], [7.0]]);
}

#[test]
fn sizes_that_a_callee_computes_come_back() {
    let source = "fn twice[N](v: f64[N]) -> f64[2*N] = concat(v, v)
fn positive[N](v: f64[N]) -> f64[_] {
  let mut n = 0
  for x in v { if x > 0.0 { n += 1 } }
  v[0..n]
}
fn f[N](v: f64[N]) -> (f64[2*N + 1], f64) {
  let w = concat(twice(v), [0.5])
  let p = positive(v)
  (w, +/ (p .* p))
}";
    let expected: [&[f64]; 2] = [&[1.0, 2.0, -3.0, 1.0, 2.0, -3.0, 0.5], &[5.0]];
    assert_eq!(floats(source, "f", &[v(&[1.0, 2.0, -3.0])]), expected);
}

#[test]
fn branches_may_give_different_lengths() {
    let source = "fn f[N](v: f64[N], k: i64) -> f64 {
  let w = if k > 0 { v[0..k] } else { concat(v, v) }
  +/ w
}";
    assert_eq!(float(source, "f", &[v(&[1.0, 2.0, 4.0]), i(2)]), 3.0);
    assert_eq!(float(source, "f", &[v(&[1.0, 2.0, 4.0]), i(0)]), 14.0);
}
