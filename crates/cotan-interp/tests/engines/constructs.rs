//! Every construct of the IR gives the values that its documentation says.

use crate::engines::support::{f64, i64, i64s, module, results, vector};
use cotan_interp::{Options, Stats, run_counted};
use cotan_ops::Value;
use cotan_ops::reduce::reduce;

#[test]
fn primitives_work_on_scalars_and_element_wise_with_lifted_constants() {
    let text = "fn f(n: i64, x: f64[n], y: f64[n], s: f64) {
        a: f64[n] = mul x, y
        b: f64[n] = add a, 0.5
        c: f64 = sub s, 1.0
        d: bool = lt c, s
        return b, c, d
    }";
    let results = results(text, &[i64(2), vector(&[2.0, 3.0]), vector(&[5.0, 7.0]), f64(4.0)]).unwrap();
    assert_eq!(results[..2], [vector(&[10.5, 21.5]), f64(3.0)]);
    assert_eq!(results[2].scalar().and_then(|c| c.as_bool()), Some(true));
}

#[test]
fn a_call_takes_and_gives_values_of_run_time_length() {
    let text = "fn twice(n: i64, x: f64[n]) {
        m: i64 = mul n, 2
        y: f64[m] = concat x, x {0}
        return m, y
    }
    fn f(n: i64, x: f64[n]) {
        m: i64, y: f64[m] = call twice(n, x)
        k: i64, z: f64[k] = call twice(m, y)
        return k, z
    }";
    let results = results(text, &[i64(2), vector(&[1.0, 2.0])]).unwrap();
    assert_eq!(results, [i64(8), vector(&[1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0])]);
}

#[test]
fn index_reads_elements_and_rows() {
    let text = "fn f(x: f64[2, 3], i: i64) {
        row: f64[3] = x[i]
        e: f64 = x[i, 2]
        whole: f64[2, 3] = x[]
        return row, e, whole
    }";
    let x = Value::f64s(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let results = results(text, &[x.clone(), i64(1)]).unwrap();
    assert_eq!(results, [vector(&[4.0, 5.0, 6.0]), f64(6.0), x]);
}

#[test]
fn an_update_leaves_the_old_tensor_as_it_was_for_those_who_still_read_it() {
    let text = "fn f(x: f64[3]) {
        a: f64[3] = update x[1] = 7.0
        b: f64[3] = update a[2] = 8.0
        c: f64[3] = update b[0] = 9.0
        return x, b, c
    }";
    let results = results(text, &[vector(&[1.0, 2.0, 3.0])]).unwrap();
    assert_eq!(results, [vector(&[1.0, 2.0, 3.0]), vector(&[1.0, 7.0, 8.0]), vector(&[9.0, 7.0, 8.0])]);
}

#[test]
fn a_row_can_be_replaced_by_a_row_of_the_same_tensor() {
    let text = "fn f(x: f64[2, 2]) {
        row: f64[2] = x[1]
        y: f64[2, 2] = update x[0] = row
        z: f64[2, 2] = update y[] = y
        return z
    }";
    let results = results(text, &[Value::f64s(&[2, 2], &[1.0, 2.0, 3.0, 4.0])]).unwrap();
    assert_eq!(results, [Value::f64s(&[2, 2], &[3.0, 4.0, 3.0, 4.0])]);
}

#[test]
fn a_par_stacks_in_row_major_order() {
    let text = "fn f(n: i64, m: i64, x: f64[n], y: f64[m]) {
        p: f64[n, m], q: f64[n, m, 2] = par i < n, j < m (stack, stack) {
            a: f64 = x[i]
            b: f64 = y[j]
            c: f64 = mul a, b
            d: f64[2] = fill c
            e: f64[2] = update d[1] = a
            yield c, e
        }
        return p, q
    }";
    let results = results(text, &[i64(2), i64(3), vector(&[1.0, 10.0]), vector(&[1.0, 2.0, 3.0])]).unwrap();
    assert_eq!(results[0], Value::f64s(&[2, 3], &[1.0, 2.0, 3.0, 10.0, 20.0, 30.0]));
    let q = [1.0, 1.0, 2.0, 1.0, 3.0, 1.0, 10.0, 10.0, 20.0, 10.0, 30.0, 10.0];
    assert_eq!(results[1], Value::f64s(&[2, 3, 2], &q));
}

#[test]
fn a_par_without_levels_runs_once() {
    let text = "fn f(x: f64) {
        a: f64, b: f64 = par (stack, add from 1.0) {
            y: f64 = mul x, x
            yield y, y
        }
        return a, b
    }";
    assert_eq!(results(text, &[f64(3.0)]), Ok(vec![f64(9.0), f64(10.0)]));
}

