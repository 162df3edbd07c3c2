//! Positions beyond 2^24, from which on f32 no longer tells whole numbers apart: reads, writes and their derivatives.

use cotan::host::{Arguments, HostValue};
use cotan::{Compiler, Config, DerivativeForm, Engine, Request, derivative};

/// One more element than f32 can count.
const N: i64 = (1 << 24) + 3;

const PROGRAM: &str = "
fn last(n: i64) -> i64 {
  let numbers = iota(n)
  numbers[n - 1]
}
fn read[N](x: f32[N], at: i64[3]) -> f32 = +/ (x[at] .* [1.0_f32, 2.0, 4.0])
kernel counted(at: i64[3], n: i64) -> f32[n] {
  let mut sums = zeros[f32](n)
  for k in 0..3 { sums[at[k]] += 1.0 }
  sums
}
fn written(at: i64[3], n: i64) -> f32[3] {
  let sums = counted(at, n)
  [sums[n - 3], sums[n - 2], sums[n - 1]]
}
";

#[test]
fn positions_beyond_two_to_the_24_are_exact_in_reads_writes_and_derivatives() {
    let compiler = Compiler::new(Config::default()).expect("a compiler");
    let program = compiler.check("positions.cot", PROGRAM);
    assert_eq!(program.diagnostics, []);
    let call = |request: &Request, args: Arguments| {
        compiler.function(&program, request, Engine::CPU).expect("it compiles").call(&args).expect("it runs")
    };
    let args = |args: [(&str, HostValue); 2]| Arguments::from(args.map(|(name, value)| (name.to_owned(), value)));
    let count = Arguments::from([("n".to_owned(), HostValue::i64(N))]);
    assert_eq!(call(&Request::function("last"), count), HostValue::i64(N - 1));

    let at = HostValue::Tensor(cotan_ops::Value::i64s(&[3], &[N - 1, N - 2, N - 1]));
    let zeros = cotan_ops::Value::zeros(cotan_ir::Elem::F32, &[N]);
    let gradient = call(
        &derivative("read", DerivativeForm::Grad, &["x"]),
        args([("x", HostValue::Tensor(zeros)), ("at", at.clone())]),
    );
    let gradient = gradient.floats();
    let n = gradient.len();
    assert_eq!((n, &gradient[n - 3..]), (N as usize, [0.0, 2.0, 5.0].as_slice()));
    assert!(gradient[..n - 3].iter().all(|x| *x == 0.0));

    let written = call(&Request::function("written"), args([("at", at), ("n", HostValue::i64(N))]));
    assert_eq!(written.floats(), [0.0, 1.0, 2.0]);
}
