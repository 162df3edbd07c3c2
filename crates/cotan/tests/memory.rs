//! What gradients of loops hold, as the allocator counts it: these figures depend on sizes alone, not on time.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan::host::{Arguments, HostValue};
use cotan::{CallError, Compiler, Config, Engine, Function, Request, Statistics};
use cotan_ops::Value;
use std::num::NonZeroUsize;

/// What is held grows by so many bytes at a time.
const CHUNK: usize = 64 << 10;
/// An arena's first block.
const FIRST_BLOCK: usize = 16 << 10;

fn compiled(text: &str, name: &str, threads: usize, memory: Option<u64>) -> Function {
    let config = Config { threads: NonZeroUsize::new(threads), memory, ..Config::default() };
    let compiler = Compiler::new(config).unwrap();
    let program = compiler.check("memory.cot", text);
    let function = compiler.function(&program, &Request::function(name), Engine::CPU).unwrap();
    assert!(function.is_compiled(), "these figures are those of compiled code");
    function
}

fn arguments<const K: usize>(args: [(&str, HostValue); K]) -> Arguments {
    args.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// What a call took, and what the same call takes when it is repeated.
fn twice(f: &Function, args: &Arguments) -> [Statistics; 2] {
    [(); 2].map(|()| {
        f.call(args).unwrap();
        f.statistics().unwrap()
    })
}

/// A loop of data-dependent length for each element.
const TRIPS: &str = "@mode(reverse) fn steps(x: f64, n: i64) -> f64 {
  let mut y = x
  let mut k = 0
  while k < n && y < 100.0 {
    y = sin(y) * 1.01
    k += 1
  }
  y
}
@grad(x) fn slope[N](x: f64[N], n: i64[N]) -> f64[N] = +/ tabulate(N, |i| steps(x[i], n[i]))";

#[test]
fn an_inner_while_holds_the_record_of_one_element_for_each_thread() {
    let n = 100_000i64;
    let trips: Vec<i64> = (0..n).map(|i| 1 + 31 * i % 50).collect();
    let x: Vec<f64> = (0..n).map(|i| (i % 1009) as f64 / 1009.0).collect();
    let trip_counts = HostValue::Tensor(Value::i64s(&[n], &trips));
    let args = arguments([("x", HostValue::f64s(&[n], &x)), ("n", trip_counts)]);
    let results = [1, 2].map(|threads| {
        let f = compiled(TRIPS, "slope", threads, None);
        let [first, second] = twice(&f, &args);
        assert_eq!(first.record_bytes, second.record_bytes);
        // Two floats at most for each of at most fifty steps.
        assert!((50 * 8..=50 * 16).contains(&first.record_bytes), "{} bytes of records", first.record_bytes);
        // The values of the elements, and their cotangents, are one float each.
        let bound = 2 * 8 * n as usize + 3 * CHUNK + threads * (FIRST_BLOCK + CHUNK);
        for statistics in [first, second] {
            assert!(statistics.peak_bytes <= bound, "{threads} threads: {} bytes", statistics.peak_bytes);
        }
        let all_trips: i64 = trips.iter().sum();
        assert!(bound < 8 * all_trips as usize / 8, "far less than all that the loops go through");
        f.call(&args).unwrap()
    });
    assert_eq!(results[0], results[1]);
}

/// Loops that record once per step, or not at all.
const RECORDING: &str = "@mode(reverse) fn steps(x: f64, n: i64) -> f64 {
  let mut y = x
  let mut k = 0
  while k < n {
    y = sin(y) + 0.01
    k += 1
  }
  y
}
@mode(reverse) fn counted(x: f64, n: i64) -> f64 {
  let mut y = x
  for k in 0..n { y = sin(y) + 0.01 }
  y
}
fn linear(x: f64, n: i64) -> f64 {
  let mut y = x
  for k in 0..n { y = 0.95 * y + 0.01 }
  y
}
@grad(x) fn while_slope(x: f64, n: i64) -> f64 = steps(x, n)
@grad(x) fn for_slope(x: f64, n: i64) -> f64 = counted(x, n)
@grad(x) fn linear_slope(x: f64, n: i64) -> f64 = linear(x, n)";

