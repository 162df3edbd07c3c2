//! Chains of matrix products, beside the library that does the large ones.
//!
//! Products are counted as the definition does, two operations for each term; the work of packing, adding and squaring is
//! not counted. The value of the chain is two products, its gradient six.

use crate::{Block, Instance};
use anyhow::{Context, Result};
use cotan::cpu::whole_product;
use cotan::host::{Arguments, HostValue, fit_arguments};
use cotan::{Compiler, Engine};
use cotan_measure::{check, function};
use serde::Serialize;
use std::time::{Duration, Instant};

/// The sides that [`product_rates`] is meant for.
pub const PRODUCT_SIDES: [usize; 5] = [8, 32, 64, 256, 1024];

/// A sample is at least this long.
const SHORTEST_SAMPLE: Duration = Duration::from_millis(5);
/// There are at least this many samples of everything.
const FEWEST_SAMPLES: usize = 5;

/// Operations on floats per nanosecond, in products of square matrices; the best of samples that took turns.
#[derive(Clone, Debug, Serialize)]
pub struct ProductRates {
    /// Rows and columns of the matrices.
    pub n: usize,
    /// Of the value of the chain.
    pub value: f64,
    /// Of its gradient.
    pub gradient: f64,
    /// Of one product by the library, called directly, on one thread.
    pub library: f64,
}

/// The lines of a table.
pub fn product_table(rows: &[ProductRates]) -> Vec<String> {
    let head = format!("{:>6} {:>14} {:>14} {:>14}", "n", "value", "gradient", "library");
    let line = |row: &ProductRates| {
        format!("{:>6} {:>7.1} GFLOP/s {:>6.1} GFLOP/s {:>6.1} GFLOP/s", row.n, row.value, row.gradient, row.library)
    };
    std::iter::once(head).chain(rows.iter().map(line)).collect()
}

/// A chain of three matrices with so many rows and columns.
pub fn product_chain(n: usize) -> Instance {
    let matrix = |seed: usize| HostValue::f64s(&[n as i64, n as i64], &numbers(n * n, seed));
    let args = [("a", 1), ("b", 2), ("c", 3)].map(|(name, seed)| (name.to_owned(), matrix(seed)));
    let program = ("examples/products/chain.cot", include_str!("../../../examples/products/chain.cot"));
    let blocks = Block::in_order(&[("a", n * n), ("b", n * n), ("c", n * n)]);
    Instance::of_example("chain", "chain_gradient", &format!("n{n}"), program, Arguments::from(args), blocks)
}

fn numbers(n: usize, seed: usize) -> Vec<f64> {
    (0..n).map(|k| ((k + seed) as f64 * 0.618_033_988_749_894_9).fract() - 0.5).collect()
}

/// Times a chain of matrices with so many rows and columns, for so long.
pub fn product_rates(compiler: &Compiler, n: usize, budget: Duration) -> Result<ProductRates> {
    let instance = product_chain(n);
    let program = check(compiler, &instance)?;
    let request = instance.gradient.as_ref().context("the chain has a gradient")?;
    let mut calls = Vec::new();
    for request in [&instance.function, request] {
        let function = function(compiler, &program, request, Engine::CPU)?;
        let args = fit_arguments(function.entry(), &instance.args)?;
        let results = function.call_flat(&args)?;
        calls.push((function, args, results));
    }
    let (left, right) = (numbers(n * n, 1), numbers(n * n, 2));
    let mut to = vec![0.0; n * n];
    let mut best = [f64::INFINITY; 3];
    let (mut n_samples, start) = (0, Instant::now());
    while n_samples < FEWEST_SAMPLES || start.elapsed() < budget {
        for (best, (function, args, results)) in best.iter_mut().zip(&mut calls) {
            *best = best.min(seconds(&mut || {
                *results = function.call_again(args, std::mem::take(results))?;
                Ok(())
            })?);
        }
        best[2] = best[2].min(seconds(&mut || {
            whole_product([n; 3], &left, &right, std::hint::black_box(&mut to));
            Ok(())
        })?);
        n_samples += 1;
    }
    let rate = |n_products: f64, seconds: f64| n_products * 2.0 * (n as f64).powi(3) / seconds / 1e9;
    Ok(ProductRates { n, value: rate(2.0, best[0]), gradient: rate(6.0, best[1]), library: rate(1.0, best[2]) })
}

/// Seconds for each call, of so many calls that they take long enough to be timed.
fn seconds(call: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
    let (mut n_calls, start) = (0, Instant::now());
    while n_calls == 0 || start.elapsed() < SHORTEST_SAMPLE {
        call()?;
        n_calls += 1;
    }
    Ok(start.elapsed().as_secs_f64() / f64::from(n_calls))
}
