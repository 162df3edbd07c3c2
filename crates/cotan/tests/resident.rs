//! Arrays that stay on a device, as hosts use them. Where there is no device, the tests say so.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::vulkan::compiler;
use cotan::host::{HostValue, Value};
use cotan::resident::{DeviceArguments, DeviceValue};
use cotan::vulkan::{CallStatistics, Choice, DeviceOptions, OpenOptions, Ran};
use cotan::{
    CallError, Compiler, Config, DerivativeForm, DeviceFailure, Engine, Function, Program, Request, codes, derivative,
};

const TEXT: &str = "fn loss[N](x: f64[N], goal: f64[N]) -> f64 = +/tabulate(N, |i| (x[i] - goal[i]) * (x[i] - goal[i]))

fn step[N](x: f64[N], goal: f64[N], rate: f64) -> (f64[N], f64) {
  let (value, slope) = value_and_grad[x](loss)(x, goal)
  (x .- rate .* slope, value)
}

fn same[N](x: f64[N], y: f64[N]) -> (f64[N], f64[N], f64[N]) = (x, y, x)

fn sum_of_two[N](x: f64[N], y: f64[N]) -> f64[N] = tabulate(N, |i| x[i] + y[N - 1 - i])

fn picked[N](x: f64[N], at: i64[N]) -> f64[N] = tabulate(N, |i| x[at[i]])

fn plain(n: i64) -> i64 = n + 1

# Sines of large angles are the host's.
fn wave[N](x: f64[N]) -> f64[N] = tabulate(N, |i| sin(x[i]))

fn walk[N](x: f64[N]) -> f64[N] {
  let mut y = x
  for i in 1..N { y[i] += y[i - 1] }
  y
}

struct Net { w: f64[2, 2], b: f64[2], scale: f64 }

fn net(p: Net, x: f64[2]) -> f64 =
  p.scale * +/tabulate(2, |i| p.b[i] + +/tabulate(2, |j| p.w[i, j] * x[j]))

struct Point { at: f64, w: f64[2] }

fn moved[N](p: Point[N], by: f64[N]) -> Point[N] = tabulate(N, |i| Point { at: p[i].at + by[i], w: p[i].w })
";

fn program(compiler: &Compiler) -> Program {
    let program = compiler.check("resident.cot", TEXT);
    assert!(!program.has_errors(), "{:?}", program.diagnostics);
    program
}

fn of_device(compiler: &Compiler, name: &str) -> Function {
    compiler.function(&program(compiler), &Request::function(name), Engine::VULKAN).unwrap()
}

fn vector(elements: &[f64]) -> HostValue {
    HostValue::f64s(&[elements.len() as i64], elements)
}

