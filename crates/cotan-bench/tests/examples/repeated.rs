//! Calls that follow others of equal sizes allocate nothing.

use crate::examples::instances::{all, compiler};
use cotan::host::{Arguments, fit_arguments, from_json};
use cotan::{DerivativeForm, Engine, Function, derivative};
use cotan_bench::product_chain;
use serde_json::{Value as Json, json};

/// Allocations of a call on this thread, when the function has been called before: in the host's heap, and blocks that
/// the call took from the machine.
fn allocations(function: &Function, args: &Arguments) -> (u64, Option<u64>) {
    let flat = fit_arguments(function.entry(), args).expect("arguments that fit");
    let mut results = function.call_flat(&flat).expect("it runs");
    for _ in 0..2 {
        results = function.call_again(&flat, results).expect("it runs");
    }
    let count = allocation_counter::measure(|| {
        results = function.call_again(&flat, std::mem::take(&mut results)).expect("it runs");
    });
    (count.count_total, function.statistics().map(|s| s.allocations))
}

#[test]
fn a_derivative_that_was_called_before_allocates_nothing() {
    let compiler = compiler(1);
    for instance in all(&compiler) {
        let program = compiler.check(&instance.file, &instance.source);
        for request in [Some(&instance.function), instance.gradient.as_ref()].into_iter().flatten() {
            let function = compiler.function(&program, request, Engine::CPU).expect("it compiles");
            assert_eq!(allocations(&function, &instance.args), (0, Some(0)), "{}", request.function);
        }
    }
}

#[test]
fn the_library_for_matrix_products_gives_back_the_memory_that_it_takes() {
    let compiler = compiler(1);
    let instance = product_chain(300);
    let program = compiler.check(&instance.file, &instance.source);
    let request = instance.gradient.as_ref().expect("a gradient");
    let function = compiler.function(&program, request, Engine::CPU).expect("it compiles");
    let flat = fit_arguments(function.entry(), &instance.args).expect("arguments that fit");
    let mut results = function.call_flat(&flat).expect("it runs");
    results = function.call_again(&flat, results).expect("it runs");
    let count = allocation_counter::measure(|| {
        results = function.call_again(&flat, std::mem::take(&mut results)).expect("it runs");
    });
    assert_eq!((count.count_current, count.bytes_current), (0, 0));
    assert!(count.bytes_max <= 2 << 20, "{count:?}");
    assert_eq!(function.statistics().map(|s| s.allocations), Some(0));
}

fn assert_allocates_nothing(source: &str, wrt: &str, args: &Json) {
    let compiler = compiler(1);
    let program = compiler.check("f.cot", source);
    let request = derivative("f", DerivativeForm::ValueAndGrad, &[wrt]);
    let function = compiler.function(&program, &request, Engine::CPU).expect("it compiles");
    let value = |name: &str, ty| (name.to_owned(), from_json(&args[name], ty).expect("a value of the type"));
    let args: Arguments = function.entry().signature.params.iter().map(|p| value(&p.name, &p.ty)).collect();
    assert_eq!(allocations(&function, &args), (0, Some(0)), "{source}");
}

#[test]
fn a_while_loop_with_a_record_allocates_nothing() {
    let source = "fn f(x: f64, limit: f64) -> f64 {
  let mut y = x
  while y < limit {
    y = y + 0.001 * sin(y) + 0.01
  }
  y * y
}";
    assert_allocates_nothing(source, "x", &json!({ "x": 0.5, "limit": 200.0 }));
}

#[test]
fn elements_of_less_than_eight_bytes_allocate_nothing() {
    let source =
        "fn f[N](x: f32[N], keep: bool[N]) -> f32 = +/ tabulate(N, |i| if keep[i] { x[i] * x[i] } else { 0.0 })";
    let x: Vec<i64> = (0..1000).collect();
    assert_allocates_nothing(source, "x", &json!({ "x": x, "keep": vec![true; 1000] }));
}
