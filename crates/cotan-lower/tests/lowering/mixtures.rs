//! Constructs inside each other.

use crate::lowering::harness::*;

#[test]
fn gradient_descent_in_a_loop() {
    let source = "fn loss[N](w: f64[N], x: f64[N]) -> f64 { let d = w .- x; 0.5 * (+/ (d .* d)) }
fn fit[N](x: f64[N], n: i64) -> f64[N] {
  let mut w = zeros_like(x)
  for _ in 0..n { w = w .- 0.5 .* grad[w](loss)(w, x) }
  w
}
fn line(a: f64, n: i64) -> f64 {
  let mut s = a
  for k in 0..n {
    let step = grad(|y| s * y * y + (k as f64) * y)(1.0)
    s += 0.1 * step
  }
  s
}";
    assert_eq!(floats(source, "fit", &[v(&[8.0, -4.0]), i(2)]), [[6.0, -3.0]]);
    let mut s = 1.0;
    for k in 0..3 {
        s += 0.1 * (2.0 * s + f64::from(k));
    }
    assert!((float(source, "line", &[f(1.0), i(3)]) - s).abs() < 1e-12);
}

#[test]
fn sizes_that_are_values_pass_through_calls() {
    let source = "fn powers(x: f64, n: i64) -> f64[n] = tabulate(n, |k| x ** k)
fn f(x: f64, k: i64) -> (f64[k], f64) {
  let p = powers(x, k + 2)
  let q = powers(x, k)
  (p[2..k + 2] ./ q, +/ p)
}
fn g[N](v: f64[N], k: i64) -> f64[N] {
  let p = powers(v[0], 2 * k)
  let q: f64[N] = p[k..]
  v .+ q
}";
    let expected: [&[f64]; 2] = [&[4.0, 4.0], &[15.0]];
    assert_eq!(floats(source, "f", &[f(2.0), i(2)]), expected);
    assert_eq!(floats(source, "g", &[v(&[2.0, 1.0, 0.0]), i(3)]), [[10.0, 17.0, 32.0]]);
}

#[test]
fn generic_structs_in_tensors_loops_and_branches() {
    let source = "struct Params[K, D] { mu: f64[K, D], s: f64[K] }
fn scaled[K, D](p: Params[K, D], a: f64) -> Params[K, D] = Params { mu: a .* p.mu, s: a .* p.s }
fn f[K, D](p: Params[K, D], n: i64) -> Params[K, D] {
  let mut q = p
  for i in 0..n {
    q = if i % 2 == 0 { scaled(q, 2.0) } else { q }
    q.mu[0, 0] += 1.0
  }
  q
}
struct P { x: f64, y: i64 }
fn g(n: i64) -> (f64, i64, P) {
  let ps = tabulate(n, |i| P { x: 0.5 * (i as f64), y: i })
  let xs = map(|p| p.x + 1.0, ps)
  let last = fold(P { x: 0.0, y: 0 }, |acc, p| P { x: acc.x + p.x, y: max(acc.y, p.y) }, ps)
  (+/ xs, ps[1].y, last)
}";
    let args = [m(1, &[1.0, 2.0]), v(&[3.0]), i(3)];
    let expected: [&[f64]; 2] = [&[9.0, 8.0], &[12.0]];
    assert_eq!(floats(source, "f", &args), expected);
    assert_eq!(floats(source, "g", &[i(3)]), [[4.5], [1.0], [1.5], [2.0]]);
}

#[test]
fn returns_in_lambdas_in_loops_that_return() {
    let source = "fn f[N, M](x: f64[N, M], limit: f64) -> f64 {
  let mut best = 0.0
  for i in 0..N {
    let firsts = tabulate(M, |j| {
      let mut k = 0
      while k < M {
        if x[i, k] > x[i, j] { return k }
        k += 1
      }
      -1
    })
    if firsts[0] == 1 { return 100.0 + (i as f64) }
    for k in firsts { if k < 0 { best += 1.0; if best > limit { break } } }
  }
  best
}";
    let x = m(2, &[3.0, 1.0, 2.0, 1.0, 5.0, 4.0]);
    assert_eq!(float(source, "f", &[x, f(9.0)]), 101.0);
    let x = m(2, &[3.0, 1.0, 2.0, 6.0, 5.0, 4.0]);
    assert_eq!(float(source, "f", &[x.clone(), f(9.0)]), 2.0);
    assert_eq!(float(source, "f", &[x, f(0.5)]), 2.0);
}

#[test]
fn derivatives_of_results_of_run_time_length() {
    let source = "fn head[N](v: f64[N], k: i64) -> f64[_] { let w = v[0..k]; w .* w }
fn f[N](v: f64[N], k: i64) -> (f64[_, _], f64[N], f64) {
  let j = jacobian[v](head)(v, k)
  let (value, cot) = vjp[v](head)(v, k, ones[f64](k))
  (j, cot, +/ value)
}";
    let args = [v(&[1.0, 2.0, 3.0]), i(2)];
    let expected: [&[f64]; 3] = [&[2.0, 0.0, 0.0, 0.0, 4.0, 0.0], &[2.0, 4.0, 0.0], &[5.0]];
    assert_eq!(floats(source, "f", &args), expected);
}

#[test]
fn ragged_rows_inside_ragged_rows() {
    let source = "fn count[N](v: i64[N]) -> i64 { let mut n = 0; for x in v { n += x }; n }
fn f[N](v: i64[N], k: i64) -> f64 {
  let t = tabulate(2, |i| tabulate(count(v), |j| tabulate(v[0] + k, |l| (i + j + l) as f64)))
  +/[all] t
}";
    let expected: i64 = (0..2).flat_map(|i| (0..3).flat_map(move |j| (0..2).map(move |l| i + j + l))).sum();
    assert_eq!(float(source, "f", &[iv(&[1, 2]), i(1)]), expected as f64);
}

#[test]
fn functions_without_a_value() {
    let source = "fn nothing(x: f64) -> () { let y = x }
fn f(x: f64) -> f64 { nothing(x); x }";
    assert_eq!(float(source, "f", &[f(2.0)]), 2.0);
    assert_eq!(floats(source, "nothing", &[f(2.0)]), [[0.0; 0]; 0]);
}

#[test]
fn checks_of_what_is_not_run_do_not_fire() {
    let source = "fn f[N](v: f64[N], k: i64) -> f64 {
  let mut s = 0.0
  let mut i = k
  while i < N && v[i] > 0.0 {
    s += if i + 1 < N { v[i + 1] } else { 0.5 }
    i += 1
    if i == N - 1 { continue }
    s += 1.0
  }
  s
}";
    assert_eq!(float(source, "f", &[v(&[1.0, 2.0, 3.0]), i(0)]), 2.0 + 1.0 + 3.0 + 0.5 + 1.0);
    assert_eq!(float(source, "f", &[v(&[]), i(5)]), 0.0);
}
