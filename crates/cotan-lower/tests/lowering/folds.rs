//! Folds, tabulate, map, and the tensor functions of the prelude.

use crate::lowering::harness::*;

#[test]
fn folds_take_the_last_axis_unless_told() {
    let source = "fn f[N, M](x: f64[N, M]) -> (f64[N], f64[M], f64, f64[N]) =
  (+/ x, +/[axis = 0] x, +/[all] x, max/ x)";
    let expected: [&[f64]; 4] = [&[6.0, 15.0], &[5.0, 7.0, 9.0], &[21.0], &[3.0, 6.0]];
    assert_eq!(floats(source, "f", &[m(2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])]), expected);
}

#[test]
fn folds_of_all_operators() {
    let source = "fn f[N](x: f64[N], c: bool[N]) -> (f64, f64, f64, f64, f64, bool, bool) =
  (*/ x, -/ x, // x, max/ x, min/ x, and/ c, or/ c)";
    let c = cotan_ops::Value { elem: cotan_ir::Elem::Bool, dims: vec![3], bits: vec![1, 0, 1] };
    let expected = [[48.0], [8.0 - 3.0 - 2.0], [8.0 / 3.0 / 2.0], [8.0], [2.0], [0.0], [1.0]];
    assert_eq!(floats(source, "f", &[v(&[8.0, 3.0, 2.0]), c]), expected);
}

#[test]
fn strict_folds_over_several_axes_go_row_by_row() {
    let source = "fn f[N, M](x: f64[N, M]) -> f64 = -/[all] x";
    assert_eq!(float(source, "f", &[m(2, &[10.0, 1.0, 2.0, 3.0])]), 4.0);
}

#[test]
fn sums_of_integers_fail_exactly_when_they_do_not_fit() {
    let source = "fn f[N](x: i64[N]) -> i64 = +/ x";
    assert_eq!(float(source, "f", &[iv(&[i64::MAX, 5, -5, -7])]), (i64::MAX - 7) as f64);
    assert_eq!(float(source, "f", &[iv(&[-1, -2])]), -3.0);
    assert_eq!(failure(source, "f", &[iv(&[i64::MAX, 1])]).0, cotan_ir::CheckKind::IntegerOverflow);
    assert_eq!(failure(source, "f", &[iv(&[i64::MIN, -1])]).0, cotan_ir::CheckKind::IntegerOverflow);
}

#[test]
fn folds_by_functions_go_from_left_to_right() {
    let source = "fn minus(a: f64, b: f64) -> f64 = a - b
fn f[N](x: f64[N]) -> (f64, f64) = (minus/x, (|a, b| 2.0 * a + b)/0.0/x)";
    assert_eq!(floats(source, "f", &[v(&[8.0, 3.0, 2.0])]), [[3.0], [4.0 * 8.0 + 6.0 + 2.0]]);
}

#[test]
fn tabulate_stacks_scalars_rows_and_tuples() {
    let source = "fn f(n: i64) -> (f64[n], f64[n, 2], i64[n]) {
  let t = tabulate(n, |i| (i as f64, i * i))
  (t.0, tabulate(n, |i| [i as f64, 1.0]), t.1)
}
fn g(n: i64, k: i64) -> i64[n, k] = tabulate([n, k], |i, j| 10 * i + j)";
    let expected: [&[f64]; 3] = [&[0.0, 1.0, 2.0], &[0.0, 1.0, 1.0, 1.0, 2.0, 1.0], &[0.0, 1.0, 4.0]];
    assert_eq!(floats(source, "f", &[i(3)]), expected);
    assert_eq!(floats(source, "g", &[i(2), i(3)]), [[0.0, 1.0, 2.0, 10.0, 11.0, 12.0]]);
}

#[test]
fn tabulate_stacks_rows_whose_length_only_the_body_knows() {
    let source = "fn f[N](v: f64[N], n: i64, k: i64) -> f64[_, _] = tabulate(n, |i| v[i..i + k])
fn count(n: i64, k: i64) -> f64[_, _] = tabulate(n, |i| tabulate(k * k, |j| (i + j) as f64))";
    let x = v(&[1.0, 2.0, 3.0, 4.0]);
    assert_eq!(floats(source, "f", &[x.clone(), i(3), i(2)]), [[1.0, 2.0, 2.0, 3.0, 3.0, 4.0]]);
    assert_eq!(floats(source, "f", &[x, i(0), i(2)]), [[0.0; 0]]);
    assert_eq!(floats(source, "count", &[i(2), i(2)]), [[0.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 4.0]]);
}

