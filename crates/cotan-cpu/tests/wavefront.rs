//! Which nests of sequential loops become wavefronts, and what they become.

use crate::lowered;
use cotan_cpu::wavefronts;
use cotan_loops::{LoopFunction, TaskSizes};
use expect_test::{Expect, expect};

fn nest(text: &str) -> LoopFunction {
    let mut nest = lowered(text);
    wavefronts(&mut nest, &TaskSizes::default());
    nest
}

fn is_wavefront(text: &str) -> bool {
    let mut nest = nest(text);
    let once = nest.to_string();
    wavefronts(&mut nest, &TaskSizes::default());
    assert_eq!(once, nest.to_string(), "a second time");
    once.contains("wavefront(")
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&nest(text).to_string());
}

/// A nest over rows and columns of a table that it changes.
fn table(body: &str) -> String {
    format!(
        "fn f(n: i64, m: i64, x: f64[n, m], k: i64, w: f64[m]) {{
           rows: i64 = sub n, 1
           columns: i64 = sub m, 1
           d: f64[n, m] = loop i < rows (a: f64[n, m] = x) {{
             i1: i64 = add i, 1
             d.1: f64[n, m] = loop j < columns (b: f64[n, m] = a) {{
               j1: i64 = add j, 1
               {body}
               yield c
             }}
             yield d.1
           }}
           return d
         }}"
    )
}

#[test]
fn each_element_needs_the_one_above_and_the_one_to_the_left() {
    check(
        &table("u: f64 = b[i, j1]\nv: f64 = b[i1, j]\ns: f64 = add u, v\nc: f64[n, m] = update b[i1, j1] = s"),
        expect![[r#"
            fn f(n: i64, m: i64, x[]: f64[n, m], k: i64, w[]: f64[m]) {
              rows = sub.i64 n, 1
              columns = sub.i64 m, 1
              alloc d: f64[n, m] as result 0
              t = mul.i64 n, m
              copy x[] to d[], t
              scope {
                n.1 = max.i64 columns, 0
                w = cast(f64).i64 n.1
                w.1 = mul.f64 w, 0.03125
                w.2 = max.f64 w.1, 34.13333333333333
                n.2 = cast(i64).f64 w.2
                n.3 = min.i64 n.2, n.1
                n.4 = max.i64 n.3, 1
                n.5 = sub.i64 n.4, 1
                n.6 = add.i64 n.1, n.5
                n.7 = div.i64 n.6, n.4
                w.3 = cast(f64).i64 n.4
                w.4 = mul.f64 7.5, w.3
                w.5 = max.f64 0.0, w.4
                w.6 = max.f64 w.5, 1.0
                n.8 = max.i64 rows, 0
                w.7 = div.f64 16384.0, w.6
                n.9 = add.i64 n.7, 2
                n.10 = cast(i64).f64 w.7
                n.11 = min.i64 n.10, n.8
                n.12 = max.i64 n.11, 1
                n.13 = sub.i64 n.12, 1
                n.14 = add.i64 n.8, n.13
                n.15 = div.i64 n.14, n.12
                n.16 = mul.i64 n.9, n.12
                n.17 = mul.i64 n.15, n.7
                for task < n.17 wavefront(stages n.7, slots n.9) {
                  n.18 = div.i64 task, n.7
                  n.19 = rem.i64 task, n.7
                  n.20 = mul.i64 n.18, n.12
                  n.21 = sub.i64 n.8, n.20
                  n.22 = min.i64 n.12, n.21
                  n.23 = rem.i64 n.18, n.9
                  n.24 = mul.i64 n.23, n.12
                  n.25 = mul.i64 n.19, n.4
                  n.26 = sub.i64 n.1, n.25
                  n.27 = min.i64 n.4, n.26
                  for k.1 < n.22 {
                    n.28 = add.i64 n.24, k.1
                    n.29 = add.i64 n.20, k.1
                    i1.1 = add.i64 n.29, 1
                    for k.2 < n.27 {
                      j = add.i64 n.25, k.2
                      j1 = add.i64 j, 1
                      t.1 = mul.i64 n.29, m
                      t.2 = add.i64 t.1, j1
                      u = d[t.2]
                      t.3 = mul.i64 i1.1, m
                      t.4 = add.i64 t.3, j
                      v = d[t.4]
                      s = add.f64 u, v
                      t.5 = mul.i64 i1.1, m
                      t.6 = add.i64 t.5, j1
                      d[t.6] = s
                    }
                  }
                }
              }
              return d[]: f64[n, m]
            }
        "#]],
    );
}

#[test]
fn neighbours_on_all_sides_in_one_sweep() {
    assert!(is_wavefront(&table(
        "u: f64 = b[i, j]\nv: f64 = b[i1, j1]\ns: f64 = add u, v\nc: f64[n, m] = update b[i, j] = s"
    )));
    assert!(is_wavefront(&table(
        "u: f64 = b[i, j]\nv: f64 = b[i1, j]\ns: f64 = add u, v\nc: f64[n, m] = update b[i1, j1] = s"
    )));
}

#[test]
fn what_the_row_before_makes_further_on_is_not_there_yet() {
    // (i, j) needs (i - 1, j + 1).
    assert!(!is_wavefront(&table("u: f64 = b[i, j1]\nc: f64[n, m] = update b[i1, j] = u")));
    // What (i - 1, j + 1) reads must be read before (i, j) changes it.
    assert!(!is_wavefront(&table("u: f64 = b[i1, j]\nc: f64[n, m] = update b[i, j1] = u")));
}

#[test]
fn one_row_that_all_rows_change() {
    let text = |read: &str| {
        format!(
            "fn f(n: i64, m: i64, x: f64[m]) {{
               columns: i64 = sub m, 1
               d: f64[m] = loop i < n (a: f64[m] = x) {{
                 d.1: f64[m] = loop j < columns (b: f64[m] = a) {{
                   j1: i64 = add j, 1
                   u: f64 = b[{read}]
                   v: f64 = sin u
                   c: f64[m] = update b[j] = v
                   yield c
                 }}
                 yield d.1
               }}
               return d
             }}"
        )
    };
    assert!(is_wavefront(&text("j")));
    // The right neighbour of the row before: only a nest that is skewed further could have it.
    assert!(!is_wavefront(&text("j1")));
}

