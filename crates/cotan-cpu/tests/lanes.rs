//! What loops become whose iterations run side by side, and which loops don't.

use crate::lowered;
use cotan_cpu::vectorise;
use cotan_ir::parse_function;
use cotan_loops::{CPU, DEVICE, lower};
use cotan_ops::Registry;
use expect_test::{Expect, expect};

fn with_lanes(text: &str) -> String {
    let mut nest = lowered(text);
    vectorise(&mut nest);
    nest.to_string()
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&with_lanes(text));
}

#[test]
fn a_loop_around_a_whole_reduction_has_no_lanes() {
    let text = "fn f(n: i64, x: f64[n, n]) {
        y: f64[n] = par i < n (stack) {
          s: f64 = par j < n (add from 0.0) {
            e: f64 = x[i, j]
            yield e
          }
          yield s
        }
        return y
      }";
    let nest = lower(&parse_function(text, Registry::standard()).unwrap(), &DEVICE);
    let mut same = nest.clone();
    vectorise(&mut same);
    assert_eq!(same, nest);
}

#[test]
fn rows_of_a_matrix_times_a_vector_are_eight_chains_of_scalars() {
    let product = with_lanes(
        "fn f(n: i64, m: i64, a: f64[n, m], x: f64[m]) {
           y: f64[n] = matmul a, x {0}
           return y
         }",
    );
    // A strip, the last of which begins so early that it is whole, and a row alone where there are fewer than eight.
    assert_eq!(product.matches("fma.f64").count(), 8 + 1, "{product}");
    assert!(product.contains("lanes(8)") && !product.contains("= lanes a["), "{product}");
}

#[test]
fn lanes_that_read_along_rows_pay_whatever_their_length() {
    let product = |of: &str| {
        with_lanes(&format!(
            "fn f(n: i64, m: i64, w: f64[n, n], other: f64[n, m], x: f64[n, n], y: f64[n]) {{
               z: f64[n] = par i < n (stack) {{
                 s: f64 = loop k < n (s1: f64 = 0.0) {{
                   a: f64 = {of}
                   b: f64 = sqrt a
                   c: f64 = y[k]
                   s2: f64 = fma b, c, s1
                   yield s2
                 }}
                 yield s
               }}
               return z
             }}"
        ))
    };
    assert!(product("w[k, i]").contains("le.i64 0, 32768"), "nor does a matrix count that is not read");
    let across = product("w[i, k]");
    assert!(across.contains("mul.i64 256, n") && !across.contains("mul.i64 256, m"), "{across}");
}

