//! The Vulkan backend as hosts use it. Where there is no device, the tests say so and check the error alone.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cotan::host::{Arguments, HostValue, Value};
use cotan::vulkan::{Choice, DeviceOptions, Placement, Ran};
use cotan::{
    CallError, CallLimits, CancelToken, CompileError, Compiler, Config, Deadline, DerivativeForm, Engine, Function,
    Request, codes, derivative,
};
use cotan_ir::Elem;
use cotan_llvm::cache::Cache;
use cotan_ops::Instruction;
use std::time::{Duration, Instant};

/// A compiler, or none where there is no device. What is found out of the device is kept for the other tests of this build.
pub(crate) fn compiler(config: Config) -> Option<Compiler> {
    let cache = Cache::open(concat!(env!("CARGO_TARGET_TMPDIR"), "/devices"), 1 << 28).ok();
    let build = std::env::current_exe().and_then(|exe| exe.metadata()?.modified()).map(|time| format!("{time:?}"));
    let compiler = Compiler::new(Config { cache, build: build.ok(), ..config }).unwrap();
    match compiler.device() {
        Ok(_) => Some(compiler),
        Err(none) => {
            eprintln!("no device, so nothing runs on one: {none}");
            None
        }
    }
}

fn function(compiler: &Compiler, text: &str, request: &Request) -> Function {
    let program = compiler.check("device.cot", text);
    assert!(!program.has_errors(), "{:?}", program.diagnostics);
    compiler.function(&program, request, Engine::VULKAN).unwrap()
}

fn vector(elements: &[f64]) -> HostValue {
    HostValue::f64s(&[elements.len() as i64], elements)
}

fn args(all: &[(&str, HostValue)]) -> Arguments {
    all.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

const SQUARES: &str = "fn f[N](x: f64[N]) -> f64 {
  let y = tabulate(N, |i| x[i] * x[i])
  +/y
}
";

#[test]
fn a_function_and_its_gradient_run_on_the_device() {
    let Some(compiler) = compiler(Config::default()) else { return };
    let x = args(&[("x", vector(&[1.0, 2.0, 3.0]))]);
    let f = function(&compiler, SQUARES, &Request::function("f"));
    assert_eq!(f.ran(), None);
    assert_eq!(f.call(&x), Ok(HostValue::f64(14.0)));
    assert!(matches!(f.ran(), Some(Ran::OnDevice(taken)) if taken.launches > 0 && taken.moved_bytes >= 24));
    let gradient = function(&compiler, SQUARES, &derivative("f", DerivativeForm::Grad, &["x"]));
    assert_eq!(gradient.call(&x), Ok(vector(&[2.0, 4.0, 6.0])));
    assert!(matches!(gradient.ran(), Some(Ran::OnDevice(_))));
}

#[test]
fn a_zero_wins_over_an_infinite_factor() {
    let text = "fn f[N](x: f64[N]) -> f64 = +/tabulate(N, |i| tanh(exp(x[i])))";
    let Some(compiler) = compiler(Config::default()) else { return };
    let program = compiler.check("device.cot", text);
    let request = derivative("f", DerivativeForm::ValueAndGrad, &["x"]);
    let [on_device, on_host] =
        [Engine::VULKAN, Engine::INTERPRETER].map(|engine| compiler.function(&program, &request, engine).unwrap());
    for x in [[0.5, 1000.0, -1.0], [0.5, 0.25, -1.0], [f64::NAN, 0.25, -1.0]] {
        let (found, expected) =
            (on_device.call(&args(&[("x", vector(&x))])), on_host.call(&args(&[("x", vector(&x))])));
        assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{x:?}");
        assert!(matches!(on_device.ran(), Some(Ran::OnDevice(_))), "{x:?}");
        let elements = [("x".to_owned(), compiler.upload(&vector(&x)).unwrap())].into_iter().collect();
        let found = on_device.call_on_device(&elements).and_then(|found| found.read());
        assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{x:?}, on the device");
    }
}

