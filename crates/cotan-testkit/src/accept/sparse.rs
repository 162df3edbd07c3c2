//! Lines of sparse Jacobians: how many colours they take, that they are the dense ones, and how long a large one takes.

use super::{Line, Measured, Workplace};
use cotan::host::{Arguments, HostValue};
use cotan::sparse::SparseJacobian;
use cotan::{Compiler, Config, DerivativeForm, DerivativeMode, Engine, Program, Request, derivative};
use cotan_ops::Value;
use std::time::Instant;

pub(super) const LINES: &[Line] = &[
    Line {
        title: "colours of band, arrow, 2-D stencil and bundle adjustment",
        bar: "at most the largest number of entries in a row (forward) or column (reverse) + 2",
        measure: colours,
    },
    Line {
        title: "the same matrices against the dense ones, both modes",
        bar: "at most 1e-13 of the largest entry, and a product agrees",
        measure: equal_to_dense,
    },
    Line {
        title: "a 10^5 x 10^5 five-point stencil: pattern, colouring, compilation, evaluation, compressed rows",
        bar: "under 1 s, the best of three",
        measure: large_stencil,
    },
];

const PROGRAMS: &str = "
fn band[N](x: f64[N]) -> f64[N] = tabulate(N, |i| {
  let mut s = x[i] * x[i]
  for j in max(i - 2, 0)..min(i + 3, N) { s += x[i] * sin(x[j]) }
  s
})

fn arrow[N](x: f64[N]) -> f64[N] = tabulate(N, |i| if i == 0 { x @ x } else { x[0] * x[i] })

fn at[N, M](u: f64[N, M], i: i64, j: i64) -> f64 =
  if i >= 0 && i < N && j >= 0 && j < M { u[i, j] } else { 0.0 }

fn stencil[N, M](x: f64[N, M]) -> f64[N, M] = tabulate([N, M], |i, j| {
  let c = x[i, j]
  4.0 * c - at(x, i - 1, j) - at(x, i + 1, j) - at(x, i, j - 1) - at(x, i, j + 1) + 0.1 * exp(c)
})

fn bundles[N, P](x: f64[N, 11], points: f64[P, 3]) -> f64[P, 2] = tabulate(P, |k| {
  let camera = x[(k * k + 3 * k) % N]
  let p = points[k] .- [camera[3], camera[4], camera[5]]
  let z = p[2] + camera[0] * p[0] + 9.0
  let (u, v) = ((p[0] + camera[1] * p[1]) / z, (p[1] + camera[2] * p[0]) / z)
  let bent = camera[6] * (1.0 + camera[9] * (u * u + v * v) + camera[10] * (u * u + v * v) ** 2)
  [bent * u + camera[7], bent * v + camera[8]]
})
";

/// Functions with the dims of their parameter `x`.
const SUBJECTS: [(&str, &[i64]); 4] =
    [("band", &[60]), ("arrow", &[40]), ("stencil", &[17, 13]), ("bundles", &[7, 11])];

/// Points of the bundles.
const POINTS: i64 = 40;

fn numbers(dims: &[i64]) -> HostValue {
    let n = dims.iter().product::<i64>();
    let elements: Vec<f64> = (0..n).map(|k| (k as f64 * 0.37).sin()).collect();
    HostValue::Tensor(Value::f64s(dims, &elements))
}

fn arguments(name: &str, dims: &[i64]) -> Arguments {
    let mut args = Arguments::from([("x".to_owned(), numbers(dims))]);
    if name == "bundles" {
        args.insert("points".to_owned(), numbers(&[POINTS, 3]));
    }
    args
}

fn request(name: &str, mode: Option<DerivativeMode>) -> Request {
    let mut request = derivative(name, DerivativeForm::Jacobian, &["x"]);
    if let Some(form) = &mut request.form {
        form.mode = mode;
    }
    request
}

