//! What moves, what stays, and what a region is divided into.

use super::*;
use cotan_ir::{parse_function, verify};
use cotan_ops::Registry;

fn parsed(text: &str) -> Function {
    parse_function(text, Registry::standard()).unwrap_or_else(|e| panic!("{e}"))
}

fn hoisted_by(what: Moves, text: &str) -> String {
    let f = licm(parsed(text), what);
    let module = cotan_ir::Module::default();
    verify(&module, &f).unwrap_or_else(|errors| panic!("{}\n{f}", errors[0]));
    f.to_string()
}

/// Asserts what becomes of a function, and that it stays so.
fn becomes(text: &str, expected: &str) {
    let found = hoisted_by(Moves::All, text);
    assert_eq!(found, expected, "found\n{found}");
    assert_eq!(hoisted_by(Moves::All, expected), expected);
}

fn stays_as_it_is(text: &str) {
    becomes(text, text);
}

#[test]
fn before_differentiation_integers_move_and_floats_stay() {
    let text = "fn f(n: i64, m: i64, x: f64) {
  r: f64 = loop i < n (p: f64 = x) {
    q: f64 = loop j < n (s: f64 = p) {
      count: i64 = max m, 0
      more: i64 = add count, i
      own: i64 = add more, j
      y: f64 = to_f64 own
      z: f64 = mul x, x
      t: f64 = add y, z
      yield t
    }
    yield q
  }
  return r
}
";
    let expected = "fn f(n: i64, m: i64, x: f64) {
  count: i64 = max m, 0
  r: f64 = loop i < n (p: f64 = x) {
    more: i64 = add count, i
    q: f64 = loop j < n (s: f64 = p) {
      own: i64 = add more, j
      y: f64 = to_f64 own
      z: f64 = mul x, x
      t: f64 = add y, z
      yield t
    }
    yield q
  }
  return r
}
";
    assert_eq!(hoisted_by(Moves::Integers, text), expected);
}

#[test]
fn a_value_leaves_all_loops_that_it_does_not_depend_on() {
    becomes(
        "fn f(n: i64, x: f64, a: f64[n]) {
  r: f64[n, n] = par i < n, j < n (stack) {
    u: f64 = a[i]
    s: f64 = loop k < 4 (p: f64 = 0.0) {
      z: f64 = exp x
      v: f64 = mul u, z
      q: f64 = add p, v
      yield q
    }
    yield s
  }
  return r
}
",
        "fn f(n: i64, x: f64, a: f64[n]) {
  z: f64 = exp x
  r: f64[n, n] = par i < n, j < n (stack) {
    u: f64 = a[i]
    v: f64 = mul u, z
    s: f64 = loop k < 4 (p: f64 = 0.0) {
      q: f64 = add p, v
      yield q
    }
    yield s
  }
  return r
}
",
    );
}

#[test]
fn a_region_that_depends_on_nothing_moves_as_a_whole() {
    becomes(
        "fn f(n: i64, a: f64[n]) {
  r: f64[n] = par i < n (stack) {
    total: f64 = par j < n (add from 0.0) {
      u: f64 = a[j]
      yield u
    }
    v: f64 = a[i]
    w: f64 = div v, total
    yield w
  }
  return r
}
",
        "fn f(n: i64, a: f64[n]) {
  total: f64 = par j < n (add from 0.0) {
    u: f64 = a[j]
    yield u
  }
  r: f64[n] = par i < n (stack) {
    v: f64 = a[i]
    w: f64 = div v, total
    yield w
  }
  return r
}
",
    );
}

