//! What is fused, and what is not.

use super::*;
use cotan_ir::{Module, parse_function, verify};
use cotan_ops::Registry;

fn fused(text: &str) -> String {
    let f = crate::simplify(fuse(parse_function(text, Registry::standard()).unwrap_or_else(|e| panic!("{e}"))));
    verify(&Module::default(), &f).unwrap_or_else(|errors| panic!("{}\n{f}", errors[0]));
    f.to_string()
}

fn becomes(text: &str, expected: &str) {
    let found = fused(text);
    assert_eq!(found, expected, "found\n{found}");
    assert_eq!(fused(expected), expected);
}

fn stays(text: &str) {
    becomes(text, text);
}

#[test]
fn whole_arrays_one_after_the_other_are_one_loop() {
    becomes(
        "fn f(n: i64, c: f64, x: f64[n]) {
  a: f64[n] = fill c
  b: f64[n] = mul a, x
  d: f64[n] = exp b
  s: f64 = par i < n (add from 0.0) {
    e: f64 = d[i]
    yield e
  }
  return s
}
",
        "fn f(n: i64, c: f64, x: f64[n]) {
  s: f64 = par i < n (add from 0.0) {
    elem: f64 = x[i]
    b: f64 = mul c, elem
    d: f64 = exp b
    yield d
  }
  return s
}
",
    );
}

#[test]
fn a_row_that_fills_a_matrix_is_read_at_its_column() {
    becomes(
        "fn f(n: i64, m: i64, x: f64[n]) {
  a: f64[m, n] = fill x
  s: f64 = par i < m, j < n (add from 0.0) {
    e: f64 = a[i, j]
    yield e
  }
  return s
}
",
        "fn f(n: i64, m: i64, x: f64[n]) {
  s: f64 = par i < m, j < n (add from 0.0) {
    elem: f64 = x[j]
    yield elem
  }
  return s
}
",
    );
}

#[test]
fn an_array_that_is_read_again_is_one_more_result() {
    becomes(
        "fn f(n: i64, x: f64[n]) {
  a: f64[n] = par i < n (stack) {
    e: f64 = x[i]
    r: f64 = mul e, e
    yield r
  }
  b: f64[n] = exp a
  return a, b
}
",
        "fn f(n: i64, x: f64[n]) {
  a: f64[n], b: f64[n] = par i < n (stack, stack) {
    e: f64 = x[i]
    r: f64 = mul e, e
    b.1: f64 = exp r
    yield r, b.1
  }
  return a, b
}
",
    );
}

#[test]
fn an_array_that_is_read_at_other_places_is_made_first() {
    for place in ["a[next]", "a[0]"] {
        stays(
            &format!(
                "fn f(n: i64, x: f64[n]) {{
  a: f64[n] = exp x
  m: i64 = sub n, 1
  b: f64[n] = par i < n (stack) {{
    next: i64 = min i, m
    e: f64 = {place}
    r: f64 = add e, 1.0
    yield r
  }}
  return b
}}
"
            )
            .replace("    next: i64 = min i, m\n", if place == "a[0]" { "" } else { "    next: i64 = min i, m\n" })
            .replace("  m: i64 = sub n, 1\n", if place == "a[0]" { "" } else { "  m: i64 = sub n, 1\n" }),
        );
    }
}

#[test]
fn what_an_inner_loop_reads_again_and_again_is_made_once() {
    stays(
        "fn f(n: i64, x: f64[n]) {
  a: f64[n] = exp x
  b: f64[n, n] = par i < n, j < n (stack) {
    e: f64 = a[j]
    g: f64 = a[i]
    r: f64 = mul e, g
    yield r
  }
  return b
}
",
    );
}

#[test]
fn what_may_fail_or_be_changed_in_place_between_stays_where_it_is() {
    stays(
        "fn f(n: i64, x: f64[n]) {
  a: f64[n] = par i < n (stack) {
    e: f64 = x[i]
    ok: bool = gt e, 0.0
    c: f64 = check ok R0012() e
    yield c
  }
  b: f64[n] = exp a
  return b
}
",
    );
    stays(
        "fn f(n: i64, x: f64[n], k: i64) {
  y: f64[n] = reverse x {0}
  a: f64[n] = sin y
  u: f64[n] = update y[k] = 0.0
  b: f64[n] = cos a
  return u, b
}
",
    );
}

