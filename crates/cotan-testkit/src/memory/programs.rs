//! Programs whose calls take memory in every way there is.

use cotan::host::{Arguments, HostValue};
use cotan::{Compiler, Config, Engine, Function, Request};
use cotan_ir::Elem;
use cotan_ops::Value;
use std::num::NonZeroUsize;

/// A function `f`, and arguments of a size.
pub struct Program {
    /// What it takes memory for.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
    /// Arguments of about so many elements.
    pub arguments: fn(usize) -> Arguments,
}

/// Programs of which every large allocation may fail.
pub const PROGRAMS: &[Program] = &[
    Program { name: "a map", text: "fn f[N](x: f64[N]) -> f64[N] = x .* x .+ 1.0", arguments: floats },
    Program {
        name: "a gradient",
        text: "fn s[N](x: f64[N]) -> f64 = +/ (x .* x .* x)\n@grad(x) fn f[N](x: f64[N]) -> f64[N] = s(x)",
        arguments: floats,
    },
    Program { name: "short floats", text: "fn f[N](x: f32[N]) -> f32[N] = x .* x", arguments: short },
    Program {
        name: "arrays on the way",
        text: "fn f[N](x: f64[N]) -> f64 {
  let mut y = x
  for i in 1..N { y[i] = sin(y[i - 1]) + x[i] }
  +/ (y .* y)
}",
        arguments: floats,
    },
    Program {
        name: "the record of a loop",
        text: "@mode(reverse) fn steps[N](x: f64[N]) -> f64 {
  let mut y = x[0]
  for k in 0..N { y = sin(y) + 0.01 }
  y
}
@grad(x) fn f[N](x: f64[N]) -> f64[N] = steps(x)",
        arguments: floats,
    },
    Program {
        name: "a result of unknown length",
        text: "import std.index\nfn f[N](x: f64[N]) -> f64[_] = index.compress(x, x .> 0.5)",
        arguments: floats,
    },
    Program {
        name: "several results",
        text: "fn f[N](x: f64[N]) -> (f64[N], f64[N], f64) = (x .+ 1.0, x .* 2.0, +/ x)",
        arguments: floats,
    },
    Program {
        name: "structs",
        text: "struct P { a: f64, b: f64 }\nfn f[N](p: P[N]) -> f64[N] = tabulate(N, |i| p[i].a * p[i].b)",
        arguments: structs,
    },
    Program { name: "a sort", text: "fn f[N](x: f64[N]) -> f64[N] = sort(x)", arguments: floats },
    Program {
        name: "a system of equations",
        text: "import std.linalg\nfn f[N](a: f64[N, N], b: f64[N]) -> f64[N] = linalg.solve_vector(a, b)",
        arguments: system,
    },
];

/// Routines, of which each works in memory of its own.
pub const ROUTINES: &[Program] = &[
    Program { name: "sort", text: "fn f[N](x: f64[N]) -> f64[N] = sort(x)", arguments: floats },
    Program {
        name: "solve",
        text: "import std.linalg\nfn f[N](a: f64[N, N], b: f64[N]) -> f64[N] = linalg.solve_vector(a, b)",
        arguments: system,
    },
    Program {
        name: "cholesky",
        text: "import std.linalg\nfn f[N](a: f64[N, N], b: f64[N]) -> f64[N, N] = linalg.cholesky(a)",
        arguments: system,
    },
    Program {
        name: "qr",
        text: "import std.linalg\nfn f[N](a: f64[N, N], b: f64[N]) -> f64[N, N] = linalg.qr(a).0",
        arguments: system,
    },
    Program {
        name: "eigh",
        text: "import std.linalg\nfn f[N](a: f64[N, N], b: f64[N]) -> f64[N] = linalg.eigh(a).0",
        arguments: system,
    },
    Program {
        name: "svd",
        text: "import std.linalg\nfn f[N](a: f64[N, N], b: f64[N]) -> f64[_] = linalg.svd(a).1",
        arguments: system,
    },
    Program {
        name: "fft",
        text: "import std.fft\nfn f[N](x: f64[N]) -> f64[N / 2 + 1, 2] = fft.rfft(x)",
        arguments: floats,
    },
    Program { name: "product", text: "fn f[N](a: f64[N, N], b: f64[N]) -> f64[N, N] = a @ a", arguments: system },
];

impl Program {
    /// The function, on one thread, within so many bytes.
    pub fn function(&self, engine: Engine, memory: Option<u64>) -> Result<Function, String> {
        let threads = NonZeroUsize::new(1);
        let compiler = Compiler::new(Config { threads, memory, ..Config::default() })?;
        let program = compiler.check("memory.cot", self.text);
        let function = compiler.function(&program, &Request::function("f"), engine);
        function.map_err(|e| format!("{}: {e}", self.name))
    }
}

/// Numbers between 0 and 1.
fn number(k: usize) -> f64 {
    (k * 7919 % 10_007) as f64 / 10_007.0
}

fn arguments<const K: usize>(args: [(&str, HostValue); K]) -> Arguments {
    args.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn floats(n: usize) -> Arguments {
    let x: Vec<f64> = (0..n).map(number).collect();
    arguments([("x", HostValue::f64s(&[n as i64], &x))])
}

fn short(n: usize) -> Arguments {
    let bits = (0..n).map(|k| u64::from((number(k) as f32).to_bits())).collect();
    arguments([("x", HostValue::Tensor(Value { elem: Elem::F32, dims: vec![n as i64], bits }))])
}

fn structs(n: usize) -> Arguments {
    let field = |name: &str, x: f64| (name.to_owned(), HostValue::f64(x));
    let item = |k: usize| HostValue::Struct(vec![field("a", number(k)), field("b", number(k + 1))]);
    arguments([("p", HostValue::Array { dims: vec![n as i64], items: (0..n).map(item).collect() })])
}

/// A symmetric matrix with a large diagonal, of about so many elements, and a right hand side.
fn system(n: usize) -> Arguments {
    let side = n.isqrt();
    let entry = |k: usize| {
        let (i, j) = (k / side, k % side);
        if i == j { side as f64 } else { number(i * j + i + j) }
    };
    let a: Vec<f64> = (0..side * side).map(entry).collect();
    let b: Vec<f64> = (0..side).map(number).collect();
    let n = side as i64;
    arguments([("a", HostValue::f64s(&[n, n], &a)), ("b", HostValue::f64s(&[n], &b))])
}
