//! Records of nests of sequential loops, re-executed or recorded whole by `checkpoint all`: values, bits, costs, records.
#![allow(clippy::print_stdout, reason = "the table of costs is the point")]

use crate::oracle;

use cotan_ops::Value;
use oracle::{floats, gradient, int, module, run, scalar, vector};

/// The derivatives hold up to an order with every loop kept, and have the bits of those without. Gives the elements
/// that the gradients record: run again, and kept.
fn recorded(text: &str, args: &[Value], order: usize) -> (u64, u64) {
    let again = text.replace(" checkpoint all", "");
    assert_ne!(again, text, "no loop is kept");
    oracle::check(&mut module(text), "f", args, 5, order, true);
    let (expected, plain) = gradient(&mut module(&again), "f", args);
    let (found, kept) = gradient(&mut module(text), "f", args);
    for (a, b) in found.iter().zip(&expected) {
        assert_eq!(a.bits, b.bits, "{text}");
    }
    (plain.recorded_elements, kept.recorded_elements)
}

#[test]
fn a_nest_with_counts_known_outside_is_stacked() {
    let text = "
fn f(n: i64, m: i64, x: f64, w: f64) {
  r: f64 = loop i < n (p: f64 = x) checkpoint all {
    a: f64 = mul p, w
    q: f64 = loop j < m (s: f64 = a) {
      t: f64 = mul s, s
      u: f64 = sin t
      v: f64 = add u, p
      yield v
    }
    y: f64 = mul q, 0.7
    yield y
  }
  return r
}
";
    assert_eq!(recorded(text, &[int(4), int(3), scalar(0.3), scalar(0.8)], 2), (4 + 12, 4 + 12));
    assert_eq!(recorded(text, &[int(0), int(3), scalar(0.3), scalar(0.8)], 1), (0, 0));
    assert_eq!(recorded(text, &[int(2), int(0), scalar(0.3), scalar(0.8)], 2), (2, 2));
}

#[test]
fn a_nest_whose_inner_count_varies_is_logged() {
    let text = "
fn f(n: i64, x: f64, w: f64) {
  r: f64 = loop i < n (p: f64 = x) checkpoint all {
    q: f64 = loop j < i (s: f64 = p) {
      t: f64 = mul s, w
      u: f64 = sin t
      yield u
    }
    y: f64 = mul q, p
    z: f64 = add y, 0.4
    yield z
  }
  return r
}
";
    // Six inner iterations and, per outer one, its carried value, the inner result and the position in the log.
    assert_eq!(recorded(text, &[int(4), scalar(0.3), scalar(0.8)], 2).1, 6 + 3 * 4);
}

#[test]
fn whiles_inside_of_whiles_are_kept() {
    let text = "
fn f(x: f64, w: f64) {
  k: i64, g: bool, r: f64 = while i (go: bool = true, p: f64 = x) checkpoint all {
    l: i64, h: bool, q: f64 = while j (on: bool = true, s: f64 = p) {
      t: f64 = mul s, w
      u: f64 = sin t
      more: bool = gt u, 0.2
      yield more, u
    }
    y: f64 = mul q, p
    z: f64 = add y, 0.5
    next: bool = lt i, 3
    yield next, z
  }
  return r
}
";
    recorded(text, &[scalar(0.9), scalar(0.8)], 2);
}

#[test]
fn three_levels_with_siblings_and_values_between_are_kept() {
    let text = "
fn f(n: i64, x: f64[n], w: f64) {
  r: f64 = loop i < n (p: f64 = w) checkpoint all {
    e: f64 = x[i]
    q: f64 = loop j < i (s: f64 = p) {
      a: f64 = loop k < j (t: f64 = s) {
        b: f64 = mul t, e
        c: f64 = cos b
        yield c
      }
      l: i64, h: bool, d: f64 = while o (on: bool = true, t.1: f64 = a) {
        b.1: f64 = mul t.1, a
        c.1: f64 = sin b.1
        more: bool = lt o, j
        yield more, c.1
      }
      u: f64 = mul d, s
      v: f64 = add u, 0.3
      yield v
    }
    y: f64 = mul q, e
    z: f64 = loop j.1 < n (s.1: f64 = y) {
      t.2: f64 = sin s.1
      u.1: f64 = add t.2, q
      yield u.1
    }
    yield z
  }
  return r
}
";
    recorded(text, &[int(4), vector(&[0.3, 0.5, -0.4, 0.7]), scalar(0.6)], 2);
}

