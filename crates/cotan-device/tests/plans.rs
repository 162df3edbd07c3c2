//! What plans look like.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan_device::{Plan, Shape, plan, plan_watching};
use cotan_ir::{Function, parse_module, verify_module};
use cotan_loops::pipeline::{FOR_DEVICES, run};
use cotan_loops::{DEVICE, LoopFunction, NestContext, Node, VerifiedNests, lower};
use cotan_ops::Registry;
use expect_test::{Expect, expect};

fn nest(f: &Function) -> LoopFunction {
    let mut nest = lower(f, &DEVICE);
    run(FOR_DEVICES, &mut nest, &NestContext::default());
    nest
}

fn planned(text: &str) -> Plan {
    let module = parse_module(text, Registry::standard()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify_module(&module).unwrap();
    let nests = module.functions().map(|f| nest(f));
    let name = text.split("fn ").nth(1).unwrap().split('(').next().unwrap();
    let nests = VerifiedNests::new(nests.collect()).unwrap();
    plan(&nests, name).unwrap()
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&planned(text).to_string());
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
              launch kernel 1
              rounds ahead while live, counted by rounds {
                scope {
                  i.1 = i
                  launch kernel 2
                  launch kernel 3
                  launch kernel 4
                  t = add.i64 i.1, 1
                  i := t
                  launch kernel 5
                }
                launch kernel 6
              }
              i.2 = i
              return y[]: f64[n]
            }
            kernel 0, one thread {
              reads go
              writes go
              go := true
            }
            kernel 1, one thread {
              reads rounds, live, go
              writes rounds, live
              rounds := 0
              live := go
            }
            kernel 2, a thread for each j < n {
              only if live
              given y
              e = y[j]
              d = add.f64 e, e
              y[j] = d
            }
            kernel 3, one thread {
              only if live
              reads s
              writes s
              s := 0.0
            }
            kernel 4, a value for each l < n into s by add {
              only if live
              given y
              reads s
              writes s
              e1 = y[l]
              s add= e1
            }
            kernel 5, one thread {
              only if live
              reads s, go
              writes go
              s.1 = s
              next = lt.f64 s.1, 10.0
              go := next
            }
            kernel 6, one thread {
              only if live
              reads rounds, live, go
              writes rounds, live
              t.1 = add.i64 rounds, 1
              rounds := t.1
              live := go
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
                alloc values: f64[n, m]
                launch kernel 0
                launch kernel 1
              }
              return s[]: f64[m]
            }
            kernel 0, a thread for each i < n {
              given m, x, values
              t.2 = mul.i64 i, m
              t = mul.i64 i, m
              for k < m independent {
                t.1 = add.i64 t, k
                x = x[t.1]
                segment {
                  at = add.i64 k, t.2
                  values[at] = x
                }
              }
            }
            kernel 1, a thread for each e < m {
              given n, m, s, values
              start = s[e]
              total.1 := start
              reduce i.1 < n into total.1 by add {
                t.3 = mul.i64 i.1, m
                t.4 = add.i64 t.3, e
                value = values[t.4]
                total.1 add= value
              }
              total = total.1
              s[e] = total
            }
        "#]],
    );
}

/// The kernels of a program, without what they do.
fn check_kernels(text: &str, expected: Expect) {
    let text = text.split_once("fn ").map(|(_, rest)| format!("fn {rest}")).unwrap();
    let plan = planned(&text).to_string();
    let kernels: Vec<&str> = plan.lines().filter(|line| line.starts_with("kernel ")).collect();
    expected.assert_eq(&(kernels.join("\n") + "\n"));
}