const SUMS: &str = "fn f(n: i64, x: f64[n], init: f64) {
    s: f64, p: f64, hi: f64, lo: f64, all: bool, any: bool = par i < n (add from init, mul from 1.0, max from 0.0, min from 0.0, and from true, or from false) {
        e: f64 = x[i]
        c: bool = gt e, 0.0
        yield e, e, e, e, c, c
    }
    return s, p, hi, lo, all, any
}";

#[test]
fn reductions_follow_the_documented_tree_over_the_iteration_number() {
    for n in [0, 1, 5, 16, 17, 100, 5000] {
        let x: Vec<f64> = (0..n).map(|k| 1.0 / f64::from(3 * k + 1) - 0.1).collect();
        let results = results(SUMS, &[i64(n.into()), vector(&x), f64(0.7)]).unwrap();
        assert_eq!(results[0], f64(reduce(&x, 0.7, |a, b| a + b)), "{n} values");
        assert_eq!(results[1], f64(reduce(&x, 1.0, |a, b| a * b)), "{n} values");
        assert_eq!(results[2], f64(x.iter().copied().fold(0.0, f64::max)), "{n} values");
        assert_eq!(results[3], f64(x.iter().copied().fold(0.0, f64::min)), "{n} values");
        let is_positive = |e: &f64| *e > 0.0;
        assert_eq!(results[4].scalar().and_then(|c| c.as_bool()), Some(x.iter().all(is_positive)));
        assert_eq!(results[5].scalar().and_then(|c| c.as_bool()), Some(x.iter().any(is_positive)));
    }
}

#[test]
fn a_reduction_over_two_levels_counts_iterations_row_by_row() {
    let text = "fn f(x: f64[7, 9]) {
        s: f64[1] = par i < 7, j < 9 (add from start) {
            e: f64 = x[i, j]
            row: f64[1] = fill e
            yield row
        }
        return s
    }"
    .replace("fn f(x", "fn f(start: f64[1], x");
    let x: Vec<f64> = (0..63).map(|k| 1.0 / f64::from(k + 1)).collect();
    let results = results(&text, &[vector(&[0.25]), Value::f64s(&[7, 9], &x)]).unwrap();
    let expected = reduce(&x, 0.25, |a, b| a + b);
    assert_eq!(results, [vector(&[expected])]);
    assert_ne!(expected, x.iter().fold(0.25, |a, b| a + b), "the order shows");
}

#[test]
fn accumulators_add_in_the_order_of_iterations() {
    let text = "fn f(n: i64, bin: i64[n], w: f64[n], start: f64[3]) {
        h: f64[3] = par i < n acc (a: f64[3] add from start) {
            b: i64 = bin[i]
            x: f64 = w[i]
            acc_add a[b] = x
            yield
        }
        return h
    }";
    let w: Vec<f64> = (0..40).map(|k| 1.0 / f64::from(k + 1)).collect();
    let bins: Vec<i64> = (0..40).map(|k| k * k % 3).collect();
    let results = results(text, &[i64(40), i64s(&bins), vector(&w), vector(&[1.0, 2.0, 3.0])]).unwrap();
    let mut expected = [1.0, 2.0, 3.0];
    bins.iter().zip(&w).for_each(|(b, x)| expected[*b as usize] += x);
    assert_eq!(results, [vector(&expected)]);
}

#[test]
fn accumulators_take_rows_and_wholes_from_any_depth() {
    let text = "fn f(c: bool, row: f64[2], start: f64[2, 2]) {
        h: f64[2, 2] = par i < 2 acc (a: f64[2, 2] add from start) {
            loop k < 3 {
                switch c {
                    acc_add a[i] = row
                    yield
                } {
                    acc_add a[] = start
                    yield
                }
                yield
            }
            acc_add a[i, 0] = 100.0
            yield
        }
        return h
    }";
    let (row, start) = (vector(&[1.0, 2.0]), Value::f64s(&[2, 2], &[0.0, 10.0, 20.0, 30.0]));
    let truth = |b: bool| Value::from(cotan_ir::Const::bool(b));
    let rows = results(text, &[truth(true), row.clone(), start.clone()]).unwrap();
    assert_eq!(rows, [Value::f64s(&[2, 2], &[103.0, 16.0, 123.0, 36.0])]);
    let wholes = results(text, &[truth(false), row, start]).unwrap();
    assert_eq!(wholes, [Value::f64s(&[2, 2], &[100.0, 70.0, 240.0, 210.0])]);
}