#[test]
fn what_has_no_parallel_loop_runs_on_the_host_unless_all_is_to_run_on_the_device() {
    let text = "fn f(x: f64, n: i64) -> f64 {\n  let mut y = x\n  for i in 0..n { y = 0.5 * y + x }\n  y\n}";
    let at = args(&[("x", HostValue::f64(1.0)), ("n", HostValue::i64(3))]);
    let Some(compiler) = compiler(Config::default()) else { return };
    let f = function(&compiler, text, &Request::function("f"));
    assert_eq!(f.call(&at), Ok(HostValue::f64(1.875)));
    let why = "it has no loop whose iterations are independent".to_owned();
    assert_eq!(f.ran(), Some(Ran::OnHost(why)));
    let device = DeviceOptions { placement: Placement::Everything, ..DeviceOptions::default() };
    let compiler = Compiler::new(Config { device, ..Config::default() }).unwrap();
    let f = function(&compiler, text, &Request::function("f"));
    assert_eq!(f.call(&at), Ok(HostValue::f64(1.875)));
    assert!(matches!(f.ran(), Some(Ran::OnDevice(_))));
}

#[test]
fn checks_fail_on_the_device_as_they_do_on_the_host_and_calls_after_them_are_right() {
    let text = "fn f[N](x: f64[N], at: i64[N]) -> f64[N] = tabulate(N, |i| x[at[i]])";
    let Some(compiler) = compiler(Config::default()) else { return };
    let program = compiler.check("device.cot", text);
    let [on_device, on_host] =
        [Engine::VULKAN, Engine::INTERPRETER].map(|e| compiler.function(&program, &Request::function("f"), e).unwrap());
    let at = |places: &[i64]| {
        args(&[("x", vector(&[1.0, 2.0, 3.0])), ("at", HostValue::Tensor(Value::i64s(&[places.len() as i64], places)))])
    };
    for places in [[0, 7, -9], [2, 1, 0], [3, 0, 0]] {
        let found = on_device.call(&at(&places));
        assert_eq!(found, on_host.call(&at(&places)), "{places:?}");
    }
}

#[test]
fn what_the_device_has_no_code_for_is_done_by_the_host_and_printed_once() {
    let text = "@io fn f[N](x: f64[N]) -> f64[N] {
  print(\"before\")
  let y = tabulate(N, |i| sin(x[i]))
  print(y[0])
  y
}";
    let Some(compiler) = compiler(Config::default()) else { return };
    let program = compiler.check("device.cot", text);
    assert!(!program.has_errors(), "{:?}", program.diagnostics);
    for x in [0.5, 1e300] {
        let run = |engine| {
            let mut written = String::new();
            let f = compiler.function(&program, &Request::function("f"), engine).unwrap();
            let y = f.call_with_output(&args(&[("x", vector(&[x, 1.0]))]), &mut |text| written += text).unwrap();
            (y, written)
        };
        assert_eq!(run(Engine::VULKAN), run(Engine::CPU), "{x}");
    }
}

#[test]
fn nothing_is_printed_behind_a_kernel_that_fails() {
    let text = "@io fn f[N](x: f64[N], at: i64[N]) -> f64[N] {
  let y = tabulate(N, |i| x[at[i]])
  print(\"behind\")
  tabulate(N, |i| y[N - 1 - i])
}";
    let Some(compiler) = compiler(Config::default()) else { return };
    let f = function(&compiler, text, &Request::function("f"));
    let at =
        |places: [i64; 2]| args(&[("x", vector(&[1.0, 2.0])), ("at", HostValue::Tensor(Value::i64s(&[2], &places)))]);
    for (places, expected) in [([0, 5], ""), ([1, 0], "behind\n")] {
        let mut written = String::new();
        let found = f.call_with_output(&at(places), &mut |text| written += text);
        assert_eq!((found.is_err(), written.as_str()), (expected.is_empty(), expected), "{found:?}");
    }
}

/// The driver's own fused multiply-adds are there for whoever asks for them; lavapipe rounds their products.
#[test]
fn fast_math_is_the_drivers() {
    let text = "fn f[N](x: f64[N]) -> f64[N] = tabulate(N, |i| x[i] * x[i] - 1.0)";
    let run = |fast_math| {
        let device = DeviceOptions { fast_math, ..DeviceOptions::default() };
        let compiler = compiler(Config { device, ..Config::default() })?;
        let opened = compiler.device().unwrap();
        let is_exact = !opened.numbers.is_replaced(Instruction::Fma, Elem::F64);
        let f = function(&compiler, text, &Request::function("f"));
        let found = f.call(&args(&[("x", vector(&[1.0 + 2f64.powi(-30); 3]))])).unwrap();
        Some((is_exact, found.floats()))
    };
    let (Some((_, exact)), Some((is_the_drivers, fast))) = (run(false), run(true)) else { return };
    let rest = 2f64.powi(-60);
    assert_eq!(exact, [2f64.powi(-29) + rest; 3]);
    assert!(is_the_drivers);
    assert!(fast.iter().zip(exact).all(|(fast, exact)| (fast - exact).abs() <= rest), "{fast:?}");
}

