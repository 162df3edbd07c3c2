//! The pattern at some arguments: what each element of the result depends on in a run that is written down.

use super::base::Base;
use super::pattern::SparsePattern;
use super::products::add_products;
use super::sides::lengths;
use super::{SparseError, sides, without_function};
use crate::backend::interpreter_options;
use crate::pipeline::Stage;
use crate::{CompileError, Compiler, DerivativeMode};
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
/// there are any, it is the derivatives that are run, and each result depends on directions. A rule may be of one mode only, so
/// both are looked at.
pub(super) fn pattern(compiler: &Compiler, base: &Base, flat: &[Value]) -> Result<Found, SparseError> {
    let traced = run(compiler, &base.module, &base.entry.symbol, flat)?;
    let f = base.module.function(&base.entry.symbol).ok_or_else(|| without_function(base))?;
    let length = |out: usize, axis: usize| dims_of(&traced.results[out]).get(axis).copied().unwrap_or(0);
    let lengths: Vec<i64> = lengths(f, &base.outs).into_iter().map(|(_, out, axis)| length(out, axis)).collect();
    let has_rules = base.module.functions().any(|f| f.custom_vjp.is_some() || f.custom_jvp.is_some());
    let pattern = if has_rules {
        drop(traced);
        let forward = of_products(compiler, base, flat, &lengths, DerivativeMode::Forward)?;
        let reverse = of_products(compiler, base, flat, &lengths, DerivativeMode::Reverse)?;
        forward.union(&reverse.transposed())
    } else {
        let max_bytes = interpreter_options(compiler.memory()).limits.bytes;
        SparsePattern::of(traced.dependence(&base.wrt, &base.outs, max_bytes)?)
    };
    Ok(Found { pattern, lengths })
}

/// How products with one direction depend on it.
fn of_products(
    compiler: &Compiler,
    base: &Base,
    flat: &[Value],
    lengths: &[i64],
    mode: DerivativeMode,
) -> Result<SparsePattern, SparseError> {
    let (rows, columns) = base.sides().ok_or_else(|| without_function(base))?;
    let (given, found) = match mode {
        DerivativeMode::Forward => (columns, rows),
        DerivativeMode::Reverse => (rows, columns),
    };
    let mut module = base.module.clone();
    let (symbol, _) = add_products(&mut module, base, mode).ok_or_else(|| without_function(base))?;
    let numbers = std::iter::once(1).chain(lengths.iter().copied());
    let mut args = flat.to_vec();
    args.extend(numbers.map(|n| Value::from(Const::i64(n))));
    let first = args.len();
    // The direction is 1 everywhere.
    let placed = given.placed(flat, lengths);
    let ones = vec![1.0; sides::count(&placed)];
    args.extend(placed.iter().map(|leaf| leaf.gathered(1, ones.len(), &ones)));
    let traced = run(compiler, &module, &symbol, &args)?;
    let wrt: Vec<usize> = given.order().iter().map(|k| first + k).collect();
    let max_bytes = interpreter_options(compiler.memory()).limits.bytes;
    Ok(SparsePattern::of(traced.dependence(&wrt, found.order(), max_bytes)?))
}

/// Runs a function of a module whose derivatives are not written yet.
fn run(compiler: &Compiler, module: &Module, symbol: &str, args: &[Value]) -> Result<Traced, SparseError> {
    let limits = compiler.call_limits();
    let options = limits.interpreter(interpreter_options(compiler.memory()));
    on_deep_stack(|| {
        let (module, _) = compiler.middle_end(Stage::Simplified).run(module, symbol).map_err(CompileError::from)?;
        let running = limits.start();
        running.begin().map_err(SparseError::Call)?;
        let stop = running.watch().map(|watch| watch.stopping().clone());
        let traced = cotan_interp::tape::trace_watched(&module, symbol, args, &options, stop);
        traced.map_err(|e| SparseError::Call(running.error(e)))
    })
}

fn dims_of(value: &TracedValue) -> &[i64] {
    match value {
        TracedValue::Floats { dims, .. } => dims,
        TracedValue::Plain(value) => &value.dims,
    }
}