#[test]
fn maximum_and_minimum_accumulators_start_from_their_start_value() {
    let text = "fn f(n: i64, at: i64[n], x: f64[n], start: f64[2]) {
        hi: f64[2], lo: f64[2], most: i64[2] = par i < n acc (a: f64[2] max from start, b: f64[2] min from start, c: i64[2] max from at0) {
            k: i64 = at[i]
            e: f64 = x[i]
            acc_add a[k] = e
            acc_add b[k] = e
            acc_add c[k] = i
            yield
        }
        return hi, lo, most
    }"
    .replace("start: f64[2])", "start: f64[2], at0: i64[2])");
    let args = [i64(3), i64s(&[0, 0, 0]), vector(&[2.0, -3.0, 1.0]), vector(&[0.5, 0.25]), i64s(&[-1, -1])];
    let results = results(&text, &args).unwrap();
    assert_eq!(results, [vector(&[2.0, 0.25]), vector(&[-3.0, 0.25]), i64s(&[2, -1])]);
}

#[test]
fn a_counted_loop_carries_stacks_and_accumulates() {
    let text = "fn f(n: i64, x: f64) {
        y: f64, h: f64, powers: f64[n], squares: i64[n] = loop i < n (p: f64 = x) acc (a: f64 add from 0.5) {
            q: f64 = mul p, x
            j: i64 = mul i, i
            acc_add a[] = p
            yield q, p, j
        }
        return y, h, powers, squares
    }";
    let results = results(text, &[i64(4), f64(2.0)]).unwrap();
    assert_eq!(results, [f64(32.0), f64(30.5), vector(&[2.0, 4.0, 8.0, 16.0]), i64s(&[0, 1, 4, 9])]);
}

#[test]
fn a_loop_with_no_iterations_gives_start_values_and_empty_stacks() {
    let text = "fn f(n: i64, m: i64, x: f64[m]) {
        y: f64[m], rows: f64[0, m] = loop i < 0 (p: f64[m] = x) {
            yield p, p
        }
        z: f64[m] = loop k < n (q: f64[m] = y) {
            r: f64[m] = mul q, 2.0
            yield r
        }
        s: f64, e: f64[0, m] = par j < 0 (add from 1.5, stack) {
            yield 1.0, x
        }
        return y, rows, z, s, e
    }";
    let x = vector(&[1.0, 2.0, 3.0]);
    let results = results(text, &[i64(-5), i64(3), x.clone()]).unwrap();
    assert_eq!(results, [x.clone(), Value::f64s(&[0, 3], &[]), x, f64(1.5), Value::f64s(&[0, 3], &[])]);
}

#[test]
fn empty_tensors_pass_through_everything() {
    let text = "fn f(n: i64, x: f64[n, 3]) {
        y: f64[n, 3] = mul x, 2.0
        z: f64[3, n] = transpose y {1, 0}
        w: f64[n, 3], s: f64[3] = par i < n (stack) acc (a: f64[3] add from zero) {
            r: f64[3] = y[i]
            acc_add a[] = r
            yield r
        }
        return z, w, s
    }"
    .replace("fn f(", "fn f(zero: f64[3], ");
    let empty = Value::f64s(&[0, 3], &[]);
    let results = results(&text, &[vector(&[0.0, 1.0, 2.0]), i64(0), empty.clone()]).unwrap();
    assert_eq!(results, [Value::f64s(&[3, 0], &[]), empty, vector(&[0.0, 1.0, 2.0])]);
}

/// Collatz trajectories of 1 .. n in one log; lengths per start in a stacked result.
const COLLATZ: &str = "fn f(n: i64) {
    total: i64, steps: i64[total], trips: i64[n] = loop i < n (at: i64 = 0) acc (log: i64[0] log) {
        x: i64 = add i, 1
        more: bool = gt x, 1
        k: i64, m: bool, y: i64, to: i64, seen: i64[k] = while j (go: bool = more, z: i64 = x, pos: i64 = at) {
            acc_add log[pos] = z
            half: i64 = div z, 2
            back: i64 = mul half, 2
            even: bool = eq back, z
            next: i64 = switch even {
                yield half
            } {
                t: i64 = mul z, 3
                u: i64 = add t, 1
                yield u
            }
            on: bool = gt next, 1
            p: i64 = add pos, 1
            yield on, next, p, z
        }
        check_sum: i64 = par q < k (add from 0) {
            one: i64 = seen[q]
            yield one
        }
        yield to, check_sum
    }
    return total, steps, trips
}";

#[test]
fn nested_whiles_write_one_log_by_position() {
    let results = results(COLLATZ, &[i64(4)]).unwrap();
    // 1; 2; 3, 10, 5, 16, 8, 4, 2; 4, 2.
    assert_eq!(results, [i64(10), i64s(&[2, 3, 10, 5, 16, 8, 4, 2, 4, 2]), i64s(&[0, 2, 48, 6])]);
}