fn args(all: &[(&str, DeviceValue)]) -> DeviceArguments {
    all.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

/// What the last call took on the device.
fn taken(f: &Function) -> CallStatistics {
    match f.ran() {
        Some(Ran::OnDevice(taken)) => taken,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_optimiser_moves_scalars_alone_and_asks_the_driver_for_nothing() {
    for is_staged in [false, true] {
        let open = OpenOptions { is_staged, ..OpenOptions::default() };
        let device = DeviceOptions { open, ..DeviceOptions::default() };
        let Some(compiler) = compiler(Config { device, ..Config::default() }) else { return };
        let step = of_device(&compiler, "step");
        let goal: Vec<f64> = (0..5000).map(f64::from).collect();
        let mut args = args(&[
            ("x", compiler.upload(&vector(&vec![0.5; 5000])).unwrap()),
            ("goal", compiler.upload(&vector(&goal)).unwrap()),
            ("rate", HostValue::f64(0.25).into()),
        ]);
        let mut losses = Vec::new();
        for k in 0..100 {
            let [x, loss] = step.call_on_device(&args).unwrap().into_parts().try_into().unwrap();
            losses.push(loss.as_host().unwrap().as_scalar().unwrap().as_float().unwrap());
            args.insert("x".into(), x);
            let taken = taken(&step);
            assert!(taken.moved_bytes <= 4096, "{taken:?}");
            if k >= 4 {
                assert_eq!((taken.allocations, taken.pipelines, taken.recordings), (0, 0, 0), "{k}: {taken:?}");
                assert_eq!((taken.submissions, taken.read_backs), (1, 1), "{taken:?}");
            }
        }
        assert!(losses.windows(2).all(|two| two[1] < two[0] || two[0] == 0.0), "{losses:?}");
        let x = args["x"].read().unwrap();
        assert!(x.floats().iter().zip(&goal).all(|(x, goal)| (x - goal).abs() < 1e-9));
    }
}

#[test]
fn the_hundredth_call_like_the_first_takes_nothing_from_the_driver() {
    for is_staged in [false, true] {
        let open = OpenOptions { is_staged, ..OpenOptions::default() };
        let device = DeviceOptions { open, ..DeviceOptions::default() };
        let Some(compiler) = compiler(Config { device, ..Config::default() }) else { return };
        let program = program(&compiler);
        let gradient = derivative("loss", DerivativeForm::Grad, &["x"]);
        let gradient = compiler.function(&program, &gradient, Engine::VULKAN).unwrap();
        let x: Vec<f64> = (0..1000).map(f64::from).collect();
        let plain = [("x".to_owned(), vector(&x)), ("goal".to_owned(), vector(&vec![0.0; 1000]))].into();
        let expected = HostValue::f64s(&[1000], &x.iter().map(|x| 2.0 * x).collect::<Vec<_>>());
        for _ in 0..100 {
            assert_eq!(gradient.call(&plain), Ok(expected.clone()));
        }
        let taken = taken(&gradient);
        assert_eq!((taken.allocations, taken.pipelines, taken.recordings), (0, 0, 0), "{taken:?}");
        assert_eq!(taken.submissions, 1, "{taken:?}");
        assert!(taken.moved_bytes <= 3 * 8 * 1000 + 4096, "{taken:?}");
    }
}

#[test]
fn results_share_memory_with_no_argument_and_no_other_result() {
    let Some(compiler) = compiler(Config::default()) else { return };
    let same = of_device(&compiler, "same");
    let x = compiler.upload(&vector(&[1.0, 2.0, 3.0])).unwrap();
    // The same array twice.
    let found = same.call_on_device(&args(&[("x", x.clone()), ("y", x.clone())])).unwrap().into_parts();
    let sum = of_device(&compiler, "sum_of_two");
    for one in &found {
        assert_eq!(one.read(), Ok(vector(&[1.0, 2.0, 3.0])));
        // What is given and what comes out are read after other calls have taken the memory of what was dropped.
        let two = sum.call_on_device(&args(&[("x", one.clone()), ("y", x.clone())])).unwrap();
        assert_eq!(two.read(), Ok(vector(&[4.0, 4.0, 4.0])));
    }
    let mut y = x.clone();
    for _ in 0..20 {
        y = sum.call_on_device(&args(&[("x", y.clone()), ("y", y)])).unwrap();
    }
    assert_eq!(y.read(), Ok(vector(&[f64::from(1 << 21); 3])));
    assert_eq!(x.read(), Ok(vector(&[1.0, 2.0, 3.0])));
}

#[test]
fn values_of_the_host_are_mixed_with_arrays_and_empty_arrays_are_arrays() {
    let Some(compiler) = compiler(Config::default()) else { return };
    let sum = of_device(&compiler, "sum_of_two");
    let x = compiler.upload(&vector(&[1.0, 2.0])).unwrap();
    let found = sum.call_on_device(&args(&[("x", x.clone()), ("y", vector(&[10.0, 20.0]).into())])).unwrap();
    assert_eq!(found.read(), Ok(vector(&[21.0, 12.0])));
    let none = compiler.upload(&vector(&[])).unwrap();
    let found = sum.call_on_device(&args(&[("x", none.clone()), ("y", none)])).unwrap();
    assert_eq!(found.read(), Ok(vector(&[])));
    assert_eq!(found.as_array().unwrap().dims(), [0]);
    // Extents and types are checked as those of the host's values are.
    let found = sum.call_on_device(&args(&[("x", x.clone()), ("y", vector(&[1.0]).into())]));
    assert!(matches!(found, Err(CallError::Arguments(_))), "{found:?}");
    let wrong = compiler.upload(&HostValue::Tensor(Value::i64s(&[2], &[1, 2]))).unwrap();
    let found = sum.call_on_device(&args(&[("x", x.clone()), ("y", wrong)])).unwrap_err();
    assert_eq!(found.to_string(), "argument `y`: expected f64[N], found i64[2] on a device");
    let found = sum.call_on_device(&args(&[("x", x.clone())])).unwrap_err();
    assert_eq!(found.to_string(), "argument `y` is missing: expected f64[N], found none");
    let found = sum.call_on_device(&args(&[("x", x.clone()), ("z", x)])).unwrap_err();
    assert!(found.to_string().starts_with("there is no parameter `z`"), "{found}");
}

#[test]
fn structs_of_arrays_and_their_gradients_stay_on_the_device() {
    let Some(compiler) = compiler(Config::default()) else { return };
    let program = program(&compiler);
    let request = derivative("net", DerivativeForm::Grad, &["p"]);
    let [device, host] =
        [Engine::VULKAN, Engine::INTERPRETER].map(|engine| compiler.function(&program, &request, engine).unwrap());
    let p = HostValue::Struct(vec![
        ("w".to_owned(), HostValue::f64s(&[2, 2], &[1.0, 2.0, 3.0, 4.0])),
        ("b".to_owned(), vector(&[0.5, -0.5])),
        ("scale".to_owned(), HostValue::f64(2.0)),
    ]);
    let x = vector(&[3.0, 5.0]);
    let all = args(&[("p", compiler.upload(&p).unwrap()), ("x", compiler.upload(&x).unwrap())]);
    let found = device.call_on_device(&all).unwrap();
    let expected = host.call(&[("p".to_owned(), p), ("x".to_owned(), x)].into()).unwrap();
    assert_eq!(found.read(), Ok(expected));
    let DeviceValue::Struct(fields) = &found else { panic!("{found:?}") };
    assert!(fields[0].1.as_array().is_some() && fields[2].1.as_host().is_some(), "{fields:?}");
    // A gradient is an argument like any other value of its type.
    let again = device.call_on_device(&args(&[("p", found), ("x", all["x"].clone())])).unwrap();
    assert!(again.read().is_ok());
}

#[test]
fn a_tensor_of_structs_is_a_struct_of_arrays() {
    let Some(compiler) = compiler(Config::default()) else { return };
    let moved = of_device(&compiler, "moved");
    let point = |at: f64| {
        HostValue::Struct(vec![("at".to_owned(), HostValue::f64(at)), ("w".to_owned(), vector(&[at, 10.0 * at]))])
    };
    let points = HostValue::Array { dims: vec![2], items: vec![point(1.0), point(2.0)] };
    let all = args(&[("p", compiler.upload(&points).unwrap()), ("by", vector(&[0.5, 1.5]).into())]);
    let found = moved.call_on_device(&all).unwrap();
    let expected = HostValue::Struct(vec![
        ("at".to_owned(), vector(&[1.5, 3.5])),
        ("w".to_owned(), HostValue::f64s(&[2, 2], &[1.0, 10.0, 2.0, 20.0])),
    ]);
    assert_eq!(found.read(), Ok(expected.clone()));
    let again = moved.call_on_device(&args(&[("p", found), ("by", vector(&[0.0, 0.0]).into())])).unwrap();
    assert_eq!(again.read(), Ok(expected));
}

#[test]
fn a_failed_check_is_the_error_of_its_call_and_leaves_the_arrays() {
    let Some(compiler) = compiler(Config::default()) else { return };
    let program = program(&compiler);
    let picked = of_device(&compiler, "picked");
    let host = compiler.function(&program, &Request::function("picked"), Engine::INTERPRETER).unwrap();
    let numbers = vector(&[1.0, 2.0, 3.0]);
    let x = compiler.upload(&numbers).unwrap();
    for places in [[0, 7, -9], [2, 1, 0], [3, 0, 0], [0, 1, 2]] {
        let at = HostValue::Tensor(Value::i64s(&[3], &places));
        let expected = host.call(&[("x".to_owned(), numbers.clone()), ("at".to_owned(), at.clone())].into());
        let found = picked.call_on_device(&args(&[("x", x.clone()), ("at", compiler.upload(&at).unwrap())]));
        assert_eq!(found.and_then(|found| found.read()), expected, "{places:?}");
    }
    assert_eq!(x.read(), Ok(numbers));
}

#[test]
fn calls_that_run_on_the_host_read_arrays_and_upload_results() {
    let Some(compiler) = compiler(Config::default()) else { return };
    let x = compiler.upload(&vector(&[1.0, 2.0, 3.0])).unwrap();
    let walk = of_device(&compiler, "walk");
    let found = walk.call_on_device(&args(&[("x", x.clone())])).unwrap();
    assert!(matches!(walk.ran(), Some(Ran::OnHost(_))));
    assert!(found.as_array().is_some());
    assert_eq!(found.read(), Ok(vector(&[1.0, 3.0, 6.0])));
    // A call that comes to the host in its middle.
    let wave = of_device(&compiler, "wave");
    let host = compiler.function(&program(&compiler), &Request::function("wave"), Engine::INTERPRETER).unwrap();
    for angle in [0.5, 1e300] {
        let x = vector(&[angle, 1.0]);
        let sine = wave.call_on_device(&args(&[("x", compiler.upload(&x).unwrap())])).unwrap();
        assert_eq!(sine.read(), host.call(&[("x".to_owned(), x)].into()));
    }
    assert!(matches!(wave.ran(), Some(Ran::OnHost(_))));
    // Scalars alone.
    let plain = of_device(&compiler, "plain");
    let found = plain.call_on_device(&args(&[("n", HostValue::i64(4).into())])).unwrap();
    assert_eq!(found.as_host(), Some(&HostValue::i64(5)));
    // Functions of other engines take them, too.
    let cpu = compiler.function(&program(&compiler), &Request::function("walk"), Engine::CPU).unwrap();
    let found = cpu.call_on_device(&args(&[("x", x)])).unwrap();
    assert_eq!(found.as_host(), Some(&vector(&[1.0, 3.0, 6.0])));
}

#[test]
fn arrays_outlive_compilers_and_are_used_by_several_threads() {
    let Some(first) = compiler(Config::default()) else { return };
    let (array, step) = (first.upload(&vector(&[1.0, 2.0])).unwrap(), of_device(&first, "sum_of_two"));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let (mine, step) = (array.clone(), &step);
            scope.spawn(move || {
                for _ in 0..20 {
                    let found = step.call_on_device(&args(&[("x", mine.clone()), ("y", mine.clone())])).unwrap();
                    assert_eq!(found.read(), Ok(vector(&[3.0, 3.0])));
                }
            });
        }
    });
    let meter = first.device().unwrap().device.meter();
    drop((first, step));
    assert_eq!(array.read(), Ok(vector(&[1.0, 2.0])));
    assert!(meter.alive().0 > 0);
    drop(array);
    assert_eq!(meter.alive(), (0, 0));
}

