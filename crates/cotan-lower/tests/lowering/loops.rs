//! Loops, assignment, and control that leaves early.

use crate::lowering::harness::*;

#[test]
fn for_counts_over_all_kinds_of_ranges() {
    let source = "fn f(lo: i64, hi: i64) -> (i64, i64, i64) {
  let mut a = 0
  for i in lo..hi { a = 10 * a + i }
  let mut b = 0
  for i in lo..=hi { b = 10 * b + i }
  let mut c = 0
  for i in (lo..hi).rev() { c = 10 * c + i }
  (a, b, c)
}";
    assert_eq!(floats(source, "f", &[i(1), i(4)]), [[123.0], [1234.0], [321.0]]);
    assert_eq!(floats(source, "f", &[i(4), i(1)]), [[0.0], [0.0], [0.0]]);
}

#[test]
fn for_runs_over_narrow_integers_and_over_rows() {
    let source = "fn f[N, M](x: f64[N, M], k: i32) -> (f64, i32) {
  let mut s = 0.0
  for row in x { s = 2.0 * s + (+/ row) }
  let mut t = 0_i32
  for i in 1_i32..k { t += i }
  (s, t)
}";
    let k = cotan_ir::Const::integer(cotan_ir::Elem::I32, 4).into();
    assert_eq!(floats(source, "f", &[m(2, &[1.0, 2.0, 3.0, 4.0]), k]), [[13.0], [6.0]]);
}

#[test]
fn inner_bounds_may_depend_on_outer_indices() {
    let source = "fn f(n: i64) -> i64 {
  let mut s = 0
  for i in 0..n { for j in i..n { s += i * j } }
  s
}";
    let expected: i64 = (0..5).flat_map(|i| (i..5).map(move |j| i * j)).sum();
    assert_eq!(float(source, "f", &[i(5)]), expected as f64);
}

#[test]
fn while_breaks_and_continues() {
    let source = "fn f(n: i64) -> (i64, i64) {
  let mut i = 0
  let mut s = 0
  while true {
    i += 1
    if i > n { break }
    if i % 2 == 0 { continue }
    if i == 7 { continue } else if i == 11 { break }
    s += i
  }
  (i, s)
}";
    assert_eq!(floats(source, "f", &[i(6)]), [[7.0], [1.0 + 3.0 + 5.0]]);
    assert_eq!(floats(source, "f", &[i(50)]), [[11.0], [1.0 + 3.0 + 5.0 + 9.0]]);
}

#[test]
fn a_condition_is_not_evaluated_after_a_break() {
    let source = "fn f[N](v: f64[N]) -> i64 {
  let mut k = 0
  while v[k] > 0.0 {
    k += 1
    if k == N { break }
  }
  k
}";
    assert_eq!(float(source, "f", &[v(&[1.0, 2.0, 3.0])]), 3.0);
    assert_eq!(float(source, "f", &[v(&[1.0, -2.0, 3.0])]), 1.0);
}

#[test]
fn what_follows_a_break_does_not_run() {
    let source = "fn f[N](v: f64[N], n: i64) -> f64 {
  let mut s = 0.0
  for k in 0..n {
    if k >= N { break }
    s += v[k]
  }
  s
}";
    assert_eq!(float(source, "f", &[v(&[1.0, 2.0]), i(10)]), 3.0);
    assert_eq!(float(source, "f", &[v(&[1.0, 2.0]), i(1)]), 1.0);
}

#[test]
fn returns_leave_nested_loops_with_their_value() {
    let source = "fn find[N, M](x: f64[N, M], limit: f64) -> (i64, i64) {
  for i in 0..N {
    for j in 0..M {
      if x[i, j] > limit { return (i, j) }
    }
  }
  (-1, -1)
}";
    let x = m(2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(floats(source, "find", &[x.clone(), f(4.5)]), [[1.0], [1.0]]);
    assert_eq!(floats(source, "find", &[x.clone(), f(0.0)]), [[0.0], [0.0]]);
    assert_eq!(floats(source, "find", &[x, f(9.0)]), [[-1.0], [-1.0]]);
}

