//! Sizes that become constants behind all passes.

use crate::lowered;
use cotan_cpu::{bind_sizes, vectorise};
use expect_test::expect;

/// Each iteration has an array of its own, as long as a size says, and reads rows of that length.
const ROWS: &str = "fn f(n: i64, k: i64, x: f64[n, k]) {
  y: f64[n] = par i < n (stack) {
    row: f64[k] = par j < k (stack) {
      elem: f64 = x[i, j]
      square: f64 = mul elem, elem
      yield square
    }
    last: i64 = sub k, 1
    value: f64 = row[last]
    yield value
  }
  return y
}";

#[test]
fn nothing_changes_but_the_size_and_where_small_arrays_lie() {
    let mut nest = lowered(ROWS);
    vectorise(&mut nest);
    let general = nest.to_string();
    bind_sizes(&mut nest, &[(1, 2)]);
    let bound = nest.to_string();
    assert_eq!(general.lines().count(), bound.lines().count());
    let both = general.lines().zip(bound.lines()).filter(|(general, bound)| general != bound);
    let changes: Vec<String> =
        both.map(|(general, bound)| format!("{}  ->  {}", general.trim(), bound.trim())).collect();
    expect![[r#"
        t = cast(f64).i64 k  ->  t = cast(f64).i64 2
        alloc row: f64[k]  ->  alloc row: f64[2] in frame
        v = max.i64 k, 0  ->  v = max.i64 2, 0
        t.3 = mul.i64 i, k  ->  t.3 = mul.i64 i, 2
        v.4 = lt.i64 v.3, k  ->  v.4 = lt.i64 v.3, 2
        v.5 = lt.i64 lanes, k  ->  v.5 = lt.i64 lanes, 2
        t.5 = mul.i64 i, k  ->  t.5 = mul.i64 i, 2
        last = sub.i64 k, 1  ->  last = sub.i64 2, 1"#]]
    .assert_eq(&changes.join("\n"));
}
