//! Sizes that become constants behind all passes.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan_cpu::{bind_sizes, vectorise};
use cotan_ir::{Module, parse_function, verify_module};
use cotan_loops::{CPU, lower};
use cotan_ops::Registry;
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
fn loops_keep_their_lanes_and_small_arrays_lie_in_the_frame() {
    let f = parse_function(ROWS, Registry::standard()).unwrap();
    let mut module = Module::default();
    let f = module.insert(f);
    verify_module(&module).unwrap();
    let mut nest = lower(&f, &CPU);
    vectorise(&mut nest);
    let general = nest.to_string();
    bind_sizes(&mut nest, &[(1, 2)]);
    let bound = nest.to_string();
    let lanes = |text: &str| text.matches("lanes(").count();
    assert_eq!(lanes(&general), lanes(&bound));
    let changed: Vec<&str> = bound.lines().filter(|line| line.contains("in frame")).map(str::trim).collect();
    expect!["alloc row: f64[2] in frame"].assert_eq(&changed.join("\n"));
    assert!(!bound.contains(" k\n") && !bound.contains("k,"), "{bound}");
}
