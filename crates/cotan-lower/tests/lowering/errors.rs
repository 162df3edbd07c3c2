//! Run-time errors: what fails, and where.

use crate::lowering::harness::*;
use cotan_ir::CheckKind::{self, *};

#[track_caller]
fn fails(source: &str, args: &[cotan_ops::Value], kind: CheckKind, text: &str, shown: &[i128]) {
    assert_eq!(failure(source, "f", args), (kind, text.to_owned(), shown.to_vec()));
}

#[test]
fn indices_out_of_range() {
    let x = [v(&[1.0, 2.0]), i(2)];
    fails("fn f[N](v: f64[N], k: i64) -> f64 = v[k + 1]", &x, IndexRange, "k + 1", &[3, 2]);
    fails("fn f[N](v: f64[N], k: i64) -> f64 { let mut w = v; w[k] = 1.0; w[0] }", &x, IndexRange, "k", &[2, 2]);
    fails("fn f[N](v: f64[N], k: i64) -> f64[_] = v[0..k + 1]", &x, SliceRange, "0..k + 1", &[0, 3, 2]);
    fails("fn f[N](v: f64[N], k: i64) -> f64[_] = v[k..1]", &x, SliceRange, "k..1", &[2, 1, 2]);
    let gather = [v(&[1.0, 2.0]), iv(&[0, -1])];
    fails("fn f[N, K](v: f64[N], k: i64[K]) -> f64[K] = v[k]", &gather, IndexRange, "k", &[-1, 2]);
    let large = cotan_ops::Value::from(cotan_ir::Const::integer(cotan_ir::Elem::U64, u64::MAX.into()));
    let given = [x[0].clone(), large];
    fails("fn f[N](v: f64[N], k: u64) -> f64 = v[k]", &given, IndexRange, "k", &[u64::MAX.into(), 2]);
}

#[test]
fn integers_that_do_not_fit() {
    let x = [i(i64::MAX), i(2)];
    fails("fn f(a: i64, b: i64) -> i64 = a + b", &x, IntegerOverflow, "a + b", &[i128::from(i64::MAX), 2]);
    fails("fn f(a: i64, b: i64) -> i64 = 0 + a * b", &x, IntegerOverflow, "a * b", &[i128::from(i64::MAX), 2]);
    fails("fn f(a: i64, b: i64) -> i64 = -(-a - b)", &x, IntegerOverflow, "-a - b", &[i128::from(-i64::MAX), 2]);
    fails("fn f(a: i64, b: i64) -> i64 = a ** b", &x, IntegerOverflow, "a ** b", &[i128::from(i64::MAX), 2]);
    fails(
        "fn f(a: i64, b: i64) -> i64 = abs(-a - b / 2) + b",
        &x,
        IntegerOverflow,
        "abs(-a - b / 2)",
        &[i128::from(i64::MIN)],
    );
    fails("fn f(a: i64, b: i64) -> i32 = (a as i32) + 1_i32", &x, CastRange, "a as i32", &[i128::from(i64::MAX)]);
    fails("fn f(x: f64) -> i64 = x as i64", &[f(1e30)], CastRange, "x as i64", &[]);
    let tensors = [iv(&[1, i64::MAX]), i(1)];
    fails(
        "fn f[N](a: i64[N], b: i64) -> i64[N] = a .+ b",
        &tensors,
        IntegerOverflow,
        "a .+ b",
        &[i128::from(i64::MAX), 1],
    );
}

#[test]
fn divisions_by_zero_and_negative_powers() {
    let x = [i(5), i(0)];
    fails("fn f(a: i64, b: i64) -> i64 = a / b", &x, DivisionByZero, "a / b", &[0]);
    fails("fn f(a: i64, b: i64) -> i64 = a % b", &x, DivisionByZero, "a % b", &[0]);
    fails("fn f(a: i64, b: i64) -> i64 = a ** (b - 1)", &x, NegativePower, "a ** (b - 1)", &[-1]);
    fails(
        "fn f(a: i64, b: i64) -> i64 = a / b",
        &[i(i64::MIN), i(-1)],
        IntegerOverflow,
        "a / b",
        &[i128::from(i64::MIN), -1],
    );
}

#[test]
fn shapes_that_do_not_agree() {
    let x = [v(&[1.0, 2.0, 3.0]), i(2)];
    fails("fn f[N](v: f64[N], k: i64) -> f64[N] { let w: f64[N] = v[0..k]; w }", &x, ShapeMismatch, "v[0..k]", &[3, 2]);
    fails("fn f[N](v: f64[N], k: i64) -> f64 = +/ (v[0..k] .* v)", &x, ShapeMismatch, "v", &[2, 3]);
    fails(
        "fn f[N](v: f64[N], k: i64) -> f64[k, k] = reshape(v, [k, k])",
        &x,
        ShapeMismatch,
        "reshape(v, [k, k])",
        &[3, 4],
    );
    fails("fn f[N](v: f64[N], k: i64) -> f64[_] = zeros[f64](k - 5)", &x, NegativeSize, "k - 5", &[-3]);
    fails("fn f[N](v: f64[N], k: i64) -> i64[_] = tabulate(k - 5, |i| i)", &x, NegativeSize, "k - 5", &[-3]);
    let ragged = "fn f[N](v: f64[N], k: i64) -> f64[_, _] = tabulate(k, |i| v[i..])";
    fails(ragged, &x, RaggedStack, "tabulate(k, |i| v[i..])", &[3, 2]);
}

#[test]
fn folds_of_nothing() {
    let x = [v(&[])];
    fails("fn f[N](v: f64[N]) -> f64 = 1.0 + (max/ v)", &x, EmptyFold, "(max/ v)", &[]);
    fails("fn f[N](v: f64[N]) -> f64 = -/ v", &x, EmptyFold, "-/ v", &[]);
    assert_eq!(float("fn f[N](v: f64[N]) -> f64 = (+/ v) + (*/ v)", "f", &x), 1.0);
}

#[test]
fn the_first_failure_in_the_source_is_reported() {
    let source = "fn f[N](v: f64[N], k: i64) -> f64 = v[k] + v[k + 1] / ((1 / (k - 7)) as f64)";
    fails(source, &[v(&[1.0]), i(7)], IndexRange, "k", &[7, 1]);
}

#[test]
fn checks_that_signs_and_bounds_settle_are_not_written() {
    let source = "fn f[N](v: f64[N]) -> f64 {
  let mut s = 0.0
  for i in 1..N - 1 { s += v[i + 1] - v[(i + N) / 2] + ((N - i) as f64) }
  s
}";
    let text = text(source, "f");
    assert_eq!((text.matches("sub_fits").count(), text.matches("div_fits").count()), (0, 0), "{text}");
    assert_eq!(text.matches("= add_fits").count(), 1, "only that of `i + N`: {text}");
    assert_eq!(text.matches("= in_range").count(), 2, "{text}");
}
