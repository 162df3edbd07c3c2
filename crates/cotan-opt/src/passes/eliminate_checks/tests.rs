//! What is folded, and what is not.

use super::*;
use cotan_ir::{Module, parse_function, verify};
use cotan_ops::Registry;

fn analysed(text: &str) -> String {
    let f = crate::simplify(eliminate_checks(
        parse_function(text, Registry::standard()).unwrap_or_else(|e| panic!("{e}")),
        &[],
    ));
    verify(&Module::default(), &f).unwrap_or_else(|errors| panic!("{}\n{f}", errors[0]));
    f.to_string()
}

/// Asserts what becomes of a function, and that it stays so.
fn becomes(text: &str, expected: &str) {
    let found = analysed(text);
    assert_eq!(found, expected, "found\n{found}");
    assert_eq!(analysed(expected), expected);
}

fn stays_as_it_is(text: &str) {
    becomes(text, text);
}

#[test]
fn an_index_of_a_loop_and_one_is_below_the_extent_and_one() {
    becomes(
        "fn f(n: i64, x: f64[n]) {
  ok: bool = sub_fits n, 1
  less: i64 = sub n, 1
  last: i64 = check ok R0003(n, 1) less
  enough: bool = ge last, 0
  len: i64 = check enough R0008(last) last
  r: f64[len] = par i < len (stack) {
    fits: bool = add_fits i, 1
    sum: i64 = add i, 1
    next: i64 = check fits R0003(i, 1) sum
    inside: bool = in_range next, n
    at: i64 = check inside R0001(next, n) next
    u: f64 = x[at]
    own: bool = in_range i, n
    here: i64 = check own R0001(i, n) i
    v: f64 = x[here]
    w: f64 = sub u, v
    yield w
  }
  return len, r
}
",
        "fn f(n: i64, x: f64[n]) {
  less: i64 = sub n, 1
  enough: bool = ge less, 0
  len: i64 = check enough R0008(less) less
  r: f64[len] = par i < len (stack) {
    sum: i64 = add i, 1
    u: f64 = x[sum]
    v: f64 = x[i]
    w: f64 = sub u, v
    yield w
  }
  return len, r
}
",
    );
}

#[test]
fn triangular_indices_lie_in_their_triangle() {
    becomes(
        "fn f(d: i64, n: i64, l: f64[n], v: f64[d]) {
  fit: bool = sub_fits d, 1
  less: i64 = sub d, 1
  last: i64 = check fit R0003(d, 1) less
  fits: bool = mul_fits d, last
  square: i64 = mul d, last
  whole: i64 = check fits R0003(d, last) square
  half: i64 = div whole, 2
  le: bool = le half, n
  rows: i64 = check le R0002(half, n) d
  r: f64[rows] = par i < rows (stack) {
    s: f64 = loop j < i (p: f64 = 0.0) {
      f1: bool = mul_fits j, d
      a1: i64 = mul j, d
      a: i64 = check f1 R0003(j, d) a1
      f2: bool = add_fits j, 1
      b1: i64 = add j, 1
      b: i64 = check f2 R0003(j, 1) b1
      f3: bool = mul_fits j, b
      c1: i64 = mul j, b
      c: i64 = check f3 R0003(j, b) c1
      e: i64 = div c, 2
      f4: bool = sub_fits a, e
      g1: i64 = sub a, e
      g: i64 = check f4 R0003(a, e) g1
      f5: bool = add_fits g, i
      h1: i64 = add g, i
      h: i64 = check f5 R0003(g, i) h1
      f6: bool = sub_fits h, b
      k1: i64 = sub h, b
      k: i64 = check f6 R0003(h, b) k1
      inside: bool = in_range k, n
      at: i64 = check inside R0001(k, n) k
      u: f64 = l[at]
      q: f64 = add p, u
      yield q
    }
    yield s
  }
  return rows, r
}
",
        "fn f(d: i64, n: i64, l: f64[n], v: f64[d]) {
  less: i64 = sub d, 1
  fits: bool = mul_fits d, less
  square: i64 = mul d, less
  whole: i64 = check fits R0003(d, less) square
  half: i64 = div whole, 2
  le: bool = le half, n
  rows: i64 = check le R0002(half, n) d
  r: f64[rows] = par i < rows (stack) {
    s: f64 = loop j < i (p: f64 = 0.0) {
      a1: i64 = mul j, d
      b1: i64 = add j, 1
      c1: i64 = mul j, b1
      e: i64 = div c1, 2
      g1: i64 = sub a1, e
      h1: i64 = add g1, i
      k1: i64 = sub h1, b1
      u: f64 = l[k1]
      q: f64 = add p, u
      yield q
    }
    yield s
  }
  return rows, r
}
",
    );
}

