//! The IR as text: names from the source, nothing superfluous.

use crate::harness::text;
use expect_test::expect;

#[test]
fn a_loss_reads_like_its_source() {
    let source = "fn loss[N](w: f32[N], x: f32[N], y: f32) -> f32 { let pred = +/(w .* x)
let err = pred - y
err * err }";
    expect![[""]].assert_eq(&text(source, "loss"));
}

#[test]
fn a_loop_with_a_break_reads_like_its_source() {
    let source = "fn root(a: f64, n: i64) -> f64 {
  let mut x = a
  for k in 0..n {
    let step = 0.5 * (x - a / x)
    if abs(step) < 1e-9 { break }
    x -= step
  }
  x
}";
    expect![[""]].assert_eq(&text(source, "root"));
}
