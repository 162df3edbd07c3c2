//! Branches: scalars, tensors in place and not, results whose size depends on the branch.

use crate::agreement::harness::{Program, f64_of, f64s, i64_of, numbers};
use cotan_ir::Const;
use cotan_ops::Value;

#[test]
fn only_the_chosen_arm_runs() {
    let program = Program::new(
        "fn f(k: i64, x: f64) {
           y: f64 = switch k {
             a: f64 = add x, 1.0
             yield a
           } {
             yield 20.0
           } {
             b: f64 = mul x, x
             yield b
           }
           return y
         }",
    );
    for k in [-5, 0, 1, 2, 3, i64::MAX] {
        program.agree(&[i64_of(k), f64_of(3.0)]);
    }
}

#[test]
fn arms_update_one_array_in_place() {
    let program = Program::new(
        "fn f(n: i64, x: f64[n], p: bool) {
           a: f64[n] = add x, x
           b: f64[n] = switch p {
             c: f64[n] = update a[0] = 1.0
             d: f64[n] = update c[1] = 2.0
             yield d
           } {
             yield a
           }
           e: f64[n] = switch p {
             yield x
           } {
             g: f64[n] = update b[1] = -3.0
             yield g
           }
           return b, e
         }",
    );
    for p in [false, true] {
        program.agree(&[i64_of(2), f64s(&[5.0, 6.0]), Const::bool(p).into()]);
    }
}

#[test]
fn an_array_needed_later_is_not_overwritten_by_an_arm() {
    let program = Program::new(
        "fn f(n: i64, x: f64[n], p: bool) {
           a: f64[n] = add x, x
           b: f64[n], s: f64 = switch p {
             c: f64[n] = update a[0] = 1.0
             t: f64 = c[0]
             yield c, t
           } {
             u: f64 = a[0]
             yield a, u
           }
           d: f64[n] = add a, b
           return b, d, s
         }",
    );
    for p in [false, true] {
        program.agree(&[i64_of(2), f64s(&[5.0, 6.0]), Const::bool(p).into()]);
    }
}

#[test]
fn what_one_arm_overwrites_another_may_still_read() {
    let program = Program::new(
        "fn f(n: i64, x: f64[n], p: bool) {
           a: f64[n] = add x, x
           s: f64 = switch p {
             b: f64[n] = update a[0] = 1.0
             t: f64 = b[0]
             yield t
           } {
             u: f64 = loop i < 3 (v: f64 = 0.0) {
               c: f64[n] = update a[0] = 7.0
               d: f64 = a[0]
               w: f64 = c[0]
               e: f64 = mul d, w
               g: f64 = add v, e
               yield g
             }
             yield u
           }
           return s
         }",
    );
    for p in [false, true] {
        program.agree(&[i64_of(2), f64s(&[5.0, 6.0]), Const::bool(p).into()]);
    }
}

#[test]
fn an_array_that_an_arm_hands_on_under_a_size_of_its_own_is_not_overwritten() {
    let program = Program::new(
        "fn f(n: i64, x: f64[n], p: bool) {
           y: f64[n] = mul x, 2.0
           m: i64, r: f64[m] = switch p {
             yield n, y
           } {
             k: i64 = add n, 1
             z: f64[k] = fill 3.0
             yield k, z
           }
           u: f64[n] = update y[0] = 7.0
           s: f64 = u[0]
           t: f64 = r[0]
           return s, t, m, r
         }",
    );
    for p in [false, true] {
        program.agree(&[i64_of(200), f64s(&[5.0; 200]), Const::bool(p).into()]);
    }
}

#[test]
fn arms_may_exchange_arrays() {
    let program = Program::new(
        "fn f(n: i64, x: f64[n], p: bool) {
           a: f64[n] = add x, x
           b: f64[n] = mul x, x
           c: f64[n], d: f64[n] = switch p {
             yield b, a
           } {
             e: f64[n] = update a[0] = 1.0
             yield e, b
           }
           return c, d
         }",
    );
    for p in [false, true] {
        program.agree(&[i64_of(2), f64s(&[5.0, 6.0]), Const::bool(p).into()]);
    }
}

#[test]
fn the_size_may_depend_on_the_arm() {
    let program = Program::new(
        "fn f(n: i64, x: f64[n], p: bool) {
           m: i64, y: f64[m] = switch p {
             yield n, x
           } {
             k: i64 = add n, 2
             z: f64[k] = par i < k (stack) {
               a: f64 = to_f64 i
               yield a
             }
             yield k, z
           }
           w: f64[m] = add y, 1.0
           v: f64[m] = update y[0] = 50.0
           return m, y, w, v
         }",
    );
    for p in [false, true] {
        program.agree(&[i64_of(3), f64s(&numbers(3)), Const::bool(p).into()]);
    }
}

#[test]
fn branches_in_loops_update_in_place() {
    let program = Program::new(
        "fn f(n: i64, x: f64[n]) {
           y: f64[n] = loop i < n (a: f64[n] = x) {
             p: f64 = a[i]
             pos: bool = gt p, 0.0
             b: f64[n] = switch pos {
               q: f64 = mul p, 2.0
               c: f64[n] = update a[i] = q
               yield c
             } {
               big: bool = lt p, -5.0
               d: f64[n] = switch big {
                 e: f64[n] = update a[0] = p
                 yield e
               } {
                 yield a
               }
               yield d
             }
             yield b
           }
           return y
         }",
    );
    program.agree(&[i64_of(40), f64s(&numbers(40))]);
}

#[test]
fn calls_pass_scalars_arrays_and_unknown_lengths() {
    let program = Program::new(
        "fn f(n: i64, x: f64[n]) {
           s: f64, y: f64[n] = call scale(n, x, 2.5)
           m: i64, z: f64[m] = call positive(n, y)
           rows: f64[n, n] = par i < n (stack) {
             t: f64 = x[i]
             u: f64, v: f64[n] = call scale(n, y, t)
             yield v
           }
           return s, y, m, z, rows
         }
         fn scale(n: i64, x: f64[n], by: f64) {
           all: f64[n] = fill by
           y: f64[n] = mul x, all
           s: f64 = par i < n (add from 0.0) {
             a: f64 = y[i]
             yield a
           }
           return s, y
         }
         fn positive(n: i64, x: f64[n]) {
           m: i64, log: f64[m] = loop i < n (pos: i64 = 0) acc (l: f64[0] log) {
             a: f64 = x[i]
             p: bool = gt a, 0.0
             q: i64 = switch p {
               acc_add l[pos] = a
               r: i64 = add pos, 1
               yield r
             } {
               yield pos
             }
             yield q
           }
           return m, log
         }",
    );
    for n in [0, 1, 30] {
        program.agree(&[i64_of(n as i64), f64s(&numbers(n))]);
    }
    assert_eq!(program.agree(&[i64_of(2), f64s(&[1.0, -1.0])])[2], Value::i64s(&[], &[1]));
}