#[test]
fn a_counter_of_trips_fits() {
    becomes(
        "fn f(x: f64) {
  trips: i64, go: bool, n: i64, y: f64 = while t (go.1: bool = true, p: i64 = 0, z: f64 = x) {
    fits: bool = add_fits p, 1
    sum: i64 = add p, 1
    next: i64 = check fits R0003(p, 1) sum
    w: f64 = sqrt z
    more: bool = lt next, 50
    yield more, next, w
  }
  return n, y
}
",
        "fn f(x: f64) {
  trips: i64, go: bool, n: i64, y: f64 = while t (go.1: bool = true, p: i64 = 0, z: f64 = x) {
    sum: i64 = add p, 1
    w: f64 = sqrt z
    more: bool = lt sum, 50
    yield more, sum, w
  }
  return n, y
}
",
    );
}

#[test]
fn a_branch_has_its_condition_and_the_other_one_its_contrary() {
    becomes(
        "fn f(n: i64, k: i64, x: f64[n]) {
  low: bool = lt k, 0
  r: f64 = switch low {
    yield 0.0
  } {
    high: bool = ge k, n
    s: f64 = switch high {
      yield 1.0
    } {
      ok: bool = in_range k, n
      at: i64 = check ok R0001(k, n) k
      u: f64 = x[at]
      yield u
    }
    yield s
  }
  return r
}
",
        "fn f(n: i64, k: i64, x: f64[n]) {
  low: bool = lt k, 0
  r: f64 = switch low {
    yield 0.0
  } {
    high: bool = ge k, n
    s: f64 = switch high {
      yield 1.0
    } {
      u: f64 = x[k]
      yield u
    }
    yield s
  }
  return r
}
",
    );
}

#[test]
fn an_index_that_data_decide_keeps_its_check() {
    stays_as_it_is(
        "fn f(n: i64, m: i64, at: i64[m], x: f64[n]) {
  r: f64[m] = par i < m (stack) {
    k: i64 = at[i]
    ok: bool = in_range k, n
    here: i64 = check ok R0001(k, n) k
    u: f64 = x[here]
    yield u
  }
  return r
}
",
    );
}

#[test]
fn an_index_below_another_extent_keeps_its_check() {
    stays_as_it_is(
        "fn f(n: i64, m: i64, x: f64[n]) {
  r: f64[m] = par i < m (stack) {
    ok: bool = in_range i, n
    here: i64 = check ok R0001(i, n) i
    u: f64 = x[here]
    yield u
  }
  return r
}
",
    );
}

#[test]
fn a_product_of_extents_that_nobody_checked_may_not_fit() {
    stays_as_it_is(
        "fn f(n: i64, m: i64, x: f64[n], y: f64[m]) {
  ok: bool = mul_fits n, m
  raw: i64 = mul n, m
  size: i64 = check ok R0003(n, m) raw
  return size
}
",
    );
}

#[test]
fn a_check_that_nobody_would_need_any_more_is_not_relied_on() {
    // The second check holds if the first one does; without it the first one would be dead code.
    stays_as_it_is(
        "fn f(n: i64, k: i64, x: f64) {
  ok: bool = in_range k, n
  at: i64 = check ok R0001(k, n) k
  less: bool = lt at, n
  y: f64 = check less R0004(at) x
  return y
}
",
    );
}

