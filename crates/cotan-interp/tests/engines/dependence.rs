//! Which elements of the arguments a result depends on, through every construct.

use crate::engines::support::{f64, i64, i64s, module, vector};
use cotan_interp::tape::{Dependence, trace};
use cotan_interp::{ArgumentError, Limit, Options, RuntimeError};
use cotan_ops::Value;

/// The elements that each element of the results in `outs` depends on, of the parameters in `wrt`.
fn dependence(text: &str, args: &[Value], wrt: &[usize], outs: &[usize]) -> Vec<Vec<u32>> {
    let traced = trace(&module(text), "f", args, &Options::default()).unwrap();
    let Dependence { columns, starts, elements } = traced.dependence(wrt, outs, 1 << 30).unwrap();
    assert!(elements.iter().all(|k| (*k as usize) < columns));
    starts.windows(2).map(|ends| elements[ends[0]..ends[1]].to_vec()).collect()
}

#[test]
fn elements_are_numbered_through_all_parameters_and_results_in_order() {
    let text = "fn f(x: f64[2], k: i64, y: f64) {
        a: f64 = x[1]
        b: f64 = mul a, y
        c: f64[2] = add x, x
        return b, c, y
    }";
    let args = [vector(&[1.0, 2.0]), i64(0), f64(3.0)];
    assert_eq!(dependence(text, &args, &[0, 2], &[0, 1, 2]), [vec![1, 2], vec![0], vec![1], vec![2]]);
    assert_eq!(dependence(text, &args, &[2, 0], &[2, 0]), [vec![0], vec![0, 2]]);
}

#[test]
fn both_sides_of_a_choice_count_and_what_is_zero_by_nature_does_not() {
    let text = "fn f(x: f64[4]) {
        a: f64 = x[0]
        b: f64 = x[1]
        c: f64 = x[2]
        less: bool = lt a, b
        chosen: f64 = select less, b, c
        most: f64 = max a, b
        whole: f64 = floor a
        product: f64 = mul whole, c
        return chosen, most, whole, product
    }";
    let found = dependence(text, &[vector(&[1.5, 2.0, 3.0, 4.0])], &[0], &[0, 1, 2, 3]);
    assert_eq!(found, [vec![1, 2], vec![0, 1], vec![], vec![2]]);
}

#[test]
fn reads_and_updates_count_for_where_they_lead() {
    let text = "fn f(n: i64, x: f64[n], at: i64[2], s: f64) {
        y: f64[2] = par i < 2 (stack) {
            j: i64 = at[i]
            e: f64 = x[j]
            yield e
        }
        z: f64[n] = update x[1] = s
        return y, z
    }";
    let args = [i64(3), vector(&[1.0, 2.0, 3.0]), i64s(&[2, 0]), f64(5.0)];
    assert_eq!(dependence(text, &args, &[1, 3], &[0, 1]), [vec![2], vec![0], vec![0], vec![3], vec![2]]);
}

#[test]
fn loops_and_accumulators_count_for_all_that_was_added() {
    let text = "fn f(n: i64, at: i64[n], x: f64[n], y: f64, start: f64[2]) {
        sums: f64[2], least: f64[2] = par i < n acc (a: f64[2] add from start, b: f64[2] min from start) {
            k: i64 = at[i]
            e: f64 = x[i]
            acc_add a[k] = e
            acc_add b[k] = e
            yield
        }
        last: f64, all: f64[n] = loop j < n (p: f64 = y) {
            g: f64 = x[j]
            q: f64 = mul p, g
            yield q, q
        }
        return sums, least, all
    }";
    let args = [i64(3), i64s(&[1, 0, 1]), vector(&[1.0, 2.0, 3.0]), f64(4.0), vector(&[5.0, 6.0])];
    let found = dependence(text, &args, &[2, 3, 4], &[0, 1, 2]);
    let sums = [vec![1, 4], vec![0, 2, 5]];
    let products = [vec![0, 3], vec![0, 1, 3], vec![0, 1, 2, 3]];
    assert_eq!(found, [&sums[..], &sums, &products].concat());
}

#[test]
fn only_floats_have_a_dependence() {
    let text = "fn f(x: f64, k: i64) { return x, k }";
    let traced = trace(&module(text), "f", &[f64(1.0), i64(2)], &Options::default()).unwrap();
    let refused = |position| Err(RuntimeError::Argument(ArgumentError::NotDifferentiable { position }));
    assert_eq!(traced.dependence(&[1], &[0], 1 << 20), refused(1));
    assert_eq!(traced.dependence(&[0], &[1], 1 << 20), refused(1));
}

#[test]
fn sets_that_take_more_room_than_they_may_are_an_error() {
    let text = "fn f(n: i64, x: f64[n]) {
        last: f64, all: f64[n] = loop i < n (p: f64 = 0.0) {
            twice: i64 = mul i, 2
            j: i64 = rem twice, n
            e: f64 = x[j]
            q: f64 = add e, p
            yield q, q
        }
        return all
    }";
    let args = [i64(99), vector(&[1.0; 99])];
    let traced = trace(&module(text), "f", &args, &Options::default()).unwrap();
    assert_eq!(traced.dependence(&[1], &[0], 1 << 8), Err(RuntimeError::Limit(Limit::Tape)));
    assert_eq!(traced.dependence(&[1], &[0], 1 << 20).unwrap().elements.len(), 99 * 100 / 2);
}
