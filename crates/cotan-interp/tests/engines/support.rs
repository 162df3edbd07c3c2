//! Programs from text, and values in short.

use cotan_interp::{Options, RuntimeError, run};
use cotan_ir::{Module, parse_module, verify_module};
use cotan_ops::{Registry, Value};

/// A module that the verifier accepts.
pub(crate) fn module(text: &str) -> Module {
    let module = parse_module(text, Registry::standard()).expect("the text is well formed");
    assert_eq!(verify_module(&module), Ok(()));
    module
}

/// The results of function `f`.
pub(crate) fn results(text: &str, args: &[Value]) -> Result<Vec<Value>, RuntimeError> {
    run(&module(text), "f", args, &Options::default())
}

/// A scalar.
pub(crate) fn f64(x: f64) -> Value {
    Value::f64s(&[], &[x])
}

/// A vector.
pub(crate) fn vector(xs: &[f64]) -> Value {
    Value::f64s(&[xs.len() as i64], xs)
}

/// A scalar.
pub(crate) fn i64(n: i64) -> Value {
    Value::i64s(&[], &[n])
}

/// A vector.
pub(crate) fn i64s(ns: &[i64]) -> Value {
    Value::i64s(&[ns.len() as i64], ns)
}
