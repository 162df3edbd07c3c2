//! Loops that are large enough to be cut into chunks: what they share is added up to the same bits on any number of
//! threads, and the lowest failing iteration is the one that is reported.

use crate::agreement::harness::{Program, f64_of, f64s, i64_of, i64s, irrational};
use cotan_ir::CheckKind;
use cotan_ops::Value;
use cotan_runtime::RuntimeError;

/// Sizes without, with one and with several chunks.
const SIZES: [usize; 5] = [0, 1, 500, 4097, 40_000];

#[test]
fn contributions_to_computed_places_and_to_a_scalar() {
    let program = Program::new(
        "fn f(n: i64, bin: i64[n], w: f64[n], m: i64, start: f64[m]) {
           h: f64[m], total: f64, hi: f64 = par i < n acc (a: f64[m] add from start, t: f64 add from 0.5, u: f64 max from -1.0) {
             b: i64 = bin[i]
             v: f64 = w[i]
             s: f64 = sin v
             acc_add a[b] = s
             acc_add t[] = v
             acc_add u[] = s
             yield
           }
           return h, total, hi, start
         }",
    );
    for n in SIZES {
        let bins: Vec<i64> = (0..n as i64).map(|k| (k * k) % 3).collect();
        program.agree(&[i64_of(n as i64), i64s(&bins), f64s(&irrational(n)), i64_of(3), f64s(&[0.1, 0.2, 0.3])]);
    }
}

#[test]
fn counts_are_exact() {
    let program = Program::new(
        "fn f(n: i64, bin: i64[n], m: i64, start: i64[m]) {
           h: i64[m], n_odd: i64 = par i < n acc (a: i64[m] add from start, o: i64 add from 0) {
             b: i64 = bin[i]
             r: i64 = rem b, 2
             acc_add a[b] = 1
             acc_add o[] = r
             yield
           }
           return h, n_odd
         }",
    );
    for n in SIZES {
        let bins: Vec<i64> = (0..n as i64).map(|k| (k * k) % 7).collect();
        let found = program.agree(&[i64_of(n as i64), i64s(&bins), i64_of(7), i64s(&[10; 7])]);
        let total: i64 = (0..7).map(|k| found[0].get(k).as_i64().unwrap() - 10).sum();
        assert_eq!(total, n as i64);
    }
}

#[test]
fn rows_and_whole_arrays() {
    let program = Program::new(
        "fn f(n: i64, m: i64, x: f64[n, m], k: i64) {
           zero: f64[k, m] = fill 0.0
           none: f64[m] = fill 1.0
           g: f64[k, m], h: f64[m] = par i < n acc (a: f64[k, m] add from zero, b: f64[m] min from none) {
             row: f64[m] = x[i]
             e: f64[m] = exp row
             r: i64 = rem i, k
             acc_add a[r] = e
             c: f64[m] = cos row
             acc_add b[] = c
             yield
           }
           return g, h
         }",
    );
    for n in SIZES.map(|n| n / 4) {
        let x = Value::f64s(&[n as i64, 3], &irrational(3 * n));
        program.agree(&[i64_of(n as i64), i64_of(3), x, i64_of(5)]);
    }
}

#[test]
fn nested_loops_and_what_is_introduced_outside() {
    let program = Program::new(
        "fn f(n: i64, m: i64, x: f64[n], y: f64[m]) {
           zero: f64[m] = fill 0.0
           zeros: f64[n, m] = fill 0.25
           s: f64[n], g: f64[m], p: f64[n, m], total: f64 = par i < n (stack) acc (a: f64[m] add from zero, own: f64[n, m] add from zeros, t: f64 add from 0.0) {
             v: f64 = x[i]
             e: f64 = par j < m (add from 0.0) {
               w: f64 = y[j]
               q: f64 = mul v, w
               c: f64 = cos q
               acc_add a[j] = c
               acc_add own[i, j] = q
               yield c
             }
             acc_add t[] = e
             yield e
           }
           return s, g, p, total
         }",
    );
    for n in SIZES.map(|n| n / 8) {
        program.agree(&[i64_of(n as i64), i64_of(9), f64s(&irrational(n)), f64s(&irrational(9))]);
    }
}

#[test]
fn sums_of_sequential_loops_inside() {
    let program = Program::new(
        "fn f(n: i64, x: f64[n], trips: i64[n], p: f64) {
           s: f64[n], g: f64 = par i < n (stack) acc (a: f64 add from 0.0) {
             v: f64 = x[i]
             k: i64 = trips[i]
             r: f64 = loop t < k (z: f64 = v) {
               u: f64 = mul z, p
               w: f64 = add u, v
               acc_add a[] = w
               yield w
             }
             yield r
           }
           return s, g
         }",
    );
    for n in SIZES.map(|n| n / 16) {
        let trips: Vec<i64> = (0..n as i64).map(|k| (k * 5) % 11).collect();
        program.agree(&[i64_of(n as i64), f64s(&irrational(n)), i64s(&trips), f64_of(0.4)]);
    }
}

