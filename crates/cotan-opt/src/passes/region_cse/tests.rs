//! What is joined, what is kept, and what stays.

use super::{region_cse, reuse_iteration_values};
use crate::simplify;
use cotan_ir::{Function, Module, parse_function, verify};
use cotan_ops::Registry;

fn parsed(text: &str) -> Function {
    parse_function(text, Registry::standard()).unwrap_or_else(|e| panic!("{e}"))
}

fn becomes(pass: impl Fn(Function) -> Function, text: &str, expected: &str) {
    let passed = |text: &str| {
        let f = simplify(pass(parsed(text)));
        verify(&Module::default(), &f).unwrap_or_else(|errors| panic!("{}\n{f}", errors[0]));
        f.to_string()
    };
    let found = passed(text);
    assert_eq!(found, expected, "found\n{found}");
    assert_eq!(passed(expected), expected);
}

fn joined(text: &str, expected: &str) {
    becomes(|f| region_cse(f, &[]), text, expected);
}

fn kept(text: &str, expected: &str) {
    becomes(reuse_iteration_values, text, expected);
}

/// A loop of a value, and one of its derivative that runs the loop inside again: `between` stands between them, `check`
/// in the derivative's.
fn value_and_derivative(between: &str, check: &str, returned: &str) -> String {
    format!(
        "fn f(n: i64, m: i64, x: f64[n]) {{
  y: f64[n] = par i < n (stack) {{
    e: f64 = x[i]
    p: f64 = loop j < m (q: f64 = e) {{
      r: f64 = sin q
      yield r
    }}
    yield p
  }}
  s: f64 = par k < n (add from 0.0) {{
    d: f64 = y[k]
    yield d
  }}
{between}  x_cot: f64[n] = par l < n (stack) {{
    e.1: f64 = x[l]
    p.1: f64 = loop o < m (q.1: f64 = e.1) {{
      r.1: f64 = sin q.1
      yield r.1
    }}
{check}    c: f64 = mulz s_cot, p.1
    yield c
  }}
  return {returned}
}}
"
    )
}

#[test]
fn what_a_derivative_runs_again_is_run_once_beside_the_value() {
    joined(
        &value_and_derivative("  s_cot: f64 = after 2.0, s\n", "", "s, x_cot"),
        "fn f(n: i64, m: i64, x: f64[n]) {
  y: f64[n], x_cot: f64[n] = par i < n (stack, stack) {
    e: f64 = x[i]
    p: f64 = loop j < m (q: f64 = e) {
      r: f64 = sin q
      yield r
    }
    c: f64 = mulz 2.0, p
    yield p, c
  }
  s: f64 = par k < n (add from 0.0) {
    d: f64 = y[k]
    yield d
  }
  return s, x_cot
}
",
    );
}

#[test]
fn what_the_later_loop_needs_moves_with_it() {
    joined(
        &value_and_derivative("  t: f64 = after 2.0, s\n  u: f64 = neg t\n  s_cot: f64 = mul u, u\n", "", "s, x_cot"),
        "fn f(n: i64, m: i64, x: f64[n]) {
  y: f64[n], x_cot: f64[n] = par i < n (stack, stack) {
    e: f64 = x[i]
    p: f64 = loop j < m (q: f64 = e) {
      r: f64 = sin q
      yield r
    }
    c: f64 = mulz 4.0, p
    yield p, c
  }
  s: f64 = par k < n (add from 0.0) {
    d: f64 = y[k]
    yield d
  }
  return s, x_cot
}
",
    );
}

#[test]
fn what_depends_on_the_value_stays_behind_it() {
    let text = value_and_derivative("  s_cot: f64 = exp s\n", "", "s, x_cot");
    let plain = simplify(parsed(&text)).to_string();
    joined(&text, &plain);
}

#[test]
fn where_nobody_wants_the_value_a_result_waits_for_it() {
    joined(
        &value_and_derivative("  s_cot: f64 = after 2.0, s\n", "", "x_cot"),
        "fn f(n: i64, m: i64, x: f64[n]) {
  y: f64[n], x_cot: f64[n] = par i < n (stack, stack) {
    e: f64 = x[i]
    p: f64 = loop j < m (q: f64 = e) {
      r: f64 = sin q
      yield r
    }
    c: f64 = mulz 2.0, p
    yield p, c
  }
  s: f64 = par k < n (add from 0.0) {
    d: f64 = y[k]
    yield d
  }
  done: f64 = after 0.0, s
  ok: bool = eq done, 0.0
  x_cot.1: f64[n] = check ok R0007() x_cot
  return x_cot.1
}
",
    );
}

#[test]
fn a_loop_that_may_fail_stays_behind_what_fails_first() {
    let check = "    ok: bool = gt e.1, 0.0\n    p.2: f64 = check ok R0012() p.1\n";
    let text =
        value_and_derivative("  s_cot: f64 = after 2.0, s\n", check, "s, x_cot").replace("s_cot, p.1", "s_cot, p.2");
    let plain = simplify(parsed(&text)).to_string();
    joined(&text, &plain);
    // A check that it needs may not move either.
    let between = "  many: bool = gt m, 3\n  three: f64 = check many R0012() 3.0\n  s_cot: f64 = after three, s\n";
    let text = value_and_derivative(between, "", "s, x_cot");
    let plain = simplify(parsed(&text)).to_string();
    joined(&text, &plain);
}

