//! Which allocations take over memory, and which must not.
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

/// The allocations and copies of whole arrays, in their order.
fn memory_of(text: &str) -> Vec<String> {
    let text = lowered(text);
    let is_wanted = |l: &&str| l.starts_with("alloc") || l.starts_with("copy");
    text.lines()
        .map(str::trim_start)
        .filter(is_wanted)
        .filter(|l| !l.ends_with("in frame"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn an_array_made_element_by_element_lies_over_the_last_operand() {
    check(
        "fn f(n: i64, x: f64[n]) {
           a: f64[n] = mul x, 2.0
           b: f64[n] = add a, x
           c: f64[n] = mul b, b
           y: f64 = c[0]
           return y
         }",
        expect![[r#"
            fn f(n: i64, x[]: f64[n]) {
              alloc a: f64[n]
              for k < n {
                x = x[k]
                y = mul.f64 x, 2.0
                a[k] = y
              }
              for k.1 < n {
                x.1 = a[k.1]
                x.2 = x[k.1]
                y.1 = add.f64 x.1, x.2
                a[k.1] = y.1
              }
              for k.2 < n {
                x.3 = a[k.2]
                x.4 = a[k.2]
                y.2 = mul.f64 x.3, x.4
                a[k.2] = y.2
              }
              y.3 = a[]
              return y.3
            }
        "#]],
    );
}

#[test]
fn an_array_lies_where_its_result_is() {
    check(
        "fn f(n: i64, x: f64[n]) {
           a: f64[n] = mul x, 2.0
           b: f64[n] = add a, 1.0
           return b
         }",
        expect![[r#"
            fn f(n: i64, x[]: f64[n]) {
              alloc a: f64[n] as result 0
              for k < n {
                x = x[k]
                y = mul.f64 x, 2.0
                a[k] = y
              }
              for k.1 < n {
                x.1 = a[k.1]
                y.1 = add.f64 x.1, 1.0
                a[k.1] = y.1
              }
              return a[]: f64[n]
            }
        "#]],
    );
}

#[test]
fn an_operand_that_is_read_later_keeps_its_memory() {
    let text = "fn f(n: i64, x: f64[n]) {
      a: f64[n] = mul x, 2.0
      b: f64[n] = add a, 1.0
      c: f64[n] = mul b, a
      y: f64 = c[0]
      return y
    }";
    assert_eq!(memory_of(text), ["alloc a: f64[n]", "alloc b: f64[n]"]);
}

#[test]
fn an_array_of_other_elements_or_extents_has_memory_of_its_own() {
    let text = "fn f(n: i64, m: i64, x: f64[n], y: f64[m]) {
      a: f64[n] = mul x, 2.0
      p: f64 = a[0]
      b: f64[m] = mul y, 2.0
      q: f64 = b[0]
      c: bool[n] = gt x, 0.0
      r: bool = c[0]
      return p, q, r
    }";
    assert_eq!(memory_of(text), ["alloc a: f64[n]", "alloc b: f64[m]", "alloc c: bool[n]"]);
}

#[test]
fn an_array_that_is_read_at_other_positions_is_not_written_over() {
    let text = "fn f(n: i64, x: f64[n]) {
      a: f64[n] = mul x, 2.0
      b: f64[n] = par i < n (stack) {
        last: i64 = sub n, 1
        j: i64 = sub last, i
        p: f64 = a[j]
        yield p
      }
      y: f64 = b[0]
      return y
    }";
    assert_eq!(memory_of(text), ["alloc a: f64[n]", "alloc b: f64[n]"]);
}

#[test]
fn a_parallel_loop_writes_over_what_it_reads_at_its_own_position() {
    let text = "fn f(n: i64, m: i64, x: f64[n, m]) {
      a: f64[n, m] = mul x, 2.0
      b: f64[n, m] = par i < n, j < m (stack) {
        p: f64 = a[i, j]
        q: f64 = mul p, p
        yield q
      }
      y: f64 = b[0, 0]
      return y
    }";
    assert_eq!(memory_of(text), ["alloc a: f64[n, m]"]);
}

#[test]
fn a_transposed_position_is_another_one() {
    let text = "fn f(n: i64, x: f64[n, n]) {
      a: f64[n, n] = mul x, 2.0
      b: f64[n, n] = par i < n, j < n (stack) {
        p: f64 = a[j, i]
        yield p
      }
      y: f64 = b[0, 0]
      return y
    }";
    assert_eq!(memory_of(text), ["alloc a: f64[n, n]", "alloc b: f64[n, n]"]);
}

