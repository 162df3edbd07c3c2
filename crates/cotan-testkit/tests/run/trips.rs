//! One compiled gradient, called again and again with other trip counts: what a call kept does not reach the next.

use cotan::{DerivativeForm, derivative};
use cotan_ir::Const;
use cotan_llvm::CompileOptions;
use cotan_llvm::jit::OptLevel;
use cotan_ops::Value;
use cotan_testkit::compile::shared_machine;
use cotan_testkit::derived_case::options;
use cotan_testkit::frontend::{checked, lower};

/// Functions of a number and a trip count.
const PROGRAM: &str = "
fn counted(v: f64, n: i64) -> f64 {
  let mut y = v
  for k in 0..n { y = 0.95 * y + 0.01 }
  y
}
fn until(v: f64, n: i64) -> f64 {
  let mut y = v
  let mut k = 0
  while k < n { y = sin(y) + 0.01; k += 1 }
  y
}
fn nested(v: f64, n: i64) -> f64 {
  let mut y = v
  for i in 0..n {
    for j in 0..i % 7 { y = sin(y * v) + 0.1 }
    let mut k = i
    while k > 3 { y += 0.01 * y * y; k = k / 2 }
  }
  y
}
fn parallel(v: f64, n: i64) -> f64 = +/ tabulate(n, |i| until(v + 0.1 * (i as f64), i % 5))
fn decided(v: f64, n: i64) -> f64 {
  let mut trips = [n, n / 2, 1]
  let mut total = 0.0
  for i in 0..3 {
    let mut y = v
    for k in 0..trips[i] { y = sin(y) + 0.1 }
    trips[i] = 0
    total += y
  }
  total
}
";

/// Large and small, none in between.
const TRIPS: [i64; 10] = [5, 0, 1, 300, 0, 1, 2, 300, 3, 0];

#[test]
fn trip_counts_may_differ_between_calls_of_one_compiled_gradient() {
    let program = checked("trips.cot", PROGRAM).expect("a program");
    let machine = shared_machine().expect("the backend");
    for name in ["counted", "until", "nested", "parallel", "decided"] {
        let gradient = lower(&program, &derivative(name, DerivativeForm::ValueAndGrad, &["v"])).expect("a gradient");
        let symbol = &gradient.entry.symbol;
        for level in [OptLevel::O0, OptLevel::O2] {
            let compiled = machine
                .compile(&gradient.module, symbol, &CompileOptions { level, ..CompileOptions::default() })
                .expect("machine code");
            for n in TRIPS {
                let args: [Value; 2] = [Const::f64(0.7).into(), Const::i64(n).into()];
                let expected = cotan_interp::run(&gradient.module, symbol, &args, &options()).expect("a value");
                let found = compiled.call(&args).expect("a value");
                assert_eq!(found, expected, "`{name}` with {n} trips at {level:?}");
            }
        }
    }
}

#[test]
fn the_gradient_of_a_linear_recurrence_is_a_power_at_every_trip_count() {
    let program = checked("trips.cot", PROGRAM).expect("a program");
    let gradient = lower(&program, &derivative("counted", DerivativeForm::Grad, &["v"])).expect("a gradient");
    let machine = shared_machine().expect("the backend");
    let compiled =
        machine.compile(&gradient.module, &gradient.entry.symbol, &CompileOptions::default()).expect("machine code");
    for n in TRIPS {
        let args: [Value; 2] = [Const::f64(0.7).into(), Const::i64(n).into()];
        let found = compiled.call(&args).expect("a value");
        let expected = 0.95f64.powi(n as i32);
        let found = found.last().and_then(|v| v.floats()).expect("a number")[0];
        assert!((found - expected).abs() <= 1e-12 * expected, "{n} trips: expected {expected}, found {found}");
    }
}
