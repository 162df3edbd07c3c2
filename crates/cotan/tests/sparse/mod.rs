//! Sparse Jacobians and Hessians: against the dense ones, and in numbers.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod changes;
mod dense;
mod hessians;
mod patterns;

use cotan::host::{Arguments, HostValue, from_json};
use cotan::sparse::{SparseError, SparseJacobian, SparseMatrix};
use cotan::{Compiler, Config, DerivativeForm, DerivativeMode, DerivativeRequest, Engine, Program, Request};

/// A program with arguments for one of its functions.
struct Subject {
    compiler: Compiler,
    program: Program,
    name: &'static str,
    args: Arguments,
}

impl Subject {
    /// `args` is a JSON object.
    fn new(text: &str, name: &'static str, args: &str) -> Subject {
        let compiler = Compiler::new(Config::default()).unwrap();
        let program = compiler.check("sparse.cot", text);
        assert!(!program.has_errors(), "{:?}", program.diagnostics);
        let mut subject = Subject { compiler, program, name, args: Arguments::new() };
        subject.args = subject.arguments(args);
        subject
    }

    fn arguments(&self, args: &str) -> Arguments {
        let json: serde_json::Value = serde_json::from_str(args).unwrap();
        let signature = self.compiler.signature(&self.program, &Request::function(self.name)).unwrap();
        let value = |name: &String, json| match signature.params.iter().find(|param| param.name == *name) {
            Some(param) => from_json(json, &param.ty).unwrap(),
            None => HostValue::i64(json.as_i64().unwrap()),
        };
        json.as_object().unwrap().iter().map(|(name, json)| (name.clone(), value(name, json))).collect()
    }

    fn request(&self, form: DerivativeForm, wrt: &[&str], mode: Option<DerivativeMode>) -> Request {
        let wrt = wrt.iter().map(|name| (*name).to_owned()).collect();
        Request::derivative(self.name, DerivativeRequest { form, wrt, mode })
    }

    fn jacobian_in(&self, form: DerivativeForm, wrt: &[&str], mode: Option<DerivativeMode>) -> SparseJacobian {
        let request = self.request(form, wrt, mode);
        SparseJacobian::new(&self.compiler, &self.program, &request, Engine::CPU, &self.args).unwrap()
    }

    fn jacobian(&self, wrt: &[&str]) -> SparseJacobian {
        self.jacobian_in(DerivativeForm::Jacobian, wrt, None)
    }

    fn hessian(&self, wrt: &[&str]) -> SparseJacobian {
        self.jacobian_in(DerivativeForm::Hessian, wrt, None)
    }

    /// The matrix at the subject's arguments, which must pass its check.
    fn matrix(&self, jacobian: &SparseJacobian) -> SparseMatrix {
        let matrix = jacobian.evaluate(&self.args).unwrap();
        let check = jacobian.check(&self.args, &matrix).unwrap();
        assert!(check.is_ok, "{check:?}");
        matrix
    }

    fn dense(&self, form: DerivativeForm, wrt: &str, mode: DerivativeMode) -> Vec<f64> {
        let request = self.request(form, &[wrt], Some(mode));
        let function = self.compiler.function(&self.program, &request, Engine::CPU).unwrap();
        function.call(&self.args).unwrap().floats()
    }

    /// The sparse matrix in either mode, compiled and interpreted, is the dense one. Of a result and a parameter that are
    /// one tensor each.
    fn check(&self, form: DerivativeForm, wrt: &str) {
        for mode in [DerivativeMode::Forward, DerivativeMode::Reverse] {
            let dense = self.dense(form, wrt, mode);
            let request = self.request(form, &[wrt], Some(mode));
            for engine in [Engine::CPU, Engine::INTERPRETER] {
                let jacobian =
                    SparseJacobian::new(&self.compiler, &self.program, &request, engine, &self.args).unwrap();
                let matrix = self.matrix(&jacobian);
                assert_eq!(jacobian.colouring().mode(), mode);
                assert_near(&matrix.dense(), &dense);
            }
        }
    }
}

/// Equal up to the order of sums.
fn assert_near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    for (k, (x, y)) in found.iter().zip(expected).enumerate() {
        assert!((x - y).abs() <= 1e-13 * largest, "element {k}: {x} against {y}");
    }
}

/// The rows of a pattern.
fn rows(jacobian: &SparseJacobian) -> Vec<Vec<u32>> {
    jacobian.pattern().rows().map(<[u32]>::to_vec).collect()
}
