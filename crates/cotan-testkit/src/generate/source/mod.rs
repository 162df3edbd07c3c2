//! Random programs as source text, over the core of the language.
//!
//! A program is one function of floats and arrays, with helpers. It type-checks and does not fail at run time by
//! construction: indices are taken modulo a size, arguments of partial functions are mapped into their domains, and what
//! is carried through loops is bounded by `sin` or `tanh`, so that finite differences say something about it.

mod blocks;
mod features;
mod generated;
mod scalars;
mod scope;
mod statements;
mod tensors;
mod tree;

pub use generated::Generated;
pub use tree::{Function, Program, Stmt};

use crate::derived_case::Subject;
use crate::frontend;
use crate::generate::{Construct, variants};
use crate::random::Rng;
use cotan_ir::{Elem, Module};
use cotan_ops::Value;
use scope::{Dim, Scope, Tensor};
use std::collections::BTreeSet;

/// How long a program is.
#[derive(Clone, Copy)]
enum Length {
    /// Some thirty statements.
    Long,
    /// Few, for who wants many programs.
    Short,
}

/// The program of a seed.
pub fn generate(seed: u64) -> Generated {
    of_length(seed, Length::Long)
}

fn of_length(seed: u64, length: Length) -> Generated {
    let mut rng = Rng::new(seed);
    let is_single = rng.chance(0.12);
    let float = if is_single { "f32" } else { "f64" };
    let mut constructs = BTreeSet::new();
    // Differences say nothing about programs with some of the constructs, so most programs do without.
    let may_be_rough = rng.chance(0.09);
    let mut writer = Writer {
        rng: &mut rng,
        constructs: &mut constructs,
        float,
        counter: 0,
        length,
        budget: 0,
        leaves: false,
        may_return: false,
        may_call: false,
        may_be_rough,
        declarations: Vec::new(),
    };
    let program = writer.program();
    let args = arguments(&mut rng, if is_single { Elem::F32 } else { Elem::F64 });
    Generated { program, args, constructs }
}

/// The program of a seed, compiled as far as the core IR.
pub fn subject(seed: u64) -> Result<Subject, String> {
    generate(seed).subject(seed)
}

/// The same of a short program.
pub fn short_subject(seed: u64) -> Result<Subject, String> {
    of_length(seed, Length::Short).subject(seed)
}

impl Generated {
    /// The program compiled as far as the core IR; the seed names its random directions.
    pub fn subject(&self, seed: u64) -> Result<Subject, String> {
        let program = frontend::checked("generated.cot", &self.program.text())?;
        let lowered = self.lower(&program)?;
        let entry = &lowered.entry;
        let failing = self.failing().iter().map(|bad| bad.arguments_for(entry)).collect::<Result<_, _>>()?;
        let (name, args) = (entry.symbol.clone(), self.arguments_for(entry)?);
        Ok(Subject {
            seed,
            constructs: self.constructs.clone(),
            variants: variants::of(&program.checked.program, &["f", "shown"]),
            failing,
            source: Some(self.clone()),
            ..Subject::new(format!("program {seed}"), Module::clone(&lowered.module), name, args)
        })
    }
}

