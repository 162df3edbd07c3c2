//! Which functions have versions, and what their products become.

use super::{inner_extents, version};
use cotan_ir::{Module, parse_module};
use cotan_ops::Registry;

fn module(text: &str) -> Module {
    parse_module(text, Registry::standard()).unwrap_or_else(|e| panic!("{e}"))
}

/// The version of `f` for `d = size`, if there is one.
fn for_size(text: &str, param: usize, size: i64) -> Option<String> {
    Some(version(&module(text), "f", &[(param, size)], &[])?.function("f")?.to_string())
}

const SUMS_OF_ROWS: &str = "fn f(n: i64, d: i64, x: f64[n, d]) {
  y: f64[n] = par i < n (stack) {
    s: f64 = par j < d (add from 0.0) {
      e: f64 = x[i, j]
      yield e
    }
    yield s
  }
  return y
}";

/// What iterations of a loop over `d` add to one element, inside of a loop over `n`, in order.
const SHARED: &str = "fn f(n: i64, d: i64, x: f64[n, d], w: f64) {
  zero: f64[1] = fill 0.0
  y: f64[1] = loop t < n () acc (a: f64[1] add from zero) {
    par j < d {
      e: f64 = x[t, j]
      p: f64 = mulc e, w
      acc_add a[0] = p
      yield
    }
    yield
  }
  return y
}";

#[test]
fn inner_loops_tell_which_sizes_are_worth_a_version() {
    let extents = |text: &str| inner_extents(module(text).function("f").expect("it is there"));
    assert_eq!(extents(SUMS_OF_ROWS), [1]);
    assert_eq!(extents(SHARED), [1]);
    assert_eq!(extents("fn f(n: i64, x: f64[n]) {\n  y: f64[n] = neg x\n  return y\n}"), [0; 0]);
}

#[test]
fn inner_loops_of_a_version_are_written_out() {
    let text = for_size(SUMS_OF_ROWS, 1, 2).expect("sums of reductions have an order");
    assert!(text.contains("par i < n (stack)") && !text.contains("par j"), "{text}");
    assert!(text.contains("fn f(n: i64, d: i64, x: f64[n, 2])"), "{text}");
}

#[test]
fn accumulated_products_are_contracted_with_what_is_there() {
    let text = for_size(SHARED, 1, 3).expect("a short loop adds up in order");
    assert!(!text.contains("mulc") && text.matches("fma").count() == 3, "{text}");
    let text = for_size(SHARED, 1, 17);
    assert!(text.is_none(), "{text:?}");
}

#[test]
fn a_long_loop_that_adds_to_one_element_has_no_version() {
    let text = SHARED.replace("loop t < n () acc", "par t < n acc");
    assert!(for_size(&text, 1, 3).is_none());
    let own = text.replace("a[0] = p", "a[t] = p").replace("f64[1]", "f64[n]");
    // Several contributions of an iteration go to one element, in chunks of the loop.
    assert!(for_size(&own, 1, 3).is_none());
}

#[test]
fn a_product_that_meets_a_sum_elsewhere_stays_rounded() {
    let text = "fn f(d: i64, x: f64[d], w: f64) {
  s: f64 = loop t < d (s0: f64 = 0.0) {
    y: f64[d] = par i < d (stack) {
      e: f64 = x[i]
      p: f64 = mulc e, w
      yield p
    }
    own: f64 = y[t]
    s1: f64 = add s0, own
    yield s1
  }
  return s
}";
    let text = for_size(text, 0, 2).expect("nothing is accumulated");
    assert!(text.contains("mulc") && !text.contains("fma"), "{text}");
}

#[test]
fn loops_with_checks_that_may_fail_stay() {
    let text = "fn f(n: i64, d: i64, x: f64[n, d], at: i64[d]) {
  y: f64[n] = par i < n (stack) {
    s: f64 = par j < d (add from 0.0) {
      k: i64 = at[j]
      lower: bool = ge k, 0
      upper: bool = lt k, d
      ok: bool = and lower, upper
      k1: i64 = check ok R0001(k, d) k
      e: f64 = x[i, k1]
      yield e
    }
    yield s
  }
  return y
}";
    let text = for_size(text, 1, 2).expect("it has a version");
    assert!(text.contains("par j < 2") && text.matches("check").count() == 1, "{text}");
}
