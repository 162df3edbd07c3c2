//! Long and many programs.

use super::{Line, Measured, Workplace};
use crate::compile::verified;
use crate::generate::source;
use cotan::host::{Arguments, HostValue};
use cotan::{Compiler, Config, DerivativeForm, Engine};
use cotan_llvm::jit::Engine as Llvm;
use cotan_llvm::load::SearchConfig;
use cotan_llvm::{Backend, CompileOptions};
use cotan_runtime::Pool;
use std::fmt::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

pub(super) const LINES: &[Line] = &[
    Line {
        title: "a chain of 20,000 terms and its gradient",
        bar: "under 5 s, value and gradient right",
        measure: chain,
    },
    Line {
        title: "200 generated modules, gradients included, under every LLVM that is installed",
        bar: "all compile under the toolchain's LLVM, and under LLVM 19 where it is installed",
        measure: modules,
    },
];

const TERMS: usize = 20_000;

fn chain(_: &Workplace) -> Result<Measured, String> {
    let mut text = String::from("fn f(x: f64, y: f64) -> f64 = x");
    for k in 1..TERMS {
        // Writing to a string cannot fail.
        let _ = write!(text, " + {}", if k % 2 == 0 { "x * y" } else { "y" });
    }
    let compiler = Compiler::new(Config::default())?;
    let start = Instant::now();
    let program = compiler.check("chain.cot", &text);
    let request = cotan::derivative("f", DerivativeForm::ValueAndGrad, &["x", "y"]);
    let f = compiler.function(&program, &request, Engine::CPU).map_err(|e| e.to_string())?;
    let seconds = start.elapsed().as_secs_f64();
    let args = Arguments::from([("x".to_owned(), HostValue::f64(0.5)), ("y".to_owned(), HostValue::f64(0.25))]);
    let found = f.call(&args).map_err(|e| e.to_string())?.floats();
    // 1 + 9,999 products and 10,000 of y; all sums of these are exact in binary.
    let products = (TERMS / 2 - 1) as f64;
    let expected = [0.5 + products * 0.125 + 2500.0, 1.0 + products * 0.25, products * 0.5 + 10_000.0];
    Ok(Measured::new(found == expected && seconds < 5.0, format!("{seconds:.2} s, {found:?}")))
}

fn modules(_: &Workplace) -> Result<Measured, String> {
    let mut text = Vec::new();
    let mut holds = true;
    let old = PathBuf::from("libLLVM.so.19.1");
    for (name, search) in [("toolchain's", SearchConfig::default()), ("LLVM 19", SearchConfig::only(old))] {
        let engine = match Llvm::new(&search, None) {
            Ok(engine) => engine,
            Err(_) if name == "LLVM 19" => {
                text.push("LLVM 19: not installed".to_owned());
                continue;
            }
            Err(e) => return Err(e.to_string()),
        };
        let pool = Arc::new(Pool::new(NonZeroUsize::MIN)?);
        let backend = Backend::new(engine, pool);
        let (mut n, mut errors) = (0, Vec::new());
        for seed in 0..200 {
            match module(&backend, seed) {
                Ok(()) => n += 1,
                Err(e) => errors.push(e),
            }
        }
        holds &= errors.is_empty();
        text.push(format!("{name}: {n} of 200{}", errors.first().map(|e| format!(" ({e})")).unwrap_or_default()));
    }
    Ok(Measured::new(holds, text.join("; ")))
}

/// Compiles the gradient of a generated program.
fn module(backend: &Backend, seed: u64) -> Result<(), String> {
    let case = crate::derived_case::Case::new(source::subject(seed)?)?;
    let name = case.first(cotan_ir::Mode::Vjp).canonical_name();
    let compiled = backend.compile(&verified(case.subject.module)?, &name, &CompileOptions::default());
    compiled.map(|_| ()).map_err(|e| format!("program {seed}: {e}"))
}
