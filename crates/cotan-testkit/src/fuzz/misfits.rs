//! Calls from Rust with values that may fit no signature: both engines give the same value, or refuse.

use super::{Reached, arguments, kind_of};
use crate::oracles::{same_bits, with_one_zero};
use crate::random::Rng;
use cotan::host::{Arguments, HostValue};
use cotan::{CallError, Compiler, Config, DerivativeForm, Engine, Function, Request, derivative};
use cotan_ir::{Const, Elem};
use cotan_llvm::load::SearchConfig;
use cotan_ops::Value;
use std::num::NonZeroUsize;
use std::sync::OnceLock;

/// Signatures of every kind.
const PROGRAM: &str = "\
struct P { w: f64[3], n: i64 }
enum E { A, B(f64), C(f64[2]) }
fn scalar(x: f64, n: i64) -> f64 = x * (n as f64)
fn vector[N](x: f64[N]) -> f64 = +/ x
fn pair[N](x: f64[N], y: f64[N]) -> f64 = +/ (x .* y)
fn shifted[N](x: f64[N + 5]) -> f64 = +/ x[0..N]
fn twice[N](x: f64[2 * N]) -> f64[N] = x[0..N]
fn matrix[N, M](x: f32[N, M]) -> f32[M, N] = tabulate([M, N], |i, j| x[j, i])
fn sized[N](x: f64) -> f64[N] = zeros[f64](N) .+ x
fn of_value(n: i64, x: f64[n]) -> f64 = +/ x
fn small(x: i8[2], b: bool, h: f16) -> f64 = if b { x[0] as f64 } else { h as f64 }
fn record(p: P) -> f64 = +/ p.w * (p.n as f64)
fn choice(e: E) -> f64 = match e { A => 0.0, B(x) => x, C(v) => +/ v }
fn many(t: (f64, f64[2]), ps: P[2]) -> f64 = t.0 + +/ t.1 + ps[0].w[0]
fn at[N](x: f64[N], k: i64) -> f64 = x[k]
";

/// Bytes that a call may hold.
const BYTES: u64 = 64 << 20;

/// A function of the program, or its value with its gradient, on both engines.
struct OnEngines {
    interpreted: Function,
    compiled: Function,
    /// Whether results behind the first are derivatives.
    is_gradient: bool,
}

/// The functions and the gradients of the program.
fn functions() -> Result<&'static [OnEngines], String> {
    static FUNCTIONS: OnceLock<Result<Vec<OnEngines>, String>> = OnceLock::new();
    FUNCTIONS.get_or_init(compiled).as_deref().map_err(Clone::clone)
}

fn compiled() -> Result<Vec<OnEngines>, String> {
    let llvm = std::env::var_os("COTAN_LLVM").map(Into::into);
    let compiler = Compiler::new(Config {
        llvm: SearchConfig { explicit: llvm, ..SearchConfig::default() },
        threads: NonZeroUsize::new(2),
        memory: Some(BYTES),
        ..Config::default()
    })?;
    let program = compiler.check("misfits.cot", PROGRAM);
    if program.has_errors() {
        return Err(format!("{:?}", program.diagnostics));
    }
    let mut all = Vec::new();
    for f in program.checked.program.functions.iter().filter(|f| !f.name.contains('.')) {
        let gradient = derivative(&f.name, DerivativeForm::ValueAndGrad, &[&f.params[0].name]);
        for (request, is_gradient) in [(Request::function(&f.name), false), (gradient, true)] {
            let function = |engine| compiler.function(&program, &request, engine);
            // Not every function has a gradient in its first parameter.
            if let (Ok(interpreted), Ok(compiled)) = (function(Engine::INTERPRETER), function(Engine::CPU)) {
                all.push(OnEngines { interpreted, compiled, is_gradient });
            }
        }
    }
    Ok(all)
}

/// Calls one of the functions with what the seed makes.
pub(super) fn call(seed: u64) -> Result<Reached, String> {
    let mut rng = Rng::new(seed);
    let functions = functions()?;
    let OnEngines { interpreted, compiled, is_gradient } = &functions[rng.below(functions.len())];
    let name = interpreted.entry().symbol.to_string();
    let said = if rng.chance(0.6) {
        let args = misfit(&mut rng, interpreted);
        let [expected, found] = [interpreted, compiled].map(|f| f.call(&args));
        let told = |args: &Arguments| format!("`{name}` of {args:?}");
        same(found, expected, *is_gradient).map_err(|e| format!("{}: {e}", told(&args)))?
    } else {
        let args = flat(&mut rng, interpreted);
        let [expected, found] = [interpreted, compiled].map(|f| f.call_flat(&args));
        let again = compiled.call_again(&args, vec![wild(&mut rng)]);
        let told = |e: String| format!("`{name}` of flat {args:?}: {e}");
        if let (Ok(first), Ok(again)) = (&found, &again) {
            same_bits(again, first, "a repeated call").map_err(told)?;
        }
        same_flat(found, expected, *is_gradient).map_err(told)?
    };
    Ok(Reached::from([format!("{name}: {said}")]))
}

/// Arguments that fit but for a change or two.
fn misfit(rng: &mut Rng, f: &Function) -> Arguments {
    let mut args = arguments::random(rng, f.entry()).unwrap_or_default();
    for _ in 0..rng.below(3) {
        let names: Vec<String> = args.keys().cloned().collect();
        let name = names.get(rng.below(names.len())).cloned().unwrap_or_else(|| "x".to_owned());
        match rng.below(5) {
            0 => drop(args.remove(&name)),
            1 => drop(args.insert(["y", "N", "M", "", "\u{1b}"][rng.below(5)].to_owned(), any(rng, 2))),
            _ => drop(args.insert(name, any(rng, 2))),
        }
    }
    args
}

