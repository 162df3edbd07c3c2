//! Plans on the reference device.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan_device::{Plan, RunError, plan};
use cotan_ir::{Const, parse_module, verify_module};
use cotan_loops::pipeline::{FOR_DEVICES, run};
use cotan_loops::{DEVICE, NestContext, VerifiedNests, lower};
use cotan_nest::{Options, run_plan};
use cotan_ops::{Registry, Value};

const SCALED: &str = "fn f(n: i64, x: f64[n], c: f64) {
  y: f64[n] = par i < n (stack) {
    a: f64 = x[i]
    b: f64 = mul a, c
    yield b
  }
  s: f64 = par j < n (add from 0.5) {
    g: f64 = y[j]
    yield g
  }
  return y, s
}";

fn planned(text: &str) -> Plan {
    let module = parse_module(text, Registry::standard()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify_module(&module).unwrap();
    let nests = module.functions().map(|f| {
        let mut nest = lower(f, &DEVICE);
        run(FOR_DEVICES, &mut nest, &NestContext::default());
        nest
    });
    plan(&VerifiedNests::new(nests.collect()).unwrap(), "f").unwrap()
}

#[test]
fn kernels_hand_over_arrays_and_sums() {
    let plan = planned(SCALED);
    let args = [Const::i64(3).into(), Value::f64s(&[3], &[1.0, 2.0, 4.0]), Const::f64(0.5).into()];
    let expected = vec![Value::f64s(&[3], &[0.5, 1.0, 2.0]), Const::f64(4.0).into()];
    assert_eq!(run_plan(&plan, &args, &Options::default()), Ok(expected));
    let none = [Const::i64(0).into(), Value::f64s(&[0], &[]), Const::f64(0.5).into()];
    assert_eq!(run_plan(&plan, &none, &Options::default()), Ok(vec![Value::f64s(&[0], &[]), Const::f64(0.5).into()]));
}

#[test]
fn arguments_that_do_not_fit_are_refused_before_anything_runs() {
    let args = [Const::i64(3).into(), Value::f64s(&[2], &[1.0, 2.0]), Const::f64(0.5).into()];
    let found = run_plan(&planned(SCALED), &args, &Options::default());
    let expected = "argument 1: expected f64[3], found f64[2]".to_owned();
    assert_eq!(found, Err(RunError::Arguments(expected)));
}
