//! What calls from Rust cost beside the code that they run.

use anyhow::{Context, Result, anyhow, ensure};
use cotan::host::{Arguments, Const, Elem, Elements, ElementsMut, HostValue, TensorMut, TensorRef, Value};
use cotan::{Compiler, DerivativeForm, Engine, Function, Request, derivative};
use serde::Serialize;
use std::hint::black_box;
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

/// The programs.
const TEXT: &str = "fn f[N](x: f64[N]) -> f64 = +/tabulate(N, |i| x[i] * x[i] * x[i])
fn axpy64[N](a: f64, x: f64[N], y: f64[N]) -> f64[N] = tabulate(N, |i| a * x[i] + y[i])
fn axpy32[N](a: f32, x: f32[N], y: f32[N]) -> f32[N] = tabulate(N, |i| a * x[i] + y[i])
";

/// The elements of the long arrays.
const LONG: usize = 1_000_000;

/// Calls of each thread in a sample.
const CALLS_OF_THREAD: u32 = 20_000;

/// Samples at least.
const FEWEST: usize = 20;

/// What a way to call takes.
#[derive(Clone, Debug, Serialize)]
pub struct HostFigures {
    /// What is called, and how.
    pub name: String,
    /// Nanoseconds of the fastest call.
    pub nanoseconds: f64,
    /// The same of the code in it, where it is told.
    pub code: Option<f64>,
}

/// The lines of a table.
pub fn host_table(rows: &[HostFigures]) -> Vec<String> {
    let head = format!("{:<44} {:>12} {:>12} {:>6}", "", "call", "code", "ratio");
    let line = |row: &HostFigures| {
        let code = row.code.map_or(String::new(), |code| format!("{code:>9.0} ns {:>6.2}", row.nanoseconds / code));
        format!("{:<44} {:>9.0} ns {code}", row.name, row.nanoseconds)
    };
    std::iter::once(head).chain(rows.iter().map(line)).collect()
}

/// Times all of them, each for so long.
pub fn host_figures(compiler: &Compiler, budget: Duration) -> Result<Vec<HostFigures>> {
    let program = compiler.check("hosts.cot", TEXT);
    ensure!(!program.has_errors(), "{:?}", program.diagnostics);
    let of = |request: &Request| compiler.function(&program, request, Engine::CPU).map_err(anyhow::Error::msg);
    let gradient = of(&derivative("f", DerivativeForm::Grad, &["x"]))?;
    let mut rows = of_five(&gradient, budget)?;
    rows.push(axpy(&of(&Request::function("axpy64"))?, Elem::F64, budget, |x| x)?);
    rows.push(axpy(&of(&Request::function("axpy32"))?, Elem::F32, budget, |x| x as f32)?);
    let other = of(&derivative("f", DerivativeForm::Grad, &["x"]))?;
    rows.push(two_threads([&gradient, &other], budget)?);
    Ok(rows)
}

/// What a call takes by two threads that call one function, and beside it two that have a function each.
fn two_threads(functions: [&Function; 2], budget: Duration) -> Result<HostFigures> {
    let calls = |f: &Function| -> Result<()> {
        let (x, mut found) = ([0.5, 1.0, 1.5, 2.0, 2.5], [0.0; 5]);
        for _ in 0..CALLS_OF_THREAD {
            let mut results = [TensorMut::new(Elem::F64, &[5], &mut found[..])?];
            f.call_leaves(black_box(&[TensorRef::new(Elem::F64, &[5], &x[..])?]), &mut results)?;
        }
        Ok(())
    };
    let together = |pair: [&Function; 2]| -> Result<f64> {
        let start = Instant::now();
        let ended = std::thread::scope(|scope| pair.map(|f| scope.spawn(|| calls(f))).map(ScopedJoinHandle::join));
        for outcome in ended {
            outcome.map_err(|_| anyhow!("a thread has panicked"))??;
        }
        Ok(start.elapsed().as_nanos() as f64 / f64::from(CALLS_OF_THREAD))
    };
    let (begin, mut least, mut n) = (Instant::now(), [f64::INFINITY; 2], 0);
    while n < FEWEST || begin.elapsed() < budget {
        for (least, pair) in least.iter_mut().zip([[functions[0]; 2], functions]) {
            *least = least.min(together(pair)?);
        }
        n += 1;
    }
    Ok(row("the same by two threads, beside two functions", least[0], Some(least[1])))
}

