//! Calls under limits: what counts in the steps and the time of a call, and what the page of limits says.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan::host::{Arguments, HostValue};
use cotan::{
    CallError, CallLimits, CancelToken, Compiler, Config, Deadline, DerivativeForm, Engine, Function, derivative,
};
use cotan_llvm::cache::Cache;
use std::path::Path;
use std::time::{Duration, Instant};

/// At `a = 1000` the gradient is NaN with plain products, so the call is repeated with exact zeros.
const SATURATED: &str = "fn f(a: f64, k: f64, n: i64) -> f64 {
  let mut y = 0.0
  for i in 0..n { y = y * 0.5 + k * tanh(exp(a)) }
  y
}";

fn gradient(config: Config) -> Function {
    let compiler = Compiler::new(config).unwrap();
    let program = compiler.check("saturated.cot", SATURATED);
    assert!(!program.has_errors(), "{:?}", program.diagnostics);
    compiler.function(&program, &derivative("f", DerivativeForm::Grad, &["a"]), Engine::CPU).unwrap()
}

fn point(a: f64, k: f64, n: i64) -> Arguments {
    let args = [("a", HostValue::f64(a)), ("k", HostValue::f64(k)), ("n", HostValue::i64(n))];
    args.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The fewest steps that a call gets by with, to one part in a hundred.
fn steps_of(f: &Function, args: &Arguments) -> u64 {
    let (mut few, mut enough) = (1, 1 << 40);
    while enough - few > enough / 100 {
        let most = (few + enough) / 2;
        match f.limited(CallLimits { steps: Some(most), ..CallLimits::default() }).call(args) {
            Ok(_) => enough = most,
            Err(CallError::Limit(_)) => few = most,
            Err(other) => panic!("{other}"),
        }
    }
    enough
}

#[test]
fn the_repetition_of_a_call_for_nan_takes_its_steps_off_the_same_budget() {
    let f = gradient(Config::default());
    let once = steps_of(&f, &point(1.0, 1.0, 1_000_000));
    let twice = steps_of(&f, &point(1000.0, 1.0, 1_000_000));
    assert!(twice > once + once / 3, "{once}, {twice}");
}

fn quick(folder: &Path) -> Function {
    let cache = Some(Cache::open(folder.join("objects"), 1 << 20).unwrap());
    gradient(Config { quick_start: true, build: Some("this one".to_owned()), cache, ..Config::default() })
}

#[test]
fn a_call_with_quick_code_has_one_deadline_with_what_follows_it_and_can_be_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let f = quick(folder.path());
    let limits = CallLimits { deadline: Some(Deadline::After(Duration::from_millis(300))), ..CallLimits::default() };
    let start = Instant::now();
    // Better code is there before the deadline, and runs from then on.
    assert_eq!(f.limited(limits).call(&point(1.0, 1.0, 1 << 50)), Err(CallError::TimedOut));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    let expected = gradient(Config::default()).call(&point(1.0, 1.0, 100)).unwrap();
    assert_eq!(f.call(&point(1.0, 1.0, 100)), Ok(expected));
}

#[test]
fn a_call_that_is_made_again_with_better_code_has_all_its_steps() {
    let folder = tempfile::tempdir().unwrap();
    let n = 30_000_000;
    let most = steps_of(&gradient(Config::default()), &point(1.0, 1.0, 1_000)) * (n as u64 / 1_000);
    let limited = CallLimits { steps: Some(most + most / 10), ..CallLimits::default() };
    assert!(quick(folder.path()).limited(limited).call(&point(1.0, 1.0, n)).is_ok());
}

#[test]
fn limits_that_are_not_reached_change_nothing() {
    let f = gradient(Config::default());
    let args = point(2.0, 3.0, 1_000);
    let all = CallLimits {
        steps: Some(1 << 40),
        deadline: Some(Deadline::After(Duration::from_secs(3600))),
        cancel: Some(CancelToken::new()),
    };
    assert_eq!(f.limited(all).call(&args), f.call(&args));
    let never = CallLimits { deadline: Some(Deadline::After(Duration::MAX)), ..CallLimits::default() };
    assert_eq!(f.limited(never).call(&args), f.call(&args));
}

#[test]
fn the_page_of_limits_says_what_the_defaults_are() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/limits.md")).unwrap();
    let sema = cotan_sema::Limits::default();
    let syntax = cotan_syntax::Limits::default();
    let derivatives = cotan_ad::Limits::default();
    let defaults: [(&str, u64); 12] = [
        ("Bytes of a file", u64::from(syntax.source_bytes)),
        ("Levels of nesting in a declaration", u64::from(syntax.nesting)),
        ("Parts of a declaration", u64::from(syntax.nodes)),
        ("Steps of an expression in each other", sema.nesting as u64),
        ("Errors that are shown, and warnings", sema.diagnostics as u64),
        ("Scalars and tensors that a value consists of", sema.leaves),
        ("Parts of tuple types, of all expressions together", sema.type_parts as u64),
        ("Specialised copies of functions", sema.instances as u64),
        ("Copies that each need the next one", sema.instance_depth as u64),
        ("Operations of a program", sema.operations as u64),
        ("Derivatives of derivatives", derivatives.order as u64),
        ("Variables of a derivative", derivatives.variables as u64),
    ];
    assert_eq!(syntax.diagnostics, sema.diagnostics);
    for (what, n) in defaults {
        let digits = n.to_string();
        let grouped: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|d| std::str::from_utf8(d).unwrap()).collect();
        let row = format!("| {what} | {} |", grouped.join(","));
        assert!(page.contains(&row), "expected the row `{row}`");
    }
    let rows = page.lines().filter(|line| line.starts_with("| ") && line.contains("[`E")).count();
    assert_eq!(rows, defaults.len(), "a row for each limit, and no other");
}
