//! Sequential loops: carried values in place, whiles, stacked results of run-time length, logs.

use crate::agreement::harness::{Program, f64_of, f64s, i64_of, numbers};
use cotan_ops::Value;

#[test]
fn carried_scalars_change_together() {
    let program = Program::new(
        "fn f(n: i64) {
           p: i64, q: i64, all: i64[n] = loop i < n (a: i64 = 0, b: i64 = 1) {
             c: i64 = add a, b
             yield b, c, a
           }
           return p, q, all
         }",
    );
    for n in [0, 1, 2, 50] {
        program.agree(&[i64_of(n)]);
    }
}

#[test]
fn a_while_stacks_what_ran() {
    let program = Program::new(
        "fn f(x: f64) {
           k: i64, go: bool, last: f64, path: f64[k], at: i64[k] = while i (on: bool = true, a: f64 = x) {
             b: f64 = mul a, 0.5
             more: bool = gt b, 1.0
             yield more, b, a, i
           }
           return k, last, path, at
         }",
    );
    for x in [0.5, 3.0, 1e9, 1e300] {
        program.agree(&[f64_of(x)]);
    }
}

#[test]
fn a_while_may_not_run() {
    let program = Program::new(
        "fn f(start: bool, x: f64) {
           k: i64, go: bool, last: f64, path: f64[k] = while i (on: bool = start, a: f64 = x) {
             yield false, 2.0, a
           }
           return k, go, last, path
         }",
    );
    for start in [false, true] {
        program.agree(&[cotan_ir::Const::bool(start).into(), f64_of(1.5)]);
    }
}

#[test]
fn a_while_stacks_rows() {
    let program = Program::new(
        "fn f(m: i64, x: f64[m], n: i64) {
           k: i64, go: bool, y: f64[m], rows: f64[k, m] = while i (on: bool = true, a: f64[m] = x) {
             b: f64[m] = mul a, 1.5
             j: i64 = add i, 1
             more: bool = lt j, n
             yield more, b, a
           }
           return k, y, rows
         }",
    );
    for m in [0, 1, 3, 200] {
        for n in [0, 1, 40] {
            program.agree(&[i64_of(m), f64s(&numbers(m as usize)), i64_of(n)]);
        }
    }
}

const PREFIX: &str = "fn f(n: i64, x: f64[n]) {
  m: i64 = sub n, 1
  y: f64[n] = loop i < m (a: f64[n] = x) {
    j: i64 = add i, 1
    p: f64 = a[i]
    q: f64 = a[j]
    s: f64 = add p, q
    b: f64[n] = update a[j] = s
    yield b
  }
  return y, x
}";

#[test]
fn an_array_is_updated_in_place_and_the_argument_is_not() {
    let program = Program::new(PREFIX);
    for n in [1, 2, 100] {
        let x = numbers(n);
        let results = program.agree(&[i64_of(n as i64), f64s(&x)]);
        assert_eq!(results[1], f64s(&x));
    }
}

#[test]
fn the_old_array_can_still_be_read() {
    let program = Program::new(
        "fn f(n: i64, x: f64[n], i: i64) {
           a: f64[n] = mul x, 2.0
           b: f64[n] = update a[i] = 100.0
           c: f64[n] = update b[0] = 200.0
           s: f64[n] = add a, b
           return a, b, c, s
         }",
    );
    program.agree(&[i64_of(3), f64s(&[1.0, 2.0, 3.0]), i64_of(2)]);
}

#[test]
fn a_row_taken_before_an_update_keeps_its_value() {
    let program = Program::new(
        "fn f(n: i64, m: i64, x: f64[n, m]) {
           y: f64[n, m], rows: f64[n, m] = loop i < n (a: f64[n, m] = x) {
             row: f64[m] = a[i]
             z: f64[m] = a[0]
             b: f64[n, m] = update a[i] = z
             c: f64[n, m] = update b[0] = row
             yield c, row
           }
           return y, rows
         }",
    );
    for (n, m) in [(1, 1), (4, 3), (5, 0)] {
        program.agree(&[i64_of(n), i64_of(m), Value::f64s(&[n, m], &numbers((n * m) as usize))]);
    }
}

#[test]
fn carried_arrays_may_change_places() {
    let program = Program::new(
        "fn f(n: i64, m: i64, x: f64[m], y: f64[m]) {
           p: f64[m], q: f64[m], all: f64[n, m] = loop i < n (a: f64[m] = x, b: f64[m] = y) {
             c: f64[m] = add a, b
             yield b, c, a
           }
           s: f64[m], t: f64[m] = loop k < n (d: f64[m] = p, e: f64[m] = q) {
             yield e, d
           }
           return p, q, all, s, t
         }",
    );
    for n in [0, 1, 2, 7] {
        program.agree(&[i64_of(n), i64_of(2), f64s(&[1.0, 2.0]), f64s(&[0.5, 0.25])]);
    }
}

