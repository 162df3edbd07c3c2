//! Accumulators: histograms, rows, whole arrays, scalars, from any depth.

use crate::agreement::harness::{Program, f64s, i64_of, i64s, numbers};
use cotan_ops::Value;

#[test]
fn a_histogram_adds_at_computed_places() {
    let program = Program::new(
        "fn f(n: i64, bin: i64[n], w: f64[n], m: i64, start: f64[m]) {
           h: f64[m], total: f64 = par i < n acc (a: f64[m] add from start, t: f64 add from 0.5) {
             b: i64 = bin[i]
             v: f64 = w[i]
             acc_add a[b] = v
             acc_add t[] = v
             yield
           }
           return h, total, start
         }",
    );
    for n in [0usize, 1, 100] {
        let bins: Vec<i64> = (0..n as i64).map(|k| (k * k) % 3).collect();
        program.agree(&[i64_of(n as i64), i64s(&bins), f64s(&numbers(n)), i64_of(3), f64s(&[0.1, 0.2, 0.3])]);
    }
}

#[test]
fn extremes_are_kept_in_place() {
    let program = Program::new(
        "fn f(n: i64, x: f64[n]) {
           zero: f64[2] = fill 0.0
           hi: f64[2], lo: f64[2] = par i < n acc (a: f64[2] max from zero, b: f64[2] min from zero) {
             v: f64 = x[i]
             k: i64 = rem i, 2
             acc_add a[k] = v
             acc_add b[k] = v
             yield
           }
           return hi, lo
         }",
    );
    for n in [0, 1, 2, 51] {
        program.agree(&[i64_of(n as i64), f64s(&numbers(n))]);
    }
}

#[test]
fn rows_and_whole_arrays_are_added() {
    let program = Program::new(
        "fn f(n: i64, m: i64, x: f64[n, m]) {
           zero: f64[n, m] = fill 0.0
           h: f64[n, m] = loop i < n acc (a: f64[n, m] add from zero) {
             row: f64[m] = x[i]
             acc_add a[i] = row
             acc_add a[] = x
             loop j < i {
               s: f64 = x[i, 0]
               acc_add a[j, 0] = s
               yield
             }
             yield
           }
           return h
         }",
    );
    for (n, m) in [(0, 2), (1, 1), (4, 3)] {
        program.agree(&[i64_of(n), i64_of(m), Value::f64s(&[n, m], &numbers((n * m) as usize))]);
    }
}

#[test]
fn an_accumulator_of_an_outer_region_is_written_from_inner_pars() {
    let program = Program::new(
        "fn f(n: i64, x: f64[n]) {
           zero: f64[n] = fill 0.0
           g: f64[n], y: f64[n] = par i < n (stack) acc (a: f64[n] add from zero) {
             v: f64[n] = par j < n (stack) {
               p: f64 = x[j]
               q: f64 = x[i]
               r: f64 = mul p, q
               acc_add a[j] = r
               yield r
             }
             s: f64 = v[i]
             yield s
           }
           return y, g
         }"
        .replace("g: f64[n], y: f64[n] = par", "y: f64[n], g: f64[n] = par")
        .as_str(),
    );
    program.agree(&[i64_of(9), f64s(&numbers(9))]);
}

#[test]
fn a_start_value_that_is_read_later_is_kept() {
    let program = Program::new(
        "fn f(n: i64, x: f64[n]) {
           start: f64[n] = mul x, 3.0
           g: f64[n] = par i < n acc (a: f64[n] add from start) {
             p: f64 = start[i]
             acc_add a[0] = p
             yield
           }
           h: f64[n] = par k < n acc (b: f64[n] add from g) {
             acc_add b[k] = 1.0
             yield
           }
           return start, g, h
         }",
    );
    program.agree(&[i64_of(3), f64s(&[1.0, 2.0, 3.0])]);
}

/// The reverse of `y[i] = sin(y[i - 1]) * w` in place, as the derivative pass writes it: an undone array, a carried
/// cotangent, an accumulator for what is free.
#[test]
fn a_reverse_loop_agrees() {
    let program = Program::new(
        "fn f(n: i64, x: f64[n], w: f64[n], y_cot: f64[n]) {
           m: i64 = sub n, 1
           y: f64[n], old: f64[m] = loop i < m (a: f64[n] = x) {
             i1: i64 = add i, 1
             prev: f64 = a[i]
             rec: f64 = a[i1]
             s: f64 = sin prev
             wi: f64 = w[i]
             t: f64 = mul s, wi
             b: f64[n] = update a[i1] = t
             yield b, rec
           }
           zero: f64[n] = fill 0.0
           y0: f64[n], x_cot: f64[n], w_cot: f64[n] = loop j < m (c: f64[n] = y, d: f64[n] = y_cot) acc (g: f64[n] add from zero) {
             k: i64 = sub m, j
             i2: i64 = sub k, 1
             v: f64 = old[i2]
             e: f64[n] = update c[k] = v
             t_cot: f64 = d[k]
             d2: f64[n] = update d[k] = 0.0
             prev2: f64 = e[i2]
             s2: f64 = sin prev2
             w2: f64 = w[i2]
             w_add: f64 = mulz t_cot, s2
             acc_add g[i2] = w_add
             s_cot: f64 = mulz t_cot, w2
             co: f64 = cos prev2
             p_cot: f64 = mulz s_cot, co
             before: f64 = d2[i2]
             after: f64 = add before, p_cot
             d3: f64[n] = update d2[i2] = after
             yield e, d3
           }
           return y, x_cot, w_cot, y0
         }",
    );
    for n in [1, 2, 25] {
        let args = [i64_of(n as i64), f64s(&numbers(n)), f64s(&numbers(n)), f64s(&vec![1.0; n])];
        program.agree(&args);
    }
}