/// The fastest of calls that take turns in samples of so many.
fn fastest(budget: Duration, times: u32, mut call: impl FnMut() -> Result<()>) -> Result<f64> {
    let (begin, mut least, mut n) = (Instant::now(), f64::INFINITY, 0);
    while n < FEWEST || begin.elapsed() < budget {
        let start = Instant::now();
        for _ in 0..times {
            call()?;
        }
        least = least.min(start.elapsed().as_nanos() as f64 / f64::from(times));
        n += 1;
    }
    Ok(least)
}

fn row(name: &str, nanoseconds: f64, code: Option<f64>) -> HostFigures {
    HostFigures { name: name.to_owned(), nanoseconds, code }
}

fn of_five(gradient: &Function, budget: Duration) -> Result<Vec<HostFigures>> {
    let (x, mut found) = ([0.5, 1.0, 1.5, 2.0, 2.5], [0.0; 5]);
    let lent = TensorRef::new(Elem::F64, &[5], &x[..])?;
    let leaves = fastest(budget, 1000, || {
        let mut results = [TensorMut::new(Elem::F64, &[5], &mut found[..])?];
        Ok(gradient.call_leaves(black_box(&[lent]), &mut results)?)
    })?;
    ensure!(found == [0.75, 3.0, 6.75, 12.0, 18.75], "{found:?}");
    let by_name = fastest(budget, 1000, || {
        let mut results = [TensorMut::new(Elem::F64, &[5], &mut found[..])?];
        Ok(gradient.call_into(black_box(&[("x", lent)]), &mut results)?)
    })?;
    let args: Arguments = [("x".to_owned(), HostValue::f64s(&[5], &x))].into();
    let values = fastest(budget, 1000, || {
        black_box(gradient.call(black_box(&args))?);
        Ok(())
    })?;
    let what = "gradient of five numbers";
    Ok(vec![
        row(&format!("{what}, call_leaves"), leaves, None),
        row(&format!("{what}, call_into"), by_name, None),
        row(&format!("{what}, call"), values, None),
    ])
}

fn axpy<T: Copy + Default>(f: &Function, elem: Elem, budget: Duration, number: impl Fn(f64) -> T) -> Result<HostFigures>
where
    for<'t> &'t [T]: Into<Elements<'t>>,
    for<'t> &'t mut [T]: Into<ElementsMut<'t>>,
{
    let dims = [LONG as i64];
    let numbers: Vec<T> = (0..LONG).map(|k| number((k as f64 * 0.618).fract())).collect();
    let (scalar, mut room) = ([number(0.5)], vec![T::default(); LONG]);
    let other = numbers.clone();
    let [a, x, y] = [&scalar[..], &numbers, &other]
        .map(|elements| TensorRef::new(elem, if elements.len() == 1 { &[] } else { &dims }, elements));
    let [a, x, y] = [a?, x?, y?];
    let lent = fastest(budget, 1, || {
        let room = TensorMut::new(elem, &dims, &mut room[..])?;
        Ok(f.call_leaves(&[a, x, y], &mut [room])?)
    })?;
    let values = [a, x, y].map(|operand| operand.to_value().context("memory"));
    let flat = std::iter::once(Ok(Const::i64(LONG as i64).into())).chain(values).collect::<Result<Vec<Value>>>()?;
    let (mut earlier, mut code) = (Vec::new(), f64::INFINITY);
    fastest(budget, 1, || {
        earlier = f.call_warm(&flat, std::mem::take(&mut earlier), 1)?;
        code = code.min(f.statistics().context("compiled code")?.code_time.as_nanos() as f64);
        Ok(())
    })?;
    Ok(row(&format!("{elem} axpy of 10^6, call_leaves"), lent, Some(code)))
}
