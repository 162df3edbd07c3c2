//! Matrix products: when they are left to a library, and what stands beside it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan_ir::{Module, parse_function, verify_module};
use cotan_loops::{CPU, LoopFunction, expand_products, lower};
use cotan_ops::Registry;
use expect_test::expect;

fn lowered(text: &str) -> LoopFunction {
    let f = parse_function(text, Registry::standard()).unwrap();
    let mut module = Module::default();
    let f = module.insert(f);
    verify_module(&module).unwrap();
    lower(&f, &CPU)
}

/// A product of matrices with these extents and elements.
fn product([m, k, n]: [&str; 3], elem: &str, strong: u8) -> String {
    let params: Vec<String> =
        [m, k, n].iter().filter(|d| d.parse::<i64>().is_err()).map(|d| format!("{d}: i64")).collect();
    let params = params.join(", ");
    let comma = if params.is_empty() { "" } else { ", " };
    format!(
        "fn f({params}{comma}a: {elem}[{m}, {k}], b: {elem}[{k}, {n}]) {{
           c: {elem}[{m}, {n}] = matmul a, b {{{strong}}}
           return c
         }}"
    )
}

#[test]
fn sizes_that_only_the_run_knows_are_tested_in_front_of_loops_and_library() {
    let nest = lowered(&product(["m", "k", "n"], "f64", 0));
    expect![[r#"
        fn f(m: i64, k: i64, n: i64, a[]: f64[m, k], b[]: f64[k, n]) {
          alloc c: f64[m, n] as result 0
          t = min.i64 m, n
          t.1 = min.i64 t, k
          t.2 = mul.i64 m, n
          t.3 = mul.i64 t.2, k
          t.4 = lt.i64 t.1, 4
          t.5 = lt.i64 t.2, 512
          t.6 = lt.i64 t.3, 16384
          t.7 = or.bool t.4, t.5
          t.8 = or.bool t.7, t.6
          if t.8 {
            t.9 = sub.i64 k, 1
            t.10 = max.i64 t.9, 0
            t.11 = div.i64 t.10, 512
            t.12 = add.i64 t.11, 1
            t.13 = div.i64 k, t.12
            t.14 = rem.i64 k, t.12
            for k.1 < m {
              for k.2 < n {
                total := -0.0
                for run < t.12 {
                  t.15 = mul.i64 run, t.13
                  t.16 = min.i64 run, t.14
                  t.17 = add.i64 t.15, t.16
                  t.18 = add.i64 run, 1
                  t.19 = mul.i64 t.18, t.13
                  t.20 = min.i64 t.18, t.14
                  t.21 = add.i64 t.19, t.20
                  t.22 = sub.i64 t.21, t.17
                  sum := 0.0
                  for k.3 < t.22 {
                    t.23 = add.i64 t.17, k.3
                    t.24 = mul.i64 k.1, k
                    t.25 = add.i64 t.24, t.23
                    t.26 = mul.i64 t.23, n
                    t.27 = add.i64 t.26, k.2
                    x = a[t.25]
                    y = b[t.27]
                    sum.1 = sum
                    sum.2 = fma.f64 x, y, sum.1
                    sum := sum.2
                  }
                  sum.3 = sum
                  total.1 = total
                  total.2 = add.f64 total.1, sum.3
                  total := total.2
                }
                total.3 = total
                t.28 = mul.i64 k.1, n
                t.29 = add.i64 t.28, k.2
                c[t.29] = total.3
              }
            }
          }
          else {
            t.30 = mul.i64 m, n
            t.31 = mul.i64 m, k
            t.32 = mul.i64 k, n
            product c[] step (n, 1) = a[] step (k, 1) by b[] step (n, 1), f64[m, n, k]
          }
          return c[]: f64[m, n]
        }
    "#]]
    .assert_eq(&nest.to_string());
}

/// A product of a vector and a matrix with so many rows.
fn vector_times_matrix(rows: &str) -> String {
    let param = if rows.parse::<i64>().is_ok() { String::new() } else { format!("{rows}: i64, ") };
    format!(
        "fn f({param}n: i64, a: f64[{rows}], b: f64[{rows}, n]) {{
           c: f64[n] = matmul a, b {{0}}
           return c
         }}"
    )
}