#[test]
fn consecutive_elements_are_consecutive_lanes() {
    check(
        "fn f(n: i64, x: f64[n], c: f64) {
           y: f64[n] = par i < n (stack) {
             a: f64 = x[i]
             b: f64 = mul a, c
             yield b
           }
           return y
         }",
        expect![[r#"
            fn f(n: i64, x[]: f64[n], c: f64) {
              alloc y: f64[n] as result 0
              v = max.i64 n, 0
              v.1 = shr.i64 v, 4
              for strip < v.1 lanes(16) may fork(steps 3.0) {
                v.2 = shl.i64 strip, 4
                a.1 = lanes x[v.2]
                b.1 = mul.f64 a.1, c
                lanes y[v.2] = b.1
              }
              v.3 = shl.i64 v.1, 4
              v.4 = lt.i64 v.3, n
              if v.4 {
                lanes = iota v.3
                v.5 = lt.i64 lanes, n
                a.2 = lanes x[v.3] where v.5
                b.2 = mul.f64 a.2, c
                lanes y[v.3] = b.2 where v.5
              }
              return y[]: f64[n]
            }
        "#]],
    );
}

#[test]
fn what_lanes_share_stays_a_scalar() {
    check(
        "fn f(n: i64, m: i64, x: f64[n], w: f64[m]) {
           y: f64[n] = par i < n (stack) {
             a: f64 = x[i]
             s: f64 = loop j < m (s1: f64 = 0.0) {
               b: f64 = w[j]
               s2: f64 = fma a, b, s1
               yield s2
             }
             yield s
           }
           return y
         }",
        expect![[r#"
            fn f(n: i64, m: i64, x[]: f64[n], w[]: f64[m]) {
              t = cast(f64).i64 m
              steps = mul.f64 3.0, t
              steps.1 = add.f64 3.0, steps
              alloc y: f64[n] as result 0
              pays = ge.i64 n, 8
              pays.1 = le.i64 0, 32768
              pays.2 = and.bool pays.1, pays
              pays.3 = le.i64 0, 67108864
              pays.4 = and.bool pays.3, pays.2
              if pays.4 {
                v = max.i64 n, 0
                v.1 = shr.i64 v, 5
                for strip < v.1 lanes(32) may fork(steps steps.1) {
                  v.2 = shl.i64 strip, 5
                  a.1 = lanes x[v.2]
                  s1.3 := 0.0
                  for k < m {
                    s1.4 = s1.3
                    b.1 = w[k]
                    s2.1 = fma.f64 a.1, b.1, s1.4
                    s1.3 := s2.1
                  }
                  s1.5 = s1.3
                  lanes y[v.2] = s1.5
                }
                v.3 = shl.i64 v.1, 5
                v.4 = lt.i64 v.3, n
                if v.4 {
                  lanes = iota v.3
                  v.5 = lt.i64 lanes, n
                  a.2 = lanes x[v.3] where v.5
                  s1.6 := 0.0
                  for k.1 < m {
                    s1.7 = s1.6
                    b.2 = w[k.1]
                    s2.2 = fma.f64 a.2, b.2, s1.7
                    s1.6 := s2.2
                  }
                  s1.8 = s1.6
                  lanes y[v.3] = s1.8 where v.5
                }
              }
              else {
                for i < n may fork(steps steps.1) {
                  a = x[i]
                  s1 := 0.0
                  for j < m {
                    s1.1 = s1
                    b = w[j]
                    s2 = fma.f64 a, b, s1.1
                    s1 := s2
                  }
                  s1.2 = s1
                  y[i] = s1.2
                }
              }
              return y[]: f64[n]
            }
        "#]],
    );
}

#[test]
fn a_loop_that_is_left_lane_by_lane_runs_until_none_is_left() {
    check(
        "fn f(n: i64, x: f64[n]) {
           y: f64[n] = par i < n (stack) {
             a: f64 = x[i]
             p: bool = gt a, 1.0
             t: i64, go: bool, r: f64 = while j (g: bool = p, r1: f64 = a) {
               r2: f64 = mul r1, 0.5
               g2: bool = gt r2, 1.0
               yield g2, r2
             }
             yield r
           }
           return y
         }",
        expect![[r#"
            fn f(n: i64, x[]: f64[n]) {
              alloc y: f64[n] as result 0
              v = max.i64 n, 0
              v.1 = shr.i64 v, 4
              for strip < v.1 lanes(16) may fork(steps 52.0) {
                v.2 = shl.i64 strip, 4
                a.1 = lanes x[v.2]
                p.1 = gt.f64 a.1, 1.0
                g.3 := p.1
                r1.3 := a.1
                j.4 := 0
                j.3 := 0
                go = g.3
                any.1 = any go
                any := any.1
                while any {
                  go.1 = g.3
                  j.5 = j.4
                  g.4 = g.3
                  r1.4 = r1.3
                  r2.1 = mul.f64 r1.4, 0.5
                  g2.1 = gt.f64 r2.1, 1.0
                  g.5 = g.3
                  v.3 = select.bool go.1, g2.1, g.5
                  g.3 := v.3
                  r1.5 = r1.3
                  v.4 = select.f64 go.1, r2.1, r1.5
                  r1.3 := v.4
                  t.1 = add.i64 j.5, 1
                  j.4 := t.1
                  j.6 = j.3
                  v.5 = select.i64 go.1, t.1, j.6
                  j.3 := v.5
                  go.2 = g.3
                  v.6 = and.bool go.1, go.2
                  any.2 = any v.6
                  any := any.2
                }
                j.7 = j.3
                g.6 = g.3
                r1.6 = r1.3
                lanes y[v.2] = r1.6
              }
              v.7 = shl.i64 v.1, 4
              v.8 = lt.i64 v.7, n
              if v.8 {
                lanes = iota v.7
                v.9 = lt.i64 lanes, n
                a.2 = lanes x[v.7] where v.9
                p.2 = gt.f64 a.2, 1.0
                g.7 := p.2
                r1.7 := a.2
                j.9 := 0
                j.8 := 0
                go.3 = g.7
                v.10 = and.bool v.9, go.3
                any.4 = any v.10
                any.3 := any.4
                while any.3 {
                  go.4 = g.7
                  v.11 = and.bool v.9, go.4
                  j.10 = j.9
                  g.8 = g.7
                  r1.8 = r1.7
                  r2.2 = mul.f64 r1.8, 0.5
                  g2.2 = gt.f64 r2.2, 1.0
                  g.9 = g.7
                  v.12 = select.bool v.11, g2.2, g.9
                  g.7 := v.12
                  r1.9 = r1.7
                  v.13 = select.f64 v.11, r2.2, r1.9
                  r1.7 := v.13
                  t.2 = add.i64 j.10, 1
                  j.9 := t.2
                  j.11 = j.8
                  v.14 = select.i64 v.11, t.2, j.11
                  j.8 := v.14
                  go.5 = g.7
                  v.15 = and.bool v.11, go.5
                  any.5 = any v.15
                  any.3 := any.5
                }
                j.12 = j.8
                g.10 = g.7
                r1.10 = r1.7
                lanes y[v.7] = r1.10 where v.9
              }
              return y[]: f64[n]
            }
        "#]],
    );
}

#[test]
fn the_blocks_of_a_reduction_are_its_lanes() {
    let nest = with_lanes(
        "fn f(n: i64, x: f64[n]) {
           s: f64 = par i < n (add from 0.0) {
             a: f64 = x[i]
             yield a
           }
           return s
         }",
    );
    assert!(nest.contains("lanes(16)"), "{nest}");
    assert!(nest.contains("lanes lanes[] = "), "partial results are consecutive:\n{nest}");
}

#[test]
fn contributions_to_one_place_are_added_up_across_lanes() {
    let nest = with_lanes(
        "fn f(n: i64, x: f64[n]) {
           s: f64 = par i < n acc (t: f64 add from 0.0) {
             a: f64 = x[i]
             acc_add t[] = a
             yield
           }
           return s
         }",
    );
    assert!(nest.contains("fold add"), "{nest}");
}

#[test]
fn iterations_that_depend_on_each_other_stay_in_order() {
    let nest = with_lanes(
        "fn f(n: i64, x: f64[n]) {
           s: f64 = loop i < n (s1: f64 = 0.0) {
             a: f64 = x[i]
             b: f64 = mul s1, a
             s2: f64 = add b, 1.0
             yield s2
           }
           return s
         }",
    );
    assert!(!nest.contains("lanes("), "{nest}");
}