#[test]
fn of_a_jacobian_the_primal_is_evaluated_once() {
    becomes(
        "fn f(n: i64, x: f64[3], a: f64[n, 3]) {
  zero: f64[3] = fill 0.0
  jac: f64[3, n] = par b < 3 (stack) {
    basis: f64[3] = update zero[b] = 1.0
    col: f64[n] = par i < n (stack) {
      y: f64, y_tan: f64 = loop k < 3 (p: f64 = 0.0, p_tan: f64 = 0.0) {
        u: f64 = a[i, k]
        v: f64 = x[k]
        v_tan: f64 = basis[k]
        q: f64 = fma u, v, p
        w: f64 = mulz v_tan, u
        q_tan: f64 = add w, p_tan
        yield q, q_tan
      }
      s: f64 = cos y
      t: f64 = mulz y_tan, s
      yield t
    }
    yield col
  }
  return jac
}
",
        "fn f(n: i64, x: f64[3], a: f64[n, 3]) {
  zero: f64[3] = fill 0.0
  s: f64[n] = par i < n (stack) {
    y: f64 = loop k < 3 (p: f64 = 0.0) {
      u: f64 = a[i, k]
      v: f64 = x[k]
      q: f64 = fma u, v, p
      yield q
    }
    s.1: f64 = cos y
    yield s.1
  }
  jac: f64[3, n] = par b < 3 (stack) {
    basis: f64[3] = update zero[b] = 1.0
    col: f64[n] = par i.1 < n (stack) {
      y_tan: f64 = loop k.1 < 3 (p_tan: f64 = 0.0) {
        u.1: f64 = a[i.1, k.1]
        v_tan: f64 = basis[k.1]
        w: f64 = mulz v_tan, u.1
        q_tan: f64 = add w, p_tan
        yield q_tan
      }
      s.2: f64 = s[i.1]
      t: f64 = mulz y_tan, s.2
      yield t
    }
    yield col
  }
  return jac
}
",
    );
}

#[test]
fn what_an_arm_computes_for_others_to_use_is_a_result_of_the_arms_that_move() {
    becomes(
        "fn f(x: f64, c: bool, d: f64[3]) {
  r: f64[3] = par b < 3 (stack) {
    t: f64 = d[b]
    y: f64 = switch c {
      s: f64 = sin x
      z: f64 = mul s, t
      yield z
    } {
      yield t
    }
    yield y
  }
  return r
}
",
        "fn f(x: f64, c: bool, d: f64[3]) {
  s: f64 = switch c {
    s.1: f64 = sin x
    yield s.1
  } {
    yield 0.0
  }
  r: f64[3] = par b < 3 (stack) {
    t: f64 = d[b]
    y: f64 = switch c {
      s.2: f64 = check true R0007() s
      z: f64 = mul s.2, t
      yield z
    } {
      yield t
    }
    yield y
  }
  return r
}
",
    );
}

#[test]
fn reads_fills_and_a_few_scalar_operations_are_not_kept_for_every_iteration() {
    stays_as_it_is(
        "fn f(n: i64, a: f64[n], d: f64[3]) {
  r: f64[3, n] = par b < 3 (stack) {
    t: f64 = d[b]
    col: f64[n] = par i < n (stack) {
      u: f64 = a[i]
      v: f64 = mul u, u
      w: f64 = add v, t
      yield w
    }
    yield col
  }
  return r
}
",
    );
}

#[test]
fn what_would_take_more_memory_than_inputs_and_outputs_is_not_kept() {
    stays_as_it_is(
        "fn f(n: i64, a: f64[n]) {
  r: f64 = par b < n (add from 0.0) {
    t: f64 = a[b]
    s: f64 = par i < n, j < n (add from 0.0) {
      u: f64 = a[i]
      v: f64 = a[j]
      w: f64 = mul u, v
      x: f64 = sin w
      y: f64 = mul x, t
      yield y
    }
    yield s
  }
  return r
}
",
    );
}

#[test]
fn a_check_stays_in_a_loop_that_may_not_run() {
    stays_as_it_is(
        "fn f(n: i64, k: i64, a: f64[n]) {
  ok: bool = in_range k, n
  r: f64[n] = par i < n (stack) {
    at: i64 = check ok R0001(k, n) k
    u: f64 = a[at]
    v: f64 = sin u
    w: f64 = a[i]
    x: f64 = mul v, w
    yield x
  }
  return r
}
",
    );
}

#[test]
fn a_check_leaves_a_loop_that_runs_if_nothing_fails_before_it() {
    becomes(
        "fn f(n: i64, k: i64, a: f64[n]) {
  r: f64[3] = par i < 3 (stack) {
    ok: bool = in_range k, n
    at: i64 = check ok R0001(k, n) k
    u: f64 = a[at]
    w: f64 = to_f64 i
    x: f64 = mul u, w
    yield x
  }
  return r
}
",
        "fn f(n: i64, k: i64, a: f64[n]) {
  ok: bool = in_range k, n
  at: i64 = check ok R0001(k, n) k
  r: f64[3] = par i < 3 (stack) {
    u: f64 = a[at]
    w: f64 = to_f64 i
    x: f64 = mul u, w
    yield x
  }
  return r
}
",
    );
}

