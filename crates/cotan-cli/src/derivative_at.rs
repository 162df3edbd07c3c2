//! A derivative at a point: what `grad`, `jvp`, `vjp`, `jacobian`, `hessian` and `hvp` have in common.

use crate::args::{DerivativeArgs, Mode};
use crate::diagnostics::Failure;
use crate::input::RawArguments;
use crate::session::Session;
use cotan::host::HostValue;
use cotan::lower::entry::{Entry, HostType};
use cotan::{DerivativeForm, DerivativeMode, DerivativeRequest, Function, Request};

/// A function of a program, the parameters to differentiate with respect to, and arguments.
pub(crate) struct DerivativeAt {
    pub(crate) session: Session,
    pub(crate) name: String,
    pub(crate) wrt: Vec<String>,
    pub(crate) mode: Option<DerivativeMode>,
    pub(crate) raw: RawArguments,
    /// How the function itself is called.
    pub(crate) entry: Entry,
}

impl DerivativeAt {
    /// Reads program and arguments, and checks that there is something to differentiate.
    pub(crate) fn open(args: &DerivativeArgs) -> Result<DerivativeAt, Failure> {
        let session = Session::open(&args.call.file, &args.call.engine)?;
        let raw = RawArguments::read(&args.call.inputs)?;
        let entry = session.entry(&session.at_types_of(&raw, Request::function(&args.function)))?;
        let wrt = parameters(&session, &args.function, &entry, &args.wrt)?;
        session.warn_of_derivative(&args.function, &wrt);
        let mode = args.mode.map(|mode| match mode {
            Mode::Forward => DerivativeMode::Forward,
            Mode::Reverse => DerivativeMode::Reverse,
        });
        Ok(DerivativeAt { session, name: args.function.clone(), wrt, mode, raw, entry })
    }

    /// The request for a derivative in a mode.
    pub(crate) fn request(&self, form: DerivativeForm, mode: Option<DerivativeMode>) -> Request {
        self.request_by(form, &self.wrt, mode)
    }

    /// The request for a derivative with respect to some of the parameters.
    pub(crate) fn request_by(&self, form: DerivativeForm, wrt: &[String], mode: Option<DerivativeMode>) -> Request {
        let derivative = DerivativeRequest { form, wrt: wrt.to_vec(), mode };
        self.session.at_types_of(&self.raw, Request::derivative(self.name.as_str(), derivative))
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

    /// Fails unless the function has a scalar result, or a tuple that starts with one.
    pub(crate) fn expect_scalar(&self) -> Result<(), Failure> {
        let result = &self.entry.result;
        let first = match result {
            HostType::Tuple(parts) => parts.first().unwrap_or(result),
            HostType::Scalar(_) | HostType::Tensor { .. } | HostType::Struct { .. } | HostType::Enum { .. } => result,
        };
        match first {
            HostType::Scalar(elem) if elem.is_float() => Ok(()),
            HostType::Scalar(_)
            | HostType::Tensor { .. }
            | HostType::Struct { .. }
            | HostType::Enum { .. }
            | HostType::Tuple(_) => {
                let found = self.entry.show(result);
                let message = format!("`{}`: expected a float result to differentiate, found {found}", self.name);
                Err(self.session.request_failure(message))
            }
        }
    }

    /// The function itself, ready to be called.
    pub(crate) fn function(&self) -> Result<Function, Failure> {
        self.session.function(&self.session.at_types_of(&self.raw, Request::function(&self.name)))
    }

    /// The value of the function.
    pub(crate) fn value(&self) -> Result<HostValue, Failure> {
        self.session.call(&self.name, &self.function()?, &self.raw)
    }

    /// The result of a derivative at the point.
    pub(crate) fn evaluate(&self, form: DerivativeForm) -> Result<HostValue, Failure> {
        let function = self.session.function(&self.request(form, self.mode))?;
        self.session.call(&self.name, &function, &self.raw)
    }

    /// The result of a derivative that takes tangents; they come under the names of the parameters.
    pub(crate) fn evaluate_along(&self, form: DerivativeForm, tangents: RawArguments) -> Result<HostValue, Failure> {
        let function = self.session.function(&self.request(form, self.mode))?;
        let names = tangent_names(&function, self.wrt.len());
        let mut raw = self.raw.clone();
        raw.absorb(tangents, |given| match self.wrt.iter().position(|name| *name == given) {
            Some(k) => names[k].clone(),
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

/// The names of the tangents among the parameters of a derivative: the last ones.
pub(crate) fn tangent_names(function: &cotan::Function, n: usize) -> Vec<String> {
    let params = &function.entry().params;
    params[params.len().saturating_sub(n)..].iter().map(|p| p.name.clone()).collect()
}

/// The parameters that were asked for, or the first one that has a derivative.
fn parameters(session: &Session, name: &str, entry: &Entry, wanted: &[String]) -> Result<Vec<String>, Failure> {
    let declaration = session.declaration(name)?;
    let mut known = Vec::new();
    for (param, declared) in entry.params.iter().zip(&declaration.params) {
        let has_floats = param.ty.leaves().iter().any(|leaf| leaf.elem.is_float());
        if has_floats && !declared.nodiff {
            known.push(param.name.clone());
        }
    }
    let is_param = |name: &String| entry.params.iter().any(|p| p.name == *name);
    let shown = format!("the parameters with a derivative are `{}`", known.join("`, `"));
    if let Some(wrong) = wanted.iter().find(|name| !known.contains(name)) {
        let message = if is_param(wrong) {
            format!("parameter `{wrong}` of `{name}` has no derivative")
        } else {
            format!("`{name}` has no parameter `{wrong}`")
        };
        return Err(session.request_failure(message).help(&shown));
    }
    match (wanted, known.first()) {
        ([], Some(first)) => Ok(vec![first.clone()]),
        ([], None) => Err(session.request_failure(format!("no parameter of `{name}` has a derivative"))),
        (wanted, _) => Ok(wanted.to_vec()),
    }
}
