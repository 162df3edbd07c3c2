//! NaN-free programs do not trap: programs with traps for NaN.

use super::Verdict;
use super::comparison::same_bits;
use crate::derived_case::{Case, options, second_orders};
use cotan_interp::RuntimeError;
use cotan_ir::{CheckKind, Item, Module, Symbol};
use cotan_ops::Value;
use cotan_opt::passes::trap_nan::trap_nan;

/// A function whose results have no NaN does not trap, and traps do not change its bits: the program, its derivatives,
/// and theirs if the case is derived twice.
pub fn nan_free(case: &Case) -> Verdict {
    Verdict::of((|| {
        let trapped = trapped(&case.subject.module);
        for (name, args) in calls(case)? {
            if !case.subject.module.items.contains_key(&*name) {
                continue;
            }
            let expected = case.run(&name, &args)?;
            if expected.iter().any(has_nan) {
                continue;
            }
            match cotan_interp::run(&trapped, &name, &args, &options()) {
                Ok(found) => same_bits(&found, &expected, &format!("`{name}` with traps"))?,
                Err(RuntimeError::Check(failure)) if failure.kind == CheckKind::Nan => {
                    return Err(format!("`{name}` has no NaN in its results, and traps at {:?}", failure.span));
                }
                Err(e) => return Err(format!("`{name}` with traps: {e}")),
            }
        }
        Ok(())
    })())
}

/// The functions that can be asked, each with its arguments.
fn calls(case: &Case) -> Result<Vec<(Symbol, Vec<Value>)>, String> {
    let args = case.calls(&case.subject.args)?;
    let mut calls: Vec<(Symbol, Vec<Value>)> = case.names().into_iter().map(Symbol::from).zip(args).collect();
    for (outer, inner) in second_orders() {
        let (derivative, args) = case.second_call(outer, inner)?;
        calls.push((derivative.canonical_name(), args));
    }
    Ok(calls)
}

fn trapped(module: &Module) -> Module {
    let mut module = module.clone();
    for item in module.items.values_mut() {
        match item {
            Item::Function(f) => *f = trap_nan(f.as_ref().clone(), &mut Vec::new()).into(),
            Item::Derived(_) => {}
        }
    }
    module
}

/// Whether a float of a value is NaN.
pub fn has_nan(value: &Value) -> bool {
    value.floats().is_some_and(|all| all.iter().any(|x| x.is_nan()))
}