#[test]
fn a_vector_times_a_matrix_takes_a_few_rows_at_a_time() {
    let nest = lowered(&vector_times_matrix("100")).to_string();
    expect![[r#"
        fn f(n: i64, a[]: f64[100], b[]: f64[100, n]) {
          alloc c: f64[n] as result 0
          alloc sums: f64[n]
          t = sub.i64 100, 1
          t.1 = max.i64 t, 0
          t.2 = div.i64 t.1, 16
          t.3 = add.i64 t.2, 1
          for strip < t.3 {
            t.4 = mul.i64 strip, 16
            t.5 = sub.i64 100, t.4
            t.6 = min.i64 t.5, 16
            t.7 = le.i64 strip, 0
            t.8 = le.i64 t.5, 16
            for column < n {
              sum := 0.0
              if t.7 {
              }
              else {
                sum.1 = sums[column]
                sum := sum.1
              }
              for k < t.6 {
                t.9 = add.i64 t.4, k
                t.10 = mul.i64 t.9, n
                t.11 = add.i64 t.10, column
                x = a[t.9]
                y = b[t.11]
                sum.2 = sum
                sum.3 = fma.f64 x, y, sum.2
                sum := sum.3
              }
              sum.4 = sum
              if t.8 {
                c[column] = sum.4
              }
              else {
                sums[column] = sum.4
              }
            }
          }
          return c[]: f64[n]
        }
    "#]]
    .assert_eq(&nest);
}

#[test]
fn where_rows_are_few_or_lanes_have_a_product_each_columns_are_whole() {
    let is_cut = |text: &str| lowered(text).to_string().contains("for strip");
    assert!(is_cut(&vector_times_matrix("k")));
    assert!(!is_cut(&vector_times_matrix("16")));
    let in_a_par = "fn f(m: i64, k: i64, n: i64, a: f64[m, k], b: f64[k, n]) {
      d: f64[m, n] = par i < m (stack) {
        x: f64[k] = a[i]
        c: f64[n] = matmul x, b {0}
        yield c
      }
      return d
    }";
    assert!(!is_cut(in_a_par));
}

/// A loop of so many steps that multiplies a matrix, known or not in front of it, by what it carries.
fn steps_with_product(steps: &str, rows: &str, matrix: &str) -> String {
    format!(
        "fn f(t: i64, n: i64, a: f64[{rows}, {rows}], x: f64[{rows}]) {{
           y: f64[{rows}] = loop i < {steps} (s: f64[{rows}] = x) {{
             b: f64[{rows}, {rows}] = add a, 1.0
             c: f64[{rows}] = matmul {matrix}, s {{0}}
             yield c
           }}
           return y
         }}"
    )
}

