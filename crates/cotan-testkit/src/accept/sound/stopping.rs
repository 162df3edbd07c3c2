//! Calls that are stopped by a deadline or cancelled, in every construct that may run for long, on every engine: how long
//! it takes until the call is over, and whether the function can be called again.

use super::super::{Line, Measured, Workplace};
use cotan::host::{Arguments, HostValue};
use cotan::{
    CallError, CallLimits, CancelToken, Compiler, Config, Deadline, DerivativeForm, Engine, Function, Request,
};
use cotan_ir::Const;
use cotan_llvm::Cache;
use std::time::{Duration, Instant};

pub(super) const LINE: Line = Line {
    title: "loops, nests, products, routines and parallel loops, stopped by a deadline and cancelled, on every engine",
    bar: "over within 50 ms, with the right error; called again, the right result",
    measure,
};

const BAR: Duration = Duration::from_millis(50);

/// How long a call runs before it is stopped.
const RUNS: Duration = Duration::from_millis(100);

/// How often one is tried: what else the machine does is not what is measured.
const TRIES: usize = 3;

/// Something that may run for long, by `n`, or by the extent of `x`.
struct Construct {
    name: &'static str,
    text: &'static str,
    /// The gradient with respect to `a` is called.
    is_gradient: bool,
    small: fn() -> Arguments,
    large: fn() -> Arguments,
}

/// A construct of which `n` says how long it runs.
const fn counted(name: &'static str, text: &'static str) -> Construct {
    Construct { name, text, is_gradient: false, small: || number(7), large: || number(1 << 50) }
}

fn number(n: i64) -> Arguments {
    Arguments::from([("n".to_owned(), HostValue::Scalar(Const::i64(n)))])
}

fn numbers(dims: &[i64]) -> Arguments {
    let n: i64 = dims.iter().product();
    let side = dims.last().copied().unwrap_or(1);
    // Symmetric, with a large diagonal, if it is a matrix.
    let entry = |k: i64| {
        let (i, j) = (k / side, k % side);
        if i == j { 40.0 } else { ((i + j) as f64 * 0.618_033_988_749_894_9).fract() }
    };
    let x: Vec<f64> = (0..n).map(entry).collect();
    Arguments::from([("x".to_owned(), HostValue::f64s(dims, &x))])
}