#[test]
fn a_loop_with_checks_that_hold_moves() {
    let check = "    ok: bool = in_range l, n\n    h: i64 = check ok R0001(l, n) l\n    z: f64 = x[h]\n    w: f64 = mul z, p.1\n";
    let text =
        value_and_derivative("  s_cot: f64 = after 2.0, s\n", check, "s, x_cot").replace("s_cot, p.1", "s_cot, w");
    joined(
        &text,
        "fn f(n: i64, m: i64, x: f64[n]) {
  y: f64[n], x_cot: f64[n] = par i < n (stack, stack) {
    e: f64 = x[i]
    p: f64 = loop j < m (q: f64 = e) {
      r: f64 = sin q
      yield r
    }
    w: f64 = mul e, p
    c: f64 = mulz 2.0, w
    yield p, c
  }
  s: f64 = par k < n (add from 0.0) {
    d: f64 = y[k]
    yield d
  }
  return s, x_cot
}
",
    );
}

#[test]
fn what_is_read_early_must_be_there() {
    let reads = |place: &str| {
        let read = format!("    z: f64 = x[{place}]\n    w: f64 = mul z, p.1\n");
        let between = "  s_cot: f64 = after 2.0, s\n  last: i64 = sub n, 1\n";
        value_and_derivative(between, &read, "s, x_cot").replace("s_cot, p.1", "s_cot, w")
    };
    let text = reads("h").replace("    z: f64", "    h: i64 = sub l, 1\n    z: f64");
    let plain = simplify(parsed(&text)).to_string();
    joined(&text, &plain);
    joined(
        &reads("h").replace("    z: f64", "    h: i64 = sub last, l\n    z: f64"),
        "fn f(n: i64, m: i64, x: f64[n]) {
  last: i64 = sub n, 1
  y: f64[n], x_cot: f64[n] = par i < n (stack, stack) {
    e: f64 = x[i]
    p: f64 = loop j < m (q: f64 = e) {
      r: f64 = sin q
      yield r
    }
    h: i64 = sub last, i
    z: f64 = x[h]
    w: f64 = mul z, p
    c: f64 = mulz 2.0, w
    yield p, c
  }
  s: f64 = par k < n (add from 0.0) {
    d: f64 = y[k]
    yield d
  }
  return s, x_cot
}
",
    );
}

#[test]
fn what_relies_on_equal_sizes_stays_behind_what_shows_them() {
    let text = "fn f(n: i64, m: i64, k: i64, x: f64[n], z: f64[k]) {
  y: f64[n] = par i < n (stack) {
    e: f64 = x[i]
    p: f64 = loop j < m (q: f64 = e) {
      r: f64 = sin q
      yield r
    }
    yield p
  }
  ok: bool = eq n, k
  x.1: f64[k] = check ok R0007(n, k) x
  y.1: f64[n], s: f64[k] = par l < n (stack) acc (t: f64[k] add from z) {
    e.1: f64 = x[l]
    p.1: f64 = loop o < m (q.1: f64 = e.1) {
      r.1: f64 = sin q.1
      yield r.1
    }
    acc_add t[] = x
    yield p.1
  }
  return y, y.1, s, x.1
}
";
    let plain = simplify(parsed(text)).to_string();
    joined(text, &plain);
}

#[test]
fn a_while_with_tangents_takes_the_place_of_one_without() {
    joined(
        "fn f(a: f64) {
  n: i64, on: bool, x: f64 = while i (on.1: bool = true, x.1: f64 = a) {
    x.2: f64 = sin x.1
    on.2: bool = gt x.2, 0.5
    yield on.2, x.2
  }
  n.1: i64, on.3: bool, t: f64, x.3: f64 = while k (on.4: bool = true, t.1: f64 = 1.0, x.4: f64 = a) {
    x.5: f64 = sin x.4
    on.5: bool = gt x.5, 0.5
    c: f64 = cos x.4
    t.2: f64 = mulz t.1, c
    yield on.5, t.2, x.5
  }
  r: f64 = mulz t, x.3
  return x, r, n.1
}
",
        "fn f(a: f64) {
  n: i64, on: bool, x: f64, t: f64 = while i (on.1: bool = true, x.1: f64 = a, t.1: f64 = 1.0) {
    x.2: f64 = sin x.1
    on.2: bool = gt x.2, 0.5
    c: f64 = cos x.1
    t.2: f64 = mulz t.1, c
    yield on.2, x.2, t.2
  }
  r: f64 = mulz t, x
  return x, r, n
}
",
    );
}

