//! The programs in `examples/`, and programs that are large in one direction.

use crate::lowering::harness::*;
use cotan_lower::entry::Request;
use cotan_ops::Value;
use cotan_sema::{Limits, check};
use cotan_syntax::span::FileId;

const GMM: &str = include_str!("../../../../examples/gmm/gmm.cot");
const LSTM: &str = include_str!("../../../../examples/lstm/lstm.cot");

/// Numbers between -1 and 1 that look random.
fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let next = |_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..n).map(next).collect()
}

fn tensor(dims: &[i64], seed: u64) -> Value {
    Value::f64s(dims, &numbers(dims.iter().product::<i64>() as usize, seed))
}

/// Compares the gradients that `gradient` gives after its value with central differences of `value`.
#[track_caller]
fn agrees_with_differences(source: &str, value: &str, gradient: &str, wrt: &[usize], args: &[Value]) {
    let found = floats(source, gradient, args);
    assert_eq!(found[0], [float(source, value, args)]);
    for (param, gradients) in wrt.iter().zip(&found[1..]) {
        assert_eq!(gradients.len(), args[*param].bits.len());
        for (k, gradient) in gradients.iter().enumerate() {
            let at = |step: f64| {
                let mut args = args.to_vec();
                let x = f64::from_bits(args[*param].bits[k]);
                args[*param].bits[k] = (x + step).to_bits();
                float(source, value, &args)
            };
            let step = 1e-5;
            let difference = (at(step) - at(-step)) / (2.0 * step);
            assert!((gradient - difference).abs() < 1e-6 * (1.0 + difference.abs()), "{gradient} {difference}");
        }
    }
}

#[test]
fn the_gradient_of_the_mixture_agrees_with_differences() {
    let args = [tensor(&[2], 1), tensor(&[2, 3], 2), tensor(&[2, 6], 3), tensor(&[4, 3], 4), f(0.7), i(2)];
    agrees_with_differences(GMM, "gmm", "gmm_gradient", &[0, 1, 2], &args);
}

#[test]
fn the_gradient_of_the_recurrent_network_agrees_with_differences() {
    let args = [tensor(&[2, 2, 4, 3], 5), tensor(&[3, 3], 6), tensor(&[2, 2, 3], 7), tensor(&[4, 3], 8)];
    agrees_with_differences(LSTM, "lstm", "lstm_gradient", &[0, 1], &args);
}

#[test]
fn every_public_function_of_the_examples_lowers() {
    for source in [GMM, LSTM] {
        let (module, _) = cotan_syntax::parser::parse(FileId(0), source);
        let program = check(&module.into(), &Limits::default()).program;
        let names: Vec<String> = program.public_functions().map(|function| function.name.clone()).collect();
        assert!(names.iter().any(|name| name.ends_with("_gradient")));
        for name in names {
            let entry = &lowered(source, &Request::function(&name)).entries[0];
            assert_eq!(&*entry.symbol, name);
        }
    }
}

/// Runs with the stack that compilers give to the front end.
fn on_a_large_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(test);
    thread.expect("a thread").join().expect("the test passes");
}

#[test]
fn long_chains_are_lowered_without_recursion() {
    on_a_large_stack(|| {
        let sum = vec!["x"; 20_000].join(" + ");
        let text = text(&format!("fn f(x: f64) -> f64 = {sum}"), "f");
        assert_eq!(text.matches("= add").count(), 19_999);
        let all = vec!["x > 0.0"; 3_000].join(" && ");
        let text = crate::lowering::harness::text(&format!("fn f(x: f64) -> bool = {all}"), "f");
        assert_eq!(text.matches("and ").count(), 2_999);
    });
}

#[test]
fn deep_nesting_does_not_overflow() {
    on_a_large_stack(|| {
        let n = 900;
        let calls = format!("fn f(x: f64) -> f64 = {}x{}", "sin(".repeat(n), ")".repeat(n));
        assert_eq!(text(&calls, "f").matches("= sin").count(), n);
        let branches = format!("fn f(x: f64) -> f64 = {}0.0{}", "if x > 0.0 { 1.0 } else { ".repeat(n), " }".repeat(n));
        assert_eq!(text(&branches, "f").matches("= switch").count(), n);
    });
}
