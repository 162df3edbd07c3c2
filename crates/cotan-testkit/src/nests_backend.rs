//! The interpreter of loop nests as a backend of the library: one crate, and one line in a compiler's list.
//!
//! Nests are run as they are lowered, before any pass. Calls are bounded by steps; a deadline or a token stops none.

use cotan::backend::{Backend, CallContext, Capabilities, Executable};
use cotan::{CallError, CheckFailure, CompileError, Engine, ReadyModule};
use cotan_ir::Symbol;
use cotan_loops::{CPU, VerifiedNests, lower};
use cotan_nest::{Options, RuntimeError, run_with_output};
use cotan_ops::Value;
use std::sync::Arc;

/// The name of the backend.
pub const NESTS: Engine = Engine::new("nests");

/// The interpreter of loop nests, which lacks nothing.
#[derive(Debug, Default)]
pub struct NestInterpreter {
    capabilities: Capabilities,
}

/// A function as loop nests, with those that it calls.
#[derive(Debug)]
struct Nests {
    nests: VerifiedNests,
    entry: Symbol,
}

impl Backend for NestInterpreter {
    fn name(&self) -> &'static str {
        NESTS.name()
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn compile(&self, ready: &ReadyModule) -> Result<Arc<dyn Executable>, CompileError> {
        let nests = VerifiedNests::new(ready.module.functions().map(|f| lower(f, &CPU)).collect());
        let nests = nests.map_err(|e| CompileError::Backend(e.to_string()))?;
        Ok(Arc::new(Nests { nests, entry: ready.entry.symbol.clone() }))
    }
}

impl Executable for Nests {
    fn call(
        &self,
        args: &[Value],
        context: CallContext<'_>,
        output: &mut dyn FnMut(&str),
    ) -> Result<Vec<Value>, CallError> {
        let options = Options { steps: context.limits.steps.unwrap_or(u64::MAX), ..Options::default() };
        run_with_output(&self.nests, &self.entry, args, &options, output).map_err(|error| match error {
            RuntimeError::Check(failure) => {
                CallError::Check(CheckFailure { kind: failure.kind, args: failure.args, span: failure.span })
            }
            RuntimeError::OutOfMemory(error) => CallError::OutOfMemory(*error),
            RuntimeError::OutOfSteps => CallError::Limit(error.to_string()),
            RuntimeError::TooLittleRoom | RuntimeError::Argument(_) | RuntimeError::Bug { .. } => {
                CallError::Bug(error.to_string())
            }
        })
    }

    fn is_compiled(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotan::host::{Arguments, HostValue};
    use cotan::{Compiler, Config, DerivativeForm, Request, derivative};
    use cotan_llvm::load::SearchConfig;

    const PROGRAM: &str = "fn grown(x: f64, n: i64) -> f64 {
  let mut y = x
  for i in 0..n {
    y = y * x + sin(y)
  }
  y
}
fn element(x: f64, n: i64) -> f64 = tabulate(3, |i| x * (i as f64))[n]
fn loss(x: f64, n: i64) -> f64 = +/ tabulate(n, |i| sin(x * (i as f64)))
";

    #[test]
    fn nests_are_a_backend_of_one_crate_and_one_line() {
        let backends: Vec<Arc<dyn Backend>> = vec![Arc::new(NestInterpreter::default())];
        let config = Config { llvm: SearchConfig::nowhere(), backends, ..Config::default() };
        let compiler = Compiler::new(config).expect("a compiler");
        let program = compiler.check("nests.cot", PROGRAM);
        assert!(!program.has_errors(), "{:?}", program.diagnostics);
        let mut requests: Vec<Request> = ["grown", "element", "loss"].map(Request::function).into();
        requests.extend(["grown", "loss"].map(|name| derivative(name, DerivativeForm::ValueAndGrad, &["x"])));
        for request in requests {
            // The last one is past the end of the array.
            for n in [0, 2, 5] {
                let args =
                    Arguments::from([("x".to_owned(), HostValue::f64(0.7)), ("n".to_owned(), HostValue::i64(n))]);
                let [found, expected] = [NESTS, Engine::INTERPRETER]
                    .map(|engine| compiler.function(&program, &request, engine).expect("a function").call(&args));
                assert_eq!(found, expected, "{request:?} at {n}");
            }
        }
    }
}