#[test]
fn a_matrix_that_steps_multiply_by_is_transposed_in_front_of_them() {
    let text = lowered(&steps_with_product("t", "n", "a")).to_string();
    let (before, made) = text.split_once("for i <").unwrap();
    expect![[r#"
        fn f(t: i64, n: i64, a[]: f64[n, n], x[]: f64[n]) {
          t.1 = mul.i64 n, n
          t.2 = ge.i64 t, 8
          t.3 = ge.i64 n, 16
          t.4 = le.i64 t.1, 65536
          t.5 = and.bool t.2, t.3
          t.6 = and.bool t.5, t.4
          t.7 = select.i64 t.6, n, 0
          alloc columns: f64[t.7, n]
          if t.6 {
            t.8 = cast(f64).i64 n
            steps = mul.f64 16.0, t.8
            for k < n may fork(steps steps) {
              for k.1 < n {
                t.9 = mul.i64 k.1, n
                t.10 = add.i64 t.9, k
                t.11 = mul.i64 k, n
                t.12 = add.i64 t.11, k.1
                x = a[t.10]
                columns[t.12] = x
              }
            }
          }
          alloc y: f64[n] as result 0
          copy x[] to y[], n"#]]
    .assert_eq(before.trim_end());
    assert!(made.contains("columns[") && made.contains("= a["), "both forms are there: {text}");
}

#[test]
fn few_steps_or_rows_and_matrices_of_a_step_have_no_transpose() {
    let is_transposed = |text: &str| lowered(text).to_string().contains("alloc columns");
    assert!(is_transposed(&steps_with_product("8", "16", "a")));
    assert!(!is_transposed(&steps_with_product("7", "n", "a")));
    assert!(!is_transposed(&steps_with_product("t", "15", "a")));
    assert!(!is_transposed(&steps_with_product("t", "257", "a")));
    assert!(!is_transposed(&steps_with_product("t", "n", "b")));
}

#[test]
fn what_is_known_to_be_small_or_has_no_library_is_loops_alone() {
    let calls = |text: String| lowered(&text).to_string().contains(" step (");
    for extents in [["25", "26", "25"], ["8", "1000", "8"], ["m", "3", "n"], ["3", "k", "n"], ["m", "k", "2"]] {
        assert!(!calls(product(extents, "f64", 0)), "{extents:?}");
    }
    for elem in ["i64", "f16"] {
        assert!(!calls(product(["m", "k", "n"], elem, 0)), "{elem}");
    }
    assert!(!calls(product(["m", "k", "n"], "f64", 1)), "an exact zero wins");
    for (extents, elem) in [(["32", "16", "32"], "f64"), (["m", "k", "n"], "f32"), (["4", "64", "128"], "f32")] {
        assert!(calls(product(extents, elem, 0)), "{extents:?}");
    }
    let vectors = "fn f(k: i64, n: i64, a: f64[k], b: f64[k, n]) {
      c: f64[n] = matmul a, b {0}
      return c
    }";
    assert!(!calls(vectors.to_owned()));
}

#[test]
fn a_transposed_factor_is_copied_by_the_loops_alone() {
    let nest = lowered(
        "fn f(n: i64, a: f64[n, n], b: f64[n, n]) {
           t: f64[n, n] = transpose b {1, 0}
           c: f64[n, n] = matmul a, t {0}
           return c
         }",
    );
    let text = nest.to_string();
    let (loops, library) = text.split_once("else").unwrap();
    assert_eq!(loops.matches("alloc transposed").count(), 1, "{text}");
    assert!(library.contains("product c[] step (n, 1) = a[] step (n, 1) by b[] step (1, n), f64[n, n, n]"), "{text}");
    assert!(!text.contains("alloc t:"), "{text}");
}

#[test]
fn a_transposed_matrix_that_others_read_is_copied() {
    for (statement, result) in [
        ("e: f64[n, n] = add t, 1.0", "c, e"),
        ("e: f64[n, n] = matmul t, t {1}", "c, e"),
        ("e: f64[n, n] = matmul t, t {0}", "c, t"),
        ("e: f64[n] = t[0]", "c, e"),
    ] {
        let text = lowered(&format!(
            "fn f(n: i64, a: f64[n, n], b: f64[n, n]) {{
               t: f64[n, n] = transpose b {{1, 0}}
               c: f64[n, n] = matmul a, t {{0}}
               {statement}
               return {result}
             }}"
        ));
        assert!(text.to_string().contains("alloc t:"), "{text}");
    }
}

#[test]
fn loops_can_stand_in_for_every_product() {
    let mut nest = lowered(
        "fn f(p: i64, n: i64, a: f64[p, n, n], go: bool) {
           y: f64[n, n] = fill 0.0
           z: f64[n, n] = loop i < p (s: f64[n, n] = y) {
             t: f64[n, n] = switch go {
               x: f64[n, n] = a[i]
               c: f64[n, n] = matmul x, s {0}
               yield c
             } {
               yield s
             }
             yield t
           }
           return z
         }",
    );
    assert_eq!(nest.to_string().matches(" by ").count(), 1);
    expand_products(&mut nest);
    let text = nest.to_string();
    assert!(!text.contains(" step (") && text.contains("fma.f64"), "{text}");
}