/// Prints values of all kinds, also in loops and calls, and then calls the function to test.
const SHOWN: &str = "@io fn shown[N, D](x: {t}, y: {t}, a: {t}[N], b: {t}[D], m: {t}[N, D], ix: i64[N], counts: i64[N], k: i64) -> {t} {
  print(\"x =\", x, k % 3 == 0, 'A')
  print_str(\"indices\")
  for i in 0..N { if a[i] > 0.0 { print(i, m[ix[i]]) } }
  each(b, |u| print(u))
  print(Pair { s: y, v: a }, (ix, (x as f16) as f32))
  print_i32((k % 9) as i32)
  let value = f(x, y, a, b, m, ix, counts, k)
  print(\"{:9.3} of {:.2e}\", value, (b, m[0]))
  assert(close((value, x), (value, x), 1e-9) || x * value != x * value, \"a value is close to itself\")
  value
}";

/// Writes a program.
struct Writer<'a> {
    rng: &'a mut Rng,
    constructs: &'a mut BTreeSet<Construct>,
    /// The float type.
    float: &'static str,
    /// Numbers names.
    counter: usize,
    length: Length,
    /// Statements still to be written.
    budget: usize,
    /// Whether something in the innermost loop leaves it early.
    leaves: bool,
    may_return: bool,
    /// Whether helpers and features are there to be used.
    may_call: bool,
    may_be_rough: bool,
    /// What the features in use need.
    declarations: Vec<String>,
}

impl Writer<'_> {
    fn has(&mut self, construct: Construct) {
        self.constructs.insert(construct);
    }

    fn fresh(&mut self, letter: char) -> String {
        self.counter += 1;
        format!("{letter}{}", self.counter)
    }

    fn program(&mut self) -> Program {
        let t = self.float;
        self.declarations = vec![format!("struct Pair[N] {{ s: {t}, v: {t}[N] }}")];
        let curve = self.curve();
        let energy = self.energy();
        let moved = Function {
            head: format!("fn moved[N](p: Pair[N], s: {t}) -> Pair[N]"),
            body: Vec::new(),
            result: "Pair { s: sin(p.s + s), v: sin(p.v .* s .+ p.s) }".to_owned(),
        };
        self.may_call = true;
        let main = self.main();
        if self.rng.chance(0.1) {
            self.has(Construct::Output);
            self.declarations.push(SHOWN.replace("{t}", t));
        }
        Program { declarations: std::mem::take(&mut self.declarations), functions: vec![curve, energy, moved, main] }
    }

    /// A helper of two scalars.
    fn curve(&mut self) -> Function {
        let mut scope = Scope { scalars: vec!["u".into(), "t".into()], depth: 2, ..Scope::default() };
        let (body, result) = self.helper_body(&mut scope, 3);
        let head = format!("fn curve(u: {0}, t: {0}) -> {0}", self.float);
        Function { head, body, result: format!("sin(u * t + {result})") }
    }

    /// A helper of a vector and a scalar.
    fn energy(&mut self) -> Function {
        let vectors = vec![Tensor { name: "v".into(), shape: Dim::N, is_mutable: false }];
        let mut scope = Scope { scalars: vec!["s".into()], vectors, depth: 2, ..Scope::default() };
        let (body, result) = self.helper_body(&mut scope, 2);
        let head = format!("fn energy[N](v: {0}[N], s: {0}) -> {0}", self.float);
        Function { head, body, result: format!("tanh((+/ sin(v .* s)) + {result})") }
    }

    fn helper_body(&mut self, scope: &mut Scope, n: usize) -> (Vec<Stmt>, String) {
        let mut body = Vec::new();
        let (n, budget) = match self.length {
            Length::Long => (n, 6),
            Length::Short => (1, 2),
        };
        self.budget = budget;
        self.let_scalar(scope, &mut body);
        for _ in 0..n {
            self.statement(scope, &mut body);
        }
        (body, self.rng.recent(&scope.scalars).clone())
    }

    fn main(&mut self) -> Function {
        let vector = |name: &str, shape| Tensor { name: name.to_owned(), shape, is_mutable: false };
        let mut scope = Scope {
            scalars: vec!["x".into(), "y".into()],
            vectors: vec![vector("b", Dim::D), vector("a", Dim::N)],
            matrices: vec![Tensor { name: "m".into(), shape: (), is_mutable: false }],
            integers: vec!["k".into()],
            index_arrays: vec!["ix".into()],
            count_arrays: vec!["counts".into()],
            has_sizes: true,
            ..Scope::default()
        };
        let mut body = Vec::new();
        self.budget = match self.length {
            Length::Long => 28 + self.rng.below(14),
            Length::Short => 2 + self.rng.below(5),
        };
        self.may_return = true;
        self.let_scalar(&mut scope, &mut body);
        // Something to change from the start on.
        for text in ["let mut v0 = a .* 0.5", "let mut m0 = sin(m)", "let mut s0 = x * y"] {
            self.line(&mut body, text.to_owned());
        }
        scope.vectors.push(Tensor { name: "v0".into(), shape: Dim::N, is_mutable: true });
        scope.matrices.push(Tensor { name: "m0".into(), shape: (), is_mutable: true });
        scope.scalars.push("s0".into());
        scope.mutable_scalars.push("s0".into());
        while self.budget > 0 {
            self.statement(&mut scope, &mut body);
        }
        let t = self.float;
        let head = format!(
            "fn f[N, D](x: {t}, y: {t}, a: {t}[N], b: {t}[D], m: {t}[N, D], ix: i64[N], counts: i64[N], k: i64) -> {t}"
        );
        let result = self.result(&scope);
        Function { head, body, result }
    }

    /// A value in which everything that was changed takes part.
    fn result(&mut self, scope: &Scope) -> String {
        let mut terms = Vec::new();
        for name in scope.mutable_scalars.iter().chain(scope.scalars.iter().rev().take(4)) {
            terms.push(format!("sin({name})"));
        }
        for v in scope.vectors.iter().filter(|v| v.is_mutable).chain(scope.vectors.iter().rev().take(2)) {
            terms.push(format!("0.5 * (+/ sin({}))", v.name));
        }
        for m in scope.matrices.iter().filter(|m| m.is_mutable) {
            terms.push(format!("0.4 * (+/[all] sin({}))", m.name));
        }
        for p in &scope.pairs {
            terms.push(format!("{0}.s + 0.3 * (+/ {0}.v)", p.name));
        }
        terms.dedup();
        terms.join(" + ")
    }
}

/// Arguments for the parameters of every program.
fn arguments(rng: &mut Rng, elem: Elem) -> Vec<(&'static str, Value)> {
    let (n, d) = (rng.range(1, 5), rng.range(1, 4));
    let mut floats = |dims: &[i64]| {
        let bits = (0..cotan_ops::count(dims)).map(|_| cotan_ir::Const::float(elem, rng.span(-1.0, 1.0)).bits());
        Value { elem, dims: dims.to_vec(), bits: bits.collect() }
    };
    let mut args =
        vec![("x", floats(&[])), ("y", floats(&[])), ("a", floats(&[n])), ("b", floats(&[d])), ("m", floats(&[n, d]))];
    let mut integers = |hi: i64| Value::i64s(&[n], &(0..n).map(|_| rng.range(0, hi)).collect::<Vec<_>>());
    args.extend([("ix", integers(n)), ("counts", integers(4))]);
    args.push(("k", Value::i64s(&[], &[rng.range(0, 6)])));
    args
}
