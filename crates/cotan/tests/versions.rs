//! Versions for small sizes: they are made where they pay, and compute the bits of the code for all sizes.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan::host::{Arguments, Elem, HostValue, Value};
use cotan::{CallError, CallLimits, Compiler, Config, Deadline, Engine, Function, Request, VersionPolicy};
use std::time::Duration;

/// A small filter: vectors and matrices of D elements in each of T steps.
const FILTER: &str = "fn filter[T, D](f: f64[D, D], h: f64[D], z: f64[T]) -> f64 {
  let mut x = zeros(D)
  let mut p = f .* f
  let mut loss = 0.0
  for t in 0..T {
    x = f @ x
    p = f @ p @ transpose(f) .+ 0.5
    let gain = p @ h
    let s = h @ gain + 1
    let e = z[t] - h @ x
    loss += e * e / s + log(s)
    x = x .+ e / s .* gain
    p = p .- tabulate([D, D], |i, j| gain[i] * gain[j] / s)
  }
  loss
}
@value_and_grad(f, h) fn slopes[T, D](f: f64[D, D], h: f64[D], z: f64[T]) -> (f64, f64[D, D], f64[D]) = filter(f, h, z)
fn picked[T, D](x: f64[T, D], at: i64[D]) -> f64 = +/ tabulate(T, |t| +/ tabulate(D, |d| x[t, at[d]]))
@value_and_grad(w) fn shared[T, D](w: f64[D], x: f64[T, D]) -> (f64, f64[D]) = loss(w, x)
fn loss[T, D](w: f64[D], x: f64[T, D]) -> f64 = +/ tabulate(T, |t| exp(+/ tabulate(D, |d| w[d] * x[t, d])))
";

fn function(name: &str, versions: VersionPolicy) -> Function {
    let compiler = Compiler::new(Config { versions, ..Config::default() }).unwrap();
    let program = compiler.check("filter.cot", FILTER);
    assert!(!program.has_errors(), "{:?}", program.diagnostics);
    compiler.function(&program, &Request::function(name), Engine::CPU).unwrap()
}

fn floats(dims: &[i64], shift: f64) -> HostValue {
    let n: i64 = dims.iter().product();
    HostValue::f64s(dims, &(0..n).map(|k| (k as f64 * 0.37 + shift).sin() * 0.5).collect::<Vec<f64>>())
}

fn integers(elements: &[i64]) -> HostValue {
    let bits = elements.iter().map(|k| *k as u64).collect();
    HostValue::Tensor(Value { elem: Elem::I64, dims: vec![elements.len() as i64], bits })
}

fn filter_arguments(t: i64, d: i64) -> Arguments {
    let args = [("f", floats(&[d, d], 0.1)), ("h", floats(&[d], 0.7)), ("z", floats(&[t], 0.3))];
    args.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[test]
fn versions_of_a_function_and_its_gradient_give_the_bits_of_the_general_code() {
    for name in ["filter", "slopes"] {
        let (general, special) = (function(name, VersionPolicy::Never), function(name, VersionPolicy::AtOnce));
        for d in 1..=4 {
            let args = filter_arguments(50, d);
            assert_eq!(special.call(&args).unwrap(), general.call(&args).unwrap(), "{name}, D = {d}");
        }
        let made: Vec<Vec<(String, i64)>> = special.versions().into_iter().map(|version| version.sizes).collect();
        assert_eq!(made, (1..=4).map(|d| vec![("D".to_owned(), d)]).collect::<Vec<_>>(), "{name}");
        assert!(general.versions().is_empty());
    }
}

#[test]
fn there_are_at_most_four_versions_and_none_for_large_sizes() {
    let special = function("filter", VersionPolicy::AtOnce);
    for d in [17, 1, 2, 3, 4, 5, 2] {
        special.call(&filter_arguments(3, d)).unwrap();
    }
    assert_eq!(special.versions().iter().map(|version| version.sizes[0].1).collect::<Vec<_>>(), [1, 2, 3, 4]);
}

#[test]
fn a_version_is_made_once_calls_take_long() {
    let f = function("filter", VersionPolicy::WhenTheyPay);
    f.call(&filter_arguments(10, 4)).unwrap();
    assert!(f.versions().is_empty(), "a call of microseconds does not pay for it");
    let args = filter_arguments(400_000, 4);
    let first = f.call(&args).unwrap();
    let mut n_calls = 1;
    while f.versions().is_empty() {
        assert_eq!(f.call(&args).unwrap(), first);
        n_calls += 1;
        assert!(n_calls < 1000);
    }
    assert_eq!(f.call(&args).unwrap(), first);
}

#[test]
fn a_limit_on_steps_is_one_of_the_general_code() {
    let special = function("filter", VersionPolicy::AtOnce);
    let limited = special.limited(CallLimits { steps: Some(10), ..CallLimits::default() });
    assert!(matches!(limited.call(&filter_arguments(5000, 4)), Err(CallError::Limit(_))));
    assert!(special.versions().is_empty());
}

#[test]
fn no_call_with_a_deadline_waits_for_a_version() {
    let special = function("filter", VersionPolicy::AtOnce);
    let deadline = Some(Deadline::After(Duration::from_secs(3600)));
    let hurried = special.limited(CallLimits { deadline, ..CallLimits::default() });
    hurried.call(&filter_arguments(3, 2)).unwrap();
    assert!(special.versions().is_empty());
    special.call(&filter_arguments(3, 2)).unwrap();
    assert_eq!(hurried.versions().len(), 1);
}

#[test]
fn sums_over_a_long_loop_that_share_elements_have_the_bits_of_the_general_code() {
    let special = function("shared", VersionPolicy::AtOnce);
    let args = [("w", floats(&[3], 0.2)), ("x", floats(&[100, 3], 0.5))];
    let args: Arguments = args.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let general = function("shared", VersionPolicy::Never);
    assert_eq!(special.call(&args).unwrap(), general.call(&args).unwrap());
    assert_eq!(special.versions().len(), 1);
}

#[test]
fn a_check_fails_in_a_version_as_it_does_in_the_general_code() {
    let (general, special) = (function("picked", VersionPolicy::Never), function("picked", VersionPolicy::AtOnce));
    for at in [[0, 1, 2], [0, 3, -1], [5, 0, 0]] {
        let args = [("x", floats(&[4, 3], 0.5)), ("at", integers(&at))];
        let args: Arguments = args.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        assert_eq!(format!("{:?}", special.call(&args)), format!("{:?}", general.call(&args)), "{at:?}");
    }
    assert_eq!(special.versions().len(), 1);
}
