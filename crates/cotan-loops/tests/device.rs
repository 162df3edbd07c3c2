//! What small programs are lowered to for a device: reductions are whole, and independent loops say so.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan_ir::{Module, parse_function, verify_module};
use cotan_loops::pipeline::{FOR_DEVICES, run};
use cotan_loops::{DEVICE, NestContext, lower, parse_nest, print_for_device, print_nest};
use cotan_ops::Registry;
use expect_test::{Expect, expect};

fn check(text: &str, expected: Expect) {
    let f = parse_function(text, Registry::standard()).unwrap();
    let mut module = Module::default();
    let f = module.insert(f);
    verify_module(&module).unwrap();
    let mut nest = lower(&f, &DEVICE);
    run(FOR_DEVICES, &mut nest, &NestContext::default());
    expected.assert_eq(&print_for_device(&nest));
    assert_eq!(parse_nest(&print_nest(&nest), Registry::standard()), Ok(nest));
}

#[test]
fn a_reduction_in_a_map_is_one_node() {
    check(
        "fn f(n: i64, m: i64, x: f64[n, m]) {
           y: f64[n] = par i < n (stack) {
             s: f64 = par j < m (add from 0.5) {
               e: f64 = x[i, j]
               g: f64 = add e, e
               yield g
             }
             yield s
           }
           return y
         }",
        expect![[r#"
            fn f(n: i64, m: i64, x[]: f64[n, m]) {
              alloc y: f64[n] as result 0
              for i < n independent {
                s := 0.5
                reduce j < m into s by add {
                  t = mul.i64 i, m
                  t.1 = add.i64 t, j
                  e = x[t.1]
                  g = add.f64 e, e
                  s add= g
                }
                s.1 = s
                y[i] = s.1
              }
              return y[]: f64[n]
            }
        "#]],
    );
}

#[test]
fn all_indices_and_results_of_a_reduction_are_one_node() {
    check(
        "fn f(n: i64, m: i64, x: f64[n, m]) {
           d: f64[n, m], s: f64, t: f64 = par i < n, j < m (stack, add from 0.0, max from 1.0) {
             e: f64 = x[i, j]
             g: f64 = add e, e
             yield g, e, g
           }
           return d, s, t
         }",
        expect![[r#"
            fn f(n: i64, m: i64, x[]: f64[n, m]) {
              alloc d: f64[n, m] as result 0
              s := 0.0
              t := 1.0
              reduce i < n, j < m into s by add, t by max {
                t.1 = mul.i64 i, m
                t.2 = add.i64 t.1, j
                t.3 = mul.i64 i, m
                t.4 = add.i64 t.3, j
                e = x[t.4]
                g = add.f64 e, e
                s add= e
                t max= g
                d[t.2] = g
              }
              s.1 = s
              t.5 = t
              return d[]: f64[n, m], s.1, t.5
            }
        "#]],
    );
}

#[test]
fn rows_are_reduced_element_by_element() {
    check(
        "fn f(n: i64, m: i64, x: f64[n, m], start: f64[m]) {
           s: f64[m] = par i < n (add from start) {
             row: f64[m] = x[i]
             yield row
           }
           return s
         }",
        expect![[r#"
            fn f(n: i64, m: i64, x[]: f64[n, m], start[]: f64[m]) {
              alloc s: f64[m] as result 0
              copy start[] to s[], m
              reduce i < n into s[] by add {
                t = mul.i64 i, m
                for k < m independent {
                  t.1 = add.i64 t, k
                  x = x[t.1]
                  s[k] add= x
                }
              }
              return s[]: f64[m]
            }
        "#]],
    );
}

#[test]
fn a_sum_of_a_row_of_a_result_has_memory_of_its_own() {
    check(
        "fn f(n: i64, m: i64, x: f64[n, n, m], zeros: f64[m]) {
           y: f64[n, m] = par i < n (stack) {
             s: f64[m] = par j < n (add from zeros) {
               row: f64[m] = x[i, j]
               yield row
             }
             yield s
           }
           return y
         }",
        expect![[r#"
            fn f(n: i64, m: i64, x[]: f64[n, n, m], zeros[]: f64[m]) {
              alloc y: f64[n, m] as result 0
              for i < n independent {
                scope {
                  t = mul.i64 i, m
                  alloc s: f64[m]
                  copy zeros[] to s[], m
                  reduce j < n into s[] by add {
                    t.1 = mul.i64 i, n
                    t.2 = add.i64 t.1, j
                    t.3 = mul.i64 t.2, m
                    for k < m independent {
                      t.4 = add.i64 t.3, k
                      x = x[t.4]
                      s[k] add= x
                    }
                  }
                  copy s[] to y[t], m
                }
              }
              return y[]: f64[n, m]
            }
        "#]],
    );
}

#[test]
fn products_are_loops_and_a_product_stays_apart_from_a_reduction() {
    check(
        "fn f(n: i64, x: f64[n], y: f64[n]) {
           s: f64 = par i < n (add from 0.0) {
             a: f64 = x[i]
             b: f64 = y[i]
             p: f64 = mulc a, b
             yield p
           }
           z: f64 = par j < n (add from s) {
             a1: f64 = x[j]
             b1: f64 = y[j]
             q: f64 = mulc a1, b1
             r: f64 = add b1, q
             yield r
           }
           return z
         }",
        expect![[r#"
            fn f(n: i64, x[]: f64[n], y[]: f64[n]) {
              s := 0.0
              reduce i < n into s by add {
                a = x[i]
                b = y[i]
                p = mulc.f64 a, b
                s add= p
              }
              s.1 = s
              z := s.1
              reduce j < n into z by add {
                a1 = x[j]
                b1 = y[j]
                r = fma.f64 a1, b1, b1
                z add= r
              }
              z.1 = z
              return z.1
            }
        "#]],
    );
}
