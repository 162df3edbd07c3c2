//! Which plain products join a sum.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan_ir::{Module, parse_function, verify_module};
use cotan_loops::{CPU, contract, lower};
use cotan_ops::Registry;
use expect_test::{Expect, expect};

fn check(text: &str, expected: Expect) {
    let f = parse_function(text, Registry::standard()).unwrap();
    let mut module = Module::default();
    let f = module.insert(f);
    verify_module(&module).unwrap();
    let mut nest = lower(&f, &CPU);
    contract(&mut nest);
    expected.assert_eq(&nest.to_string());
    let once = nest.clone();
    contract(&mut nest);
    assert_eq!(once.to_string(), nest.to_string(), "a second time changes nothing");
}

#[test]
fn a_product_joins_the_sum_or_difference_that_is_its_only_use() {
    check(
        "fn f(a: f64, b: f64, c: f64) {
           p: f64 = mulc a, b
           s: f64 = add c, p
           q: f64 = mulc a, c
           d: f64 = sub q, s
           r: f64 = mulc b, c
           e: f64 = sub d, r
           return e
         }",
        expect![[r#"
            fn f(a: f64, b: f64, c: f64) {
              s = fma.f64 a, b, c
              neg = neg.f64 s
              d = fma.f64 a, c, neg
              neg.1 = neg.f64 b
              e = fma.f64 neg.1, c, d
              return e
            }
        "#]],
    );
}

#[test]
fn products_that_are_needed_themselves_and_those_of_values_are_rounded() {
    check(
        "fn f(a: f64, b: f64, c: f64, n: i64) {
           p: f64 = mulc a, b
           s: f64 = add c, p
           v: f64 = mul a, c
           t: f64 = add s, v
           i: i64 = mulc n, n
           j: i64 = add i, n
           return p, t, j
         }",
        expect![[r#"
            fn f(a: f64, b: f64, c: f64, n: i64) {
              p = mulc.f64 a, b
              s = add.f64 c, p
              v = mul.f64 a, c
              t = add.f64 s, v
              i = mulc.i64 n, n
              j = add.i64 i, n
              return p, t, j
            }
        "#]],
    );
}

#[test]
fn a_product_joins_what_is_accumulated_and_none_that_is_decided_about() {
    check(
        "fn f(n: i64, x: f64[n], c: bool) {
           z: f64[n] = fill 0.0
           y: f64[n], s: f64 = par i < n acc (y1: f64[n] add from z, s1: f64 add from 1.0) {
             a: f64 = x[i]
             p: f64 = mulc a, a
             acc_add y1[i] = p
             q: f64 = mulc a, 3.0
             acc_add s1[] = q
             r: f64 = mulc a, 5.0
             t: f64 = switch c {
               yield r
             } {
               u: f64 = add r, a
               yield u
             }
             acc_add s1[] = t
             yield
           }
           return y, s
         }",
        expect![[r#"
            fn f(n: i64, x[]: f64[n], c: bool) {
              alloc z: f64[n] as result 0
              for k < n {
                z[k] = 0.0
              }
              s1 := 1.0
              for i < n may fork(steps 11.0, sums s1) {
                a = x[i]
                old = z[i]
                sum = fma.f64 a, a, old
                z[i] = sum
                old.1 = s1
                sum.1 = fma.f64 a, 3.0, old.1
                s1 := sum.1
                r = mulc.f64 a, 5.0
                if c {
                  t := r
                }
                else {
                  u = add.f64 r, a
                  t := u
                }
                t.1 = t
                s1 add= t.1
              }
              s1.1 = s1
              return z[]: f64[n], s1.1
            }
        "#]],
    );
}

#[test]
fn what_began_with_zero_is_not_added_to_zero_again() {
    check(
        "fn f(a: f64, b: f64, c: f64) {
           p: f64 = mulc a, b
           s: f64 = add 0.0, p
           t: f64 = add s, 0.0
           u: f64 = add c, 0.0
           v: f64 = add u, t
           w: f64 = add v, 0.0
           m: f64 = add a, -0.0
           x: f64 = add m, 0.0
           return w, x
         }",
        expect![[r#"
            fn f(a: f64, b: f64, c: f64) {
              s = fma.f64 a, b, 0.0
              t = s
              u = add.f64 c, 0.0
              v = add.f64 u, t
              w = v
              m = add.f64 a, -0.0
              x = add.f64 m, 0.0
              return w, x
            }
        "#]],
    );
}