/// Copies behind a kernel that fails are made, in memory that scopes have released.
#[test]
fn a_failure_keeps_its_numbers_while_arrays_are_copied() {
    let text = "fn f[N](x: f64[N], y: f64[N], k: i64) -> f64 {
  let z = tabulate(N, |i| x[i] * ((k + i) as f64))
  let mut s = z[N - 1]
  for t in 0..3 {
    let mut w = y
    w[t] += s * z[t]
    s = +/tabulate(N, |i| w[i] * w[N - 1 - i])
  }
  s
}";
    let Some(compiler) = compiler(Config::default()) else { return };
    let program = compiler.check("test.cot", text);
    let x = vector(&vec![0.25; 4096]);
    let of = |k| args(&[("x", x.clone()), ("y", x.clone()), ("k", HostValue::i64(k))]);
    let [expected, found] = [Engine::INTERPRETER, Engine::VULKAN].map(|engine| {
        let f = compiler.function(&program, &Request::function("f"), engine).expect("it compiles");
        // Kernels that run for the first time are handed over one by one.
        f.call(&of(0)).expect("no sum overflows");
        f.call(&of(i64::MAX - 100)).expect_err("a sum overflows").to_string()
    });
    assert_eq!(found, expected);
    assert!(found.contains("101"), "{found}");
}

#[test]
fn limits_hold_on_the_device() {
    let Some(compiler) = compiler(Config { memory: Some(1 << 20), ..Config::default() }) else { return };
    // The array is read at two places, so it is one.
    let text = "fn f[N](x: f64[N]) -> f64 {\n  let y = tabulate(N, |i| x[i] * x[i])\n  +/y * y[N - 1]\n}";
    let f = function(&compiler, text, &Request::function("f"));
    let long = args(&[("x", vector(&vec![1.0; 1 << 18]))]);
    let Err(CallError::OutOfMemory(error)) = f.call(&long) else { panic!("2 MiB were given where 1 may be used") };
    assert_eq!(error.limit, Some(1 << 20));
    let short = args(&[("x", vector(&[3.0]))]);
    assert_eq!(f.call(&short), Ok(HostValue::f64(81.0)));
    let token = CancelToken::new();
    let cancelled = f.limited(CallLimits { cancel: Some(token.clone()), ..CallLimits::default() });
    token.cancel();
    assert_eq!(cancelled.call(&short), Err(CallError::Cancelled));
    token.reset();
    assert_eq!(cancelled.call(&short), Ok(HostValue::f64(81.0)));
    let late = CallLimits { deadline: Some(Deadline::After(Duration::ZERO)), ..CallLimits::default() };
    assert_eq!(f.limited(late).call(&short), Err(CallError::TimedOut));
    // Steps are counted by the host, which runs such calls.
    let few = CallLimits { steps: Some(10), ..CallLimits::default() };
    assert!(matches!(f.limited(few).call(&long), Err(CallError::Limit(_) | CallError::OutOfMemory(_))));
    assert_eq!(f.ran(), Some(Ran::OnHost("its steps are counted".to_owned())));
}

#[test]
fn a_nan_is_trapped_on_the_device() {
    let Some(compiler) = compiler(Config { trap_nan: true, ..Config::default() }) else { return };
    let text = "fn f[N](x: f64[N]) -> f64[N] = tabulate(N, |i| log(x[i]))";
    let f = function(&compiler, text, &Request::function("f"));
    let Err(CallError::Nan(origin)) = f.call(&args(&[("x", vector(&[1.0, -1.0]))])) else { panic!("no NaN is told") };
    assert!(origin.operation().contains("log"), "{}", origin.operation());
}

#[test]
fn threads_may_call_one_function_at_a_time() {
    let Some(compiler) = compiler(Config::default()) else { return };
    let f = function(&compiler, SQUARES, &derivative("f", DerivativeForm::Grad, &["x"]));
    std::thread::scope(|scope| {
        for n in 1..9 {
            let f = &f;
            scope.spawn(move || {
                let x: Vec<f64> = (0..100 * n).map(f64::from).collect();
                let expected: Vec<f64> = x.iter().map(|x| 2.0 * x).collect();
                for _ in 0..5 {
                    assert_eq!(f.call(&args(&[("x", vector(&x))])), Ok(vector(&expected)));
                }
            });
        }
    });
}

