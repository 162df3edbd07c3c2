//! What to make of a program: a function of it, or a derivative of one.

pub use cotan_sema::typed::{DerivativeForm, DerivativeMode};

/// A function of a program, or a derivative of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The name of the function in the source.
    pub function: String,
    /// The derivative that is wanted, or the function itself.
    pub derivative: Option<DerivativeRequest>,
}

/// A derivative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivativeRequest {
    /// Which.
    pub form: DerivativeForm,
    /// The parameters by name; empty for the first that has a derivative.
    pub wrt: Vec<String>,
    /// The mode, if it is not to be chosen.
    pub mode: Option<DerivativeMode>,
}

impl Request {
    /// The function itself.
    pub fn function(name: &str) -> Request {
        Request { function: name.to_owned(), derivative: None }
    }

    /// A derivative of the function with respect to parameters by name.
    pub fn derivative(name: &str, form: DerivativeForm, wrt: &[&str]) -> Request {
        let wrt = wrt.iter().map(|s| (*s).to_owned()).collect();
        Request { function: name.to_owned(), derivative: Some(DerivativeRequest { form, wrt, mode: None }) }
    }
}