#[test]
fn a_check_that_is_known_to_fail_stays() {
    stays_as_it_is(
        "fn f(n: i64, x: f64) {
  r: f64[n] = par i < n (stack) {
    y: f64 = check false R0001(-1, n) x
    yield y
  }
  return r
}
",
    );
    becomes(
        "fn f(n: i64, x: f64) {
  r: f64[3] = par i < 3 (stack) {
    low: bool = ge i, 3
    y: f64 = check low R0004(i) x
    yield y
  }
  return r
}
",
        "fn f(n: i64, x: f64) {
  r: f64[3] = par i < 3 (stack) {
    y: f64 = check false R0004(i) x
    yield y
  }
  return r
}
",
    );
}

#[test]
fn an_index_that_a_branch_keeps_from_zero_may_be_lowered() {
    becomes(
        "fn f(n: i64, x: f64[n]) {
  r: f64[n] = par i < n (stack) {
    positive: bool = gt i, 0
    y: f64 = switch positive {
      less: i64 = sub i, 1
      ok: bool = in_range less, n
      at: i64 = check ok R0001(less, n) less
      u: f64 = x[at]
      yield u
    } {
      yield 0.0
    }
    yield y
  }
  return r
}
",
        "fn f(n: i64, x: f64[n]) {
  r: f64[n] = par i < n (stack) {
    positive: bool = gt i, 0
    y: f64 = switch positive {
      less: i64 = sub i, 1
      u: f64 = x[less]
      yield u
    } {
      yield 0.0
    }
    yield y
  }
  return r
}
",
    );
}

#[test]
fn what_is_about_the_value_of_a_check_needs_the_check() {
    stays_as_it_is(
        "fn f() {
  sum: i64 = check false R0003(9223372036854775807, 1) -9223372036854775808
  gt: bool = gt sum, 0
  return gt
}
",
    );
    // Somebody else needs it here.
    becomes(
        "fn f(n: i64) {
  fits: bool = mul_fits n, n
  square: i64 = mul n, n
  area: i64 = check fits R0003(n, n) square
  some: bool = lt n, area
  none: bool = ge area, area
  return area, none, some
}
",
        "fn f(n: i64) {
  fits: bool = mul_fits n, n
  square: i64 = mul n, n
  area: i64 = check fits R0003(n, n) square
  some: bool = lt n, area
  return area, true, some
}
",
    );
}

#[test]
fn what_callers_make_sure_of_needs_no_check() {
    let text = "fn f(n: i64, m: i64, x: f64[m]) {
  last: i64 = sub n, 1
  r: f64[m] = par i < m (stack) {
    own: bool = lt i, last
    inside: bool = in_range i, n
    here: i64 = check inside R0001(i, n) i
    v: f64 = x[here]
    w: f64 = select own, v, 0.0
    yield w
  }
  return r
}
";
    let f = parse_function(text, Registry::standard()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(crate::simplify(eliminate_checks(f.clone(), &[])).to_string(), text);
    let given = KnownExtents { param: 1, terms: vec![(1, vec![0]), (-1, Vec::new())] };
    let found = crate::simplify(eliminate_checks(f, &[given])).to_string();
    assert!(!found.contains("check") && !found.contains("select"), "{found}");
}

/// A loop over pairs of neighbours, forward and backwards, of so many iterations.
fn neighbours(count: &str) -> String {
    format!(
        "fn f(n: i64, m: i64, x: f64[n]) {{
  less: i64 = sub n, 1
  count: i64 = {count}
  s: f64, xs: f64[count] = loop t < count (p: f64 = 0.0) {{
    own: bool = in_range t, n
    here: i64 = check own R0001(t, n) t
    u: f64 = x[here]
    fits: bool = add_fits t, 1
    sum: i64 = add t, 1
    next: i64 = check fits R0003(t, 1) sum
    inside: bool = in_range next, n
    there: i64 = check inside R0001(next, n) next
    v: f64 = x[there]
    w: f64 = fma u, v, p
    yield w, w
  }}
  last: i64 = sub count, 1
  r: f64 = loop down < count (q: f64 = s) {{
    t.1: i64 = sub last, down
    e: f64 = xs[t.1]
    own.1: bool = in_range t.1, n
    here.1: i64 = check own.1 R0001(t.1, n) t.1
    u.1: f64 = x[here.1]
    sum.1: i64 = add t.1, 1
    inside.1: bool = in_range sum.1, n
    there.1: i64 = check inside.1 R0001(sum.1, n) sum.1
    v.1: f64 = x[there.1]
    a: f64 = fma u.1, v.1, e
    b: f64 = add a, q
    yield b
  }}
  return r
}}
"
    )
}

