//! What plans look like.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan_device::plan;
use cotan_ir::{parse_module, verify_module};
use cotan_loops::pipeline::{FOR_DEVICES, run};
use cotan_loops::{DEVICE, NestContext, lower};
use cotan_ops::Registry;
use expect_test::{Expect, expect};

fn check(text: &str, expected: Expect) {
    let module = parse_module(text, Registry::standard()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify_module(&module).unwrap();
    let nests = module.functions().map(|f| {
        let mut nest = lower(f, &DEVICE);
        run(FOR_DEVICES, &mut nest, &NestContext::default());
        nest
    });
    let name = text.trim_start().strip_prefix("fn ").unwrap().split('(').next().unwrap();
    expected.assert_eq(&plan(&Vec::from_iter(nests), name).unwrap().to_string());
}

#[test]
fn a_loop_and_a_sum_are_kernels_of_many_threads() {
    check(
        "fn f(n: i64, x: f64[n], c: f64) {
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
        }",
        expect![[]],
    );
}
