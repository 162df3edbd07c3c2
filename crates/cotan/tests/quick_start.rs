//! Code that is made quickly computes the same, and gives way to better code where its calls take long.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan::host::{Arguments, HostValue};
use cotan::{Compiler, Config, Engine, Function, Request};
use cotan_llvm::cache::Cache;
use std::path::Path;

const PROGRAM: &str = "fn settle(x: f64, n: i64) -> f64 {
  let mut y = x
  for _ in 0..n { y = 0.999999 * y + sqrt(1.0 + y * y) / (2.0 + y) }
  y
}
@grad(x) fn slope[N](x: f64[N]) -> f64[N] = +/ tabulate(N, |i| sin(x[i]) * exp(x[N - 1 - i]))
@io fn told(x: f64, n: i64) -> f64 {
  print(\"settling\", x)
  settle(x, n)
}";
/// Enough for several times the patience with code that was made quickly.
const MANY: i64 = 100_000_000;

fn function(folder: &Path, name: &str, quick_start: bool) -> Function {
    let cache = Cache::open(folder.join("objects"), 1 << 20).unwrap();
    let config = Config { cache: Some(cache), build: Some("this one".to_owned()), quick_start, ..Config::default() };
    let compiler = Compiler::new(config).unwrap();
    let program = compiler.check("quick.cot", PROGRAM);
    let function = compiler.function(&program, &Request::function(name), Engine::CPU).unwrap();
    assert!(function.is_compiled());
    function
}

fn arguments<const K: usize>(args: [(&str, HostValue); K]) -> Arguments {
    args.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn steps(n: i64) -> Arguments {
    arguments([("x", HostValue::f64(0.5)), ("n", HostValue::i64(n))])
}

fn n_entries(folder: &Path) -> usize {
    std::fs::read_dir(folder.join("objects")).unwrap().count()
}

#[test]
fn quick_code_gives_the_same_bits_now_and_out_of_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    let x: Vec<f64> = (0..1000).map(|k| (f64::from(k) * 0.37).sin()).collect();
    let args = arguments([("x", HostValue::f64s(&[1000], &x))]);
    let slopes = [true, true, false].map(|quick| function(folder.path(), "slope", quick).call(&args).unwrap());
    assert_eq!(slopes[0], slopes[2]);
    assert_eq!(slopes[1], slopes[2]);
}

#[test]
fn a_call_that_takes_long_ends_in_better_code_that_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let quick = function(folder.path(), "settle", true);
    quick.call(&steps(1000)).unwrap();
    // Objects, the function, and the library.
    assert_eq!(n_entries(folder.path()), 3);
    let long = quick.call(&steps(MANY)).unwrap();
    // The same of the better code.
    assert_eq!(n_entries(folder.path()), 5);
    let short = quick.call(&steps(1000)).unwrap();
    let good = function(folder.path(), "settle", false);
    assert_eq!(n_entries(folder.path()), 5, "it was there");
    assert_eq!((good.call(&steps(MANY)).unwrap(), good.call(&steps(1000)).unwrap()), (long, short));
}

#[test]
fn short_calls_that_take_long_together_end_in_better_code() {
    let folder = tempfile::tempdir().unwrap();
    let quick = function(folder.path(), "settle", true);
    let n_calls = 100;
    for _ in 0..n_calls {
        quick.call(&steps(MANY / n_calls)).unwrap();
    }
    assert_eq!(n_entries(folder.path()), 5);
}

#[test]
fn what_prints_is_made_well_at_once_and_prints_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut lines = String::new();
    function(folder.path(), "told", true).call_with_output(&steps(MANY), &mut |text| lines += text).unwrap();
    assert_eq!(lines, "settling 0.5\n");
    function(folder.path(), "told", false);
    assert_eq!(n_entries(folder.path()), 3);
}
