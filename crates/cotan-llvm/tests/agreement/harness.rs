//! Runs a program of the core IR in both ways and compares.

use cotan_interp::{Options, run};
use cotan_ir::{Const, Module, VerifiedModule, parse_module};
use cotan_llvm::jit::Engine;
use cotan_llvm::load::SearchConfig;
use cotan_llvm::{Backend, Cache, CompileOptions, TaskSizes, Width};
use cotan_ops::{Registry, Value};
use cotan_runtime::Pool;
use cotan_runtime::{CompiledFunction, RuntimeError};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// The thread counts at which every program runs.
const THREADS: [usize; 5] = [1, 2, 3, 4, 8];
/// The widths at which every program runs, beside its own.
const WIDTHS: [u32; 2] = [1, 4];

fn backends() -> &'static [Backend] {
    static BACKENDS: OnceLock<Vec<Backend>> = OnceLock::new();
    BACKENDS.get_or_init(|| {
        // The code does not depend on the number of threads: all but the first backend find it here.
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("agreement");
        let backend = |threads: usize| {
            let pool = Pool::new(NonZeroUsize::new(threads).unwrap()).unwrap();
            let cache = Cache::open(&folder, 1 << 28).unwrap();
            Backend::new(Engine::new(&SearchConfig::default(), Some(cache)).unwrap(), Arc::new(pool))
        };
        THREADS.into_iter().map(backend).collect()
    })
}

/// A program, compiled for every thread count, and for every width.
pub(crate) struct Program {
    module: VerifiedModule,
    name: String,
    compiled: Vec<CompiledFunction>,
    at_widths: Vec<CompiledFunction>,
}

impl Program {
    /// The first function of a text; the others are called by it.
    pub(crate) fn new(text: &str) -> Program {
        let module = parse_module(text, Registry::standard()).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let start = text.trim_start().strip_prefix("fn ").unwrap();
        Program::of_module(module, start.split('(').next().unwrap())
    }

    /// The same with wavefronts in pieces of other sizes.
    pub(crate) fn in_tasks(text: &str, tasks: TaskSizes) -> Program {
        let module = parse_module(text, Registry::standard()).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let start = text.trim_start().strip_prefix("fn ").unwrap();
        Program::compiled(module, start.split('(').next().unwrap(), Some(tasks))
    }

    /// A function of a module.
    pub(crate) fn of_module(module: Module, name: &str) -> Program {
        Program::compiled(module, name, None)
    }

    fn compiled(module: Module, name: &str, tasks: Option<TaskSizes>) -> Program {
        let text = &module.to_string();
        let module = VerifiedModule::new(module).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
        let compile = |b: &Backend, width: Option<Width>| {
            // At widths beside its own LLVM is done soon, but in the campaign.
            let is_quick = width.is_some() && std::env::var_os("COTAN_CAMPAIGN").is_none();
            let options = CompileOptions { width, tasks, is_quick, ..CompileOptions::default() };
            b.compile(&module, name, &options).unwrap_or_else(|e| panic!("{e}\n{text}"))
        };
        let compiled = backends().iter().map(|b| compile(b, None)).collect();
        let at_widths = WIDTHS.iter().map(|width| compile(&backends()[1], Width::new(*width))).collect();
        Program { name: name.to_owned(), module, compiled, at_widths }
    }

    /// The results, which are the same in every way of running.
    pub(crate) fn agree(&self, args: &[Value]) -> Vec<Value> {
        let expected = run(&self.module, &self.name, args, &Options::default()).unwrap();
        let mut on_one_thread = None;
        for (f, how) in self.every_way() {
            let found = f.call(args).unwrap_or_else(|e| panic!("{how}: {e}, expected {expected:?}"));
            let first = on_one_thread.get_or_insert_with(|| found.clone());
            let same = canonical(first) == canonical(&found);
            assert!(same, "{how}: {found:?}, on one thread {first:?}, arguments {args:?}");
            if f.regroups_sums() {
                assert!(are_close(&found, &expected), "{how}, {args:?}: {found:?}, expected {expected:?}");
                continue;
            }
            assert_eq!(canonical(&found), canonical(&expected), "{how}, arguments {args:?}");
        }
        expected
    }

