//! Literals, operators, casts, aggregates.

use crate::lowering::harness::*;

#[test]
fn arithmetic_follows_precedence() {
    let source = "fn f(x: f64, y: f64) -> f64 = -x ** 2.0 + y * 3.0 - x / y";
    assert_eq!(float(source, "f", &[f(2.0), f(4.0)]), -4.0 + 12.0 - 0.5);
}

#[test]
fn integer_division_truncates_and_the_remainder_has_the_sign_of_the_dividend() {
    let source = "fn f(a: i64, b: i64) -> (i64, i64) = (a / b, a % b)";
    assert_eq!(floats(source, "f", &[i(-7), i(2)]), [[-3.0], [-1.0]]);
}

#[test]
fn powers_take_integers_and_floats() {
    let source = "fn f(x: f64, n: i64) -> (f64, f64, i64) = (x ** n, x ** 0.5, n ** 3)";
    assert_eq!(floats(source, "f", &[f(4.0), i(3)]), [[64.0], [2.0], [27.0]]);
}

#[test]
fn dotted_operators_lift_scalars() {
    let source = "fn f[N](v: f64[N], s: f64) -> f64[N] = 2.0 .* v .+ s";
    assert_eq!(floats(source, "f", &[v(&[1.0, 2.0]), f(0.5)]), [[2.5, 4.5]]);
}

#[test]
fn integer_tensors_are_computed_element_by_element() {
    let source = "fn f[N](v: i64[N], s: i64) -> i64[N] = v .* v .- s";
    assert_eq!(floats(source, "f", &[iv(&[1, 2, 3]), i(1)]), [[0.0, 3.0, 8.0]]);
}

#[test]
fn primitives_work_on_scalars_and_tensors() {
    let source = "fn f[N](v: f64[N]) -> f64[N] = max(abs(v), 1.0) .+ relu(v)";
    assert_eq!(floats(source, "f", &[v(&[-3.0, 0.5])]), [[3.0, 1.5]]);
}

#[test]
fn casts_convert_between_all_types() {
    let source = "fn f(n: i64, x: f64, c: bool) -> (f64, i64, f64, i32) = (n as f64, x as i64, c as f64, n as i32)";
    assert_eq!(floats(source, "f", &[i(3), f(-2.7), b(true)]), [[3.0], [-2.0], [1.0], [3.0]]);
}

#[test]
fn structs_and_tuples_vanish_and_come_back() {
    let source = "struct P { x: f64, y: f64 }
fn swap(p: P) -> P = P { x: p.y, y: p.x }
fn f(a: f64, b: f64) -> (f64, P) {
  let p = swap(P { x: a, y: b })
  let q = P { x: 10.0, ..p }
  let (s, t) = (q.x + q.y, q)
  (s, t)
}";
    assert_eq!(floats(source, "f", &[f(1.0), f(2.0)]), [[11.0], [10.0], [1.0]]);
}

#[test]
fn lazy_operators_do_not_run_what_is_not_needed() {
    let source = "fn f[N](v: f64[N], k: i64) -> bool = k >= 0 && k < N && v[k] > 0.0
fn g[N](v: f64[N], k: i64) -> bool = k < 0 || k >= N || v[k] > 0.0";
    assert_eq!(float(source, "f", &[v(&[1.0, -1.0]), i(0)]), 1.0);
    assert_eq!(float(source, "f", &[v(&[1.0, -1.0]), i(1)]), 0.0);
    assert_eq!(float(source, "f", &[v(&[1.0, -1.0]), i(7)]), 0.0);
    assert_eq!(float(source, "g", &[v(&[1.0, -1.0]), i(-7)]), 1.0);
    assert_eq!(float(source, "g", &[v(&[1.0, -1.0]), i(1)]), 0.0);
}

#[test]
fn branches_give_values_and_run_only_one_arm() {
    let source = "fn f[N](v: f64[N], k: i64) -> f64 = if k < 0 { -1.0 } else if k < N { v[k] } else { 0.5 }";
    for (k, expected) in [(-3, -1.0), (1, 20.0), (2, 0.5)] {
        assert_eq!(float(source, "f", &[v(&[10.0, 20.0]), i(k)]), expected);
    }
}

#[test]
fn sizes_are_values_and_dims_are_polynomials() {
    let source = "fn f[N](x: f64[N], y: f64[N*(N+1)/2]) -> f64[2*N + 1] {
  let n = N as f64
  let z: f64[2*N + 1] = concat(x, concat(y[0..N], [n]))
  z
}";
    let args = [v(&[1.0, 2.0]), v(&[3.0, 4.0, 5.0])];
    assert_eq!(floats(source, "f", &args), [[1.0, 2.0, 3.0, 4.0, 2.0]]);
}