#[test]
fn whiles_that_may_end_apart_stay_apart() {
    let text = "fn f(a: f64) {
  n: i64, on: bool, x: f64 = while i (on.1: bool = true, x.1: f64 = a) {
    x.2: f64 = sin x.1
    on.2: bool = gt x.2, 0.5
    yield on.2, x.2
  }
  n.1: i64, on.3: bool, x.3: f64 = while k (on.4: bool = true, x.4: f64 = a) {
    x.5: f64 = sin x.4
    on.5: bool = gt x.5, 0.25
    yield on.5, x.5
  }
  r: f64 = mul x, x.3
  return r, n, n.1
}
";
    let plain = simplify(parsed(text)).to_string();
    joined(text, &plain);
}

#[test]
fn a_loop_with_a_scheme_of_what_is_kept_stays() {
    let text = "fn f(a: f64, n: i64) {
  x: f64 = loop i < n (x.1: f64 = a) checkpoint sqrt {
    x.2: f64 = sin x.1
    yield x.2
  }
  y: f64 = loop j < n (y.1: f64 = a) checkpoint sqrt {
    y.2: f64 = sin y.1
    yield y.2
  }
  r: f64 = mul x, y
  return r
}
";
    let plain = simplify(parsed(text)).to_string();
    joined(text, &plain);
}

#[test]
fn arrays_of_one_value_each_have_nothing_to_share() {
    let text = "fn f(n: i64, a: f64) {
  x: f64[n] = par i < n (stack) {
    yield a
  }
  y: f64[n] = par j < n (stack) {
    yield 1.0
  }
  return x, y
}
";
    let plain = simplify(parsed(text)).to_string();
    joined(text, &plain);
}

#[test]
fn sums_into_one_accumulator_keep_their_order() {
    let text = "fn f(n: i64, m: i64, x: f64[n], z: f64[n]) {
  a: f64[n] = par t < m acc (b: f64[n] add from z) {
    par i < n {
      e: f64 = x[i]
      p: f64 = loop j < m (q: f64 = e) {
        r: f64 = sin q
        yield r
      }
      acc_add b[0] = p
      yield
    }
    par i.1 < n {
      e.1: f64 = x[i.1]
      p.1: f64 = loop j.1 < m (q.1: f64 = e.1) {
        r.1: f64 = sin q.1
        yield r.1
      }
      acc_add b[0] = p.1
      yield
    }
    yield
  }
  return a
}
";
    let plain = simplify(parsed(text)).to_string();
    joined(text, &plain);
}

/// A loop over rows, and one that runs the same loop again, but needs the greatest of what the first gives.
fn again(header: &str, footer: &str) -> String {
    format!(
        "{header}
    a: f64[m] = par k < m (stack) {{
      w: f64 = x[k]
      p: f64 = loop j < k (q: f64 = w) {{
        r: f64 = sin q
        yield r
      }}
      t: f64 = mul p, p
      yield t
    }}
    g: f64 = par l < m (max from -inf) {{
      e: f64 = a[l]
      yield e
    }}
    s: f64 = par o < m (add from 0.0) {{
      w.1: f64 = x[o]
      p.1: f64 = loop j.1 < o (q.1: f64 = w.1) {{
        r.1: f64 = sin q.1
        yield r.1
      }}
      u: f64 = mul g, p.1
      yield u
    }}
{footer}"
    )
}

#[test]
fn long_work_inside_of_a_parallel_loop_is_kept() {
    kept(
        &again(
            "fn f(n: i64, m: i64, x: f64[m]) {\n  y: f64[n] = par i < n (stack) {",
            "    yield s\n  }\n  return y\n}\n",
        ),
        "fn f(n: i64, m: i64, x: f64[m]) {
  y: f64[n] = par i < n (stack) {
    a: f64[m], p: f64[m] = par k < m (stack, stack) {
      w: f64 = x[k]
      p.1: f64 = loop j < k (q: f64 = w) {
        r: f64 = sin q
        yield r
      }
      t: f64 = mul p.1, p.1
      yield t, p.1
    }
    g: f64 = par l < m (max from -inf) {
      e: f64 = a[l]
      yield e
    }
    s: f64 = par o < m (add from 0.0) {
      p.2: f64 = p[o]
      u: f64 = mul g, p.2
      yield u
    }
    yield s
  }
  return y
}
",
    );
}

#[test]
fn nothing_is_kept_for_whole_arrays() {
    let text = again(
        "fn f(n: i64, m: i64, x: f64[m]) {\n  y: f64 = loop i < n (z: f64 = 0.0) {",
        "    yield s\n  }\n  return y\n}\n",
    );
    let plain = simplify(parsed(&text)).to_string();
    kept(&text, &plain);
}

#[test]
fn what_differs_in_a_start_value_is_computed() {
    let text = again(
        "fn f(n: i64, m: i64, x: f64[m]) {\n  y: f64[n] = par i < n (stack) {",
        "    yield s\n  }\n  return y\n}\n",
    )
    .replace("(q.1: f64 = w.1)", "(q.1: f64 = 1.0)");
    let plain = simplify(parsed(&text)).to_string();
    kept(&text, &plain);
}