#[test]
fn map_and_zip_go_along_the_first_axis() {
    let source = "fn f[N, M](x: f64[N, M], y: f64[N]) -> (f64[N], f64) {
  let scaled = map(|row, s| s * (+/ row), x, y)
  let pairs = zip(y, scaled)
  let p = pairs[1]
  (scaled, p.0 + p.1)
}";
    let expected: [&[f64]; 2] = [&[30.0, 140.0], &[160.0]];
    assert_eq!(floats(source, "f", &[m(2, &[1.0, 2.0, 3.0, 4.0]), v(&[10.0, 20.0])]), expected);
}

#[test]
fn products_of_matrices_and_vectors() {
    let source = "fn f[N, M, K](a: f64[N, M], b: f64[M, K], v: f64[M]) -> (f64[N, K], f64[N], f64[K], f64) =
  (a @ b, a @ v, v @ b, v @ v)
fn g[N, M](a: i64[N, M], v: i64[M]) -> i64[N] = a @ v";
    let args = [m(2, &[1.0, 2.0, 3.0, 4.0]), m(2, &[1.0, 0.0, 1.0, 1.0]), v(&[1.0, 10.0])];
    let expected: [&[f64]; 4] = [&[3.0, 2.0, 7.0, 4.0], &[21.0, 43.0], &[11.0, 10.0], &[101.0]];
    assert_eq!(floats(source, "f", &args), expected);
    let a = cotan_ops::Value::i64s(&[2, 2], &[1, 2, 3, 4]);
    assert_eq!(floats(source, "g", &[a, iv(&[1, 10])]), [[21.0, 43.0]]);
}

#[test]
fn functions_on_whole_tensors() {
    let source = "fn f[N, M](x: f64[N, M], v: f64[M]) -> (f64, f64, f64, f64, f64, f64[M, N], f64[M]) =
  (sum(x), prod(x), mean(x), dot(v, v), norm(v), transpose(x), reverse(v))
fn g[N](v: f64[N], a: f64[N, N]) -> (f64[N, N], f64[N], f64) = (diag(v), diag(a), trace(a))";
    let expected: [&[f64]; 7] = [&[10.0], &[24.0], &[2.5], &[25.0], &[5.0], &[1.0, 3.0, 2.0, 4.0], &[4.0, 3.0]];
    assert_eq!(floats(source, "f", &[m(2, &[1.0, 2.0, 3.0, 4.0]), v(&[3.0, 4.0])]), expected);
    let expected: [&[f64]; 3] = [&[3.0, 0.0, 0.0, 4.0], &[1.0, 4.0], &[5.0]];
    assert_eq!(floats(source, "g", &[v(&[3.0, 4.0]), m(2, &[1.0, 2.0, 3.0, 4.0])]), expected);
}

#[test]
fn norms_of_large_numbers_do_not_overflow_and_of_nothing_are_zero() {
    let source = "fn f[N](v: f64[N]) -> f64 = norm(v)";
    assert_eq!(float(source, "f", &[v(&[3.0, 4.0])]), 5.0);
    assert!((float(source, "f", &[v(&[3e200, 4e200])]) / 5e200 - 1.0).abs() < 1e-15);
    assert!((float(source, "f", &[v(&[3e-200, 4e-200])]) / 5e-200 - 1.0).abs() < 1e-15);
    assert_eq!(float(source, "f", &[v(&[])]), 0.0);
    assert_eq!(float(source, "f", &[v(&[0.0, 0.0])]), 0.0);
    assert!(float(source, "f", &[v(&[f64::NAN, 1.0])]).is_nan());
}

#[test]
fn tensors_are_made_and_reshaped() {
    let source = "fn f(n: i64) -> (f64[n, 2], f64[n], f64[n], i64[n], f64[n]) =
  (zeros[f64]([n, 2]), ones[f64](n), full(n, 7.0), iota(n), zeros_like(ones[f64](n)))
fn g[N](v: f64[N]) -> (f64[3, N], f64[2, 2], f64[_]) = (broadcast(v, [3, N]), reshape(v, [2, 2]), concat(v, v))";
    let expected: [&[f64]; 5] = [&[0.0; 4], &[1.0, 1.0], &[7.0, 7.0], &[0.0, 1.0], &[0.0, 0.0]];
    assert_eq!(floats(source, "f", &[i(2)]), expected);
    let x = [1.0, 2.0, 3.0, 4.0];
    let expected: [&[f64]; 3] = [&[x, x, x].concat(), &x, &[x, x].concat()];
    assert_eq!(floats(source, "g", &[v(&x)]), expected);
}