#[test]
fn what_may_fail_is_reduced_where_it_fails_if_nobody_notices() {
    let gathered = |between: &str, value: &str| {
        format!(
            "fn f(n: i64, m: i64, x: f64[n], at: i64[m], w: f64[m]) {{
  a: f64[m] = par i < m (stack) {{
    k: i64 = at[i]
    ok: bool = in_range k, n
    place: i64 = check ok R0001(k, n) k
    e: f64 = x[place]
    yield e
  }}
{between}  s: f64 = par j < m (add from 0.0) {{
    e.1: f64 = a[j]
    v: f64 = w[j]
    p: f64 = mul e.1, v
{value}    yield p
  }}
  return s
}}
"
        )
    };
    becomes(
        &gathered("", ""),
        "fn f(n: i64, m: i64, x: f64[n], at: i64[m], w: f64[m]) {
  s: f64 = par j < m (add from 0.0) {
    k: i64 = at[j]
    ok: bool = in_range k, n
    place: i64 = check ok R0001(k, n) k
    e: f64 = x[place]
    v: f64 = w[j]
    p: f64 = mul e, v
    yield p
  }
  return s
}
",
    );
    // Another check would come first, in the loop or before it.
    stays(
        &gathered("", "    fine: bool = gt p, 0.0\n    q: f64 = check fine R0012() p\n")
            .replace("yield p\n", "yield q\n"),
    );
    stays(
        &gathered("  few: bool = lt m, 9\n  c: f64 = check few R0012() 0.5\n", "")
            .replace("add from 0.0", "add from c"),
    );
}

/// Rows that are added to an accumulator of a loop around.
fn rows(body: &str) -> String {
    format!(
        "fn f(n: i64, m: i64, x: f64[n, m], y: f64[m]) {{
  zeros: f64[n, m] = fill 0.0
  t: f64[n, m] = loop k < n (z: f64[m] = y) acc (s: f64[n, m] add from zeros) {{
    row: f64[m] = x[k]
{body}  }}
  return t
}}
"
    )
    .replace("t: f64[n, m] = loop", "w: f64[m], t: f64[n, m] = loop")
    .replace("return t", "return w, t")
}

#[test]
fn a_sum_takes_the_elements_of_what_is_added_to_a_part_of_it() {
    becomes(
        &rows(
            "    a: f64[m] = exp row
    acc_add s[k] = a
    b: f64[m] = mul a, z
    acc_add s[0] = b
    yield b
",
        ),
        &rows(
            "    b: f64[m] = par i < m (stack) {
      elem: f64 = row[i]
      a: f64 = exp elem
      acc_add s[k, i] = a
      elem.1: f64 = z[i]
      b.1: f64 = mul a, elem.1
      acc_add s[0, i] = b.1
      yield b.1
    }
    yield b
",
        ),
    );
}

#[test]
fn what_comes_of_a_loop_beside_others_is_taken_from_it() {
    becomes(
        "fn f(n: i64, x: f64[n]) {
  a: f64[n], b: f64[n] = par i < n (stack, stack) {
    e: f64 = x[i]
    c: f64 = cos e
    s: f64 = sin e
    yield c, s
  }
  u: f64[n] = mul a, b
  v: f64[n] = add u, b
  return a, v
}
",
        "fn f(n: i64, x: f64[n]) {
  a: f64[n], v: f64[n] = par i < n (stack, stack) {
    e: f64 = x[i]
    c: f64 = cos e
    s: f64 = sin e
    u: f64 = mul c, s
    v.1: f64 = add u, s
    yield c, v.1
  }
  return a, v
}
",
    );
}

#[test]
fn a_write_of_what_is_taken_waits() {
    becomes(
        "fn f(n: i64, m: i64, x: f64[m], y: f64[n, m], k: i64) {
  a: f64[m] = exp x
  u: f64[n, m] = update y[k] = a
  w: f64[n, m] = update u[0] = a
  b: f64[m] = neg a
  return b, w
}
",
        "fn f(n: i64, m: i64, x: f64[m], y: f64[n, m], k: i64) {
  a: f64[m], b: f64[m] = par i < m (stack, stack) {
    elem: f64 = x[i]
    a.1: f64 = exp elem
    b.1: f64 = neg a.1
    yield a.1, b.1
  }
  u: f64[n, m] = update y[k] = a
  w: f64[n, m] = update u[0] = a
  return b, w
}
",
    );
}

#[test]
fn a_write_that_is_read_before_does_not_wait() {
    stays(
        "fn f(n: i64, m: i64, x: f64[m], y: f64[n, m], k: i64) {
  a: f64[m] = exp x
  u: f64[n, m] = update y[k] = a
  row: f64[m] = u[0]
  b: f64[m] = mul a, row
  return b, u
}
",
    );
}

#[test]
fn contributions_keep_their_order() {
    // Between the loop and who takes its elements somebody else adds to the same sum.
    stays(&rows(
        "    a: f64[m] = par i < m (stack) {
      elem: f64 = row[i]
      a.1: f64 = exp elem
      acc_add s[k, i] = a.1
      yield a.1
    }
    acc_add s[0] = z
    b: f64[m] = neg a
    yield b
",
    ));
    // The second loop adds to elements of other iterations of the first one.
    stays(&rows(
        "    a: f64[m] = par i < m (stack) {
      elem: f64 = row[i]
      a.1: f64 = exp elem
      acc_add s[k, i] = a.1
      yield a.1
    }
    b: f64[m] = par i.1 < m (stack) {
      elem.1: f64 = a[i.1]
      acc_add s[k, 0] = elem.1
      yield elem.1
    }
    yield b
",
    ));
}