const CONSTRUCTS: &[Construct] = &[
    counted(
        "while true",
        "fn f(n: i64) -> f64 {\n  let mut k = 0\n  let mut y = 0.5\n  while true {\n    y = y * 0.5 + 1.0\n    \
         k += 1\n    if k == n { break }\n  }\n  y\n}",
    ),
    counted("a loop", "fn f(n: i64) -> f64 {\n  let mut y = 0.5\n  for i in 0..n { y = sin(y) + 0.5 }\n  y\n}"),
    counted(
        "a nest",
        "fn f(n: i64) -> f64 {\n  let mut y = 0.5\n  for i in 0..n { for j in 0..n { y = y * 0.5 + (j as f64) } }\n  \
         y\n}",
    ),
    counted(
        "a loop around a short one",
        "fn f(n: i64) -> f64 {\n  let mut y = 0.5\n  for i in 0..n { for j in 0..3 { y = y * 0.5 + (j as f64) } }\n  \
         y\n}",
    ),
    counted(
        "a while in a loop",
        "fn f(n: i64) -> f64 {\n  let mut y = 0.5\n  for i in 0..n {\n    while y < 3.0 { y = y + 1.0 }\n    \
         y = y - 2.5\n  }\n  y\n}",
    ),
    counted(
        "a loop over an array",
        "fn f(n: i64) -> f64 {\n  let mut a = [1.0, 2.0, 3.0]\n  for i in 0..n { a[i % 3] = a[(i + 1) % 3] * 0.5 }\n  \
         a[0]\n}",
    ),
    counted("a parallel sum", "fn f(n: i64) -> f64 = +/ tabulate(n, |i| sin(i as f64))"),
    counted(
        "a parallel loop of loops",
        "fn f(n: i64) -> f64 = +/ tabulate(64, |i| {\n  let mut y = i as f64\n  for k in 0..n { y = y * 0.5 + 1.0 }\n  y\n})",
    ),
    Construct {
        is_gradient: true,
        small: || with_slope(7),
        large: || with_slope(1 << 50),
        ..counted(
            "a gradient",
            "fn f(a: f64, n: i64) -> f64 {\n  let mut y = a\n  for i in 0..n { y = y * 0.5 + a }\n  y\n}",
        )
    },
    Construct {
        name: "a product",
        text: "fn f[N](x: f64[N, N]) -> f64 = +/[all] (x @ x @ x @ x)",
        is_gradient: false,
        small: || numbers(&[5, 5]),
        large: || numbers(&[2_500, 2_500]),
    },
    Construct {
        name: "a sort",
        text: "fn f[N](x: f64[N]) -> f64 = sort(x)[N / 2]",
        is_gradient: false,
        small: || numbers(&[7]),
        large: || numbers(&[3_000_000]),
    },
    Construct {
        name: "a solve",
        text: "import std.linalg\nfn f[N](x: f64[N, N]) -> f64 = linalg.solve(x, x)[0, 0]",
        is_gradient: false,
        small: || numbers(&[5, 5]),
        large: || numbers(&[2_000, 2_000]),
    },
    Construct {
        name: "eigenvalues",
        text: "import std.linalg\nfn f[N](x: f64[N, N]) -> f64 = linalg.eigh(x).0[0]",
        is_gradient: false,
        small: || numbers(&[5, 5]),
        large: || numbers(&[1_200, 1_200]),
    },
    Construct {
        name: "a Fourier transform",
        text: "import std.fft\nfn f[N](x: f64[N, 2]) -> f64 = fft.fft(fft.fft(fft.fft(x)))[0, 0]",
        is_gradient: false,
        small: || numbers(&[7, 2]),
        large: || numbers(&[1_000_003, 2]),
    },
];

fn with_slope(n: i64) -> Arguments {
    let mut args = number(n);
    args.insert("a".to_owned(), HostValue::f64(0.25));
    args
}

/// What runs a construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Interpreted,
    Compiled,
    /// Compiled quickly, and well beside the call.
    Quick,
}

impl Way {
    const ALL: [Way; 3] = [Way::Interpreted, Way::Compiled, Way::Quick];
}

/// Compilers for all ways, with a folder for the one that starts quickly.
struct Compilers {
    good: Compiler,
    quick: Compiler,
    folder: std::path::PathBuf,
}

impl Compilers {
    fn new() -> Result<Compilers, String> {
        let folder = std::env::temp_dir().join(format!("cotan-stopping-{}", std::process::id()));
        let cache = Cache::open(folder.clone(), 64 << 20).map_err(|e| e.to_string())?;
        let build = Some("stopping".to_owned());
        let quick = Compiler::new(Config { quick_start: true, build, cache: Some(cache), ..Config::default() })?;
        Ok(Compilers { good: Compiler::new(Config::default())?, quick, folder })
    }

    fn function(&self, construct: &Construct, way: Way) -> Result<Function, String> {
        let (compiler, engine) = match way {
            Way::Interpreted => (&self.good, Engine::INTERPRETER),
            Way::Compiled => (&self.good, Engine::CPU),
            Way::Quick => (&self.quick, Engine::CPU),
        };
        let program = compiler.check("stopping.cot", construct.text);
        if program.has_errors() {
            return Err(format!("{}: {:?}", construct.name, program.diagnostics));
        }
        let request = if construct.is_gradient {
            cotan::derivative("f", DerivativeForm::Grad, &["a"])
        } else {
            Request::function("f")
        };
        compiler.function(&program, &request, engine).map_err(|e| format!("{}: {e}", construct.name))
    }
}