    /// The error, which is the same in every way of running.
    pub(crate) fn fail(&self, args: &[Value]) -> RuntimeError {
        let expected = match run(&self.module, &self.name, args, &Options::default()) {
            Err(cotan_interp::RuntimeError::Check(failure)) => {
                RuntimeError::Check { kind: failure.kind, args: failure.args, span: failure.span }
            }
            other => panic!("the interpreter gives {other:?}"),
        };
        for (f, how) in self.every_way() {
            assert_eq!(f.call(args).map_err(Some), Err(Some(expected.clone())), "{how}, {args:?}");
        }
        expected
    }

    fn every_way(&self) -> impl Iterator<Item = (&CompiledFunction, String)> {
        let on_threads = self.compiled.iter().zip(THREADS).map(|(f, n)| (f, format!("{n} threads")));
        let at_widths = self.at_widths.iter().zip(WIDTHS).map(|(f, width)| (f, format!("width {width}")));
        on_threads.chain(at_widths)
    }

    /// The function compiled for every number of threads.
    pub(crate) fn on_all_threads(&self) -> &[CompiledFunction] {
        &self.compiled
    }

    /// The text that is compiled at a width.
    pub(crate) fn llvm_ir(&self, width: Option<Width>) -> String {
        let options = CompileOptions { width, ..CompileOptions::default() };
        backends()[0].llvm_ir(&self.module, &self.name, &options).unwrap()
    }

    /// The function compiled for one thread.
    pub(crate) fn on_one_thread(&self) -> &CompiledFunction {
        &self.compiled[0]
    }
}

/// Whether values differ by rounding alone: code whose lanes add up rounds elsewhere.
fn are_close(found: &[Value], expected: &[Value]) -> bool {
    let floats = |v: &Value| (0..v.bits.len()).map(|k| v.get(k).as_float()).collect::<Option<Vec<f64>>>();
    found.len() == expected.len()
        && found.iter().zip(expected).all(|(a, b)| match (floats(a), floats(b)) {
            (Some(x), Some(y)) => {
                let scale = y.iter().filter(|y| y.is_finite()).fold(1.0_f64, |m, y| m.max(y.abs()));
                let tolerance = if a.elem == cotan_ir::Elem::F64 { 1e-12 } else { 1e-4 };
                let is_close =
                    |x: &f64, y: &f64| x == y || x.is_nan() && y.is_nan() || (x - y).abs() <= tolerance * scale;
                a.dims == b.dims && x.iter().zip(&y).all(|(x, y)| is_close(x, y))
            }
            (None, _) | (_, None) => a == b,
        })
}

/// Values in which every NaN has the same bits: which NaN an operation gives is left to the machine.
fn canonical(values: &[Value]) -> Vec<Value> {
    values.iter().map(|v| Value { bits: v.bits.iter().map(|b| canonical_bits(v, *b)).collect(), ..v.clone() }).collect()
}

fn canonical_bits(v: &Value, bits: u64) -> u64 {
    let is_nan = cotan_ir::Const::from_bits(v.elem, bits).as_float().is_some_and(f64::is_nan);
    if is_nan { Const::float(v.elem, f64::NAN).bits() } else { bits }
}

/// A vector of f64.
pub(crate) fn f64s(elements: &[f64]) -> Value {
    Value::f64s(&[elements.len() as i64], elements)
}

/// An f64.
pub(crate) fn f64_of(x: f64) -> Value {
    Value::f64s(&[], &[x])
}

/// Numbers whose sums round differently in every order.
pub(crate) fn irrational(n: usize) -> Vec<f64> {
    (0..n).map(|k| (k as f64 * 0.618_033_988_749_894_9).fract() - 0.3).collect()
}

/// An i64.
pub(crate) fn i64_of(n: i64) -> Value {
    Value::i64s(&[], &[n])
}

/// A vector of i64.
pub(crate) fn i64s(elements: &[i64]) -> Value {
    Value::i64s(&[elements.len() as i64], elements)
}

/// Different numbers that no sum makes round.
pub(crate) fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|k| ((k * 7919 + 13) % 1009) as f64 / 37.0 - 11.0).collect()
}