#[test]
fn an_offset_that_is_not_known() {
    assert!(!is_wavefront(&table("u: f64 = b[i, k]\nc: f64[n, m] = update b[i1, j1] = u")));
    assert!(!is_wavefront(&table("u: f64 = b[i, j]\nr: i64 = rem j, 3\nc: f64[n, m] = update b[i, r] = u")));
}

#[test]
fn a_sum_over_all_iterations() {
    assert!(!is_wavefront(
        "fn f(n: i64, m: i64, x: f64[n, m]) {
           s: f64 = loop i < n (a: f64 = 0.0) {
             t: f64 = loop j < m (b: f64 = a) {
               u: f64 = x[i, j]
               v: f64 = mul b, 0.5
               c: f64 = add u, v
               yield c
             }
             yield t
           }
           return s
         }"
    ));
}

#[test]
fn what_may_fail_is_left_alone() {
    assert!(!is_wavefront(&table(
        "in_range: bool = in_range k, m
         k1: i64 = check in_range R0001(k, m) k
         u: f64 = w[k1]
         v: f64 = b[i, j]
         s: f64 = add u, v
         c: f64[n, m] = update b[i, j] = s"
    )));
}

#[test]
fn an_inner_loop_of_another_length_each_time() {
    assert!(!is_wavefront(
        "fn f(n: i64, x: f64[n, n]) {
           d: f64[n, n] = loop i < n (a: f64[n, n] = x) {
             d.1: f64[n, n] = loop j < i (b: f64[n, n] = a) {
               u: f64 = b[i, j]
               v: f64 = sin u
               c: f64[n, n] = update b[i, j] = v
               yield c
             }
             yield d.1
           }
           return d
         }"
    ));
}