#[test]
fn what_is_added_to_anything_but_a_sum_is_made_first() {
    // A log takes whole rows.
    stays(
        "fn f(n: i64, m: i64, x: f64[n, m]) {
  rows: i64, t: f64[rows, m] = loop k < n (c: i64 = 0) acc (s: f64[0, m] log) {
    row: f64[m] = x[k]
    a: f64[m] = exp row
    acc_add s[c] = a
    next: i64 = add c, 1
    yield next
  }
  return rows, t
}
",
    );
}

#[test]
fn a_row_of_an_operation_is_made_where_it_is_read() {
    // The operation on the row is then one of the block inside, and joins what reads its elements there.
    becomes(
        "fn f(n: i64, m: i64, x: f64[n, m], y: f64[n, m]) {
  a: f64[n, m] = fma x, 2.5, y
  b: f64[n, m] = exp a
  s: f64[n] = par i < n (stack) {
    row: f64[m] = b[i]
    t: f64 = par j < m (add from 0.0) {
      e: f64 = row[j]
      yield e
    }
    yield t
  }
  return s
}
",
        "fn f(n: i64, m: i64, x: f64[n, m], y: f64[n, m]) {
  s: f64[n] = par i < n (stack) {
    elem: f64[m] = x[i]
    elem.1: f64[m] = y[i]
    t: f64 = par j < m (add from 0.0) {
      elem.2: f64 = elem[j]
      elem.3: f64 = elem.1[j]
      a: f64 = fma elem.2, 2.5, elem.3
      b: f64 = exp a
      yield b
    }
    yield t
  }
  return s
}
",
    );
}

#[test]
fn a_row_that_is_read_at_several_places_of_an_iteration_is_made_once() {
    becomes(
        "fn f(n: i64, x: f32[3, n, 4]) {
  a: f32[3, n, 4] = exp x
  s: f32[3, n] = par i < 3, j < n (stack) {
    row: f32[4] = a[i, j]
    p: f32 = row[0]
    again: f32[4] = a[i, j]
    q: f32 = again[3]
    r: f32 = sub p, q
    yield r
  }
  return s
}
",
        "fn f(n: i64, x: f32[3, n, 4]) {
  s: f32[3, n] = par i < 3, j < n (stack) {
    elem: f32[4] = x[i, j]
    a: f32[4] = exp elem
    p: f32 = a[0]
    q: f32 = a[3]
    r: f32 = sub p, q
    yield r
  }
  return s
}
",
    );
}

/// A loop over rows of what is made of a matrix, and what else there is.
fn of_rows(made: &str, row: &str, rest: &str, results: &str) -> String {
    format!(
        "fn f(n: i64, m: i64, k: i64, x: f64[n, m]) {{
{made}  s: f64[n] = par i < n (stack) {{
    row: f64[m] = {row}
    e: f64 = row[k]
    yield e
  }}
{rest}  return {results}
}}
"
    )
}

#[test]
fn rows_that_somebody_else_wants_are_made_first() {
    let made = "  a: f64[n, m] = exp x\n";
    assert_ne!(fused(&of_rows(made, "a[i]", "", "s")), of_rows(made, "a[i]", "", "s"));
    stays(&of_rows(made, "a[i]", "", "s, a"));
    stays(&of_rows(made, "a[i]", "  first: f64[m] = a[0]\n", "s, first"));
    stays(&of_rows(made, "a[k]", "", "s"));
    // Another place in the same loop.
    stays(
        &of_rows(made, "a[i]\n    above: f64[m] = a[k]\n    u: f64 = above[i]\n    v: f64 = exp u", "", "s")
            .replace("    e: f64 = row[k]\n    yield e", "    e: f64 = row[k]\n    w: f64 = add v, e\n    yield w"),
    );
}

#[test]
fn rows_of_what_a_loop_over_elements_makes_are_made_by_an_inner_loop() {
    let made = "  a: f64[n, m] = par h < n, j < m (stack) {
    elem: f64 = x[h, j]
    b: f64 = exp elem
    yield b
  }
";
    becomes(
        &of_rows(made, "a[i]", "", "s"),
        "fn f(n: i64, m: i64, k: i64, x: f64[n, m]) {
  s: f64[n] = par i < n (stack) {
    a: f64[m] = par j < m (stack) {
      elem: f64 = x[i, j]
      b: f64 = exp elem
      yield b
    }
    e: f64 = a[k]
    yield e
  }
  return s
}
",
    );
    stays(&of_rows(made, "a[i]", "", "s, a"));
}