/// Reductions keep the documented order, so these have the bits of the interpreter.
#[test]
fn reductions_of_costly_values_follow_the_documented_tree() {
    let program = Program::new(
        "fn f(n: i64, x: f64[n], start: f64) {
           y: f64[n], s: f64, hi: f64, all: bool = par i < n (stack, add from start, max from -inf, and from true) {
             a: f64 = x[i]
             b: f64 = loop t < 3 (z: f64 = a) {
               c: f64 = mul z, a
               d: f64 = add c, 0.1
               yield d
             }
             p: bool = lt b, 2.0
             yield b, b, a, p
           }
           return y, s, hi, all
         }",
    );
    assert!(!program.on_one_thread().regroups_sums());
    for n in [0, 1, 2, 15, 17, 4095, 4096, 4097, 8192, 8193, 30_000] {
        program.agree(&[i64_of(n as i64), f64s(&irrational(n)), f64_of(0.25)]);
    }
    program.agree(&[i64_of(2), f64s(&[-0.0, f64::NAN]), f64_of(-0.0)]);
}

#[test]
fn a_reduction_beside_accumulators() {
    let program = Program::new(
        "fn f(n: i64, x: f64[n], m: i64, w: f64[m]) {
           zero: f64[m] = fill 0.0
           s: f64, g: f64[m] = par i < n (add from 0.5) acc (a: f64[m] add from zero) {
             v: f64 = x[i]
             k: i64 = rem i, m
             c: f64 = w[k]
             q: f64 = loop t < 5 (z: f64 = v) {
               u: f64 = mul z, c
               acc_add a[k] = u
               yield u
             }
             yield q
           }
           return s, g
         }",
    );
    for n in SIZES.map(|n| n / 2) {
        program.agree(&[i64_of(n as i64), f64s(&irrational(n)), i64_of(4), f64s(&irrational(4))]);
    }
}

#[test]
fn the_lowest_failing_iteration_is_reported_from_any_chunk() {
    let program = Program::new(
        "fn f(n: i64, at: i64[n], m: i64) {
           zero: f64[m] = fill 0.0
           s: f64, g: f64[m] = par i < n (add from 0.0) acc (a: f64[m] add from zero) {
             k: i64 = at[i]
             ok: bool = in_range k, m
             j: i64 = check ok R0001(k, m) k
             acc_add a[j] = 1.5
             r: f64 = loop t < 20 (z: f64 = 1.0) {
               u: f64 = mul z, 0.5
               yield u
             }
             yield r
           }
           return s, g
         }",
    );
    let n = 10_000;
    for bad in [vec![0, 9_999], vec![9_999], vec![5_000, 4_999, 9_000], vec![4_096, 8_192], vec![17, 16, 4_095]] {
        let mut at: Vec<i64> = (0..n).map(|k| k % 4).collect();
        for k in &bad {
            at[*k as usize] = 1_000_000 + k;
        }
        let lowest = bad.iter().min().unwrap();
        let error = program.fail(&[i64_of(n), i64s(&at), i64_of(4)]);
        assert!(
            matches!(&error, RuntimeError::Check { kind: CheckKind::IndexRange, args, .. } if args[0] == 1_000_000 + i128::from(*lowest)),
            "{error:?}"
        );
    }
}

#[test]
fn what_copies_of_a_sum_would_not_pay_for_stays_one_chunk() {
    let program = Program::new(
        "fn f(n: i64, x: f64[n], m: i64) {
           zero: f64[m] = fill 0.0
           g: f64[m] = par i < n acc (a: f64[m] add from zero) {
             v: f64 = x[i]
             k: i64 = rem i, m
             acc_add a[k] = v
             yield
           }
           return g
         }",
    );
    let (n, m) = (50_000, 40_000);
    let outcomes = program.on_all_threads().iter().map(|f| {
        let args = [i64_of(n), f64s(&irrational(n as usize)), i64_of(m)];
        f.call_with(&args, &cotan_runtime::CallOptions::default()).unwrap()
    });
    for outcome in outcomes {
        assert!(outcome.statistics.peak_bytes < 100_000, "{:?}", outcome.statistics);
        assert_eq!(outcome.values[0].get(0).as_float(), Some(irrational(1)[0] + irrational(40_001)[40_000]));
    }
}