#[test]
fn contributions_are_written_down_and_added_by_independent_iterations() {
    check_kernels(
        include_str!("../../../tests/plans/scatter.cir"),
        expect![[r#"
            kernel 0, a thread for each e.38 < t.130 {
            kernel 1, a thread for each e.40 < t.145 {
            kernel 2, a thread for each g.12 < t.143 {
            kernel 3, a thread for each e.43 < t.130 {
            kernel 4, a thread for each t.10 < t.9 {
            kernel 5, one thread {
            kernel 6, a thread for each g < t.25 {
            kernel 7, a thread for each e.7 < t.3 {
            kernel 8, a thread for each g.2 < t.45 {
            kernel 9, a thread for each b.1 < radix.26 {
            kernel 10, a thread for each b.2 < radix.26 {
            kernel 11, a thread for each g.5 < t.45 {
            kernel 12, a thread for each g.6 < t.45 {
            kernel 13, a thread for each b.4 < radix.26 {
            kernel 14, a thread for each b.5 < radix.26 {
            kernel 15, a thread for each g.9 < t.45 {
            kernel 16, a thread for each j < t.9 {
        "#]],
    );
}

#[test]
fn elements_that_cost_little_are_computed_where_they_are_read() {
    check_kernels(
        include_str!("../../../tests/plans/neighbours.cir"),
        expect![[r#"
            kernel 0, a thread for each j < middle {
        "#]],
    );
}

#[test]
fn elements_that_are_needed_often_or_change_behind_are_kept() {
    let once_more = "\n  again: f64[last] = par k < last (stack) {\n    t: f64 = d[k]\n    yield t\n  }\n  return middle, r, last, again\n";
    let neighbours = include_str!("../../../tests/plans/neighbours.cir");
    let plan = planned(&neighbours.replace("\n  return middle, r\n", once_more));
    assert_eq!(plan.kernels.len(), 3, "{plan}");
    let plan = planned(include_str!("../../../tests/plans/changed_behind.cir"));
    let kept = plan.kernels.iter().filter(|kernel| !matches!(kernel.shape, Shape::One)).count();
    assert_eq!(kept, 3, "{plan}");
}

#[test]
fn results_are_watched_where_they_are_stored_to() {
    let text = include_str!("../../../tests/plans/scatter.cir");
    let module = parse_module(text, Registry::standard()).unwrap();
    let plan = plan_watching(&VerifiedNests::new(module.functions().map(|f| nest(f)).collect()).unwrap(), "f").unwrap();
    assert_eq!(plan.function.watched.len(), 1, "{plan}");
    let last = plan.kernels.last().unwrap();
    let stores = last
        .body
        .iter()
        .any(|node| matches!(node, Node::Store(place, _) if plan.function.watched.contains(&place.buffer)));
    assert!(stores, "{plan}");
}

#[test]
fn iterations_with_elements_of_their_own_are_threads() {
    check_kernels(
        include_str!("../../../tests/plans/own_elements.cir"),
        expect![[r#"
        kernel 0, a thread for each i < n {
    "#]],
    );
}

#[test]
fn groups_of_iterations_add_to_copies_where_only_the_run_says_how_much() {
    check_kernels(
        include_str!("../../../tests/plans/steps_of_data.cir"),
        expect![[r#"
        kernel 0, one thread {
        kernel 1, a thread for each e.1 < t.4 {
        kernel 2, a thread for each e.3 < t.19 {
        kernel 3, one thread {
        kernel 4, a thread for each e.5 < t.21 {
        kernel 5, a thread for each g < t.17 {
        kernel 6, a thread for each e.9 < t.4 {
        kernel 7, one thread {
        kernel 8, one thread {
    "#]],
    );
}

#[test]
fn products_stay_apart_from_sums_that_iterations_share() {
    check(
        "fn f(n: i64, x: f64[n], y: f64[n], z: f64[3]) {
          h: f64[3] = par i < n acc (h.1: f64[3] add from z) {
            e: f64 = x[i]
            g: f64 = y[i]
            p: f64 = mulc e, g
            acc_add h.1[1] = p
            yield
          }
          return h
        }",
        expect![[r#"
            plan f {
              alloc h: f64[3] as result 0
              launch kernel 0
              scope {
                t.79 = div.i64 n, 128
                is.5 = le.i64 3, t.79
                is.6 = gt.i64 n, 1024
                is.7 = and.bool is.5, is.6
                if is.7 {
                  scope {
                    is.4 = gt.i64 n, 0
                    if is.4 {
                      scope {
                        t.54 = max.i64 n, 0
                        t.55 = min.i64 t.54, 4194304
                        t.56 = div.i64 t.55, 3
                        t.57 = min.i64 t.56, 1024
                        t.58 = max.i64 t.57, 1
                        t.59 = sub.i64 t.58, 1
                        t.60 = add.i64 t.54, t.59
                        t.61 = div.i64 t.60, t.58
                        t.62 = max.i64 t.61, 32
                        t.63 = sub.i64 t.62, 1
                        t.64 = add.i64 t.54, t.63
                        t.65 = div.i64 t.64, t.62
                        alloc copies.1: f64[t.65, 3]
                        t.66 = mul.i64 t.65, 3
                        t.67 = sub.i64 t.66, 3
                        launch kernel 1
                        launch kernel 2
                        launch kernel 3
                        launch kernel 4
                      }
                    }
                  }
                }
                else {
                  scope {
                    t = max.i64 n, 0
                    t.1 = add.i64 t, 4194303
                    t.2 = div.i64 t.1, 4194304
                    for tile < t.2 {
                      scope {
                        t.3 = mul.i64 tile, 4194304
                        t.4 = sub.i64 t, t.3
                        t.5 = min.i64 t.4, 4194304
                        alloc keys: i64[t.5, 1]
                        alloc values: f64[t.5, 1]
                        launch kernel 5
                        is = le.i64 t.5, 1024
                        if is {
                          launch kernel 6
                        }
                        else {
                          t.9 = div.i64 t.5, 3
                          t.10 = max.i64 t.9, 1
                          t.11 = min.i64 t.10, 1024
                          t.12 = sub.i64 t.11, 1
                          t.13 = add.i64 t.5, t.12
                          t.14 = div.i64 t.13, t.11
                          t.15 = max.i64 t.14, 256
                          t.16 = sub.i64 t.15, 1
                          t.17 = add.i64 t.5, t.16
                          t.18 = div.i64 t.17, t.15
                          alloc copies: f64[3, t.18]
                          launch kernel 7
                          launch kernel 8
                        }
                      }
                    }
                  }
                }
              }
              return h[]: f64[3]
            }
            kernel 0, one thread {
              given z, h
              copy z[] to h[], 3
            }
            kernel 1, one thread {
              given h, copies.1
              for e.17 < 3 independent {
                e.18 = h[e.17]
                copies.1[e.17] = e.18
              }
            }
            kernel 2, a thread for each e.19 < t.67 {
              given copies.1
              t.68 = add.i64 3, e.19
              copies.1[t.68] = -0.0
            }
            kernel 3, a thread for each g.5 < t.65 {
              given t.62, t.54, x, y, copies.1
              t.69 = mul.i64 g.5, 3
              t.70 = mul.i64 g.5, t.62
              t.71 = sub.i64 t.54, t.70
              t.72 = min.i64 t.71, t.62
              for k.3 < t.72 {
                scope {
                  t.73 = add.i64 t.70, k.3
                  i.1 = t.73
                  e.20 = x[i.1]
                  g.6 = y[i.1]
                  p.1 = mulc.f64 e.20, g.6
                  t.74 = add.i64 t.69, 1
                  e.21 = copies.1[t.74]
                  sum.4 = add.f64 e.21, p.1
                  copies.1[t.74] = sum.4
                }
              }
            }
            kernel 4, one thread {
              given t.65, copies.1, h
              for e.22 < 3 independent {
                e.23 = copies.1[e.22]
                total.2 := e.23
                t.75 = sub.i64 t.65, 1
                for g.7 < t.75 {
                  t.76 = add.i64 g.7, 1
                  t.77 = mul.i64 t.76, 3
                  t.78 = add.i64 t.77, e.22
                  e.24 = copies.1[t.78]
                  sum.5 = add.f64 total.2, e.24
                  total.2 := sum.5
                }
                h[e.22] = total.2
              }
            }
            kernel 5, a thread for each t.6 < t.5 {
              given t.3, x, y, keys, values
              t.7 = add.i64 t.3, t.6
              i = t.7
              next := t.6
              e = x[i]
              g = y[i]
              p = mulc.f64 e, g
              at = next
              keys[at] = 1
              values[at] = p
              t.8 = add.i64 at, 1
              next := t.8
            }
            kernel 6, one thread {
              given t.5, keys, values, h
              for k < t.5 {
                e.1 = keys[k]
                is.1 = lt.i64 e.1, 3
                if is.1 {
                  e.2 = values[k]
                  h[e.1] add= e.2
                }
              }
            }
            kernel 7, a thread for each g.1 < t.18 {
              given t.18, t.15, t.5, copies, keys, values
              for e.3 < 3 {
                t.19 = mul.i64 e.3, t.18
                t.20 = add.i64 t.19, g.1
                copies[t.20] = -0.0
              }
              t.21 = mul.i64 g.1, t.15
              t.22 = sub.i64 t.5, t.21
              t.23 = min.i64 t.22, t.15
              for k.1 < t.23 {
                t.24 = add.i64 t.21, k.1
                e.4 = keys[t.24]
                is.2 = lt.i64 e.4, 3
                if is.2 {
                  e.5 = values[t.24]
                  t.25 = mul.i64 e.4, t.18
                  t.26 = add.i64 t.25, g.1
                  e.6 = copies[t.26]
                  sum = add.f64 e.6, e.5
                  copies[t.26] = sum
                }
              }
            }
            kernel 8, one thread {
              given t.18, h, copies
              for e.7 < 3 independent {
                e.8 = h[e.7]
                total := e.8
                for g.2 < t.18 {
                  t.27 = mul.i64 e.7, t.18
                  t.28 = add.i64 t.27, g.2
                  e.9 = copies[t.28]
                  sum.1 = add.f64 total, e.9
                  total := sum.1
                }
                h[e.7] = total
              }
            }
        "#]],
    );
}
