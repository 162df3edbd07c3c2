//! Loop collapsing: perfect nests of counted loops are reversed as one loop, where that helps.

use crate::oracle;

use cotan_ir::Mode;
use cotan_ops::Value;
use oracle::{derive, gradient, int, module, scalar, vector};

/// The derivatives hold up to order 2; the gradient has the bits of that of a nest with a checkpoint, which stays one.
/// Gives the elements that it records, and its text.
fn recorded(text: &str, args: &[Value]) -> (u64, String) {
    let kept = text.replace("{ //", "checkpoint levels 1 {");
    assert_ne!(kept, text, "no loop is marked");
    let text = &text.replace("{ //", "{");
    oracle::check(&mut module(text), "f", args, 11, 2, true);
    let (found, stats) = gradient(&mut module(text), "f", args);
    let (expected, _) = gradient(&mut module(&kept), "f", args);
    for (a, b) in found.iter().zip(&expected) {
        assert_eq!(a.bits, b.bits, "{text}");
    }
    (stats.recorded_elements, derive(&mut module(text), "f", Mode::Vjp).to_string())
}

/// The deepest indentation of a loop.
fn depth(text: &str) -> usize {
    let loops = text.lines().filter(|line| line.contains(" = loop "));
    loops.map(|line| (line.len() - line.trim_start().len()) / 2).max().unwrap_or(0)
}

const NEST: &str = "
fn f(n: i64, m: i64, x: f64, w: f64) {
  r: f64, s: f64 = loop i < n (p: f64 = x, q: f64 = w) { //
    r.1: f64, s.1: f64 = loop j < m (p.1: f64 = p, q.1: f64 = q) {
      k: i64 = mul i, 3
      l: i64 = add k, j
      t: f64 = to_f64 l
      c: f64 = mul 0.1, t
      a: f64 = mul p.1, q.1
      b: f64 = sin a
      d: f64 = mul b, w
      e: f64 = add d, c
      g: f64 = tanh p.1
      yield e, g
    }
    yield r.1, s.1
  }
  return r, s
}
";

#[test]
fn a_perfect_nest_records_once_for_each_iteration_of_it() {
    let (elements, text) = recorded(NEST, &[int(3), int(4), scalar(0.4), scalar(0.8)]);
    assert_eq!(depth(&text), 1, "{text}");
    assert_eq!(elements, 4 * 12, "two carried values, a sine and the slope of a hyperbolic tangent: {text}");
}

#[test]
fn the_mode_that_loops_are_asked_for_does_not_keep_them_apart() {
    let text = NEST.replace("q.1: f64 = q) {", "q.1: f64 = q) reverse {");
    assert_ne!(text, NEST);
    let (_, text) = recorded(&text, &[int(3), int(4), scalar(0.4), scalar(0.8)]);
    assert_eq!(depth(&text), 1, "{text}");
}

#[test]
fn nests_without_iterations_are_right() {
    for (n, m) in [(0, 4), (4, 0), (0, 0), (-2, 3), (3, -2), (1, 1), (0, i64::MAX)] {
        recorded(NEST, &[int(n), int(m), scalar(0.4), scalar(0.8)]);
    }
}

#[test]
fn three_loops_become_one() {
    let (elements, text) = recorded(
        "
fn f(n: i64, x: f64, w: f64[n]) {
  r: f64 = loop i < n (p: f64 = x) { //
    r.1: f64 = loop j < 2 (p.1: f64 = p) {
      r.2: f64 = loop k < n (p.2: f64 = p.1) {
        e: f64 = w[i]
        g: f64 = w[k]
        t: f64 = to_f64 j
        a: f64 = mul p.2, e
        b: f64 = sin a
        c: f64 = mul b, g
        d: f64 = add c, t
        h: f64 = exp d
        o: f64 = mul 0.1, h
        yield o
      }
      yield r.2
    }
    yield r.1
  }
  return r
}
",
        &[int(3), scalar(0.4), vector(&[0.3, 0.9, -0.2])],
    );
    assert_eq!(depth(&text), 1, "{text}");
    assert_eq!(elements % 18, 0, "{text}");
}

#[test]
fn a_table_filled_element_by_element_records_what_it_reads() {
    let (elements, text) = recorded(
        "
fn f(n: i64, x: f64[n, n], w: f64) {
  r: f64[n, n] = loop i < n (a: f64[n, n] = x) { //
    r.1: f64[n, n] = loop j < n (a.1: f64[n, n] = a) {
      i.1: i64 = sub i, 1
      i.2: i64 = max i.1, 0
      j.1: i64 = sub j, 1
      j.2: i64 = max j.1, 0
      up: f64 = a.1[i.2, j]
      left: f64 = a.1[i, j.2]
      own: f64 = a.1[i, j]
      b: f64 = mul up, left
      c: f64 = mul b, w
      d: f64 = add c, own
      a.2: f64[n, n] = update a.1[i, j] = d
      yield a.2
    }
    yield r.1
  }
  return r
}
",
        &[int(3), Value::f64s(&[3, 3], &[0.3, 0.9, -0.2, 0.7, 0.1, 0.5, -0.6, 0.4, 0.8]), scalar(0.7)],
    );
    assert_eq!(depth(&text), 1, "{text}");
    assert_eq!(elements, 2 * 9, "two of the three elements read: {text}");
}

#[test]
fn a_linear_nest_stays_a_nest_and_records_nothing() {
    let (elements, text) = recorded(
        "
fn f(n: i64, m: i64, x: f64[n, m], w: f64) {
  r: f64 = loop i < n (p: f64 = w) { //
    r.1: f64 = loop j < m (p.1: f64 = p) {
      e: f64 = x[i, j]
      a: f64 = sin e
      b: f64 = mul p.1, 0.5
      c: f64 = add a, b
      yield c
    }
    yield r.1
  }
  return r
}
",
        &[int(2), int(3), Value::f64s(&[2, 3], &[0.3, 0.9, -0.2, 0.7, 0.1, 0.5]), scalar(0.7)],
    );
    assert_eq!((elements, depth(&text)), (0, 2), "{text}");
}

#[test]
fn a_nest_whose_inner_count_varies_stays_a_nest() {
    let (_, text) = recorded(
        "
fn f(n: i64, x: f64) {
  r: f64 = loop i < n (p: f64 = x) { //
    r.1: f64 = loop j < i (p.1: f64 = p) {
      a: f64 = sin p.1
      yield a
    }
    yield r.1
  }
  return r
}
",
        &[int(4), scalar(0.7)],
    );
    assert_eq!(depth(&text), 2, "{text}");
}
