//! The pattern at some arguments: what each element of the result depends on in a run that is written down.

use super::base::Base;
use super::pattern::SparsePattern;
use super::products::{add_products, lengths};
use super::sides::Side;
use super::{SparseError, without_function};
use crate::function::interpreter_options;
use crate::{CompileError, Compiler, DerivativeMode, pipeline};
use cotan_interp::tape::{Traced, TracedValue};
use cotan_ir::{Const, Module};
use cotan_ops::Value;
use cotan_syntax::on_deep_stack;

/// What a run tells.
pub(super) struct Found {
    pub(super) pattern: SparsePattern,
    /// The lengths that only the run knows.
    pub(super) lengths: Vec<i64>,
}

/// The pattern of the Jacobian of a base.
///
/// A tape does not ask for rules that functions have of their own, and such a rule may depend on what the body does not. Where
/// there are any, it is the derivative that is run, and its results depend on the tangents.
pub(super) fn pattern(compiler: &Compiler, base: &Base, flat: &[Value]) -> Result<Found, SparseError> {
    let traced = run(compiler, &base.module, &base.entry.symbol, flat)?;
    let f = base.module.function(&base.entry.symbol).ok_or_else(|| without_function(base))?;
    let length = |out: usize, axis: usize| dims_of(&traced.results[out]).get(axis).copied().unwrap_or(0);
    let lengths: Vec<i64> = lengths(f, &base.outs).into_iter().map(|(_, out, axis)| length(out, axis)).collect();
    let max_bytes = interpreter_options(compiler.memory()).limits.bytes;
    let has_rules = base.module.functions().any(|f| f.custom_vjp.is_some() || f.custom_jvp.is_some());
    let dependence = if has_rules {
        drop(traced);
        let (rows, columns) = base.sides().ok_or_else(|| without_function(base))?;
        let mut module = base.module.clone();
        let products = add_products(&mut module, base, DerivativeMode::Forward);
        let (symbol, _) = products.ok_or_else(|| without_function(base))?;
        let first = flat.len() + 1 + lengths.len();
        let traced = run(compiler, &module, &symbol, &with_tangents(flat, &columns, &lengths))?;
        let wrt: Vec<usize> = columns.order().iter().map(|k| first + k).collect();
        traced.dependence(&wrt, rows.order(), max_bytes)?
    } else {
        traced.dependence(&base.wrt, &base.outs, max_bytes)?
    };
    Ok(Found { pattern: SparsePattern::of(dependence), lengths })
}

/// The operands of products with one direction that is 1 everywhere.
fn with_tangents(flat: &[Value], columns: &Side, lengths: &[i64]) -> Vec<Value> {
    let numbers = std::iter::once(1).chain(lengths.iter().copied());
    let mut args = flat.to_vec();
    args.extend(numbers.map(|n| Value::from(Const::i64(n))));
    let placed = columns.placed(flat, lengths);
    let ones = vec![1.0; super::sides::count(&placed)];
    args.extend(placed.iter().map(|leaf| leaf.gathered(1, ones.len(), &ones)));
    args
}

/// Runs a function of a module whose derivatives are not written yet.
fn run(compiler: &Compiler, module: &Module, symbol: &str, args: &[Value]) -> Result<Traced, SparseError> {
    let options = interpreter_options(compiler.memory());
    on_deep_stack(|| {
        let (module, _) =
            pipeline::finish(module, symbol, |module| compiler.expand(module)).map_err(CompileError::from)?;
        let module = pipeline::link(&module, symbol, &cotan_opt::simplify);
        Ok(cotan_interp::tape::trace(&module, symbol, args, &options)?)
    })
}

fn dims_of(value: &TracedValue) -> &[i64] {
    match value {
        TracedValue::Floats { dims, .. } => dims,
        TracedValue::Plain(value) => &value.dims,
    }
}