#[test]
fn returns_in_branches_skip_the_rest() {
    let source = "fn f(x: f64, k: i64) -> f64 {
  let mut y = x
  if k > 0 {
    if k == 1 { return 1.0 }
    y += 1.0
  } else {
    y += 2.0
  }
  if k == 5 { return y }
  y * 10.0
}";
    for (k, expected) in [(1, 1.0), (2, 40.0), (0, 50.0), (5, 4.0)] {
        assert_eq!(float(source, "f", &[f(3.0), i(k)]), expected);
    }
}

#[test]
fn values_of_branches_may_return() {
    let source = "fn f(x: f64, k: i64) -> f64 {
  let y = if k == 0 { return -1.0 } else { x + 1.0 }
  let z = if k == 1 { if x > 0.0 { return -2.0 }; 5.0 } else { y }
  y + z
}";
    for (x, k, expected) in [(3.0, 0, -1.0), (3.0, 1, -2.0), (-3.0, 1, 3.0), (3.0, 2, 8.0)] {
        assert_eq!(float(source, "f", &[f(x), i(k)]), expected);
    }
}

#[test]
fn places_are_elements_slices_and_fields() {
    let source = "struct S { a: f64[4], k: i64 }
fn f(x: f64[4], m: f64[2, 3]) -> (f64[4], i64, f64[2, 3]) {
  let mut s = S { a: x, k: 0 }
  s.a[1] += 10.0
  s.a[2..4] = [7.0, 8.0]
  s.k = 3
  let mut n = m
  n[0] = [1.0, 2.0, 3.0]
  n[.., 1] = [20.0, 50.0]
  n[1, 0..2] .*= 2.0
  n[1][2] max= 100.0
  (s.a, s.k, n)
}";
    let args = [v(&[1.0, 2.0, 3.0, 4.0]), m(2, &[0.0; 6])];
    let expected: [&[f64]; 3] = [&[1.0, 12.0, 7.0, 8.0], &[3.0], &[1.0, 20.0, 3.0, 0.0, 100.0, 100.0]];
    assert_eq!(floats(source, "f", &args), expected);
}

#[test]
fn tuples_of_places_are_computed_before_they_are_stored() {
    let source = "fn f(n: i64) -> i64 {
  let mut p = 0
  let mut q = 1
  for _ in 0..n { (p, q) = (q, p + q) }
  p
}";
    assert_eq!(float(source, "f", &[i(10)]), 55.0);
}

#[test]
fn iterate_until_steps_before_it_tests() {
    let source = "fn f(x: f64, n: i64) -> f64 = iterate_until(x, |s| 2.0 * s, |s| s > 10.0, n)";
    assert_eq!(float(source, "f", &[f(1.0), i(100)]), 16.0);
    assert_eq!(float(source, "f", &[f(50.0), i(100)]), 100.0);
    assert_eq!(float(source, "f", &[f(1.0), i(2)]), 4.0);
    assert_eq!(float(source, "f", &[f(1.0), i(0)]), 1.0);
}

#[test]
fn iterate_scan_and_fold_carry_their_state() {
    let source = "fn f[N](v: f64[N], n: i64) -> (f64, f64[N], f64, (f64, i64)) {
  let a = iterate(n, 1.0, |s| s * 3.0)
  let b = scan(0.0, |sum, x| sum + x, v)
  let c = fold(1.0, |p, x| p * x, v)
  let d = iterate(n, (0.0, 0), |s| (s.0 + 0.5, s.1 + 1))
  (a, b, c, d)
}";
    let expected: [&[f64]; 5] = [&[9.0], &[2.0, 5.0, 9.0], &[24.0], &[1.0], &[2.0]];
    assert_eq!(floats(source, "f", &[v(&[2.0, 3.0, 4.0]), i(2)]), expected);
}

