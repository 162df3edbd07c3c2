//! Stacks of threads on a device: records of loops whose lengths only the threads know, in gradients beside those of the interpreter, or of the CPU.

use super::{Measured, Workplace};
use cotan::host::{Arguments, HostValue, Value};
use cotan::vulkan::{Placement, Ran};
use cotan::{Compiler, Config, DerivativeForm, Engine, Program, derivative};
use cotan_ir::Elem;

const TEXT: &str = "fn step(s: f64) -> f64 = s * (1.0001 - 0.0001 * s)

fn one(x: f64, trips: i64) -> f64 {
  let mut s = x
  for _ in 0..trips { s = step(s) }
  s
}

fn alone[N](x: f64[N], trips: i64[N]) -> f64 = +/ tabulate(N, |i| one(x[i], trips[i]))

fn wide(x: f64, trips: i64) -> f64 {
  let (mut a, mut b, mut c, mut d) = (x, x + 1.0, x + 2.0, x + 3.0)
  for _ in 0..trips {
    (a, b, c, d) = (step(a), b + 0.001 * a * c, step(c), d + 0.001 * b * c)
  }
  a + b + c + d
}

fn four[N](x: f64[N], trips: i64[N]) -> f64 = +/ tabulate(N, |i| wide(x[i], trips[i]))

fn wider(x: f64, trips: i64) -> f64 {
  let (mut a, mut b, mut c, mut d) = (x, x + 1.0, x + 2.0, x + 3.0)
  let (mut e, mut f, mut g, mut h) = (x, x + 1.5, x + 2.5, x + 3.5)
  for _ in 0..trips {
    (a, b, c, d) = (step(a), b + 0.001 * a * c, step(c), d + 0.001 * b * c)
    (e, f, g, h) = (step(e), f + 0.001 * e * g, step(g), h + 0.001 * f * g)
  }
  a + b + c + d + e + f + g + h
}

fn eight[N](x: f64[N], trips: i64[N]) -> f64 = +/ tabulate(N, |i| wider(x[i], trips[i]))

# A bool, an i8 and an i64 are carried beside the float, and decide what is recorded.
fn mixed(x: f64, trips: i64) -> f64 {
  let mut s = x
  let mut flag = true
  let mut small = 0 as i8
  let mut k = 0
  while k < trips {
    s = if flag { step(s) } else { s + 0.01 * s * (small as f64) }
    flag = s > 0.5 && !flag
    small = if small > 5 as i8 { 0 as i8 } else { small + 1 as i8 }
    k += 1
  }
  s
}

fn types[N](x: f64[N], trips: i64[N]) -> f64 = +/ tabulate(N, |i| mixed(x[i], trips[i]))

# Two loops one after the other, the second as long as the first says, with one in it.
fn two(x: f64, trips: i64) -> f64 {
  let mut s = x
  let mut n = 0
  for _ in 0..trips {
    s = step(s)
    n = if s > 0.5 { n + 1 } else { n }
  }
  for k in 0..n {
    for _ in 0..k % 5 { s = step(s) }
  }
  s
}

fn siblings[N](x: f64[N], trips: i64[N]) -> f64 = +/ tabulate(N, |i| two(x[i], trips[i]))
";

/// A case: what it shows, the function, and how long the loop of each thread is.
struct Case {
    title: &'static str,
    function: &'static str,
    trips: Vec<i64>,
}

fn cases() -> Vec<Case> {
    let case = |title, function, trips| Case { title, function, trips };
    let mut skewed = vec![1; 64];
    skewed[40] = 1_000_000;
    vec![
        case("one below the first capacity", "alone", vec![15; 100]),
        case("the first capacity", "alone", vec![16; 100]),
        case("one above it", "alone", vec![17; 100]),
        case("2^0 to 2^15 trips", "alone", (0..16).map(|k| 1 << k).collect()),
        case("2^16 to 2^20 trips", "alone", (16..=20).map(|k| 1 << k).collect()),
        case("1 : 10^6", "alone", skewed),
        case("8 floats, 4,096 steps, 1,000 threads", "eight", vec![4096; 1000]),
        case("4 floats, 65,536 steps, 1,000 threads", "four", vec![65_536; 1000]),
        case("bool, i8 and i64 carried", "types", (0..300).collect()),
        case("131,073 iterations", "alone", (0..131_073).map(|k| k % 4).collect()),
        case("more than 65,535 groups", "alone", (0..65_536 * 64 + 1).map(|k| k % 2).collect()),
        case("sibling loops, the second nested", "siblings", (0..300).collect()),
    ]
}

/// Where a case ran.
enum Place {
    Device,
    Host(String),
}

fn run(compiler: &Compiler, program: &Program, case: &Case) -> Result<Place, String> {
    let request = derivative(case.function, DerivativeForm::ValueAndGrad, &["x"]);
    let function = |engine| compiler.function(program, &request, engine).map_err(|e| e.to_string());
    let is_short = case.trips.iter().sum::<i64>() <= 500_000;
    let host = function(if is_short { Engine::INTERPRETER } else { Engine::CPU })?;
    let device = function(Engine::VULKAN)?;
    let n = case.trips.len() as i64;
    let x: Vec<f64> = (0..n).map(|k| 0.4 + 0.001 * (k % 500) as f64).collect();
    let trips = Value { elem: Elem::I64, dims: vec![n], bits: case.trips.iter().map(|trips| *trips as u64).collect() };
    let args =
        Arguments::from([("x".to_owned(), HostValue::f64s(&[n], &x)), ("trips".to_owned(), HostValue::Tensor(trips))]);
    let expected = host.call(&args).map_err(|e| e.to_string())?;
    for _ in 0..2 {
        let found = device.call(&args).map_err(|e| e.to_string())?;
        let is_right = if is_short { found == expected } else { are_close(&found, &expected) };
        if !is_right {
            return Err(format!("other numbers than {}", if is_short { "the interpreter's" } else { "the CPU's" }));
        }
    }
    Ok(match device.ran() {
        Some(Ran::OnDevice(_)) => Place::Device,
        Some(Ran::OnHost(why)) => Place::Host(why),
        None => return Err("it did not run".to_owned()),
    })
}

/// Whether two results are the same but for what fused multiply-adds of the CPU's derivatives round otherwise.
fn are_close(found: &HostValue, expected: &HostValue) -> bool {
    let (found, expected) = (found.floats(), expected.floats());
    let is_close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-10 * b.abs();
    found.len() == expected.len() && found.iter().zip(&expected).all(is_close)
}

/// Every case runs on the device, and has the bits of the interpreter; what takes that too long is compared with the CPU.
pub(super) fn stacks(_: &Workplace) -> Result<Measured, String> {
    let mut config = Config::default();
    config.device.placement = Placement::Everything;
    let compiler = Compiler::new(config)?;
    let program = compiler.check("stacks.cot", TEXT);
    let (mut n_device, mut others) = (0, Vec::new());
    let cases = cases();
    for case in &cases {
        match run(&compiler, &program, case) {
            Ok(Place::Device) => n_device += 1,
            Ok(Place::Host(why)) => others.push(format!("{} ran on the host: {why}", case.title)),
            Err(why) => others.push(format!("{}: {why}", case.title)),
        }
    }
    let text = format!("{n_device} of {} cases ran on the device with the right numbers", cases.len());
    Ok(Measured::new(others.is_empty(), [vec![text], others].concat().join("; ")))
}
