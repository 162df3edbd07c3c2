//! Answers the requests of a module: every derivative that it asks for, and those of their callees.

use crate::error::{Error, Limits};
use crate::jvp::jvp;
use crate::prepare::{self, Pass};
use crate::report::ReversedLoop;
use crate::state::Session;
use crate::vjp::vjp;
use cotan_ir::{Derived, Function, Item, Mode, Module, Symbol};
use cotan_opt::Observer;
use std::sync::Arc;

/// Replaces every derivative that the module asks for by a function. Derivatives of callees that turn out to be needed
/// are added under their canonical names.
///
/// The functions should have been through [`cotan_opt::BEFORE_AD`]: contraction decides the bits of the primal and must not
/// follow this pass.
///
/// Gives a report of the reversed loops, in the order of their reversal.
pub fn expand(module: &mut Module, limits: &Limits) -> Result<Vec<ReversedLoop>, Error> {
    expand_with(module, limits, Expansion::default())
}

/// How derivatives are written, and who looks on.
#[derive(Clone, Copy, Default)]
pub struct Expansion<'a> {
    /// Whether every reverse sweep starts after the value, even where the value cannot fail. A search for the first NaN
    /// needs this order.
    pub values_first: bool,
    /// Is shown the source of each derivative after each of [`PASSES`](crate::PASSES), with the name of the pass.
    pub observer: Option<&'a Observer<'a>>,
}

/// Like [`expand`], in another way.
pub fn expand_with<'m>(
    module: &'m mut Module,
    limits: &Limits,
    expansion: Expansion<'m>,
) -> Result<Vec<ReversedLoop>, Error> {
    let mut session = session(module, limits);
    session.values_first = expansion.values_first;
    session.observer = expansion.observer;
    expand_all(session)
}

fn expand_all(mut session: Session<'_>) -> Result<Vec<ReversedLoop>, Error> {
    let is_derived = |item: &Item| match item {
        Item::Derived(_) => true,
        Item::Function(_) => false,
    };
    let items = &session.module().items;
    let names: Vec<Symbol> = items.iter().filter(|(_, item)| is_derived(item)).map(|(n, _)| n.clone()).collect();
    names.iter().try_for_each(|name| session.function(name).map(|_| ()))?;
    Ok(session.into_reversed())
}

/// The derivative `d`, which the module holds under its canonical name afterwards.
pub fn derivative(module: &mut Module, d: &Derived, limits: &Limits) -> Result<Arc<Function>, Error> {
    session(module, limits).derivative(d)
}

/// A function after one pass of [`PASSES`](crate::PASSES) alone, as the derivative of its float results with respect to its
/// float parameters would see it: for tests of passes.
#[must_use]
pub fn after_pass(module: &mut Module, pass: &Pass, f: Function) -> Function {
    let wrt = (0..f.params.len()).filter(|k| f.ty(f.params[*k]).is_float()).collect();
    let outs = (0..f.body.results.len()).filter(|k| f.is_float(f.body.results[*k])).collect();
    let d = Derived { of: f.name.clone(), mode: pass.modes[0], wrt, outs };
    prepare::after_pass(&mut session(module, &Limits::DEFAULT), pass, f, &d)
}

/// A session on a module that writes derivatives in both modes.
pub(crate) fn session<'m>(module: &'m mut Module, limits: &Limits) -> Session<'m> {
    Session::new(module, limits, |session, d, name| match d.mode {
        Mode::Jvp => jvp(session, d, name),
        Mode::Vjp => vjp(session, d, name),
    })
}
