//! Elements, rows, slices, gathers.

use crate::lowering::harness::*;

#[test]
fn rows_columns_and_slices_of_a_matrix() {
    let source = "fn f[N, M](x: f64[N, M]) -> (f64[M], f64[N], f64[N, 2], f64, f64[_]) =
  (x[1], x[.., 2], x[.., 1..3], x[1, 0], x[1, 1..])";
    let expected: [&[f64]; 5] = [&[4.0, 5.0, 6.0], &[3.0, 6.0], &[2.0, 3.0, 5.0, 6.0], &[4.0], &[5.0, 6.0]];
    assert_eq!(floats(source, "f", &[m(2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])]), expected);
}

#[test]
fn gathers_along_any_axis() {
    let source = "fn f[N, M, K](x: f64[N, M], idx: i64[K]) -> (f64[K, M], f64[N, K]) = (x[idx], x[.., idx])";
    let x = m(2, &[1.0, 2.0, 3.0, 4.0]);
    let expected: [&[f64]; 2] = [&[3.0, 4.0, 1.0, 2.0, 3.0, 4.0], &[2.0, 1.0, 2.0, 4.0, 3.0, 4.0]];
    assert_eq!(floats(source, "f", &[x, iv(&[1, 0, 1])]), expected);
}

#[test]
fn slices_with_ends_that_include_and_that_are_missing() {
    let source = "fn f[N](v: f64[N], lo: i64, hi: i64) -> (f64[_], f64[_], f64[_]) = (v[lo..=hi], v[..hi], v[lo..])";
    let expected: [&[f64]; 3] = [&[2.0, 3.0], &[1.0, 2.0], &[2.0, 3.0, 4.0]];
    assert_eq!(floats(source, "f", &[v(&[1.0, 2.0, 3.0, 4.0]), i(1), i(2)]), expected);
}

#[test]
fn ranges_are_tensors() {
    let source = "fn f(lo: i64, hi: i64) -> (i64[_], i64) = (lo..hi, +/ (lo..hi))";
    let expected: [&[f64]; 2] = [&[2.0, 3.0, 4.0], &[9.0]];
    assert_eq!(floats(source, "f", &[i(2), i(5)]), expected);
    let empty: [&[f64]; 2] = [&[], &[0.0]];
    assert_eq!(floats(source, "f", &[i(5), i(2)]), empty);
}

#[test]
fn tensors_of_structs_are_stored_by_field() {
    let source = "struct P { x: f64, v: f64[2] }
fn f[N](ps: P[N], k: i64) -> (f64, P, P[N]) {
  let mut qs = ps
  qs[k].x = 100.0
  qs[k].v[1] += 1.0
  (ps[k].v[1], ps[0], qs)
}";
    let args = [v(&[1.0, 2.0]), m(2, &[3.0, 4.0, 5.0, 6.0]), i(1)];
    let expected: [&[f64]; 5] = [&[6.0], &[1.0], &[3.0, 4.0], &[1.0, 100.0], &[3.0, 4.0, 5.0, 7.0]];
    assert_eq!(floats(source, "f", &args), expected);
}
