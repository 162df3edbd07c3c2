//! What small programs are lowered to.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan_ir::{Module, parse_function, verify_module};
use cotan_loops::{CPU, lower};
use cotan_ops::Registry;
use expect_test::{Expect, expect};

fn lowered(text: &str) -> String {
    let f = parse_function(text, Registry::standard()).unwrap();
    let mut module = Module::default();
    let f = module.insert(f);
    verify_module(&module).unwrap();
    lower(&f, &CPU).to_string()
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&lowered(text));
}

#[test]
fn rows_are_written_straight_to_the_result() {
    check(
        "fn f(n: i64, m: i64, x: f64[n, m]) {
           y: f64[n, m] = par i < n (stack) {
             row: f64[m] = x[i]
             z: f64[m] = mul row, 2.0
             a: f64[m] = update z[0] = 1.0
             yield a
           }
           return y
         }",
        expect![[r#"
            fn f(n: i64, m: i64, x[]: f64[n, m]) {
              t = cast(f64).i64 m
              steps = add.f64 4.0, t
              alloc y: f64[n, m] as result 0
              for i < n may fork(steps steps) {
                t.1 = mul.i64 i, m
                t.2 = mul.i64 i, m
                for k < m {
                  t.3 = add.i64 t.2, k
                  x = x[t.3]
                  y = mul.f64 x, 2.0
                  t.4 = add.i64 t.1, k
                  y[t.4] = y
                }
                y[t.1] = 1.0
              }
              return y[]: f64[n, m]
            }
        "#]],
    );
}

#[test]
fn elements_are_stored_straight_to_the_result() {
    check(
        "fn f(n: i64, x: f64[n]) {
           y: f64[n, 2] = par i < n (stack) {
             a: f64 = x[i]
             b: f64 = neg a
             row: f64[2] = from_elements a, b
             yield row
           }
           return y
         }",
        expect![[r#"
            fn f(n: i64, x[]: f64[n]) {
              alloc y: f64[n, 2] as result 0
              for i < n may fork(steps 6.0) {
                t = mul.i64 i, 2
                a = x[i]
                b = neg.f64 a
                y[t] = a
                t.1 = add.i64 t, 1
                y[t.1] = b
              }
              return y[]: f64[n, 2]
            }
        "#]],
    );
}

#[test]
fn a_carried_array_stays_in_one_buffer() {
    check(
        "fn f(n: i64, x: f64[n]) {
           y: f64[n], old: f64[n] = loop i < n (a: f64[n] = x) {
             p: f64 = a[i]
             s: f64 = mul p, p
             b: f64[n] = update a[i] = s
             yield b, p
           }
           return y, old
         }",
        expect![[r#"
            fn f(n: i64, x[]: f64[n]) {
              alloc y: f64[n] as result 0
              copy x[] to y[], n
              alloc old: f64[n] as result 1
              for i < n {
                p = y[i]
                s = mul.f64 p, p
                y[i] = s
                old[i] = p
              }
              return y[]: f64[n], old[]: f64[n]
            }
        "#]],
    );
}

#[test]
fn a_log_is_a_stack() {
    check(
        "fn f(x: f64) {
           k: i64, go: bool, path: f64[k] record value = while i (on: bool = true) {
             a: f64 = to_f64 i
             more: bool = lt a, x
             yield more, a
           }
           return k, path
         }",
        expect![[r#"
            fn f(x: f64) {
              on := true
              i := 0
              stack path: f64
              while on {
                i.1 = i
                on.1 = on
                t = add.i64 i.1, 1
                extend path to t
                a = cast(f64).i64 i.1
                more = lt.f64 a, x
                path[i.1] = a
                on := more
                t.1 = add.i64 i.1, 1
                i := t.1
              }
              i.2 = i
              on.2 = on
              bind path.1 to path[]
              record f64[i.2]
              alloc result: f64[i.2] as result 1
              copy path.1[] to result[], i.2
              return i.2, result[]: f64[i.2]
            }
        "#]],
    );
}

#[test]
fn checks_and_branches_stay_where_they_are() {
    check(
        "fn f(n: i64, x: f64[n], i: i64) {
           ok: bool = in_range i, n
           j: i64 = check ok R0001(i, n) i
           p: f64 = x[j]
           pos: bool = gt p, 0.0
           y: f64 = switch pos {
             a: f64 = sqrt p
             yield a
           } {
             yield 0.0
           }
           return y
         }",
        expect![[r#"
            fn f(n: i64, x[]: f64[n], i: i64) {
              t = le.i64 0, i
              t.1 = lt.i64 i, n
              t.2 = and.bool t, t.1
              check t.2 R0001(i, n)
              p = x[i]
              pos = gt.f64 p, 0.0
              if pos {
                a = sqrt.f64 p
                y := a
              }
              else {
                y := 0.0
              }
              y.1 = y
              return y.1
            }
        "#]],
    );
}

/// Copies inside loops: the sign that an update was not made in place.
fn copies_in_loops(text: &str) -> usize {
    lowered(text).lines().filter(|l| l.starts_with("    ") && l.trim_start().starts_with("copy")).count()
}

#[test]
fn updates_below_branches_and_inner_loops_copy_nothing() {
    let text = "fn f(n: i64, x: f64[n, n]) {
      y: f64[n, n] = loop i < n (a: f64[n, n] = x) {
        b: f64[n, n] = loop j < i (c: f64[n, n] = a) {
          p: f64 = c[i, j]
          q: bool = gt p, 0.0
          d: f64[n, n] = switch q {
            s: f64 = mul p, 0.5
            e: f64[n, n] = update c[i, j] = s
            yield e
          } {
            yield c
          }
          g: f64[n, n] = update d[j, i] = p
          yield g
        }
        yield b
      }
      return y
    }";
    assert_eq!(copies_in_loops(text), 0);
}

#[test]
fn a_reverse_loop_copies_nothing() {
    let text = "fn f(n: i64, y: f64[n], old: f64[n], y_cot: f64[n]) {
      zero: f64[n] = fill 0.0
      y0: f64[n], x_cot: f64[n], w_cot: f64[n] = loop j < n (c: f64[n] = y, d: f64[n] = y_cot) acc (g: f64[n] add from zero) {
        v: f64 = old[j]
        e: f64[n] = update c[j] = v
        t_cot: f64 = d[j]
        d2: f64[n] = update d[j] = 0.0
        acc_add g[j] = t_cot
        before: f64 = d2[0]
        after: f64 = add before, t_cot
        d3: f64[n] = update d2[0] = after
        yield e, d3
      }
      return y0, x_cot, w_cot
    }";
    assert_eq!(copies_in_loops(text), 0);
}

#[test]
fn a_large_array_that_is_read_later_is_copied_once() {
    let text = "fn f(n: i64, x: f64[n]) {
      y: f64[n], z: f64[n] = loop i < n (a: f64[n] = x, b: f64[n] = x) {
        p: f64[n] = update a[i] = 1.0
        q: f64[n] = update p[0] = 2.0
        r: f64[n] = update b[0] = 3.0
        yield q, r
      }
      s: f64[n] = add y, x
      return y, z, s
    }";
    let text = lowered(text);
    assert_eq!(text.lines().filter(|l| l.trim_start().starts_with("copy")).count(), 2, "{text}");
}

#[test]
fn the_next_value_takes_the_place_of_the_old_one_rather_than_memory_that_is_free() {
    let text = "fn f(n: i64, k: i64, x: f64[n]) {
      y: f64[n] = loop i < k (a: f64[n] = x) {
        b: f64[n] = sin a
        m: i64 = sub n, 1
        d: f64[n] = par j < n (stack) {
          at: i64 = sub m, j
          s: f64 = b[at]
          e: f64 = b[j]
          p: f64 = mul s, e
          yield p
        }
        c: f64[n] = par j.1 < n (stack) {
          g: f64 = a[j.1]
          at.1: i64 = sub m, j.1
          h: f64 = d[at.1]
          r: f64 = add g, h
          yield r
        }
        yield c
      }
      return y
    }";
    assert_eq!(copies_in_loops(text), 0, "{}", lowered(text));
}

#[test]
fn whole_powers_are_products_where_the_exponent_is_known_and_not_large() {
    check(
        "fn f(x: f64, k: i64, n: i64) {
           a: f64 = powi x, 7
           b: f64 = powi x, -2
           c: i64 = powi k, 4
           d: i64 = powi k, -2
           e: f64 = powi x, 65
           g: f64 = powi x, n
           return a, b, c, d, e, g
         }",
        expect![[r#"
            fn f(x: f64, k: i64, n: i64) {
              t = mul.f64 x, x
              t.1 = mul.f64 x, t
              t.2 = mul.f64 t, t
              t.3 = mul.f64 t.1, t.2
              t.4 = mul.f64 x, x
              t.5 = div.f64 1.0, t.4
              t.6 = mul.i64 k, k
              t.7 = mul.i64 t.6, t.6
              d = host powi.i64 k, -2
              e = host powi.f64 x, 65
              g = host powi.f64 x, n
              return t.3, t.5, t.7, d, e, g
            }
        "#]],
    );
}