#[test]
fn inner_loops_with_tensors_and_arrays_updated_in_place_are_kept() {
    let text = "
fn f(n: i64, m: i64, x: f64[m], w: f64) {
  r: f64[m] = loop i < n (p: f64[m] = x) checkpoint all {
    q: f64[m] = loop j < m (s: f64[m] = p) {
      e: f64 = s[j]
      t: f64 = mul e, w
      u: f64 = sin t
      z: i64 = floor_mod i, m
      o: f64 = s[z]
      v: f64 = add u, o
      a: f64[m] = update s[z] = v
      b: f64[m] = update a[j] = u
      yield b
    }
    c: f64[m] = loop k < i (d: f64[m] = q) {
      g: f64[m] = sin d
      h: f64[m] = mul g, p
      yield h
    }
    y: f64[m] = mul c, p
    yield y
  }
  return r
}
";
    recorded(text, &[int(3), int(3), vector(&[0.3, 0.9, -0.4]), scalar(0.6)], 2);
}

#[test]
fn a_loop_that_writes_to_an_accumulator_around_it_is_right_when_its_nest_is_kept() {
    let text = "
fn f(n: i64, x: f64[n], w: f64) {
  r: f64, h: f64[n] = loop i < n (p: f64 = w) acc (g: f64[n] add from x) checkpoint all {
    q: f64 = loop j < i (s: f64 = p) {
      t: f64 = mul s, w
      u: f64 = sin t
      acc_add g[j] = u
      yield u
    }
    y: f64 = mul q, p
    yield y
  }
  return r, h
}
";
    recorded(text, &[int(4), vector(&[0.3, 0.5, -0.4, 0.7]), scalar(0.6)], 2);
}

#[test]
fn a_small_nest_of_known_counts_is_kept_unasked() {
    let nest = |n: i64| {
        format!(
            "
fn f(x: f64, w: f64) {{
  r: f64 = loop i < {n} (p: f64 = x) {{
    q: f64 = loop j < 5 (s: f64 = p) {{
      t: f64 = mul s, w
      u: f64 = sin t
      yield u
    }}
    y: f64 = mul q, p
    yield y
  }}
  return r
}}
"
        )
    };
    let args = [scalar(0.9), scalar(0.8)];
    oracle::check(&mut module(&nest(4)), "f", &args, 7, 2, true);
    let records = |n: i64| gradient(&mut module(&nest(n)), "f", &args).1;
    // The carried value, the inner result and the inner record per outer iteration.
    assert_eq!(records(4).recorded_bytes, 4 * (1 + 1 + 5) * 8);
    let large = records(4096);
    assert_eq!(large.recorded_elements, 4096 + 4096 * 5, "the inner record again in every iteration");
}

/// `depth` loops in one another with a product behind each, so that they are no one loop.
fn nest(depth: usize, kept: &str) -> String {
    fn level(depth: usize, at: usize, kept: &str, out: &mut String) {
        let pad = "  ".repeat(at + 1);
        if at == depth {
            out.push_str(&format!(
                "{pad}w: f64 = mul v{at}, v{at}\n{pad}s: f64 = sin w\n{pad}r{at}: f64 = add s, 0.1\n"
            ));
            return;
        }
        let inner = at + 1;
        out.push_str(&format!("{pad}q{at}: f64 = loop i{at} < n (v{inner}: f64 = v{at}){kept} {{\n"));
        level(depth, inner, "", out);
        out.push_str(&format!("{pad}  yield r{inner}\n{pad}}}\n{pad}r{at}: f64 = mul q{at}, 0.9\n"));
    }
    let mut out = "fn f(n: i64, v0: f64) {\n".to_owned();
    level(depth, 0, kept, &mut out);
    out.push_str("  return r0\n}\n");
    out
}

#[test]
fn the_gradient_of_a_nest_costs_a_bounded_multiple_of_the_function() {
    let sizes = [64, 16, 8, 6, 4, 3];
    println!("depth: primitives of the gradient / of the function, recorded elements: run again; kept");
    for (depth, n) in (1..).zip(sizes) {
        let args = [int(n), scalar(0.7)];
        let cost = |kept: &str| {
            let mut module = module(&nest(depth, kept));
            let (_, function) = oracle::counted(&module, "f", &args);
            let (found, stats) = gradient(&mut module, "f", &args);
            (floats(&found[0])[0], stats.primitives as f64 / function.primitives as f64, stats.recorded_elements)
        };
        let (value, again, records) = cost("");
        let (same, kept, more_records) = cost(" checkpoint all");
        println!("{depth}: {again:.2}, {records}; {kept:.2}, {more_records}");
        assert_eq!(value.to_bits(), same.to_bits());
        assert!(kept <= again);
        if depth == 4 {
            assert!(again <= 8.0 && kept <= 5.0, "{again} {kept}");
        }
        let module = module(&nest(depth, ""));
        let slope = {
            let at = |x: f64| floats(&run(&module, "f", &[int(n), scalar(x)])[0])[0];
            (at(0.7 + 1e-6) - at(0.7 - 1e-6)) / 2e-6
        };
        oracle::close(value, slope, 0.0, 1e-6, "against differences");
    }
}