/// Any value.
fn any(rng: &mut Rng, depth: usize) -> HostValue {
    match if depth == 0 { rng.below(2) } else { rng.below(6) } {
        0 => {
            let elem = rng.choice(&Elem::ALL);
            HostValue::Scalar(if elem == Elem::Bool {
                Const::bool(true)
            } else if elem.is_float() {
                Const::float(elem, 0.5)
            } else {
                Const::number(elem, 1)
            })
        }
        1 => HostValue::Tensor(wild(rng)),
        2 => HostValue::Tuple((0..rng.below(3)).map(|_| any(rng, depth - 1)).collect()),
        3 => {
            HostValue::Struct((0..rng.below(3)).map(|k| (["w", "n", "w"][k].to_owned(), any(rng, depth - 1))).collect())
        }
        4 => {
            let dims = vec![rng.range(-1, 3)];
            HostValue::Array { dims, items: (0..rng.below(3)).map(|_| any(rng, depth - 1)).collect() }
        }
        _ => {
            let payload = rng.chance(0.5).then(|| Box::new(any(rng, depth - 1)));
            HostValue::Enum { variant: rng.choice(&["A", "B", "C", "D"]).to_owned(), payload }
        }
    }
}

/// A tensor whose extents may be negative or huge, or not those of its elements.
fn wild(rng: &mut Rng) -> Value {
    let dims: Vec<i64> = (0..rng.below(3))
        .map(|_| if rng.chance(0.1) { rng.choice(&[-1, -5, i64::MAX, i64::MIN, 1 << 32]) } else { rng.range(0, 8) })
        .collect();
    let n = dims.iter().try_fold(1i64, |n, d| n.checked_mul(*d)).filter(|n| (0..100).contains(n)).unwrap_or(3);
    let n = if rng.chance(0.1) { rng.range(0, 4) } else { n };
    let elem = rng.choice(&[Elem::F64, Elem::F64, Elem::F32, Elem::I64, Elem::Bool]);
    Value { elem, dims, bits: vec![0; n as usize] }
}

/// Flat operands that fit but for a change or two.
fn flat(rng: &mut Rng, f: &Function) -> Vec<Value> {
    let fitting = arguments::random(rng, f.entry()).and_then(|args| cotan::host::fit_arguments(f.entry(), &args).ok());
    let mut args = fitting.unwrap_or_default();
    for _ in 0..rng.below(3) {
        let at = rng.below(args.len() + 1);
        match rng.below(4) {
            0 if at < args.len() => drop(args.remove(at)),
            1 => args.insert(at, wild(rng)),
            2 if at < args.len() => args[at] = Value::i64s(&[], &[rng.choice(&[-1, 0, 3, 100, i64::MAX, i64::MIN])]),
            _ if at < args.len() => args[at] = wild(rng),
            _ => {}
        }
    }
    args
}

fn same(
    found: Result<HostValue, CallError>,
    expected: Result<HostValue, CallError>,
    is_gradient: bool,
) -> Result<String, String> {
    let flat = |value: HostValue| {
        let mut scalars = Vec::new();
        value.each_scalar(&mut |c| scalars.push(Value { elem: Elem::F64, dims: Vec::new(), bits: vec![number(&c)] }));
        scalars
    };
    same_flat(found.map(flat), expected.map(flat), is_gradient)
}

/// A scalar as the bits of an f64, one NaN for all.
fn number(c: &Const) -> u64 {
    match c.as_float() {
        Some(x) if x.is_nan() => f64::NAN.to_bits(),
        Some(x) => x.to_bits(),
        None => c.bits(),
    }
}

/// Values with one zero where they are derivatives: plain products may give it another sign.
fn comparable(values: &[Value], is_gradient: bool) -> Vec<Value> {
    let is_derivative = |k: usize| is_gradient && k > 0;
    values.iter().enumerate().map(|(k, v)| if is_derivative(k) { with_one_zero(v) } else { v.clone() }).collect()
}

fn same_flat(
    found: Result<Vec<Value>, CallError>,
    expected: Result<Vec<Value>, CallError>,
    is_gradient: bool,
) -> Result<String, String> {
    match (found, expected) {
        (Err(CallError::Bug(e)), _) | (_, Err(CallError::Bug(e))) => Err(format!("a bug: {e}")),
        (Ok(found), Ok(expected)) => {
            let [found, expected] = [found, expected].map(|all| comparable(&all, is_gradient));
            same_bits(&found, &expected, "compiled code").map(|()| "a value".to_owned())
        }
        (Err(CallError::Check(a)), Err(CallError::Check(b))) if (a.kind, a.span) == (b.kind, b.span) => {
            Ok(a.kind.code().to_owned())
        }
        (Err(CallError::Arguments(a)), Err(CallError::Arguments(b))) if a == b => Ok(kind_of(&a.to_string())),
        // Engines count bytes in another way.
        (Err(CallError::OutOfMemory(_) | CallError::Limit(_)), _)
        | (_, Err(CallError::OutOfMemory(_) | CallError::Limit(_))) => Ok("a limit".to_owned()),
        (found, expected) => Err(format!("compiled code: {found:?}, interpreter: {expected:?}")),
    }
}
