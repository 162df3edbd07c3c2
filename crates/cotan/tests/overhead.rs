//! What a call costs beside its kernels: times of calls beside those of submissions that are recorded by hand. They are
//! printed, and only where everything is asked for: a machine that does other work has others.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking, and figures are to be read")]

use cotan::host::{Arguments, HostValue};
use cotan::resident::DeviceArguments;
use cotan::vulkan::Ran;
use cotan::{Compiler, Config, Engine, Function, Request};
use cotan_ir::Elem;
use cotan_ops::Instruction;
use cotan_spirv::emit::Mapping;
use cotan_spirv::vulkan::LoadedMapping;
use std::time::{Duration, Instant};

const TEXT: &str = "fn one[N](x: f64[N]) -> f64[N] = tabulate(N, |i| x[i] - 0.01 * x[N - 1 - i])
fn steps[N](x: f64[N], v: f64[N], n: i64) -> f64[N] {
  let mut x = x
  let mut v = v
  for t in 0..n {
    v = tabulate(N, |i| v[i] - 0.01 * x[N - 1 - i])
    x = tabulate(N, |i| x[i] + 0.01 * v[N - 1 - i])
  }
  x
}
";

const N: usize = 64;

fn microseconds(time: Duration) -> f64 {
    1e6 * time.as_secs_f64()
}

fn least(times: usize, mut time: impl FnMut() -> Duration) -> Duration {
    (0..times).map(|_| time()).min().unwrap()
}

/// A kernel like those of the steps, and launches of it by hand.
fn by_hand(compiler: &Compiler) -> LoadedMapping {
    let opened = compiler.device().unwrap();
    let mapping = Mapping::new(opened.device.info().features, &opened.numbers, 3, |code, words| {
        let args: Vec<_> = words.iter().map(|word| code.of_word(Elem::F64, *word)).collect();
        Ok(vec![(Elem::F64, code.instruction(Instruction::Fma, Elem::F64, &args)?)])
    });
    opened.device.load_mapping(&mapping.unwrap()).unwrap()
}

fn vector() -> HostValue {
    HostValue::f64s(&[N as i64], &(0..N).map(|k| k as f64).collect::<Vec<f64>>())
}

fn called(f: &Function, args: &Arguments) -> Duration {
    let start = Instant::now();
    f.call(args).unwrap();
    start.elapsed()
}

#[test]
fn calls_and_steps_take_about_as_long_as_by_hand() {
    if std::env::var_os("COTAN_CAMPAIGN").is_none() {
        return;
    }
    let compiler = Compiler::new(Config::default()).unwrap();
    if compiler.device().is_err() {
        return;
    }
    let program = compiler.check("overhead.cot", TEXT);
    let function = |name: &str| compiler.function(&program, &Request::function(name), Engine::VULKAN).unwrap();
    let hand = by_hand(&compiler);
    let launches = |n: usize| hand.time_of_launches(n, N).unwrap();
    let (one, steps) = (function("one"), function("steps"));
    let resident = [("x".to_owned(), compiler.upload(&vector()).unwrap())].into();
    let resident = || {
        let start = Instant::now();
        one.call_on_device(&resident).unwrap();
        start.elapsed()
    };
    let args: Arguments = [("x".to_owned(), vector())].into();
    let many: Arguments =
        [("x".to_owned(), vector()), ("v".to_owned(), vector()), ("n".to_owned(), HostValue::i64(1000))].into();
    let mut found = Vec::new();
    for _ in 0..5 {
        let empty = least(500, || launches(0));
        let single = least(500, || launches(1));
        let call = least(500, || called(&one, &args));
        let on_device = least(500, resident);
        let two_thousand = least(5, || launches(2000));
        let all_steps = least(5, || called(&steps, &many));
        found.push((empty, single, call, on_device, two_thousand, all_steps));
    }
    let taken = [&one, &steps].map(|f| match f.ran() {
        Some(Ran::OnDevice(taken)) => taken,
        other => panic!("{other:?}"),
    });
    for (empty, single, call, on_device, hand, steps) in found {
        let [empty, single, call, on_device] = [empty, single, call, on_device].map(microseconds);
        println!(
            "empty {empty:.1} us, one launch {single:.1}, a call {call:.1}, with arrays on the device {on_device:.1}"
        );
        let [hand, steps] = [hand, steps].map(microseconds);
        println!("by hand {hand:.0} us, 1000 steps {steps:.0}: {:.2}", steps / hand);
    }
    println!("{taken:?}");
    long_steps(&one, &compiler);
}

/// Steps on arrays of a million numbers, which cross to the device and back, or stay there.
fn long_steps(one: &Function, compiler: &Compiler) {
    let x = HostValue::f64s(&[1_000_000], &vec![0.5; 1_000_000]);
    let mut plain: Arguments = [("x".to_owned(), x.clone())].into();
    let mut resident: DeviceArguments = [("x".to_owned(), compiler.upload(&x).unwrap())].into();
    let mut times = [Duration::MAX; 2];
    for _ in 0..10 {
        let start = Instant::now();
        let next = one.call(&plain).unwrap();
        times[0] = times[0].min(start.elapsed());
        plain.insert("x".to_owned(), next);
        let start = Instant::now();
        let next = one.call_on_device(&resident).unwrap();
        times[1] = times[1].min(start.elapsed());
        resident.insert("x".to_owned(), next);
    }
    assert_eq!(resident["x"].read(), Ok(plain["x"].clone()));
    println!("a step on a million numbers: {:?}, with arrays on the device {:?}", times[0], times[1]);
}