#[test]
fn a_loop_that_calls_a_function_stays_in_order() {
    let text = "fn f(n: i64, x: f64[n]) {
      y: f64[n] = par i < n (stack) {
        a: f64 = x[i]
        b: f64 = call g(a)
        yield b
      }
      return y
    }
    fn g(a: f64) {
      b: f64 = exp a
      return b
    }";
    let module = cotan_ir::parse_module(text, Registry::standard()).unwrap();
    let mut nest = lower(module.function("f").unwrap(), &CPU);
    vectorise(&mut nest);
    assert!(!nest.to_string().contains("lanes("), "{nest}");
}

#[test]
fn sums_of_each_iteration_for_itself_are_no_reason_for_many_lanes() {
    let adding_to = |index: &str| {
        with_lanes(&format!(
            "fn f(n: i64, m: i64, x: f64[n], start: f64[n]) {{
               s: f64[n] = par i < n acc (sum: f64[n] add from start) {{
                 a: f64 = x[i]
                 acc_add sum[{index}] = a
                 yield
               }}
               return s
             }}"
        ))
    };
    let (own, shared) = (adding_to("i"), adding_to("m"));
    assert!(own.contains("lanes(16)") && !own.contains("lanes(32)"), "{own}");
    assert!(shared.contains("lanes(32)"), "{shared}");
}