#[test]
fn a_parallel_loop_that_also_reads_elsewhere_does_not_write_over() {
    let text = "fn f(n: i64, x: f64[n]) {
      a: f64[n] = mul x, 2.0
      b: f64[n] = par i < n (stack) {
        p: f64 = a[i]
        q: f64 = a[0]
        r: f64 = mul p, q
        yield r
      }
      y: f64 = b[0]
      return y
    }";
    assert_eq!(memory_of(text), ["alloc a: f64[n]", "alloc b: f64[n]"]);
}

#[test]
fn of_two_results_of_a_loop_one_lies_over_what_it_reads() {
    let text = "fn f(n: i64, x: f64[n]) {
      a: f64[n] = mul x, 2.0
      b: f64[n], c: f64[n] = par i < n (stack, stack) {
        p: f64 = a[i]
        q: f64 = mul p, p
        yield p, q
      }
      y: f64 = b[0]
      z: f64 = c[0]
      return y, z
    }";
    assert_eq!(memory_of(text), ["alloc a: f64[n]", "alloc c: f64[n]"]);
}

#[test]
fn an_inner_loop_may_read_the_old_element_many_times_before_it_is_written() {
    let text = "fn f(n: i64, m: i64, x: f64[n]) {
      a: f64[n] = mul x, 2.0
      b: f64[n] = par i < n (stack) {
        s: f64 = loop k < m (v: f64 = 1.0) {
          p: f64 = a[i]
          w: f64 = mul v, p
          yield w
        }
        yield s
      }
      y: f64 = b[0]
      return y
    }";
    assert_eq!(memory_of(text), ["alloc a: f64[n]"]);
}

#[test]
fn an_element_that_each_of_several_inner_iterations_writes_is_not_the_old_one() {
    let text = "fn f(n: i64, m: i64, x: f64[n]) {
      a: f64[n] = mul x, 2.0
      zero: f64[n] = fill 0.0
      b: f64[n] = par i < n () acc (g: f64[n] add from zero) {
        loop k < m () {
          p: f64 = a[i]
          acc_add g[i] = p
          yield
        }
        yield
      }
      y: f64 = b[0]
      return y
    }";
    assert_eq!(memory_of(text), ["alloc a: f64[n]", "alloc zero: f64[n]"]);
}

#[test]
fn two_results_of_one_loop_have_two_memories() {
    let text = "fn f(n: i64, x: f64[n]) {
      a: f64[n] = mul x, 2.0
      y: f64 = a[0]
      b: f64[n], c: f64[n] = par i < n (stack, stack) {
        p: f64 = x[i]
        q: f64 = mul p, p
        yield p, q
      }
      z: f64[n] = mul b, c
      w: f64 = z[0]
      return y, w
    }";
    assert_eq!(memory_of(text), ["alloc a: f64[n]", "alloc c: f64[n]"]);
}

#[test]
fn a_parameter_is_never_written_over() {
    let text = "fn f(n: i64, x: f64[n]) {
      a: f64[n] = mul x, 2.0
      y: f64 = a[0]
      return y
    }";
    assert_eq!(memory_of(text), ["alloc a: f64[n]"]);
}

#[test]
fn a_record_keeps_its_memory_and_takes_no_other() {
    let text = "fn f(n: i64, x: f64) {
      before: f64[n] = fill x
      p: f64 = before[0]
      y: f64, log: f64[n] record value = loop i < n (v: f64 = x) {
        w: f64 = mul v, v
        yield w, v
      }
      q: f64 = log[0]
      after: f64[n] = fill y
      r: f64 = after[0]
      return p, q, r
    }";
    assert_eq!(memory_of(text), ["alloc before: f64[n]", "alloc log: f64[n]"]);
}

#[test]
fn what_an_iteration_allocates_is_used_again_in_it() {
    let text = "fn f(n: i64, m: i64, x: f64[m]) {
      y: f64 = loop i < n (v: f64 = 0.0) {
        a: f64[m] = mul x, 2.0
        p: f64 = a[0]
        b: f64[m] = mul x, 3.0
        q: f64 = b[0]
        w: f64 = mul p, q
        yield w
      }
      c: f64[m] = mul x, 4.0
      z: f64 = c[0]
      return y, z
    }";
    assert_eq!(memory_of(text), ["alloc a: f64[m]", "alloc c: f64[m]"]);
}

