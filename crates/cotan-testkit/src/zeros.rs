//! What is said of derivatives that are zero: warnings (W0501) and the pages of operations. A derivative is taken where
//! the claim is made, and must be zero there.

use crate::derived_case::{Case, Subject, floats};
use crate::frontend::{loaded, lower_to_derive};
use crate::header::{self, Expected, named_arguments};
use cotan::host::fit_arguments;
use cotan::{Program, Request};
use cotan_ir::Module;
use std::path::Path;

/// How many claims were made of parameters whose derivative is known, and which of them are wrong.
#[derive(Clone, Debug, Default)]
pub struct Claims {
    /// Parameters that were asked about.
    pub asked: usize,
    /// Claims that their derivative is zero.
    pub made: usize,
    /// Those that are not true.
    pub wrong: Vec<String>,
}

impl Claims {
    /// Both.
    pub fn and(mut self, other: Claims) -> Claims {
        self.asked += other.asked;
        self.made += other.made;
        self.wrong.extend(other.wrong);
        self
    }

    /// Compares a claim with a derivative.
    pub(crate) fn judge(&mut self, label: &str, param: &str, is_claimed: bool, derivative: &[f64]) {
        self.asked += 1;
        self.made += usize::from(is_claimed);
        if is_claimed && derivative.iter().any(|x| x.is_finite() && *x != 0.0) {
            self.wrong.push(format!("{label}: the derivative in `{param}` is said to be zero, and is {derivative:?}"));
        }
    }
}

/// Whether a host that asks for a derivative is warned that it is zero.
pub(crate) fn is_warned(program: &Program, function: &str, param: &str) -> bool {
    let warnings = program.derivative_warnings(function, &[param.to_owned()]);
    warnings.iter().any(|warning| warning.code == cotan_sema::codes::CUT_GRADIENT)
}

/// The claims about the functions of a program of `tests/run`, at the arguments of its cases.
pub fn of_program(name: &str, text: &str, below: &Path) -> Result<Claims, String> {
    let program = loaded(name, text, below)?;
    let mut claims = Claims::default();
    for case in header::cases(text)? {
        let Expected::Value { .. } = case.expected else { continue };
        if case.wrt.is_empty() {
            continue;
        }
        let label = format!("{name}, case `{}`", case.name);
        let lowered = lower_to_derive(&program, &Request::function(&case.function))?;
        let args = named_arguments(&case.args, &lowered.entry)?;
        let args = fit_arguments(&lowered.entry, &args).map_err(|e| format!("{label}: {e}"))?;
        let (module, symbol) = (Module::clone(&lowered.module), lowered.entry.symbol.clone());
        let subject = Subject::new(label.clone(), module, symbol, args);
        let (_, cotangents) = Case::new(subject)?.run_vjp().map_err(|e| format!("{label}: {e}"))?;
        let mut cotangents = cotangents.iter();
        for param in &lowered.entry.signature.params {
            let n_floats = param.ty.leaves().iter().filter(|leaf| leaf.elem.is_float()).count();
            let derivative: Vec<f64> = cotangents.by_ref().take(n_floats).flat_map(floats).collect();
            if n_floats > 0 {
                let is_claimed = is_warned(&program, &case.function, &param.name);
                claims.judge(&label, &param.name, is_claimed, &derivative);
            }
        }
    }
    Ok(claims)
}
