//! What loops become whose iterations may run on several threads.

use crate::lowered;
use cotan_cpu::fork;
use cotan_loops::{LoopFunction, TaskSizes};
use expect_test::{Expect, expect};

fn forked(text: &str) -> LoopFunction {
    let mut nest = lowered(text);
    fork(&mut nest, &TaskSizes::default());
    nest
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&forked(text).to_string());
}

#[test]
fn iterations_that_share_nothing_are_cut_into_chunks() {
    check(
        "fn f(n: i64, x: f64[n]) {
           y: f64[n] = par i < n (stack) {
             a: f64 = x[i]
             b: f64 = mul a, a
             yield b
           }
           return y
         }",
        expect![[r#"
            fn f(n: i64, x[]: f64[n]) {
              alloc y: f64[n] as result 0
              n.1 = max.i64 n, 0
              w = cast(f64).i64 n.1
              w.1 = mul.f64 w, 3.0
              w.2 = mul.f64 w.1, 3.0517578125e-5
              w.3 = min.f64 w.2, 256.0
              w.4 = min.f64 w.3, w
              chunks = cast(i64).f64 w.4
              n.2 = max.i64 chunks, 1
              n.3 = div.i64 n.1, n.2
              n.4 = rem.i64 n.1, n.2
              for chunk < n.2 parallel {
                n.5 = mul.i64 chunk, n.3
                n.6 = min.i64 chunk, n.4
                n.7 = add.i64 n.5, n.6
                n.8 = add.i64 chunk, 1
                n.9 = mul.i64 n.8, n.3
                n.10 = min.i64 n.8, n.4
                n.11 = add.i64 n.9, n.10
                n.12 = sub.i64 n.11, n.7
                for k < n.12 {
                  i = add.i64 n.7, k
                  a = x[i]
                  b = mul.f64 a, a
                  y[i] = b
                }
              }
              return y[]: f64[n]
            }
        "#]],
    );
}

#[test]
fn every_chunk_but_the_first_has_a_copy_of_what_iterations_add_to() {
    check(
        "fn f(n: i64, x: f64[n], m: i64, start: f64[m]) {
           g: f64[m], s: f64 = par i < n acc (a: f64[m] add from start, t: f64 max from 0.0) {
             v: f64 = x[i]
             k: i64 = rem i, m
             acc_add a[k] = v
             acc_add t[] = v
             yield
           }
           return g, s
         }",
        expect![[r#"
            fn f(n: i64, x[]: f64[n], m: i64, start[]: f64[m]) {
              w.11 = cast(f64).i64 n
              w.12 = mul.f64 8.0, w.11
              w.13 = cast(f64).i64 m
              w.14 = mul.f64 8.0, w.13
              w.15 = add.f64 w.12, w.14
              alloc g: f64[m] as result 0
              copy start[] to g[], m
              t := 0.0
              scope {
                n.1 = max.i64 n, 0
                w = cast(f64).i64 n.1
                w.1 = mul.f64 w, 5.0
                w.2 = mul.f64 w.1, 3.0517578125e-5
                w.3 = min.f64 w.2, 64.0
                w.4 = min.f64 w.3, w
                w.5 = cast(f64).i64 m
                w.6 = mul.f64 8.0, w.5
                w.7 = add.f64 w.6, 8.0
                w.8 = max.f64 w.7, 1.0
                w.9 = div.f64 w.1, w.8
                w.10 = mul.f64 w.9, 0.5
                w.16 = max.f64 w.15, 33554432.0
                w.17 = div.f64 w.16, w.8
                w.18 = min.f64 w.4, w.10
                w.19 = min.f64 w.18, w.17
                chunks = cast(i64).f64 w.19
                n.2 = max.i64 chunks, 1
                n.3 = div.i64 n.1, n.2
                n.4 = rem.i64 n.1, n.2
                n.5 = sub.i64 n.2, 1
                alloc g.1: f64[n.5, m]
                alloc t: f64[n.2]
                for chunk < n.2 parallel {
                  is_first = eq.i64 chunk, 0
                  if is_first {
                    bind g.2 to g[]
                  }
                  else {
                    n.6 = sub.i64 chunk, 1
                    n.7 = mul.i64 n.6, m
                    bind g.2 to g.1[n.7]
                    v.1 = max.i64 m, 0
                    v.2 = shr.i64 v.1, 4
                    for strip < v.2 lanes(16) {
                      v.3 = shl.i64 strip, 4
                      lanes g.2[v.3] = -0.0
                    }
                    v.4 = shl.i64 v.2, 4
                    v.5 = lt.i64 v.4, m
                    if v.5 {
                      lanes = iota v.4
                      v.6 = lt.i64 lanes, m
                      lanes g.2[v.4] = -0.0 where v.6
                    }
                  }
                  t.2 = t
                  t.3 = select.f64 is_first, t.2, -inf
                  t.4 := t.3
                  n.8 = mul.i64 chunk, n.3
                  n.9 = min.i64 chunk, n.4
                  n.10 = add.i64 n.8, n.9
                  n.11 = add.i64 chunk, 1
                  n.12 = mul.i64 n.11, n.3
                  n.13 = min.i64 n.11, n.4
                  n.14 = add.i64 n.12, n.13
                  n.15 = sub.i64 n.14, n.10
                  for k.1 < n.15 {
                    i = add.i64 n.10, k.1
                    v = x[i]
                    k = rem.i64 i, m
                    g.2[k] add= v
                    t.4 max= v
                  }
                  own = t.4
                  t[chunk] = own
                }
                for c < n.5 {
                  n.16 = mul.i64 c, m
                  v.7 = max.i64 m, 0
                  v.8 = shr.i64 v.7, 4
                  for strip.1 < v.8 lanes(16) {
                    v.9 = shl.i64 strip.1, 4
                    n.18 = add.i64 n.16, v.9
                    own.2 = lanes g.1[n.18]
                    sum.2 = lanes g[v.9]
                    sum.3 = add.f64 sum.2, own.2
                    lanes g[v.9] = sum.3
                  }
                  v.10 = shl.i64 v.8, 4
                  v.11 = lt.i64 v.10, m
                  if v.11 {
                    lanes.1 = iota v.10
                    v.12 = lt.i64 lanes.1, m
                    n.19 = add.i64 n.16, v.10
                    own.3 = lanes g.1[n.19] where v.12
                    sum.4 = lanes g[v.10] where v.12
                    sum.5 = add.f64 sum.4, own.3
                    lanes g[v.10] = sum.5 where v.12
                  }
                }
                own.4 = t[]
                t := own.4
                n.20 = sub.i64 n.2, 1
                for c.1 < n.20 {
                  n.21 = add.i64 c.1, 1
                  own.5 = t[n.21]
                  t max= own.5
                }
              }
              t.1 = t
              return g[]: f64[m], t.1
            }
        "#]],
    );
}

#[test]
fn a_part_of_its_own_needs_no_copy() {
    let nest = forked(
        "fn f(n: i64, m: i64, x: f64[n], start: f64[n, m]) {
           g: f64[n, m] = par i < n acc (a: f64[n, m] add from start) {
             v: f64 = x[i]
             par j < m {
               acc_add a[i, j] = v
               yield
             }
             yield
           }
           return g
         }",
    );
    let text = nest.to_string();
    assert!(text.contains("parallel") && !text.contains("bind") && !nest.regroups_sums, "{text}");
}

#[test]
fn a_part_that_two_iterations_may_share_needs_copies() {
    let nest = forked(
        "fn f(n: i64, m: i64, x: f64[n], start: f64[n, m]) {
           g: f64[n, m] = par i < n acc (a: f64[n, m] add from start) {
             v: f64 = x[i]
             par j < m {
               acc_add a[i, j] = v
               acc_add a[0, j] = v
               yield
             }
             yield
           }
           return g
         }",
    );
    assert!(nest.to_string().contains("bind") && nest.regroups_sums, "{nest}");
}

