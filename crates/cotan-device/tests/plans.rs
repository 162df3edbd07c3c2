//! What plans look like.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan_device::plan;
use cotan_ir::{parse_module, verify_module};
use cotan_loops::pipeline::{FOR_DEVICES, run};
use cotan_loops::{DEVICE, NestContext, VerifiedNests, lower};
use cotan_ops::Registry;
use expect_test::{Expect, expect};

fn check(text: &str, expected: Expect) {
    let module = parse_module(text, Registry::standard()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify_module(&module).unwrap();
    let nests = module.functions().map(|f| {
        let mut nest = lower(f, &DEVICE);
        run(FOR_DEVICES, &mut nest, &NestContext::default());
        nest
    });
    let name = text.trim_start().strip_prefix("fn ").unwrap().split('(').next().unwrap();
    let nests = VerifiedNests::new(nests.collect()).unwrap();
    expected.assert_eq(&plan(&nests, name).unwrap().to_string());
}

#[test]
fn a_loop_and_a_sum_are_kernels_of_many_threads() {
    check(
        "fn f(n: i64, x: f64[n], c: f64) {
          y: f64[n] = par i < n (stack) {
            a: f64 = x[i]
            b: f64 = mul a, c
            yield b
          }
          s: f64 = par j < n (add from 0.5) {
            g: f64 = y[j]
            yield g
          }
          return y, s
        }",
        expect![[r#"
            plan f {
              alloc y: f64[n] as result 0
              launch kernel 0
              launch kernel 1
              launch kernel 2
              launch kernel 3
              read back s.1
              return y[]: f64[n], s.1
            }
            kernel 0, a thread for each i < n {
              given c, x, y
              a = x[i]
              b = mul.f64 a, c
              y[i] = b
            }
            kernel 1, one thread {
              reads s
              writes s
              s := 0.5
            }
            kernel 2, a value for each j < n into s by add {
              given y
              reads s
              writes s
              g = y[j]
              s add= g
            }
            kernel 3, one thread {
              reads s
              writes s.1
              s.1 = s
            }
        "#]],
    );
}

#[test]
fn control_around_kernels_is_the_host_s_and_it_reads_back_what_decides() {
    check(
        "fn f(n: i64, x: f64[n]) {
          k: i64, go: bool, y: f64[n] = while i (go.1: bool = true, a: f64[n] = x) {
            b: f64[n] = par j < n (stack) {
              e: f64 = a[j]
              d: f64 = add e, e
              yield d
            }
            s: f64 = par l < n (add from 0.0) {
              e1: f64 = b[l]
              yield e1
            }
            next: bool = lt s, 10.0
            yield next, b
          }
          return y
        }",
        expect![[r#"
            plan f {
              alloc y: f64[n] as result 0
              launch kernel 0
              copy x[] to y[], n
              i := 0
              read back go
              while go {
                scope {
                  i.1 = i
                  launch kernel 1
                  launch kernel 2
                  launch kernel 3
                  launch kernel 4
                  t = add.i64 i.1, 1
                  i := t
                  launch kernel 5
                }
                read back go
              }
              i.2 = i
              launch kernel 6
              return y[]: f64[n]
            }
            kernel 0, one thread {
              reads go
              writes go
              go := true
            }
            kernel 1, one thread {
              reads go
              go.1 = go
            }
            kernel 2, a thread for each j < n {
              given y
              e = y[j]
              d = add.f64 e, e
              y[j] = d
            }
            kernel 3, one thread {
              reads s
              writes s
              s := 0.0
            }
            kernel 4, a value for each l < n into s by add {
              given y
              reads s
              writes s
              e1 = y[l]
              s add= e1
            }
            kernel 5, one thread {
              reads s, go
              writes go
              s.1 = s
              next = lt.f64 s.1, 10.0
              go := next
            }
            kernel 6, one thread {
              reads go
              go.2 = go
            }
        "#]],
    );
}

#[test]
fn a_sum_of_arrays_keeps_its_values() {
    check(
        "fn f(n: i64, m: i64, x: f64[n, m], z: f64[m]) {
          s: f64[m] = par i < n (add from z) {
            row: f64[m] = x[i]
            yield row
          }
          return s
        }",
        expect![[r#"
            plan f {
              alloc s: f64[m] as result 0
              copy z[] to s[], m
              scope {
                t.2 = mul.i64 1, m
                alloc values: f64[n, m]
                launch kernel 0
                launch kernel 1
              }
              return s[]: f64[m]
            }
            kernel 0, a thread for each i < n {
              given n, t.2, m, x, values
              t.3 = mul.i64 0, n
              t.4 = add.i64 t.3, i
              t.5 = mul.i64 t.4, t.2
              t = mul.i64 i, m
              for k < m independent {
                t.1 = add.i64 t, k
                x = x[t.1]
                segment {
                  at = add.i64 k, t.5
                  values[at] = x
                }
              }
            }
            kernel 1, a thread for each e < t.2 {
              given n, t.2, s, values
              start = s[e]
              total.1 := start
              reduce i.1 < n into total.1 by add {
                t.6 = mul.i64 0, n
                t.7 = add.i64 t.6, i.1
                t.8 = mul.i64 t.7, t.2
                t.9 = add.i64 t.8, e
                value = values[t.9]
                total.1 add= value
              }
              total = total.1
              s[e] = total
            }
        "#]],
    );
}