#[test]
fn one_array_may_start_two_carried_values() {
    let program = Program::new(
        "fn f(n: i64, x: f64[n]) {
           z: f64[n] = mul x, 2.0
           p: f64[n], q: f64[n] = loop i < n (a: f64[n] = z, b: f64[n] = z) {
             c: f64[n] = update a[i] = -1.0
             d: f64[n] = update b[0] = 7.0
             yield c, d
           }
           return p, q
         }",
    );
    program.agree(&[i64_of(3), f64s(&[1.0, 2.0, 3.0])]);
}

#[test]
fn nested_loops_share_a_buffer() {
    let program = Program::new(
        "fn f(n: i64, x: f64[n, n]) {
           y: f64[n, n] = loop i < n (a: f64[n, n] = x) {
             b: f64[n, n] = loop j < i (c: f64[n, n] = a) {
               p: f64 = c[i, j]
               q: f64 = c[j, i]
               s: f64 = mul p, 0.5
               t: f64 = add s, q
               d: f64[n, n] = update c[i, j] = t
               yield d
             }
             yield b
           }
           return y
         }",
    );
    for n in [0, 1, 6] {
        program.agree(&[i64_of(n), Value::f64s(&[n, n], &numbers((n * n) as usize))]);
    }
}

#[test]
fn a_free_array_of_a_loop_survives_updates_in_it() {
    let program = Program::new(
        "fn f(n: i64, x: f64[n]) {
           y: f64[n] = mul x, 1.0
           s: f64, rows: f64[n, n] = loop i < n (acc: f64 = 0.0) {
             z: f64[n] = update y[i] = 9.0
             a: f64 = z[0]
             b: f64 = add acc, a
             yield b, z
           }
           return s, rows
         }",
    );
    program.agree(&[i64_of(4), f64s(&numbers(4))]);
}

#[test]
fn an_unchanged_carried_array_can_be_stacked() {
    let program = Program::new(
        "fn f(n: i64, x: f64[n]) {
           y: f64[n], before: f64[n, n] = loop i < n (a: f64[n] = x) {
             b: f64[n] = update a[i] = 0.5
             yield b, a
           }
           return y, before
         }",
    );
    program.agree(&[i64_of(4), f64s(&numbers(4))]);
}

#[test]
fn a_log_grows_at_any_depth() {
    let program = Program::new(
        "fn f(n: i64, x: f64[n]) {
           m: i64, log: f64[m], at: i64[m, 2] = loop i < n (pos: i64 = 0) acc (l: f64[0] log, w: i64[0, 2] log) {
             p: i64 = loop j < i (pos2: i64 = pos) {
               a: f64 = x[j]
               b: bool = gt a, 0.0
               q: i64 = switch b {
                 acc_add l[pos2] = a
                 z: i64[2] = fill j
                 z2: i64[2] = update z[0] = i
                 acc_add w[pos2] = z2
                 r: i64 = add pos2, 1
                 yield r
               } {
                 yield pos2
               }
               yield q
             }
             yield p
           }
           return m, log, at
         }",
    );
    for n in [0, 1, 2, 80] {
        program.agree(&[i64_of(n as i64), f64s(&numbers(n))]);
    }
}

#[test]
fn an_undo_loop_restores_an_array() {
    let program = Program::new(
        "fn f(n: i64, x: f64[n]) {
           y: f64[n], old: f64[n] = loop i < n (a: f64[n] = x) {
             p: f64 = a[i]
             j: i64 = sub i, 1
             k: i64 = max j, 0
             q: f64 = a[k]
             s: f64 = mul p, q
             b: f64[n] = update a[i] = s
             yield b, p
           }
           z: f64[n] = loop i2 < n (c: f64[n] = y) {
             m: i64 = sub n, i2
             at: i64 = sub m, 1
             v: f64 = old[at]
             d: f64[n] = update c[at] = v
             yield d
           }
           return y, z
         }",
    );
    let x = numbers(30);
    let results = program.agree(&[i64_of(30), f64s(&x)]);
    assert_eq!(results[1], f64s(&x));
}

#[test]
fn a_loop_around_one_that_a_call_counts_agrees() {
    let program = Program::new(
        "fn f(n: i64) {
           s: i64 = loop i < n (a: i64 = 0) {
             m: i64 = call g(i)
             b: i64 = loop j < m (c: i64 = a) {
               d: i64 = add c, j
               yield d
             }
             yield b
           }
           p: i64[n, 4] = par k < n (stack) {
             q: i64 = call g(k)
             row: i64[4] = par l < 4 (stack) {
               e: i64 = add q, l
               yield e
             }
             yield row
           }
           return s, p
         }
         fn g(i: i64) {
           j: i64 = rem i, 3
           return j
         }",
    );
    for n in [0, 1, 7] {
        program.agree(&[i64_of(n)]);
    }
}