#[test]
fn a_device_that_is_not_there_is_an_error_with_a_way_out() {
    let device = DeviceOptions { choice: Choice::of_text("no such device"), ..DeviceOptions::default() };
    let compiler = Compiler::new(Config { device, ..Config::default() }).unwrap();
    let program = compiler.check("device.cot", SQUARES);
    let error = compiler.function(&program, &Request::function("f"), Engine::VULKAN).unwrap_err();
    assert!(matches!(error, CompileError::NoDevice(_)), "{error}");
    let [told] = <[_; 1]>::try_from(error.diagnostics(&program, "f")).unwrap();
    assert_eq!(told.code, codes::UNSUPPORTED_DEVICE);
    assert!(told.help[0].contains("--backend cpu"), "{:?}", told.help);
}

#[test]
fn who_waits_for_another_call_of_the_function_stops_in_time() {
    let Some(compiler) = compiler(Config::default()) else { return };
    let text = "fn f[N](x: f64[N], n: i64) -> f64[N] {
  let mut y = x
  for t in 0..n { y = tabulate(N, |i| 0.5 * y[N - 1 - i]) }
  y
}";
    let f = function(&compiler, text, &Request::function("f"));
    let at = |n: i64| args(&[("x", vector(&[1.0; 8])), ("n", HostValue::i64(n))]);
    let soon = CallLimits { deadline: Some(Deadline::After(Duration::from_millis(20))), ..CallLimits::default() };
    let (soon, start) = (f.limited(soon), Instant::now());
    std::thread::scope(|scope| {
        let long = scope.spawn(|| {
            let found = f.call(&at(20_000));
            (found, start.elapsed())
        });
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(soon.call(&at(1)), Err(CallError::TimedOut));
        let waited = start.elapsed();
        let (found, taken) = long.join().unwrap();
        assert_eq!(found, Ok(vector(&[0.0; 8])));
        assert!(waited < taken, "{waited:?} {taken:?}");
    });
}

#[test]
fn a_panic_of_the_output_leaves_the_function_as_it_was() {
    let Some(compiler) = compiler(Config::default()) else { return };
    let text = "@io fn f[N](x: f64[N]) -> f64[N] {
  let y = tabulate(N, |i| 2.0 * x[N - 1 - i])
  print(y[0])
  tabulate(N, |i| y[N - 1 - i])
}";
    let f = function(&compiler, text, &Request::function("f"));
    let x = args(&[("x", vector(&vec![1.5; 100_000]))]);
    let expected = f.call(&x);
    for _ in 0..3 {
        let call = || f.call_with_output(&x, &mut |_| panic!("the host is broken"));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).is_err());
        assert_eq!(f.call(&x), expected);
    }
    assert!(matches!(f.ran(), Some(Ran::OnDevice(taken)) if taken.allocations == 0), "{:?}", f.ran());
}

#[test]
fn stacks_of_threads_have_the_same_numbers_in_private_memory_and_beyond_it() {
    let text = "fn path(x: f64, a: f64, b: f64, n: i64) -> f64 {
  let mut y = x
  let mut left = n
  while left > 0 {
    y = a * y / (1 + y * y) + b
    left -= 1
  }
  y
}
fn f[N](x: f64[N], a: f64[N], b: f64[N], trips: i64[N]) -> f64 =
  +/ tabulate(N, |i| path(x[i], a[i], b[i], trips[i]))
";
    let Some(compiler) = compiler(Config::default()) else { return };
    let program = compiler.check("stacks.cot", text);
    let request = derivative("f", DerivativeForm::Grad, &["x", "a", "b"]);
    let [on_device, expected] =
        [Engine::VULKAN, Engine::INTERPRETER].map(|engine| compiler.function(&program, &request, engine).unwrap());
    let line = |first: f64, step: f64| vector(&(0..100).map(|k| first + step * f64::from(k)).collect::<Vec<f64>>());
    // A stack of one f64 has room for 256 in private memory.
    for most in [0, 1, 16, 17, 255, 256, 257, 3000, 5] {
        let trips = (0..100).map(|k| if k == 70 { most } else { most.min(k) } as u64).collect();
        let trips = HostValue::Tensor(Value { elem: Elem::I64, dims: vec![100], bits: trips });
        let at = args(&[("x", line(0.5, 0.01)), ("a", line(1.5, -0.01)), ("b", line(-0.2, 0.003)), ("trips", trips)]);
        assert_eq!(on_device.call(&at), expected.call(&at), "{most} trips");
        assert!(matches!(on_device.ran(), Some(Ran::OnDevice(_))), "{most} trips");
    }
}
