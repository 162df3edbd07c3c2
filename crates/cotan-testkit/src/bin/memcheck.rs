//! `memcheck N`: calls N programs of `tests/run` with a gradient, and their gradients, as compiled code. A checker of memory
//! watches the process: what comes out is tested elsewhere.

use anyhow::{Context, Result, bail};
use cotan::host::{fit_arguments, with_defaults};
use cotan::{DerivativeForm, Request, derivative};
use cotan_llvm::CompileOptions;
use cotan_runtime::CallOptions;
use cotan_testkit::compile::shared_machine;
use cotan_testkit::files::{programs, tests_folder};
use cotan_testkit::frontend::{loaded, lower};
use cotan_testkit::header::{self, Expected, named_arguments};
use cotan_testkit::parallel;
use cotan_testkit::tier;

/// Bytes that a call may hold: a checker has few addresses to give away.
const BYTES: usize = 256 << 20;

#[expect(clippy::print_stdout, reason = "the output of a command line tool")]
fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [n] = args.as_slice() else { bail!("usage: memcheck N") };
    let n: usize = n.parse().with_context(|| format!("`{n}` is no number"))?;
    let picked = picked(n)?;
    let outcomes = parallel::map(&picked, |program| program.call().map_err(|e| format!("{}: {e}", program.name)));
    let failures: Vec<String> = outcomes.into_iter().filter_map(Result::err).collect();
    if !failures.is_empty() {
        bail!("{}", failures.join("\n"));
    }
    println!("{} programs of tests/run with their gradients", picked.len());
    Ok(())
}

/// A program and the call that its header describes first.
struct Picked {
    name: String,
    text: String,
    case: header::Case,
}

/// The first programs by a hash of their names, of those that give a value and a gradient.
fn picked(n: usize) -> Result<Vec<Picked>> {
    let root = tests_folder().join("run");
    let mut all = Vec::new();
    for path in programs(&root) {
        let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        let text = std::fs::read_to_string(&path).with_context(|| format!("reading {name}"))?;
        let Some(case) = header::cases(&text).unwrap_or_default().into_iter().next() else { continue };
        if matches!(case.expected, Expected::Value { .. }) && !case.wrt.is_empty() {
            all.push(Picked { name, text, case });
        }
    }
    all.sort_by_key(|program| tier::hash(&program.name));
    if all.len() < n {
        bail!("there are {} programs with a gradient, and {n} are asked for", all.len());
    }
    all.truncate(n);
    Ok(all)
}

impl Picked {
    /// Compiles and calls the function and its gradient: every other program by the quick way of LLVM.
    fn call(&self) -> Result<(), String> {
        let program = loaded(&self.name, &self.text, &tests_folder().join("run"))?;
        let wrt: Vec<&str> = self.case.wrt.iter().map(String::as_str).collect();
        let gradient = derivative(&self.case.function, DerivativeForm::ValueAndGrad, &wrt);
        let is_quick = (tier::hash(&self.name) / 2).is_multiple_of(2);
        for request in [Request::function(&self.case.function), gradient] {
            let lowered = lower(&program, &request)?;
            let args = with_defaults(&lowered.entry.signature, named_arguments(&self.case.args, &lowered.entry)?);
            let args = fit_arguments(&lowered.entry, &args).map_err(|e| e.to_string())?;
            let options = CompileOptions { is_quick, ..CompileOptions::default() };
            let function = shared_machine()?.compile(&lowered.module, &lowered.entry.symbol, &options)?;
            let bounds = CallOptions { max_bytes: BYTES, ..CallOptions::default() };
            // The second call is one in the memory of the first.
            let first = function.call_with(&args, &bounds).map_err(|e| e.to_string())?;
            function.call_again(&args, first.values, &bounds).map_err(|e| e.to_string())?;
        }
        Ok(())
    }
}
