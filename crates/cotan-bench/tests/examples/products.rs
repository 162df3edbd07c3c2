//! Chains of matrix products, by loops and by the library.

use crate::examples::instances::compiler;
use cotan::Engine;
use cotan_bench::{evaluate, evaluate_by_tape, product_chain, product_rates, product_table};
use std::time::Duration;

#[test]
fn gradients_of_chains_are_those_of_the_tape() {
    let compiler = compiler(2);
    for n in [3, 31, 33] {
        let instance = product_chain(n);
        let (value, entries) = evaluate(&compiler, &instance, Engine::CPU).expect("it runs");
        let (expected, gradient) = evaluate_by_tape(&compiler, &instance, &["a", "b", "c"]).expect("it runs");
        assert_eq!(value, expected, "n = {n}");
        assert_eq!(entries.len(), 3 * n * n);
        let largest = gradient.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let is_close = |(x, y): (&f64, &f64)| (x - y).abs() <= 1e-13 * largest;
        assert!(entries.iter().zip(&gradient).all(is_close), "n = {n}");
    }
}

#[test]
fn rates_count_the_operations_of_the_definition() {
    let rates = product_rates(&compiler(1), 16, Duration::ZERO).expect("it runs");
    assert_eq!(rates.n, 16);
    assert!([rates.value, rates.gradient, rates.library].iter().all(|rate| *rate > 0.0), "{rates:?}");
    let lines = product_table(&[rates]);
    assert!(lines.len() == 2 && lines[1].trim_start().starts_with("16 "), "{lines:?}");
}
