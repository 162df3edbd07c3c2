//! The programs that are compared with shaders, their arguments, and what the shaders are given.

use anyhow::{Result, bail};
use cotan::host::{Elem, HostValue, Value};
use cotan::{DerivativeForm, Request, derivative};

/// A program and how its shader is run.
pub(super) struct Case {
    pub(super) name: &'static str,
    /// The program, whose function has the same name.
    pub(super) program: &'static str,
    /// What its gradient is taken in; nothing where the function itself is compared.
    pub(super) wrt: &'static [&'static str],
    /// Whether the gradient has a record, which a shader has in private memory.
    pub(super) has_record: bool,
    /// Its arguments. Arrays are those of the shader as well, in this order.
    pub(super) args: Vec<(&'static str, HostValue)>,
    /// The elements of each further array of the shader.
    pub(super) further: Vec<usize>,
    /// Which arrays of the shader are the results.
    pub(super) results: Vec<usize>,
    /// The numbers behind the arrays in the shader's block of words.
    pub(super) numbers: Vec<u64>,
    /// The threads of each pass of the shader.
    pub(super) passes: Vec<u64>,
}

/// Threads of a shader that share all work between them: more workgroups take longer to begin than they gain.
const THREADS: u64 = 1 << 12;

/// A program of `benches/reference`.
macro_rules! program {
    ($name:literal) => {
        include_str!(concat!("../../../../benches/reference/", $name, ".cot"))
    };
}

impl Case {
    pub(super) fn of_name(name: &str) -> Result<Case> {
        Ok(match name {
            "newton" => newton(1 << 16),
            "recurrence" => recurrence(1 << 16),
            "stencil" => stencil(512, 513),
            "sum" => sum(1 << 22),
            "mass_spring" => mass_spring((1 << 18) + 1),
            "scatter" => scatter(1 << 19),
            other => bail!("there is no case `{other}`: expected one of {}", super::GPU_CASES.join(", ")),
        })
    }

    /// The function that is compared, or its gradient.
    pub(super) fn request(&self) -> Request {
        match self.wrt {
            [] => Request::function(self.name),
            wrt => derivative(self.name, DerivativeForm::Grad, wrt),
        }
    }
}

/// So many numbers, of each of which a formula says what it is.
fn numbers(n: usize, number: impl Fn(f64) -> f64) -> Vec<f64> {
    (0..n).map(|k| number(k as f64)).collect()
}

/// Numbers from 0 to 1 that have no order.
fn scattered(n: usize) -> Vec<f64> {
    numbers(n, |k| (0.618_033_988_749_894_9 * k).fract())
}

fn vector(elements: &[f64]) -> HostValue {
    HostValue::f64s(&[elements.len() as i64], elements)
}

/// Arrays of so many elements, named, each from its own place in the same row of numbers: from `low` to `low + range`.
fn columns(names: &[(&'static str, f64, f64)], n: usize) -> Vec<(&'static str, HostValue)> {
    let all = scattered(n * names.len());
    let column = |(k, (name, low, range)): (usize, &(&'static str, f64, f64))| {
        let elements: Vec<f64> = all[k * n..(k + 1) * n].iter().map(|part| low + range * part).collect();
        (*name, vector(&elements))
    };
    names.iter().enumerate().map(column).collect()
}

fn newton(n: usize) -> Case {
    Case {
        name: "newton",
        program: program!("newton"),
        wrt: &["p", "q", "r"],
        has_record: true,
        args: columns(&[("p", 0.0, 2.0), ("q", 0.5, 2.0), ("r", 0.5, 7.5)], n),
        further: vec![n; 3],
        results: vec![3, 4, 5],
        numbers: vec![n as u64],
        passes: vec![THREADS],
    }
}

fn recurrence(n: usize) -> Case {
    Case {
        name: "recurrence",
        program: program!("recurrence"),
        wrt: &["x", "y", "a", "b"],
        has_record: true,
        args: columns(&[("x", 0.5, 1.0), ("y", 0.5, 1.0), ("a", 0.5, 1.0), ("b", 0.5, 1.0)], n),
        further: vec![n; 4],
        results: vec![4, 5, 6, 7],
        numbers: vec![n as u64],
        passes: vec![THREADS],
    }
}

fn stencil(rows: usize, columns: usize) -> Case {
    let n = rows * columns;
    let u = HostValue::f64s(&[rows as i64, columns as i64], &numbers(n, |k| (0.01 * k).sin()));
    Case {
        name: "stencil",
        program: program!("stencil"),
        wrt: &["u"],
        has_record: false,
        args: vec![("u", u)],
        further: vec![n, n],
        results: vec![2],
        numbers: vec![rows as u64, columns as u64],
        passes: vec![THREADS, THREADS],
    }
}

fn sum(n: usize) -> Case {
    let groups = THREADS / 64;
    Case {
        name: "sum",
        program: program!("sum"),
        wrt: &[],
        has_record: false,
        args: vec![("x", vector(&scattered(n)))],
        further: vec![groups as usize, 1],
        results: vec![2],
        numbers: vec![n as u64, groups],
        passes: vec![THREADS, 64],
    }
}

fn mass_spring(n: usize) -> Case {
    let x = numbers(n, |i| i + 0.1 * (0.3 * i).sin());
    let (v, k) = (numbers(n, |i| (0.2 * i).cos()), numbers(n - 1, |i| 10.0 + (0.1 * i).sin()));
    let [dt, c, beta] = [0.01, 0.05, 0.5];
    let scalars = [("dt", dt), ("c", c), ("beta", beta)].map(|(name, x)| (name, HostValue::f64(x)));
    let arrays = [("x", vector(&x)), ("v", vector(&v)), ("k", vector(&k))];
    Case {
        name: "mass_spring",
        program: program!("mass_spring"),
        wrt: &[],
        has_record: false,
        args: arrays.into_iter().chain(scalars).collect(),
        further: vec![n, n],
        results: vec![3, 4],
        numbers: vec![n as u64, dt.to_bits(), c.to_bits(), beta.to_bits()],
        passes: vec![THREADS],
    }
}

fn scatter(n: usize) -> Case {
    const BINS: usize = 1024;
    const COPIES: usize = 256;
    let at = scattered(n).into_iter().map(|part| (BINS as f64 * part) as u64).collect();
    let at = HostValue::Tensor(Value { elem: Elem::I64, dims: vec![n as i64], bits: at });
    Case {
        name: "scatter",
        program: program!("scatter"),
        wrt: &["x"],
        has_record: false,
        args: vec![("x", vector(&scattered(BINS))), ("at", at), ("w", vector(&scattered(n)))],
        further: vec![BINS * COPIES, BINS],
        results: vec![4],
        numbers: [n, BINS, COPIES].map(|n| n as u64).to_vec(),
        passes: vec![COPIES as u64, BINS as u64],
    }
}