fn compiled() -> Result<(Compiler, Program), String> {
    let compiler = Compiler::new(Config::default())?;
    let program = compiler.check("sparse.cot", PROGRAMS);
    match program.diagnostics.first() {
        Some(diagnostic) => Err(diagnostic.message.clone()),
        None => Ok((compiler, program)),
    }
}

fn colours(_: &Workplace) -> Result<Measured, String> {
    let (compiler, program) = compiled()?;
    let mut text = Vec::new();
    let mut holds = true;
    for (name, dims) in SUBJECTS {
        let args = arguments(name, dims);
        let jacobian = SparseJacobian::new(&compiler, &program, &request(name, None), Engine::CPU, &args)
            .map_err(|e| format!("{name}: {e}"))?;
        let (mode, largest) = match jacobian.colouring().mode() {
            DerivativeMode::Forward => ("forward", jacobian.pattern().largest_row()),
            DerivativeMode::Reverse => ("reverse", jacobian.pattern().transposed().largest_row()),
        };
        let count = jacobian.colouring().count();
        holds &= count <= largest + 2;
        text.push(format!("{name} {count} for {largest} ({mode})"));
    }
    Ok(Measured::new(holds, text.join(", ")))
}

fn equal_to_dense(_: &Workplace) -> Result<Measured, String> {
    let (compiler, program) = compiled()?;
    let mut worst = 0.0;
    let mut do_products_agree = true;
    for (name, dims) in SUBJECTS {
        let args = arguments(name, dims);
        for mode in [DerivativeMode::Forward, DerivativeMode::Reverse] {
            let request = request(name, Some(mode));
            let fail = |e: &dyn std::fmt::Display| format!("{name}: {e}");
            let dense = compiler.function(&program, &request, Engine::CPU).map_err(|e| fail(&e))?;
            let dense = dense.call(&args).map_err(|e| fail(&e))?.floats();
            let jacobian =
                SparseJacobian::new(&compiler, &program, &request, Engine::CPU, &args).map_err(|e| fail(&e))?;
            let matrix = jacobian.evaluate(&args).map_err(|e| fail(&e))?;
            do_products_agree &= jacobian.check(&args, &matrix).map_err(|e| fail(&e))?.is_ok;
            let sparse = matrix.dense();
            if sparse.len() != dense.len() {
                return Err(fail(&format!("expected {} entries, found {}", dense.len(), sparse.len())));
            }
            let largest = dense.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            let error = sparse.iter().zip(&dense).map(|(x, y)| (x - y).abs()).fold(0.0, super::adbench::larger);
            worst = super::adbench::larger(worst, error / largest);
        }
    }
    Ok(Measured::new(worst <= 1e-13 && do_products_agree, format!("worst error {worst:.1e} of the largest entry")))
}

fn large_stencil(_: &Workplace) -> Result<Measured, String> {
    let (compiler, program) = compiled()?;
    let args = arguments("stencil", &[320, 320]);
    let mut best = f64::INFINITY;
    let mut text = String::new();
    let mut is_right = true;
    for _ in 0..3 {
        let start = Instant::now();
        let jacobian = SparseJacobian::new(&compiler, &program, &request("stencil", None), Engine::CPU, &args)
            .map_err(|e| e.to_string())?;
        let made = start.elapsed().as_secs_f64();
        let matrix = jacobian.evaluate(&args).map_err(|e| e.to_string())?;
        let seconds = start.elapsed().as_secs_f64();
        is_right &= jacobian.check(&args, &matrix).map_err(|e| e.to_string())?.is_ok;
        // Every point, and its neighbours but for those beyond the border.
        is_right &= matrix.pattern.entries() == 5 * 320 * 320 - 4 * 320;
        if seconds < best {
            best = seconds;
            let (rows, columns) = matrix.pattern.shape();
            let colours = jacobian.colouring().count();
            text = format!(
                "{seconds:.2} s ({:.2} s of it evaluation), {rows} x {columns}, {colours} colours",
                seconds - made
            );
        }
    }
    Ok(Measured::new(best < 1.0 && is_right, text))
}