#[test]
fn a_check_stays_behind_one_that_stays() {
    stays_as_it_is(
        "fn f(n: i64, k: i64, a: f64[n]) {
  ok: bool = in_range k, n
  r: f64[3] = par i < 3 (stack) {
    own: bool = in_range i, n
    here: i64 = check own R0001(i, n) i
    w: f64 = a[here]
    at: i64 = check ok R0001(k, n) k
    u: f64 = a[at]
    x: f64 = mul u, w
    yield x
  }
  return r
}
",
    );
}

#[test]
fn of_a_region_all_checks_move_or_none() {
    // The first iteration of `j` fails in the check of `i` before the second one fails in that of `j`.
    stays_as_it_is(
        "fn f(n: i64, a: f64[n], at: i64[3], to: i64[3, 3]) {
  r: f64[3, 3] = par i < 3 (stack) {
    s: f64[3] = par j < 3 (stack) {
      there: i64 = to[i, j]
      other: bool = in_range there, n
      away: i64 = check other R0001(there, n) there
      here: i64 = at[j]
      own: bool = in_range here, n
      place: i64 = check own R0001(here, n) here
      u: f64 = a[place]
      v: f64 = sin u
      w: f64 = a[away]
      x: f64 = mul v, w
      yield x
    }
    yield s
  }
  return r
}
",
    );
}

#[test]
fn an_element_that_may_not_be_there_is_not_read_early() {
    // In the loop `n` is one at least, so a check of this index may be gone.
    stays_as_it_is(
        "fn f(n: i64, a: f64[n]) {
  r: f64[n] = par i < n (stack) {
    u: f64 = a[0]
    v: f64 = sin u
    w: f64 = a[i]
    x: f64 = mul v, w
    yield x
  }
  return r
}
",
    );
}

#[test]
fn nothing_leaves_an_arm() {
    stays_as_it_is(
        "fn f(n: i64, x: f64, c: bool[n]) {
  r: f64[n] = par i < n (stack) {
    p: bool = c[i]
    y: f64 = switch p {
      z: f64 = exp x
      yield z
    } {
      yield x
    }
    yield y
  }
  return r
}
",
    );
}

#[test]
fn a_loop_does_not_leave_a_loop_that_may_not_run() {
    stays_as_it_is(
        "fn f(n: i64, a: f64[n], x: f64) {
  trips: i64, go: bool, r: f64 = while t (go.1: bool = false, p: f64 = x) {
    total: f64 = par j < n (add from 0.0) {
      u: f64 = a[j]
      yield u
    }
    q: f64 = add p, total
    more: bool = lt q, 10.0
    yield more, q
  }
  return r
}
",
    );
}

#[test]
fn a_write_to_an_accumulator_stays_where_it_is() {
    stays_as_it_is(
        "fn f(n: i64, a: f64[n]) {
  zero: f64[n] = fill 0.0
  acc: f64[n] = par i < 3 acc (sum: f64[n] add from zero) {
    par j < n {
      u: f64 = a[j]
      acc_add sum[j] = u
      yield
    }
    yield
  }
  return acc
}
",
    );
}

#[test]
fn a_sum_of_rows_of_unlike_names_stays_in_a_loop_that_may_not_run() {
    stays_as_it_is(
        "fn f(n: i64, m: i64, x: f64[n], z: f64[3]) {
  s: f64 = par i < m (add from 0.0) {
    a: f64[3] = par j < 3 acc (b: f64[3] add from z) {
      acc_add b[] = x
      yield
    }
    e: f64 = a[0]
    yield e
  }
  return s
}
",
    );
}

#[test]
fn an_element_that_a_check_of_sizes_stands_for_is_not_read_before_it() {
    stays_as_it_is(
        "fn f(n: i64, x: f64[n], q: f64[3]) {
  s: f64, t: f64 = par i < 3 (add from 0.0, add from 0.0) {
    m: i64 = add i, 2
    ok: bool = eq m, n
    y: f64[m] = check ok R0007(m, n) x
    u: f64 = par j < m (add from 0.0) {
      e: f64 = y[j]
      yield e
    }
    w: f64 = par k < n (add from 0.0) {
      g: f64 = q[k]
      yield g
    }
    yield u, w
  }
  return s, t
}
",
    );
}