#[test]
fn a_while_that_never_runs_has_empty_stacks_and_no_trips() {
    let results = results(COLLATZ, &[i64(1)]).unwrap();
    assert_eq!(results, [i64(0), i64s(&[]), i64s(&[0])]);
}

#[test]
fn a_switch_runs_one_arm_by_truth_or_by_clamped_number() {
    let text = "fn f(c: bool, k: i64) {
        a: i64 = switch c {
            yield 1
        } {
            yield 2
        }
        b: i64 = switch k {
            yield 10
        } {
            yield 20
        } {
            yield 30
        }
        return a, b
    }";
    let cases = [(true, -7, 1, 10), (false, 0, 2, 10), (true, 1, 1, 20), (true, 2, 1, 30), (true, i64::MAX, 1, 30)];
    for (c, k, a, b) in cases {
        let results = results(text, &[Value::from(cotan_ir::Const::bool(c)), i64(k)]);
        assert_eq!(results, Ok(vec![i64(a), i64(b)]));
    }
}

#[test]
fn arms_may_give_tensors_of_different_lengths_and_change_what_dies_with_them() {
    let text = "fn f(c: bool, n: i64, x: f64[n]) {
        m: i64, y: f64[m] = switch c {
            z: f64[n] = update x[0] = 9.0
            yield n, z
        } {
            w: f64[2] = fill 1.0
            yield 2, w
        }
        return m, y
    }";
    let truth = |b: bool| Value::from(cotan_ir::Const::bool(b));
    let x = vector(&[1.0, 2.0, 3.0]);
    assert_eq!(results(text, &[truth(true), i64(3), x.clone()]), Ok(vec![i64(3), vector(&[9.0, 2.0, 3.0])]));
    assert_eq!(results(text, &[truth(false), i64(3), x]), Ok(vec![i64(2), vector(&[1.0, 1.0])]));
}

#[test]
fn a_start_value_that_the_body_reads_keeps_its_value() {
    let text = "fn f(n: i64, x: f64[n]) {
        y: f64[n] = loop i < n (a: f64[n] = x) {
            e: f64 = x[i]
            d: f64 = mul e, 10.0
            b: f64[n] = update a[i] = d
            g: f64 = x[0]
            c: f64[n] = update b[0] = g
            yield c
        }
        return y
    }";
    let results = results(text, &[i64(3), vector(&[1.0, 2.0, 3.0])]).unwrap();
    assert_eq!(results, [vector(&[1.0, 20.0, 30.0])]);
}

#[test]
fn products_and_structural_operations_are_those_of_their_records() {
    let text = "fn f(a: f64[2, 3], b: f64[3, 2]) {
        c: f64[2, 2] = matmul a, b {0}
        t: f64[3, 2] = transpose a {1, 0}
        r: f64[3, 2] = reverse t {0}
        s: f64[1, 2] = slice r, 1 {0}
        p: f64[3, 2] = pad s, 2 {0}
        k: i64[3] = iota
        return c, r, s, p, k
    }";
    let a = Value::f64s(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let b = Value::f64s(&[3, 2], &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    let results = results(text, &[a, b]).unwrap();
    assert_eq!(results[0], Value::f64s(&[2, 2], &[4.0, 5.0, 10.0, 11.0]));
    assert_eq!(results[1], Value::f64s(&[3, 2], &[3.0, 6.0, 2.0, 5.0, 1.0, 4.0]));
    assert_eq!(results[2], Value::f64s(&[1, 2], &[2.0, 5.0]));
    assert_eq!(results[3], Value::f64s(&[3, 2], &[0.0, 0.0, 0.0, 0.0, 2.0, 5.0]));
    assert_eq!(results[4], i64s(&[0, 1, 2]));
}

#[test]
fn statistics_count_records_primitives_and_iterations() {
    let text = "fn f(n: i64, x: f32) {
        y: f32, kept: f32[n] record value, other: f32[n] = loop i < n (p: f32 = x) {
            q: f32 = mul p, x
            yield q, p, q
        }
        z: f32[n] = add other, 1.0_f32
        return y, z
    }";
    let x = Value::from(cotan_ir::Const::f32(2.0));
    let (results, stats) = run_counted(&module(text), "f", &[i64(5), x], &Options::default()).unwrap();
    assert_eq!(results[0].scalar(), Some(cotan_ir::Const::f32(64.0)));
    let expected = Stats { recorded_elements: 5, recorded_bytes: 20, primitives: 10, iterations: 5 };
    assert_eq!(stats, expected);
}