#[test]
fn an_array_that_a_loop_carries_is_made_over_itself() {
    check(
        "fn f(n: i64, m: i64, k: i64, x: f64[m, k]) {
           y: f64[m, k] = loop i < n (v: f64[m, k] = x) {
             a: f64[m, k] = mul v, 2.0
             b: f64[m, k] = add a, a
             yield b
           }
           return y
         }",
        expect![[r#"
            fn f(n: i64, m: i64, k: i64, x[]: f64[m, k]) {
              alloc y: f64[m, k] as result 0
              t = mul.i64 m, k
              copy x[] to y[], t
              for i < n {
                scope {
                  t.1 = mul.i64 m, k
                  for k.1 < t.1 {
                    x = y[k.1]
                    y = mul.f64 x, 2.0
                    y[k.1] = y
                  }
                  t.2 = mul.i64 m, k
                  for k.2 < t.2 {
                    x.1 = y[k.2]
                    x.2 = y[k.2]
                    y.1 = add.f64 x.1, x.2
                    y[k.2] = y.1
                  }
                  t.3 = mul.i64 m, k
                }
              }
              return y[]: f64[m, k]
            }
        "#]],
    );
}

#[test]
fn of_two_carried_arrays_that_are_made_of_both_the_first_is_copied() {
    let text = "fn f(n: i64, m: i64, x: f64[m], y: f64[m]) {
      p: f64[m], q: f64[m] = loop i < n (a: f64[m] = x, b: f64[m] = y) {
        c: f64[m] = add a, b
        d: f64[m] = mul a, b
        yield c, d
      }
      return p, q
    }";
    let carried =
        ["alloc p: f64[m] as result 0", "copy x[] to p[], m", "alloc q: f64[m] as result 1", "copy y[] to q[], m"];
    assert_eq!(memory_of(text), [&carried[..], &["alloc c: f64[m]", "copy c[] to p[], m"]].concat());
}

#[test]
fn arrays_that_change_places_in_a_loop_wait_for_each_other() {
    let text = "fn f(n: i64, m: i64, x: f64[m], y: f64[m]) {
      p: f64[m], q: f64[m] = loop i < n (a: f64[m] = x, b: f64[m] = y) {
        c: f64[m] = mul b, 2.0
        yield c, a
      }
      return p, q
    }";
    let carried =
        ["alloc p: f64[m] as result 0", "copy x[] to p[], m", "alloc q: f64[m] as result 1", "copy y[] to q[], m"];
    let next = ["alloc c: f64[m]", "copy p[] to q[], m", "copy c[] to p[], m"];
    assert_eq!(memory_of(text), [&carried[..], &next].concat());
}

#[test]
fn a_carried_array_whose_last_value_is_stacked_is_recorded_before_it_is_made_over_itself() {
    let text = "fn f(n: i64, m: i64, x: f64[m]) {
      y: f64[m], old: f64[n, m] = loop i < n (v: f64[m] = x) {
        a: f64[m] = mul v, 2.0
        yield a, v
      }
      return y, old
    }";
    let expected = [
        "alloc y: f64[m] as result 0",
        "copy x[] to y[], m",
        "alloc old: f64[n, m] as result 1",
        "copy y[] to old[t], m",
    ];
    assert_eq!(memory_of(text), expected);
}

#[test]
fn an_array_that_a_loop_carries_and_gathers_from_is_made_elsewhere() {
    let text = "fn f(n: i64, m: i64, x: f64[m], to: i64[m]) {
      y: f64[m] = loop i < n (v: f64[m] = x) {
        a: f64[m] = par j < m (stack) {
          k: i64 = to[j]
          p: f64 = v[k]
          yield p
        }
        yield a
      }
      return y
    }";
    let expected = ["alloc y: f64[m] as result 0", "copy x[] to y[], m", "alloc a: f64[m]", "copy a[] to y[], m"];
    assert_eq!(memory_of(text), expected);
}

#[test]
fn an_array_that_an_arm_hands_on_keeps_its_memory() {
    let text = "fn f(n: i64, x: f64[n], p: bool) {
      k: i64, y: f64[k] = switch p {
        a: f64[n] = mul x, 2.0
        s: f64 = a[0]
        b: f64[n] = fill s
        yield n, b
      } {
        c: f64[n] = mul x, 5.0
        d: f64[n] = add c, x
        e: f64 = d[0]
        g: f64[n] = fill e
        yield n, g
      }
      h: f64[n] = mul x, 7.0
      l: f64[n] = fill 1.0
      z: f64 = y[0]
      r: f64 = h[0]
      t: f64 = l[0]
      return z, r, t
    }";
    assert_eq!(memory_of(text), ["alloc a: f64[n]", "alloc c: f64[n]", "alloc h: f64[n]", "alloc l: f64[n]"]);
}

#[test]
fn an_array_that_did_not_become_the_result_is_not_in_its_memory() {
    let text = "fn f(n: i64, x: f64[n]) {
      a: f64[n] = mul x, 2.0
      b: f64[n] = update a[0] = 1.0
      p: f64 = a[0]
      c: f64[n] = update b[1] = p
      return c
    }";
    let expected = ["alloc a: f64[n]", "alloc b: f64[n] as result 0", "copy a[] to b[], n"];
    assert_eq!(memory_of(text), expected);
}