fn point(n: i64) -> Arguments {
    arguments([("x", HostValue::f64(0.5)), ("n", HostValue::i64(n))])
}

#[test]
fn a_record_of_a_million_steps_is_held_within_two_chunks_and_kept_for_the_next_call() {
    for name in ["while_slope", "for_slope"] {
        let f = compiled(RECORDING, name, 1, None);
        let [first, second] = twice(&f, &point(1_000_000));
        let records = first.record_bytes as usize;
        assert!(records.is_multiple_of(8_000_000) && records > 0, "{name}: {records} bytes of records");
        assert!((records..records + 2 * CHUNK).contains(&first.peak_bytes), "{name}: {first:?}");
        assert_eq!((second.peak_bytes, second.allocations), (first.peak_bytes, 0), "{name}");
    }
}

#[test]
fn a_linear_loop_holds_nothing() {
    let f = compiled(RECORDING, "linear_slope", 1, None);
    let [first, _] = twice(&f, &point(1_000_000));
    assert_eq!((first.record_bytes, first.peak_bytes), (0, 0));
}

#[test]
fn the_error_at_the_limit_comes_within_a_chunk_and_names_the_loop() {
    let limit = 1 << 20;
    for (name, head) in [("while_slope", "while k < n {"), ("for_slope", "for k in 0..n {")] {
        let f = compiled(RECORDING, name, 1, Some(limit as u64));
        let free = compiled(RECORDING, name, 1, None);
        free.call(&point(1000)).unwrap();
        let per_step = free.statistics().unwrap().record_bytes as usize / 1000;
        let steps = |bytes: usize| point((bytes / per_step) as i64);
        let expected = free.call(&steps(limit - 2 * CHUNK)).unwrap();
        assert_eq!(f.call(&steps(limit - 2 * CHUNK)), Ok(expected.clone()));
        let Err(CallError::OutOfMemory(error)) = f.call(&steps(limit + CHUNK)) else { panic!("{name}: no error") };
        let site = error.site.unwrap();
        assert!(site.is_record && RECORDING[site.span.start as usize..].starts_with(head), "{name}: {site:?}");
        assert_eq!(error.limit, Some(limit as u64));
        // The failed call leaves nothing behind that would be in the way.
        assert_eq!(f.call(&steps(limit - 2 * CHUNK)), Ok(expected));
    }
}

/// Arrays that are filled, updated by a loop and summed up, with their gradients.
const ARRAYS: &str = concat!(
    include_str!("../../../tests/memory/arrays.cot"),
    "\n@grad(s) fn histogram_slope(s: f64, n: i64, size: i64) -> f64 = histogram_of(s, n, size)",
    "\n@grad(s) fn scatter_slope(s: f64, n: i64, size: i64) -> f64 = scatter_of(s, n, size)",
);

#[test]
fn the_gradient_of_a_histogram_or_scatter_holds_two_arrays_for_each_of_its_input() {
    let (n, bins) = (100_000, 1_000_000);
    for (name, size) in [("histogram_slope", bins), ("scatter_slope", n)] {
        let f = compiled(ARRAYS, name, 1, None);
        let numbers = [("s", HostValue::f64(0.3)), ("n", HostValue::i64(n)), ("size", HostValue::i64(size))];
        let [first, second] = twice(&f, &arguments(numbers));
        let input = 8 * (2 * n + size) as usize;
        assert!(first.peak_bytes <= 2 * input + 2 * CHUNK, "{name}: {first:?} for {input} bytes of input");
        assert_eq!((second.peak_bytes, second.allocations), (first.peak_bytes, 0), "{name}");
    }
}
