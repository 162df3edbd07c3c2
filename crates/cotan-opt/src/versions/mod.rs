//! Specialisation (partial evaluation): a version of a function for calls of known small sizes.
//!
//! Loops of a few iterations that are known are written out, and their arrays become scalars. What a version computes has
//! the bits of the general code, sums of derivatives included, so that nobody can tell which of them ran:
//!
//! - products of derivatives are contracted as the general code's nests do it ([`contract`]), before loops are written
//!   out and values meet that did not meet there;
//! - checks that may fail stay, all of them: where values are scalars, nobody may need one of them any more;
//! - what parallel loops add to accumulators, in an order that belongs to the general code, decides whether there is a
//!   version at all ([`order`]).
//!
//! Not for code that is still to be differentiated.

mod contract;
mod extents;
mod order;
#[cfg(test)]
mod tests;

use crate::context::{KnownExtents, PassContext};
use crate::passes::eliminate_checks;
use crate::passes::rename::{rename_ty, substitute};
use crate::pipelines::FOR_SIZES;
pub(crate) use contract::accumulated_product;
use cotan_ir::{Atom, Const, Function, Module, Var};
pub use extents::inner_extents;

/// The value of a parameter, an i64, of which only the position is given.
pub type KnownSize = (usize, i64);

/// The module in which `entry` is for calls with these sizes alone. `None` if its sums could have other bits, or it other
/// errors.
pub fn version(module: &Module, entry: &str, sizes: &[KnownSize], known: &[KnownExtents]) -> Option<Module> {
    let f = module.function(entry)?;
    let callees = module.functions().filter(|g| *g.name != *entry);
    if !order::is_kept(&specialized(f.as_ref().clone(), sizes)) || !callees.into_iter().all(|g| order::is_kept(g)) {
        return None;
    }
    let mut contracted = Module::default();
    for f in module.functions() {
        contracted.insert(contract::contract(f.as_ref().clone())?);
    }
    let f = contracted.function(entry)?.as_ref().clone();
    let context =
        PassContext { module: Some(&contracted), known_extents: known, is_version: true, ..PassContext::default() };
    let f = eliminate_checks::PASS.apply(specialized(f, sizes), &context);
    let n_checks = n_checks_of(&f);
    let f = FOR_SIZES.run(f, &context);
    if n_checks_of(&f) != n_checks {
        return None;
    }
    let mut version = contracted.clone();
    version.insert(f);
    Some(version)
}

/// How many statements may end the run with an error.
fn n_checks_of(f: &Function) -> usize {
    f.body.walk().filter(|s| s.op.effects().may_fail()).count()
}

/// The function with constants in the place of parameters, in types too. The parameters stay, so that it is called as
/// before.
fn specialized(mut f: Function, sizes: &[KnownSize]) -> Function {
    let mut constants: Vec<Option<Atom>> = vec![None; f.vars.len()];
    for (param, size) in sizes {
        constants[f.params[*param].index()] = Some(Const::i64(*size).into());
    }
    let constant = |v: Var| constants[v.index()].unwrap_or(v.into());
    f.vars.iter_mut().for_each(|info| rename_ty(&mut info.ty, &constant));
    substitute(&mut f.body, &|a| a.var().map_or(a, constant));
    f
}