#[test]
fn an_array_of_another_device_is_an_error_with_a_way_out() {
    let [Some(one), Some(other)] = [compiler(Config::default()), compiler(Config::default())] else { return };
    let x = one.upload(&vector(&[1.0, 2.0])).unwrap();
    let f = of_device(&other, "sum_of_two");
    let error = f.call_on_device(&args(&[("x", x.clone()), ("y", x.clone())])).unwrap_err();
    assert_eq!(error, CallError::Device(DeviceFailure::ArrayElsewhere));
    let told = error.diagnostic(&program(&other), "sum_of_two");
    assert_eq!(told.code, codes::DEVICE_FAILED);
    assert!(told.help[0].contains("upload it with the compiler"), "{:?}", told.help);
    let again = other.upload(&x.read().unwrap()).unwrap();
    let found = f.call_on_device(&args(&[("x", again.clone()), ("y", again)])).unwrap();
    assert_eq!(found.read(), Ok(vector(&[3.0, 3.0])));
}

#[test]
fn without_a_device_an_upload_says_what_to_install() {
    let choice = Choice::of_text("no such device");
    let device = DeviceOptions { choice, ..DeviceOptions::default() };
    let none = Compiler::new(Config { device, ..Config::default() }).unwrap();
    let error = none.upload(&vector(&[1.0])).unwrap_err();
    assert!(matches!(error, CallError::Device(DeviceFailure::NoDevice(_))), "{error}");
    assert!(error.diagnostic(&program(&none), "step").help[0].contains("libvulkan1"));
    // What holds no array needs none.
    assert_eq!(none.upload(&HostValue::f64(1.0)).unwrap().as_host(), Some(&HostValue::f64(1.0)));
}
