//! Parallel loops: stacked and reduced results, nested, at sizes around every block of the reduction.

use crate::harness::{Program, f64_of, f64s, i64_of, numbers};
use cotan_ops::Value;

const MAP: &str = "fn f(n: i64, x: f64[n]) {
  y: f64[n] = par i < n (stack) {
    a: f64 = x[i]
    b: f64 = exp a
    yield b
  }
  return y
}";

#[test]
fn a_map_agrees_at_every_size() {
    let program = Program::new(MAP);
    for n in [0, 1, 2, 17, 5000, 100_000] {
        program.agree(&[i64_of(n as i64), f64s(&numbers(n))]);
    }
}

#[test]
fn reductions_follow_the_documented_tree() {
    let program = Program::new(
        "fn f(n: i64, x: f64[n], start: f64) {
           s: f64, p: f64, hi: f64, lo: f64 = par i < n (add from start, mul from 1.0, max from -inf, min from inf) {
             a: f64 = x[i]
             b: f64 = mul a, 0.001
             c: f64 = add b, 1.0
             yield a, c, a, a
           }
           return s, p, hi, lo
         }",
    );
    for n in [0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 100, 4095, 4096, 4097, 8192, 20_000] {
        program.agree(&[i64_of(n as i64), f64s(&numbers(n)), f64_of(-0.0)]);
    }
    program.agree(&[i64_of(3), f64s(&[-0.0, -0.0, -0.0]), f64_of(-0.0)]);
    program.agree(&[i64_of(3), f64s(&[1.0, f64::NAN, 3.0]), f64_of(0.5)]);
}

#[test]
fn a_reduction_climbs_to_the_third_level() {
    let program = Program::new(
        "fn f(n: i64) {
           s: f64 = par i < n (add from 0.25) {
             a: f64 = to_f64 i
             b: f64 = add a, 0.5
             c: f64 = div 1.0, b
             yield c
           }
           return s
         }",
    );
    let n = 4096 * 4096 + 4096 * 3 + 5;
    let terms: Vec<f64> = (0..n).map(|i| 1.0 / (i as f64 + 0.5)).collect();
    let expected = cotan_ops::reduce::reduce(&terms, 0.25, |a, b| a + b);
    let found = program.on_one_thread().call(&[i64_of(n)]).unwrap();
    assert_eq!(found, [f64_of(expected)]);
}

#[test]
fn integers_and_truth_values_are_reduced() {
    let program = Program::new(
        "fn f(n: i64, x: i64[n]) {
           s: i64, all: bool, any: bool = par i < n (add from 3, and from true, or from false) {
             a: i64 = x[i]
             p: bool = gt a, 0
             q: bool = gt a, 90
             yield a, p, q
           }
           return s, all, any
         }",
    );
    for n in [0, 1, 5, 50, 5000] {
        let x: Vec<i64> = (0..n).map(|k| (k * 37) % 101).collect();
        program.agree(&[i64_of(n), Value::i64s(&[n], &x)]);
    }
}

#[test]
fn tensors_are_reduced_element_by_element() {
    let program = Program::new(
        "fn f(n: i64, m: i64, x: f64[n, m], start: f64[m]) {
           s: f64[m] = par i < n (add from start) {
             row: f64[m] = x[i]
             yield row
           }
           return s
         }",
    );
    for n in [0, 1, 5, 17, 4097] {
        for m in [0, 1, 3] {
            let x = Value::f64s(&[n, m], &numbers((n * m) as usize));
            program.agree(&[i64_of(n), i64_of(m), x, f64s(&numbers(m as usize))]);
        }
    }
}

#[test]
fn nested_pars_write_rows_in_place() {
    let program = Program::new(
        "fn f(n: i64, m: i64, x: f64[n, m]) {
           y: f64[n, m], s: f64[n] = par i < n (stack, stack) {
             row: f64[m] = x[i]
             z: f64[m] = par j < m (stack) {
               a: f64 = row[j]
               b: f64 = mul a, a
               yield b
             }
             t: f64 = par j2 < m (add from 0.0) {
               c: f64 = z[j2]
               yield c
             }
             yield z, t
           }
           return y, s
         }",
    );
    for (n, m) in [(0, 3), (3, 0), (1, 1), (4, 5), (700, 60)] {
        program.agree(&[i64_of(n), i64_of(m), Value::f64s(&[n, m], &numbers((n * m) as usize))]);
    }
}

#[test]
fn several_levels_are_one_space() {
    let program = Program::new(
        "fn f(n: i64, m: i64) {
           y: i64[n, m, 2], s: f64 = par i < n, j < m, k < 2 (stack, add from 0.5) {
             a: i64 = mul i, 100
             b: i64 = add a, j
             c: i64 = sub b, k
             d: f64 = to_f64 c
             yield c, d
           }
           return y, s
         }",
    );
    for (n, m) in [(0, 3), (3, 0), (4, 5), (30, 100)] {
        program.agree(&[i64_of(n), i64_of(m)]);
    }
}

#[test]
fn a_stacked_parameter_is_copied() {
    let program = Program::new(
        "fn f(n: i64, m: i64, x: f64[m]) {
           y: f64[n, m] = par i < n (stack) {
             yield x
           }
           return y, x
         }",
    );
    program.agree(&[i64_of(3), i64_of(2), f64s(&[1.0, 2.0])]);
}

#[test]
fn a_par_without_levels_runs_once() {
    let program = Program::new(
        "fn f(x: f64) {
           y: f64 = par (stack) {
             a: f64 = add x, 1.0
             yield a
           }
           return y
         }",
    );
    program.agree(&[f64_of(2.0)]);
}
