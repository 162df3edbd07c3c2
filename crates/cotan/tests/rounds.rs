//! Loops whose length only the device knows: how often a host waits for it, and that rounds ahead leave nothing behind.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::vulkan::compiler;
use cotan::host::{Arguments, HostValue};
use cotan::vulkan::{DeviceOptions, Placement, Ran};
use cotan::{CallError, Compiler, Config, DerivativeForm, Engine, Request, derivative};

/// In each, the sum of x doubles from round to round.
const TEXT: &str = "fn doubled[N](x: f64[N], limit: f64) -> f64[N] {
  let mut a = x
  let mut s = +/ a
  while s < limit {
    a = a .+ a
    s = +/ a
  }
  a
}

fn bent[N](x: f64[N], limit: f64) -> f64 {
  let mut a = x
  let mut s = +/ a
  while s < limit {
    a = 2.0 .* a .+ sin(a) .- sin(a)
    s = +/ a
  }
  +/ (a .* a)
}

# The round behind the last one would read behind the end of y.
fn read_to_the_end[N, M](x: f64[N], y: f64[M], limit: f64) -> f64 {
  let mut a = x
  let mut s = +/ a
  let mut k = 0
  let mut total = 0.0
  while s < limit {
    a = a .+ a
    s = +/ a
    total += y[k]
    k += 1
  }
  total
}

# An array of each round is sixteen times as long as the one before.
fn growing[N](x: f64[N], limit: f64) -> (f64, i64) {
  let mut a = x
  let mut s = +/ a
  let mut n = 1
  while s < limit {
    n *= 16
    let b = tabulate(n, |i| i as f64)
    a = a .+ a
    s = (+/ a) + 0.0 * (+/ b)
  }
  (s, n)
}

# The last kernel in front of the loop may fail.
fn scaled[N](x: f64[N], limit: f64) -> f64[N] {
  let mut a = x
  let mut s = (+/ a) * (((1.0 / x[0]) as i64) as f64)
  while s < limit {
    a = a .+ a
    s = +/ a
  }
  a
}
";

fn on_device() -> Option<Compiler> {
    let device = DeviceOptions { placement: Placement::Everything, ..DeviceOptions::default() };
    compiler(Config { device, ..Config::default() })
}

/// Elements of which the loops take so many rounds up to the limit of 1.
fn rounds(n: i32) -> HostValue {
    HostValue::f64s(&[2], &[0.5_f64.powi(n + 1); 2])
}

/// What a call gives on the device and on the CPU, and how often the host waited if it gave values.
fn called(
    compiler: &Compiler,
    request: &Request,
    args: &Arguments,
) -> (Result<HostValue, CallError>, Result<HostValue, CallError>, u64) {
    let program = compiler.check("rounds.cot", TEXT);
    assert!(!program.has_errors(), "{:?}", program.diagnostics);
    let function = |engine| compiler.function(&program, request, engine).unwrap();
    let (f, host) = (function(Engine::VULKAN), function(Engine::CPU));
    let found = f.call(args);
    let read_backs = match f.ran() {
        Some(Ran::OnDevice(taken)) => taken.read_backs,
        Some(Ran::OnHost(why)) => panic!("{why}"),
        None => 0,
    };
    (found, host.call(args), read_backs)
}

#[test]
fn a_host_waits_once_for_up_to_64_rounds() {
    let Some(compiler) = on_device() else { return };
    let request = Request::function("doubled");
    for n in [0, 1, 2, 3, 62, 63, 64, 65, 126, 127, 128, 191, 192, 1000] {
        let args = [("x".to_owned(), rounds(n)), ("limit".to_owned(), HostValue::f64(1.0))].into();
        let (found, expected, read_backs) = called(&compiler, &request, &args);
        assert_eq!(found, expected, "{n} rounds");
        assert_eq!(found, Ok(HostValue::f64s(&[2], &[0.5; 2])), "{n} rounds");
        assert!(read_backs <= 7 + n as u64 / 64, "{n} rounds: {read_backs}");
    }
}

#[test]
fn gradients_go_back_over_the_rounds_that_were() {
    let Some(compiler) = on_device() else { return };
    let request = derivative("bent", DerivativeForm::ValueAndGrad, &["x"]);
    for n in [0, 1, 5, 70] {
        let args = [("x".to_owned(), rounds(n)), ("limit".to_owned(), HostValue::f64(1.0))].into();
        let (found, expected, _) = called(&compiler, &request, &args);
        assert_eq!(found, expected, "{n} rounds");
    }
}

#[test]
fn what_fails_in_rounds_that_are_not_to_be_fails_nowhere() {
    let Some(compiler) = on_device() else { return };
    let request = Request::function("read_to_the_end");
    for (n, has_failed) in [(5, false), (6, true)] {
        let y = HostValue::f64s(&[5], &[1.0; 5]);
        let args = [("x".to_owned(), rounds(n)), ("y".to_owned(), y), ("limit".to_owned(), HostValue::f64(1.0))];
        let (found, expected, _) = called(&compiler, &request, &args.into());
        assert_eq!(found.is_err(), has_failed, "{found:?}");
        assert_eq!(found, expected);
    }
    // The 15th round would ask for 2^60 elements: such rounds are taken one by one.
    let args = [("x".to_owned(), rounds(4)), ("limit".to_owned(), HostValue::f64(1.0))].into();
    let (found, expected, _) = called(&compiler, &Request::function("growing"), &args);
    assert_eq!(found, expected);
}

#[test]
fn what_fails_in_front_of_the_first_round_is_told_in_a_later_call_too() {
    let Some(compiler) = on_device() else { return };
    let program = compiler.check("rounds.cot", TEXT);
    let function = |engine| compiler.function(&program, &Request::function("scaled"), engine).unwrap();
    let (f, host) = (function(Engine::VULKAN), function(Engine::CPU));
    // A kernel that was never launched is handed over by itself: in the third call the first one of a round.
    let firsts = [0.0, 0.0, 0.0, 0.25, 0.0, 0.5];
    for (first, has_failed) in firsts.map(|first| (first, first == 0.0)) {
        let args =
            [("x".to_owned(), HostValue::f64s(&[2], &[first; 2])), ("limit".to_owned(), HostValue::f64(7.0))].into();
        let found = f.call(&args);
        assert_eq!(found.is_err(), has_failed, "{found:?}");
        assert_eq!(found, host.call(&args));
    }
}