impl Drop for Compilers {
    fn drop(&mut self) {
        // What is left lies in the folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// How long a call went on after its deadline.
fn past_deadline(function: &Function, args: &Arguments) -> Result<Duration, String> {
    let at = Instant::now() + RUNS;
    let limits = CallLimits { deadline: Some(Deadline::At(at)), ..CallLimits::default() };
    let outcome = function.limited(limits).call(args);
    let late = at.elapsed();
    if outcome == Err(CallError::TimedOut) { Ok(late) } else { Err(format!("not timed out: {}", shown(&outcome))) }
}

/// How long a call went on after it was cancelled, and whether its function can be called again then.
fn past_cancelling(function: &Function, args: &Arguments, small: (&Arguments, &HostValue)) -> Result<Duration, String> {
    let token = CancelToken::new();
    let function = function.limited(CallLimits { cancel: Some(token.clone()), ..CallLimits::default() });
    let other = token.clone();
    let cancels = std::thread::spawn(move || {
        std::thread::sleep(RUNS);
        other.cancel();
        Instant::now()
    });
    let outcome = function.call(args);
    let over = Instant::now();
    let at = cancels.join().map_err(|_| "the thread that cancels failed")?;
    if outcome != Err(CallError::Cancelled) {
        return Err(format!("not cancelled: {}", shown(&outcome)));
    }
    if function.call(small.0) != Err(CallError::Cancelled) {
        return Err("a call after the token was used is not cancelled".to_owned());
    }
    token.reset();
    if function.call(small.0).as_ref() != Ok(small.1) {
        return Err("another result after the call was cancelled".to_owned());
    }
    Ok(over.saturating_duration_since(at))
}

fn shown(outcome: &Result<HostValue, CallError>) -> String {
    match outcome {
        Ok(_) => "a result".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// How long calls of a construct go on when they are stopped: the longer one of both manners, each the best of its tries.
fn late(compilers: &Compilers, construct: &Construct, way: Way, tries: usize) -> Result<Duration, String> {
    let function = compilers.function(construct, way)?;
    let (small, large) = ((construct.small)(), (construct.large)());
    let expected = compilers.function(construct, Way::Interpreted)?.call(&small).map_err(|e| e.to_string())?;
    let mut best = [Duration::MAX; 2];
    for _ in 0..tries {
        let found = [past_deadline(&function, &large)?, past_cancelling(&function, &large, (&small, &expected))?];
        best.iter_mut().zip(found).for_each(|(best, found)| *best = found.min(*best));
        if best.iter().all(|best| *best <= BAR / 2) {
            break;
        }
    }
    if function.call(&small).as_ref() != Ok(&expected) {
        return Err("another result after calls were stopped".to_owned());
    }
    Ok(best[0].max(best[1]))
}

fn measure(_: &Workplace) -> Result<Measured, String> {
    let compilers = Compilers::new()?;
    let (mut n, mut worst, mut failed) = (0, (Duration::ZERO, String::new()), Vec::new());
    for construct in CONSTRUCTS {
        for way in Way::ALL {
            n += 1;
            let name = format!("{} ({way:?})", construct.name);
            match late(&compilers, construct, way, TRIES) {
                Ok(late) if late <= BAR => worst = worst.max((late, name)),
                Ok(late) => failed.push(format!("{name}: {} ms", late.as_millis())),
                Err(e) => failed.push(format!("{name}: {e}")),
            }
        }
    }
    let text = format!(
        "{} of {n} stop in time, both ways; the slowest after {:.1} ms: {}{}{}",
        n - failed.len(),
        worst.0.as_secs_f64() * 1e3,
        worst.1,
        if failed.is_empty() { "" } else { "; " },
        failed.join("; ")
    );
    Ok(Measured::new(failed.is_empty(), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests run beside others: what counts here is that calls stop and can be made again.
    const PATIENCE: Duration = Duration::from_secs(2);

    #[test]
    fn stopped_calls_end_soon_and_functions_can_be_called_again() {
        let compilers = Compilers::new().expect("compilers");
        for (k, construct) in CONSTRUCTS.iter().enumerate() {
            // Each construct in one way, all ways among them; the others in `cargo xtask accept sound`.
            let way = Way::ALL[k % Way::ALL.len()];
            let late =
                late(&compilers, construct, way, 1).unwrap_or_else(|e| panic!("{} ({way:?}): {e}", construct.name));
            assert!(late < PATIENCE, "{} ({way:?}): {late:?}", construct.name);
        }
    }
}
