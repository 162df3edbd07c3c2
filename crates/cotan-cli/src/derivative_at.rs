//! A derivative at a point: what `grad`, `jvp`, `vjp`, `jacobian`, `hessian` and `hvp` have in common.

use crate::args::{DerivativeArgs, Mode};
use crate::diagnostics::Failure;
use crate::input;
use crate::session::Session;
use cotan::host::{Arguments, HostValue, Inputs};
use cotan::{DerivativeForm, DerivativeMode, DerivativeRequest, Function, Request, ResolvedRequest};

/// A function of a program, the parameters to differentiate with respect to, and arguments.
pub(crate) struct DerivativeAt {
    pub(crate) session: Session,
    pub(crate) name: String,
    pub(crate) wrt: Vec<String>,
    pub(crate) mode: Option<DerivativeMode>,
    pub(crate) raw: Inputs,
    pub(crate) resolved: ResolvedRequest,
}

impl DerivativeAt {
    /// Reads program and arguments, and checks that the function has such a derivative.
    pub(crate) fn open(args: &DerivativeArgs, form: DerivativeForm) -> Result<DerivativeAt, Failure> {
        let session = Session::open(&args.call.file, &args.call.engine)?;
        let raw = input::read(&args.call.inputs)?;
        let mode = args.mode.map(|mode| match mode {
            Mode::Forward => DerivativeMode::Forward,
            Mode::Reverse => DerivativeMode::Reverse,
        });
        let derivative = DerivativeRequest { form, wrt: args.wrt.clone(), mode };
        let resolved = session.resolve(&raw, Request::derivative(args.function.as_str(), derivative))?;
        let wrt = resolved.wrt().to_vec();
        session.warn_of_derivative(&args.function, &wrt);
        Ok(DerivativeAt { session, name: args.function.clone(), wrt, mode, raw, resolved })
    }

    /// The request for another form or mode than the one that was asked for.
    pub(crate) fn request(&self, form: DerivativeForm, mode: Option<DerivativeMode>) -> Request {
        self.request_by(form, &self.wrt, mode)
    }

    /// The request for a derivative with respect to some of the parameters.
    pub(crate) fn request_by(&self, form: DerivativeForm, wrt: &[String], mode: Option<DerivativeMode>) -> Request {
        self.resolved.derivative(DerivativeRequest { form, wrt: wrt.to_vec(), mode })
    }

    /// Fails if another mode was asked for than the one that a command has.
    pub(crate) fn expect_mode(&self, command: &str, only: DerivativeMode) -> Result<(), Failure> {
        match self.mode {
            Some(asked) if asked != only => {
                let [only, asked] = [only, asked].map(|mode| match mode {
                    DerivativeMode::Forward => "forward",
                    DerivativeMode::Reverse => "reverse",
                });
                let message = format!("--mode: expected `{only}`, which is what a {command} is, found `{asked}`");
                Err(self.session.request_failure(message).help("leave --mode out"))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// The function itself, ready to be called.
    pub(crate) fn function(&self) -> Result<Function, Failure> {
        self.session.function(&self.resolved.primal())
    }

    /// The derivative that was asked for, ready to be called.
    pub(crate) fn derivative(&self) -> Result<Function, Failure> {
        self.session.function(&self.resolved.request)
    }

    /// The arguments of the function.
    pub(crate) fn arguments(&self) -> Result<Arguments, Failure> {
        self.session.arguments(&self.name, &self.resolved.function, &self.raw)
    }

    /// The value of the function.
    pub(crate) fn value(&self) -> Result<HostValue, Failure> {
        self.session.call(&self.name, &self.function()?, &self.raw)
    }

    /// The result of the derivative at the point.
    pub(crate) fn evaluate(&self) -> Result<HostValue, Failure> {
        self.session.call(&self.name, &self.derivative()?, &self.raw)
    }

    /// The result of a derivative that takes tangents; they come under the names of the parameters.
    pub(crate) fn evaluate_along(&self, tangents: Inputs) -> Result<HostValue, Failure> {
        let function = self.derivative()?;
        let names = self.resolved.directions(function.signature());
        let mut raw = self.raw.clone();
        raw.absorb(tangents, |given| match self.wrt.iter().position(|name| *name == given) {
            Some(k) => names[k].to_owned(),
            None => given,
        });
        if let Some((missing, _)) = self.wrt.iter().zip(&names).find(|(_, name)| !raw.has(name)) {
            return Err(self.session.request_failure(format!("the tangent of `{missing}` is missing")));
        }
        self.session.call(&self.name, &function, &raw)
    }

    /// One part for each parameter of what a derivative gives for all of them.
    pub(crate) fn parts(&self, result: HostValue) -> Vec<(String, HostValue)> {
        let parts = if self.wrt.len() > 1 { result.into_parts() } else { vec![result] };
        self.wrt.iter().cloned().zip(parts).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;

    /// With a cache and without one, and by the interpreter.
    #[test]
    fn a_gradient_lowers_its_program_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("cube.cot");
        std::fs::write(&file, "fn cube(x: f64) -> f64 = x * x * x").expect("a program");
        for options in [&[][..], &["--trap-nan"], &["--backend", "interp"]] {
            let args =
                ["cotan", "grad", &file.display().to_string(), "--fn", "cube", "--set", "x=2.0"].map(str::to_owned);
            let cli = Cli::try_parse_from(args.into_iter().chain(options.iter().map(|&it| it.to_owned())));
            let Ok(Cli { command: Command::Grad(args), .. }) = cli else { panic!("`cotan grad` is the command") };
            let Ok(point) = DerivativeAt::open(&args.derivative, DerivativeForm::ValueAndGrad) else {
                panic!("the request fits the program")
            };
            let Ok(result) = point.evaluate() else { panic!("the gradient has a value") };
            assert_eq!(result, HostValue::Tuple(vec![HostValue::f64(8.0), HostValue::f64(12.0)]));
            assert_eq!(point.session.compiler.lowerings(), 1, "{options:?}");
        }
    }
}
