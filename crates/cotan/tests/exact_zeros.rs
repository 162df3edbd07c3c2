//! Compiled derivatives multiply plainly and, where that gives a NaN, once more with exact zeros: what comes out is what
//! the interpreter says.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan::host::{Arguments, HostValue};
use cotan::{Compiler, Config, Engine, Request};
use cotan_ir::Const;
use cotan_llvm::Cache;
use cotan_ops::Value;

/// The results of a call on both engines, as flat values, and whether the code that runs first has plain products.
fn both(text: &str, name: &str, args: &[(&str, HostValue)]) -> ([Vec<Value>; 2], bool) {
    let compiler = Compiler::new(Config::default()).unwrap();
    let program = compiler.check("zeros.cot", text);
    assert!(!program.has_errors(), "{:?}", program.diagnostics);
    let args: Arguments = args.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let request = Request::function(name);
    let lowered = compiler.lower(&program, &request).unwrap();
    let flat = cotan::host::fit_arguments(&lowered.entry, &args).unwrap();
    let results = [Engine::INTERPRETER, Engine::CPU].map(|engine| {
        let function = compiler.function(&program, &request, engine).unwrap();
        assert_eq!(function.is_compiled(), engine == Engine::CPU);
        // Twice: the second call has the exact code already, and memory of the first.
        let first = function.call_flat(&flat).unwrap();
        function.call_again(&flat, first).unwrap()
    });
    (results, compiler.plain(&lowered.module, &lowered.entry).is_some())
}

fn numbers(values: &[Value]) -> Vec<f64> {
    values.iter().flat_map(|v| v.bits.iter().map(|b| f64::from_bits(*b))).collect()
}

/// A root has an infinite slope at zero; where it is not counted, it does not count.
const ROOTS: &str = "fn roots[N](x: f64[N], k: f64[N]) -> f64 = +/ tabulate(N, |i| k[i] * sqrt(x[i]))
@grad(x) fn slopes[N](x: f64[N], k: f64[N]) -> f64[N] = roots(x, k)
@grad(x) fn slope(x: f64, k: f64) -> f64 = k * sqrt(x)";

/// An exponential that overflows, below a function that is flat there: nothing in the program says that its slope is infinite.
const SATURATED: &str = "fn saturated[N](x: f64[N], k: f64[N]) -> f64 = +/ tabulate(N, |i| k[i] * tanh(exp(x[i])))
@grad(x) fn slopes[N](x: f64[N], k: f64[N]) -> f64[N] = saturated(x, k)
@grad(x) fn slope(x: f64, k: f64) -> f64 = k * tanh(exp(x))";

#[test]
fn a_factor_of_zero_wins_over_an_infinite_one() {
    for (text, x, k) in [(ROOTS, 0.0, 0.0), (SATURATED, 1000.0, 2.0)] {
        let args = [("x", HostValue::Scalar(Const::f64(x))), ("k", HostValue::Scalar(Const::f64(k)))];
        let ([expected, found], is_plain) = both(text, "slope", &args);
        assert!(is_plain);
        assert_eq!((numbers(&found), numbers(&expected)), (vec![0.0], vec![0.0]));
    }
}

#[test]
fn a_single_such_product_among_many_is_seen() {
    for n in [1usize, 7, 1000, 5000] {
        let (mut x, k) = (vec![-1.0; n], vec![2.0; n]);
        x[n - 1] = 1000.0;
        let args = [("x", HostValue::f64s(&[n as i64], &x)), ("k", HostValue::f64s(&[n as i64], &k))];
        let ([expected, found], is_plain) = both(SATURATED, "slopes", &args);
        assert!(is_plain);
        assert_eq!(numbers(&found), numbers(&expected));
        assert_eq!(numbers(&found)[n - 1], 0.0);
    }
}

#[test]
fn what_is_nan_stays_nan() {
    let args = [("x", HostValue::f64s(&[3], &[-1.0, 1.0, f64::NAN])), ("k", HostValue::f64s(&[3], &[1.0, 2.0, 3.0]))];
    let ([expected, found], _) = both(ROOTS, "slopes", &args);
    let (expected, found) = (numbers(&expected), numbers(&found));
    assert!(found[0].is_nan() && found[1] == 1.0 && found[2].is_nan(), "{found:?}, {expected:?}");
    assert_eq!(expected.iter().map(|x| x.is_nan()).collect::<Vec<bool>>(), [true, false, true]);
}

#[test]
fn a_derivative_that_decides_is_exact_from_the_start() {
    let text = "fn root(x: f64, k: f64) -> f64 = k * sqrt(x)
fn step(x: f64, k: f64) -> f64 {
  let slope = grad[x](root)(x, k)
  if slope < 1.0 { x + 1.0 } else { x - 1.0 }
}";
    let ([expected, found], _) =
        both(text, "step", &[("x", HostValue::Scalar(Const::f64(0.0))), ("k", HostValue::Scalar(Const::f64(0.0)))]);
    // A NaN is not below one.
    assert_eq!(numbers(&found), [1.0]);
    assert_eq!(numbers(&expected), [1.0]);
}

#[test]
fn a_function_out_of_the_cache_is_repeated_with_exact_zeros_too_and_is_that_of_one_build() {
    let folder = tempfile::tempdir().unwrap();
    let entries_after = |build: &str| {
        let objects = folder.path().join("objects");
        let config = Config {
            cache: Some(Cache::open(&objects, 1 << 20).unwrap()),
            build: Some(build.to_owned()),
            ..Config::default()
        };
        let compiler = Compiler::new(config).unwrap();
        let program = compiler.check("zeros.cot", SATURATED);
        let function = compiler.function(&program, &Request::function("slope"), Engine::CPU).unwrap();
        let slope = |x: f64, k: f64| {
            let args = [("x", x), ("k", k)].map(|(name, value)| (name.to_owned(), HostValue::f64(value)));
            function.call(&Arguments::from(args)).unwrap()
        };
        assert_eq!((slope(-1000.0, 2.0), slope(1000.0, 2.0)), (HostValue::f64(0.0), HostValue::f64(0.0)));
        std::fs::read_dir(&objects).unwrap().count()
    };
    // The objects of both variants, and what is known of the function and of the library.
    assert_eq!(entries_after("one"), 4);
    assert_eq!(entries_after("one"), 4);
    // Another build makes the function anew; that its code is the same is seen then.
    assert_eq!(entries_after("another"), 5);
}