#[test]
fn returns_of_a_length_that_only_the_iteration_knows() {
    let source = "fn f[N](v: f64[N], limit: f64) -> f64[_] {
  let mut s = 0.0
  for i in 0..N {
    s += v[i]
    if s > limit { return v[0..i] }
  }
  concat(v, v)
}
fn g[N](v: f64[N], limit: f64) -> (f64[_, 2], i64) {
  for i in 0..N {
    for j in 0..i {
      if v[i] + v[j] > limit { return (tabulate(j + 1, |k| [v[k], 1.0]), i) }
    }
  }
  (zeros[f64]([0, 2]), -1)
}
fn d[N](v: f64[N], limit: f64) -> f64[N] = grad(|w: f64[N]| { let r = f(w, limit); +/ (r .* r) })(v)";
    let x = v(&[1.0, 2.0, 3.0]);
    assert_eq!(floats(source, "f", &[x.clone(), f(2.5)]), [[1.0]]);
    assert_eq!(floats(source, "f", &[x.clone(), f(3.0)]), [[1.0, 2.0]]);
    assert_eq!(floats(source, "f", &[x.clone(), f(9.0)]), [[1.0, 2.0, 3.0, 1.0, 2.0, 3.0]]);
    let expected: [&[f64]; 2] = [&[1.0, 1.0, 2.0, 1.0], &[2.0]];
    assert_eq!(floats(source, "g", &[x.clone(), f(4.5)]), expected);
    let expected: [&[f64]; 2] = [&[], &[-1.0]];
    assert_eq!(floats(source, "g", &[x.clone(), f(9.0)]), expected);
    assert_eq!(floats(source, "d", &[x.clone(), f(3.0)]), [[2.0, 4.0, 0.0]]);
    assert_eq!(floats(source, "d", &[x, f(9.0)]), [[4.0, 8.0, 12.0]]);
}

#[test]
fn control_may_escape_from_operands() {
    let source = "fn f[N](v: f64[N], k: i64) -> f64 {
  let mut log = 0.0
  let mut w = v
  for i in 0..N {
    log += v[i] * (if i == k { break } else { 2.0 })
    w[if i == 5 { return -1.0 } else { i }] = 0.5
    if v[i] > 100.0 && (if k < 0 { continue } else { true }) { return log }
  }
  log + max(w[0], if k == 77 { return -77.0 } else { 0.0 })
}";
    assert_eq!(float(source, "f", &[v(&[1.0, 2.0, 3.0]), i(2)]), 6.5);
    assert_eq!(float(source, "f", &[v(&[1.0, 2.0, 3.0]), i(9)]), 12.5);
    assert_eq!(float(source, "f", &[v(&[1.0, 200.0, 3.0]), i(9)]), 402.0);
    assert_eq!(float(source, "f", &[v(&[1.0, 200.0, 3.0]), i(-1)]), 408.5);
    assert_eq!(float(source, "f", &[v(&[1.0; 7]), i(-1)]), -1.0);
    assert_eq!(float(source, "f", &[v(&[1.0]), i(77)]), -77.0);
}

#[test]
fn a_condition_that_returns() {
    let source = "fn f(n: i64) -> i64 {
  let mut i = 0
  while (if i == 3 { return -i } else { i < n }) { i += 1 }
  if i == 0 { i = 10 } else if (if i == 1 { return 11 } else { i == 2 }) { i = 20 }
  i
}";
    for (n, expected) in [(0, 10.0), (1, 11.0), (2, 20.0), (9, -3.0)] {
        assert_eq!(float(source, "f", &[i(n)]), expected);
    }
}

#[test]
fn empty_ranges_run_nothing_however_far_they_end() {
    let source = "fn f(lo: i64, hi: i64) -> i64 {
  let mut n = 0
  for _ in lo..hi { n += 1 }
  for _ in 5..hi { n += 1 }
  n
}";
    assert_eq!(float(source, "f", &[i(i64::MAX), i(i64::MIN)]), 0.0);
    assert_eq!(float(source, "f", &[i(-2), i(7)]), 11.0);
}
