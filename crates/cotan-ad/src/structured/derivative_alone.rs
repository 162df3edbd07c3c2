//! Derivatives without values, for reverse sweeps and further directions, whose callers have the values.

use crate::error::Error;
use crate::state::Session;
use cotan_ir::{Atom, Derived, Function, Op, Symbol};
use std::sync::Arc;

impl Session<'_> {
    /// The derivative `d` of a function of `n_values` results without these, for callers who have them: nothing is printed
    /// twice, and checks on the way to a value are not repeated. Also the number of results in front of the derivatives:
    /// lengths that their types name.
    pub(crate) fn derivative_alone(&mut self, d: &Derived, n_values: usize) -> Result<(Arc<Function>, usize), Error> {
        let whole = self.derivative(d)?;
        let lengths = lengths_of_derivatives(&whole, n_values);
        let name: Symbol = format!("{}.alone", whole.name).into();
        if self.module().function(&name).is_none() {
            let first_seed = self.function(&d.of)?.params.len();
            let f = cotan_opt::simplify(alone(&whole, name.clone(), first_seed, n_values, &lengths));
            self.add_beside(&whole.name, f)?;
        }
        Ok((self.function(&name)?, lengths.len()))
    }
}

/// The positions of those of the first `n_values` results of a derivative that are lengths in the types of the others.
fn lengths_of_derivatives(whole: &Function, n_values: usize) -> Vec<usize> {
    let (values, derivatives) = whole.body.results.split_at(n_values);
    let mut named = derivatives.iter().filter_map(|a| a.var()).flat_map(|v| whole.ty(v).dim_vars()).collect::<Vec<_>>();
    named.retain(|d| !whole.params.contains(d));
    (0..n_values).filter(|k| values[*k].var().is_some_and(|v| named.contains(&v))).collect()
}

/// A derivative without values, except these lengths. Its caller has the values, so it need not wait for them.
fn alone(whole: &Function, name: Symbol, first_seed: usize, n_values: usize, lengths: &[usize]) -> Function {
    let mut f = Function { name, ..whole.clone() };
    let (values, derivatives) = whole.body.results.split_at(n_values);
    f.body.results = lengths.iter().map(|k| values[*k]).chain(derivatives.iter().copied()).collect();
    let seeds = &whole.params[first_seed..];
    for s in &mut f.body.stmts {
        if let Op::Prim { prim, args } = &mut s.op
            && *prim == cotan_ops::AFTER.prim()
            && let Some(Atom::Var(seed)) = args.first().copied()
            && seeds.contains(&seed)
        {
            // A read without indices is the value itself.
            s.op = Op::Index { array: seed.into(), indices: Vec::new() };
        }
    }
    f
}
