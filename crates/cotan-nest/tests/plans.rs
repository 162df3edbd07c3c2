//! Plans on the reference device, beside the interpreter of nests.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan_device::{Plan, RunError, Shape, plan};
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

const SCATTER: &str = include_str!("../../../tests/plans/scatter.cir");
const SEVERAL: &str = include_str!("../../../tests/plans/several_targets.cir");
const BESIDE: &str = include_str!("../../../tests/plans/sum_and_scatter.cir");
const STEPS: &str = include_str!("../../../tests/plans/steps_of_data.cir");
const NEIGHBOURS: &str = include_str!("../../../tests/plans/neighbours.cir");
const CHANGED: &str = include_str!("../../../tests/plans/changed_behind.cir");
const OWN: &str = include_str!("../../../tests/plans/own_elements.cir");

fn nests(text: &str) -> VerifiedNests {
    let module = parse_module(text, Registry::standard()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify_module(&module).unwrap();
    let nests = module.functions().map(|f| {
        let mut nest = lower(f, &DEVICE);
        run(FOR_DEVICES, &mut nest, &NestContext::default());
        nest
    });
    VerifiedNests::new(nests.collect()).unwrap()
}

fn planned(text: &str) -> Plan {
    plan(&nests(text), "f").unwrap()
}

/// Numbers of very different size, so that every order has sums of its own.
fn uneven(n: i64) -> Vec<f64> {
    (0..n).map(|k| ((k * 7919 % 101) as f64 - 50.0) * 10.0_f64.powi((k * 31 % 17) as i32 - 8)).collect()
}

/// Arguments of a scatter of `n` numbers to `m` elements.
fn scattered(n: i64, m: i64) -> Vec<Value> {
    let places: Vec<i64> = (0..n).map(|i| (i * i * 31 + i / 7) % m.max(1)).collect();
    let (x, z) = (Value::f64s(&[n], &uneven(n)), Value::f64s(&[m], &uneven(m)));
    vec![Const::i64(n).into(), Const::i64(m).into(), Value::i64s(&[n], &places), x, z]
}

/// Whether floats are the same but for how sums are grouped.
fn are_close(a: &Value, b: &Value) -> bool {
    match (a.floats(), b.floats()) {
        (Some(x), Some(y)) => x.len() == y.len() && x.iter().zip(&y).all(|(x, y)| (x - y).abs() <= 1e-3),
        (_, _) => a == b,
    }
}

#[test]
fn contributions_to_large_arrays_are_added_in_the_order_of_iterations() {
    for text in [SCATTER, BESIDE] {
        let (nests, plan) = (nests(text), planned(text));
        for (n, m) in [(0, 3), (1, 1), (1024, 7), (1025, 65), (5000, 100), (5000, 3000), (3000, 70_000)] {
            let args = scattered(n, m);
            let expected = cotan_nest::run(&nests, "f", &args, &Options::default()).unwrap();
            assert_eq!(run_plan(&plan, &args, &Options::default()), Ok(expected), "{n} to {m}");
        }
    }
}

#[test]
fn contributions_to_small_arrays_and_to_numbers_are_grouped_by_sizes() {
    for text in [SCATTER, SEVERAL] {
        let (nests, plan) = (nests(text), planned(text));
        for (n, m) in [(0, 3), (1, 1), (300, 7), (2000, 1), (5000, 64), (5000, 65)] {
            let mut args = scattered(n, m);
            args.extend((text == SEVERAL).then(|| Const::f64(0.5).into()));
            let expected = cotan_nest::run(&nests, "f", &args, &Options::default()).unwrap();
            let found = run_plan(&plan, &args, &Options::default()).unwrap();
            let same = found.len() == expected.len() && found.iter().zip(&expected).all(|(a, b)| are_close(a, b));
            assert!(same, "{n} to {m}:\n{found:?}\n{expected:?}");
            // The order of few is that of the iterations.
            assert!(7 * n > 1024 || found == expected, "{n} to {m}:\n{found:?}\n{expected:?}");
        }
    }
}

#[test]
fn the_first_iteration_that_fails_is_told_though_contributions_come_apart() {
    let mut args = scattered(4000, 100);
    args[2].bits[3999] = 100;
    args[2].bits[1234] = 101;
    let found = run_plan(&planned(SCATTER), &args, &Options::default());
    assert!(matches!(found, Err(RunError::Check { ref args, .. }) if args[..] == [101, 100]), "{found:?}");
}

#[test]
fn elements_are_computed_where_they_are_read() {
    let (nests, plan) = (nests(NEIGHBOURS), planned(NEIGHBOURS));
    for n in [2, 3, 100] {
        let args = [Const::i64(n).into(), Value::f64s(&[n], &uneven(n))];
        let expected = cotan_nest::run(&nests, "f", &args, &Options::default()).unwrap();
        assert_eq!(run_plan(&plan, &args, &Options::default()), Ok(expected), "{n}");
    }
}

#[test]
fn elements_that_are_read_before_a_change_are_those_before_it() {
    let (nests, plan) = (nests(CHANGED), planned(CHANGED));
    for n in [1, 2, 100] {
        let args = [Const::i64(n).into(), Const::f64(2.5).into()];
        let expected = cotan_nest::run(&nests, "f", &args, &Options::default()).unwrap();
        assert_eq!(expected[0].bits[0], (-2.5_f64).to_bits(), "the product of the old element, less the new one");
        assert_eq!(run_plan(&plan, &args, &Options::default()), Ok(expected), "{n}");
    }
}

#[test]
fn elements_of_an_iteration_are_added_to_where_they_lie() {
    let (nests, plan) = (nests(OWN), planned(OWN));
    assert!(plan.kernels.iter().all(|kernel| !matches!(kernel.shape, Shape::InOrder { .. })), "{plan}");
    assert_eq!(plan.function.buffers.len(), nests[0].buffers.len(), "{plan}");
    for (n, m) in [(0, 2), (3, 0), (70, 5)] {
        let x = Value { dims: vec![n, m], ..Value::f64s(&[n * m], &uneven(n * m)) };
        let z = Value { dims: vec![n, 2], ..Value::f64s(&[n * 2], &uneven(n * 2)) };
        let args = [Const::i64(n).into(), Const::i64(m).into(), x, z];
        let expected = cotan_nest::run(&nests, "f", &args, &Options::default()).unwrap();
        assert_eq!(run_plan(&plan, &args, &Options::default()), Ok(expected), "{n} rows of {m}");
    }
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

#[test]
fn groups_of_iterations_add_to_copies() {
    let (nests, plan) = (nests(STEPS), planned(STEPS));
    for (n, m) in [(0, 3), (1, 1), (32, 7), (33, 7), (300, 20)] {
        let args = scattered(n, m);
        let expected = cotan_nest::run(&nests, "f", &args, &Options::default()).unwrap();
        let found = run_plan(&plan, &args, &Options::default()).unwrap();
        let same = found.len() == expected.len() && found.iter().zip(&expected).all(|(a, b)| are_close(a, b));
        // A single group has the order of the iterations.
        assert!(same && (n > 32 || found == expected), "{n} to {m}:\n{found:?}\n{expected:?}");
    }
}
