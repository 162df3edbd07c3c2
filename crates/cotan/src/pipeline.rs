//! From a lowered module to one that runs: primal code prepared, derivatives written, calls inlined.

use cotan_ad::{Limits, ReversedLoop};
use cotan_ir::{Function, Item, Module, Symbol};
use cotan_opt::passes::inline::{InlineLimit, inline};
use cotan_opt::passes::trap_nan::{self, Site};
use std::sync::Arc;

/// Writes every derivative that `entry` needs by `expand`, and simplifies all of it.
///
/// Primal functions are prepared first: inlined, simplified, products and sums contracted. That fixes their bits, for
/// themselves and inside every derivative. A function that is only called, and inlined everywhere, is gone. Which calls
/// stay is decided for the whole program, and `expand` is told.
///
/// Gives what reverse mode says of the loops that it reversed, too.
pub(crate) fn finish(
    module: &Module,
    entry: &str,
    limits: &Limits,
    expand: impl FnOnce(&mut Module, &Limits) -> Result<Vec<ReversedLoop>, cotan_ad::Error>,
) -> Result<(Module, Vec<ReversedLoop>), cotan_ad::Error> {
    let limit = limits.inline.for_entry(module, entry);
    let mut done = Module::default();
    let mut wanted: Vec<Symbol> = vec![entry.into()];
    while let Some(name) = wanted.pop() {
        if done.items.contains_key(&name) {
            continue;
        }
        match module.items.get(&name) {
            Some(Item::Function(f)) => {
                let f = cotan_opt::prepare(module, f, limit);
                wanted.extend(f.body.callees().cloned());
                wanted.extend(f.custom_vjp.iter().chain(&f.custom_jvp).cloned());
                done.insert(f);
            }
            Some(Item::Derived(d)) => {
                wanted.push(d.of.clone());
                done.items.insert(name, Item::Derived(d.clone()));
            }
            None => {}
        }
    }
    let reversed = expand(&mut done, &Limits { inline: limit.of_simplified(), ..*limits })?;
    Ok((done, reversed))
}

/// The module with `entry` ready to run: everything that it calls is inlined as far as that pays, and functions that
/// nothing calls any more are gone. No derivative follows, so rules of functions, which keep calls as calls, are gone
/// too, and `simplify` may write small loops out.
pub(crate) fn link(
    module: &Module,
    entry: &str,
    limit: InlineLimit,
    simplify: &dyn Fn(Function) -> Function,
) -> Module {
    let module = &without_rules(module);
    let limit = limit.for_entry(module, entry).of_simplified();
    let mut linked = Module::default();
    let mut wanted: Vec<Symbol> = vec![entry.into()];
    while let Some(name) = wanted.pop() {
        let Some(f) = module.function(&name) else { continue };
        let f = simplify(inline(module, f, limit));
        wanted.extend(f.body.callees().filter(|c| !linked.items.contains_key(*c)).cloned());
        linked.items.insert(name, Item::Function(f.into()));
    }
    linked
}

/// Gives every function traps for NaN, and the places where they are.
pub(crate) fn trap_nan(module: &mut Module) -> Arc<[Site]> {
    let mut sites = Vec::new();
    for item in module.items.values_mut() {
        match item {
            Item::Function(f) => *f = trap_nan::trap_nan(f.as_ref().clone(), &mut sites).into(),
            Item::Derived(_) => {}
        }
    }
    debug_assert_eq!(cotan_ir::verify_module(module), Ok(()), "a function with traps is malformed");
    sites.into()
}

fn without_rules(module: &Module) -> Module {
    let mut plain = module.clone();
    for f in module.functions().filter(|f| f.custom_vjp.is_some() || f.custom_jvp.is_some()) {
        plain.insert(Function { custom_vjp: None, custom_jvp: None, ..f.as_ref().clone() });
    }
    plain
}