#[test]
fn what_is_known_to_be_short_stays_whole() {
    for (n, is_cut) in [(1000, false), (1_000_000, true)] {
        let nest = forked(&format!(
            "fn f(x: f64[{n}]) {{
               y: f64[{n}] = par i < {n} (stack) {{
                 a: f64 = x[i]
                 b: f64 = mul a, a
                 yield b
               }}
               return y
             }}"
        ));
        assert_eq!(nest.to_string().contains("parallel"), is_cut, "{nest}");
    }
}

#[test]
fn what_is_in_a_sequential_loop_does_not_decide_where_one_around_it_is_cut() {
    let with = |inner: &str| {
        let text = forked(&format!(
            "fn f(n: i64, x: f64[n], m: i64, start: f64[m]) {{
               g: f64[m] = par i < n acc (a: f64[m] add from start) {{
                 v: f64 = x[i]
                 r: f64 = loop t < n (z: f64 = v) {{
                   {inner}
                   yield u
                 }}
                 acc_add a[0] = r
                 yield
               }}
               return g
             }}"
        ))
        .to_string();
        let (cuts, _) = text.split_once("parallel").unwrap();
        // Temporaries are numbered through the whole function.
        let words = cuts.split_whitespace().filter(|word| !word.starts_with('w'));
        words.map(str::to_owned).collect::<Vec<String>>()
    };
    assert_eq!(with("u: f64 = mul z, 0.5"), with("y: f64 = exp z\nw: f64 = sin y\nu: f64 = mul w, 0.5"));
}

#[test]
fn what_a_thread_does_to_subnormal_numbers_is_inherited_by_those_that_help() {
    let text = forked(
        "fn f(n: i64, x: f64[n], w: f64, m: i64) {
           z: f64[m] = fill 0.0
           s: f64, g: f64[m] = par i < n (add from 0.0) acc (a: f64[m] add from z) {
             v: f64 = x[i]
             d: f64 = mulc v, w
             par j < m {
               e: f64 = mulc d, d
               acc_add a[j] = e
               yield
             }
             yield d
           }
           return s, g
         }",
    )
    .to_string();
    let (outside, inside) = text.split_once("flushing").unwrap();
    assert_eq!((outside.matches("parallel").count(), inside.matches("parallel").count()), (1, 1), "{text}");
}