#[test]
fn a_loop_that_runs_has_no_clamped_count() {
    for count in ["max less, 0", "max 0, less", "max less, -3"] {
        let found = analysed(&neighbours(count));
        assert!(!found.contains("check"), "{found}");
        assert_eq!(analysed(&found), found);
    }
}

#[test]
fn a_count_that_is_no_bound_keeps_its_checks() {
    for count in ["max less, 1", "max n, 0", "max less, m", "max m, 0"] {
        let text = neighbours(count);
        let found = analysed(&text);
        // The checks of what lies one further on, in both loops; one iteration may be one too many.
        assert_eq!(found.matches("= check inside").count(), 2, "{found}");
        assert_eq!(analysed(&found), found);
    }
}

#[test]
fn a_length_that_was_compared_with_its_bound_is_not_clamped() {
    let guarded = |condition: &str| {
        format!(
            "fn f(n: i64, m: i64, x: f64[n]) {{
  less: i64 = sub n, 1
  most: i64 = max less, 0
  some: bool = {condition}
  r: f64 = switch some {{
    inside: bool = in_range most, n
    at: i64 = check inside R0001(most, n) most
    u: f64 = x[at]
    yield u
  }} {{
    yield 0.0
  }}
  return r
}}
"
        )
    };
    let found = analysed(&guarded("gt most, 0"));
    assert!(!found.contains("check"), "{found}");
    stays_as_it_is(&guarded("ge most, 0").replace("ge most, 0", "ge m, 0"));
    // If `n` is 0, so is `most`, and there is no such element.
    stays_as_it_is(&guarded("gt m, 0"));
}

#[test]
fn a_question_that_only_the_value_of_a_check_asks_keeps_the_check() {
    stays_as_it_is(
        "fn f(n: i64, i: i64) {
  inside: bool = in_range i, n
  at: i64 = check inside R0001(i, n) i
  most: i64 = max at, n
  sure: bool = ge most, at
  return sure
}
",
    );
}

#[test]
fn neighbours_at_the_border_of_a_grid_are_inside() {
    becomes(
        "fn f(n: i64, x: f64[n]) {
  last: i64 = sub n, 1
  r: f64[n] = par i < n (stack) {
    less: i64 = sub i, 1
    before: i64 = max less, 0
    inside: bool = in_range before, n
    at: i64 = check inside R0001(before, n) before
    u: f64 = x[at]
    more: i64 = add i, 1
    behind: i64 = min more, last
    within: bool = in_range behind, n
    to: i64 = check within R0001(behind, n) behind
    v: f64 = x[to]
    w: f64 = sub u, v
    yield w
  }
  return r
}
",
        "fn f(n: i64, x: f64[n]) {
  last: i64 = sub n, 1
  r: f64[n] = par i < n (stack) {
    less: i64 = sub i, 1
    before: i64 = max less, 0
    u: f64 = x[before]
    more: i64 = add i, 1
    behind: i64 = min more, last
    v: f64 = x[behind]
    w: f64 = sub u, v
    yield w
  }
  return r
}
",
    );
}

#[test]
fn the_greater_one_of_two_may_be_outside_where_one_of_them_may() {
    stays_as_it_is(
        "fn f(n: i64, m: i64, x: f64[n]) {
  r: f64[n] = par i < n (stack) {
    far: i64 = max i, m
    inside: bool = in_range far, n
    at: i64 = check inside R0001(far, n) far
    u: f64 = x[at]
    yield u
  }
  return r
}
",
    );
}
