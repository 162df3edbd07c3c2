//! Flat operands come from anywhere; what compiled code takes for granted of them is looked at.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan::{CallError, Compiler, Config, Engine, Request};
use cotan_ir::{Const, Elem};
use cotan_ops::Value;

#[test]
fn extents_that_contradict_the_sizes_are_refused() {
    let compiler = Compiler::new(Config::default()).unwrap();
    let text = "fn ends[N](x: f64[N], k: f64[N-1]) -> f64 = +/ tabulate(N - 1, |i| k[i] * x[i + 1])";
    let program = compiler.check("flat.cot", text);
    for engine in [Engine::INTERPRETER, Engine::CPU] {
        let f = compiler.function(&program, &Request::function("ends"), engine).unwrap();
        let operands = |n: i64, extent: i64| {
            let number = |n: i64| Value::from(Const::i64(n));
            vec![number(n), number(extent), Value::zeros(Elem::F64, &[n]), Value::zeros(Elem::F64, &[extent])]
        };
        assert!(f.call_flat(&operands(5, 4)).is_ok());
        for (n, extent) in [(5, 3), (5, 5), (100_000, 1)] {
            let refused = |e: CallError| matches!(&e, CallError::Arguments(m) if m.to_string().contains("N-1") || m.to_string().contains("N - 1"));
            assert!(f.call_flat(&operands(n, extent)).is_err_and(refused), "{n}, {extent}");
            assert!(f.call_again(&operands(n, extent), Vec::new()).is_err_and(refused), "{n}, {extent}");
        }
    }
}
