//! What to make of a program: a function of it, or a derivative of one.

pub use cotan_lower::entry::{DerivativeRequest, Request};
pub use cotan_sema::typed::{DerivativeForm, DerivativeMode};

/// The request for a derivative of a function with respect to parameters by name, in whatever mode suits.
pub fn derivative(function: &str, form: DerivativeForm, wrt: &[&str]) -> Request {
    let wrt = wrt.iter().map(|name| (*name).to_owned()).collect();
    Request::derivative(function, DerivativeRequest { form, wrt, mode: None })
}
