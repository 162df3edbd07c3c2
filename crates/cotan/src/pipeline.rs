//! The middle end: the way of a program from lowered source code to IR that is compiled or run.
//!
//! | step | what is done | the list of passes |
//! |---|---|---|
//! | [`prepare`] | primal code is inlined, simplified and contracted, which fixes its bits | [`BEFORE_AD`] |
//! | [`differentiate`] | requests for derivatives become functions | [`cotan_ad::PASSES`] |
//! | [`inline_calls`] | calls are inlined, and what remains is optimised | [`inline`], and that of the [`Stage`] |
//! | [`trap_nan`] | where it is asked for, checks for NaN are added | [`trap_nan`](passes::trap_nan) |
//! | [`plain_products`] | a variant is made for compiled code, which runs first | [`relax_products`](passes::relax_products), [`share_reciprocals`](passes::share_reciprocals) |
//!
//! The backend makes loop nests of that, and text of these. Each list stands in `cotan_opt::pipelines`, one page too.

use cotan_ad::{Expansion, Limits, ReversedLoop, expand_with};
use cotan_ir::{Function, Item, Module, Symbol, VerifiedModule, bug};
use cotan_opt::passes::inline;
use cotan_opt::passes::trap_nan::Site;
use cotan_opt::{BEFORE_AD, BEFORE_CODE, InlineLimit, KnownExtents, Observer, PassContext, Pipeline, SIMPLIFY, passes};
use std::sync::Arc;

/// How far code goes.
#[derive(Clone, Copy)]
pub(crate) enum Stage {
    /// Derivatives of it may be taken, or it is looked into.
    Simplified,
    /// It is run.
    Ready,
}

impl Stage {
    fn pipeline(self) -> &'static Pipeline {
        match self {
            Stage::Simplified => &SIMPLIFY,
            Stage::Ready => &BEFORE_CODE,
        }
    }
}

/// The middle end, with what is asked of it.
pub(crate) struct MiddleEnd<'a> {
    /// Bounds on derivatives.
    pub(crate) limits: &'a Limits,
    /// Whether a reverse sweep always starts after the value.
    pub(crate) values_first: bool,
    /// Where code ends.
    pub(crate) stage: Stage,
    /// What every caller of the entry makes sure of.
    pub(crate) known_extents: &'a [KnownExtents],
    /// Who looks on.
    pub(crate) observer: Option<&'a Observer<'a>>,
}

impl MiddleEnd<'_> {
    /// The module with `entry` and all that it calls at the stage, and what reverse mode says of the loops that it
    /// reversed.
    pub(crate) fn run(&self, source: &Module, entry: &str) -> Result<(Module, Vec<ReversedLoop>), cotan_ad::Error> {
        // Which calls stay is decided for the whole program.
        let limit = self.limits.inline.for_entry(source, entry);
        let mut module = self.prepare(source, entry, limit);
        let reversed = self.differentiate(&mut module, limit)?;
        Ok((self.inline_calls(&module, entry), reversed))
    }

    /// The primal functions that `entry` needs, prepared: inlined, simplified, products and sums contracted. That fixes
    /// their bits, for themselves and inside every derivative. A function that is only called, and inlined everywhere, is
    /// gone. Derivatives stay requests.
    fn prepare(&self, source: &Module, entry: &str, limit: InlineLimit) -> Module {
        let context =
            PassContext { module: Some(source), inline: limit, observer: self.observer, ..PassContext::default() };
        let mut prepared = Module::default();
        let mut wanted: Vec<Symbol> = vec![entry.into()];
        while let Some(name) = wanted.pop() {
            if prepared.items.contains_key(&name) {
                continue;
            }
            match source.items.get(&name) {
                Some(Item::Function(f)) => {
                    let f = BEFORE_AD.run(f.as_ref().clone(), &context);
                    wanted.extend(f.body.callees().cloned());
                    wanted.extend(f.custom_vjp.iter().chain(&f.custom_jvp).cloned());
                    prepared.insert(f);
                }
                Some(Item::Derived(d)) => {
                    wanted.push(d.of.clone());
                    prepared.items.insert(name, Item::Derived(d.clone()));
                }
                None => {}
            }
        }
        prepared
    }

    /// Writes every derivative that the module asks for.
    fn differentiate(&self, module: &mut Module, limit: InlineLimit) -> Result<Vec<ReversedLoop>, cotan_ad::Error> {
        let limits = Limits { inline: limit.of_simplified(), ..*self.limits };
        let show = |name: &'static str, f: &Function| show(self.observer, name, f);
        expand_with(module, &limits, Expansion { values_first: self.values_first, observer: Some(&show) })
    }

    /// The module with `entry` at the stage: everything that it calls is inlined as far as that pays, and functions that
    /// nothing calls any more are gone. No derivative follows, so rules of functions, which keep calls as calls, are gone
    /// too, and small loops may be written out.
    fn inline_calls(&self, derived: &Module, entry: &str) -> Module {
        let source = &without_rules(derived);
        let inline = self.limits.inline.for_entry(source, entry).of_simplified();
        let callee = PassContext { module: Some(source), inline, observer: self.observer, ..PassContext::default() };
        let mut ready = Module::default();
        let mut wanted: Vec<Symbol> = vec![entry.into()];
        while let Some(name) = wanted.pop() {
            let Some(f) = source.function(&name) else { continue };
            let known_extents = if *name == *entry { self.known_extents } else { &[] };
            let context = PassContext { known_extents, ..callee };
            let f = inline::PASS.apply(f.as_ref().clone(), &context);
            let f = self.stage.pipeline().run(f, &context);
            wanted.extend(f.body.callees().filter(|c| !ready.items.contains_key(*c)).cloned());
            ready.items.insert(name, Item::Function(f.into()));
        }
        ready
    }
}

/// Gives every function traps for NaN, and the places where they are.
pub(crate) fn trap_nan(module: &mut Module, observer: Option<&Observer<'_>>) -> Arc<[Site]> {
    let mut sites = Vec::new();
    for item in module.items.values_mut() {
        match item {
            Item::Function(f) => {
                *f = passes::trap_nan::trap_nan(f.as_ref().clone(), &mut sites).into();
                show(observer, passes::trap_nan::PASS.name, f);
            }
            Item::Derived(_) => {}
        }
    }
    sites.into()
}

/// The variant of a module that runs first, with plain products where a result tells of a NaN. `None` if there is nothing
/// to replace.
pub(crate) fn plain_products(module: &Module, entry: &str, observer: Option<&Observer<'_>>) -> Option<VerifiedModule> {
    let plain = verified(cotan_opt::plain_products(module, entry)?);
    plain.functions().for_each(|f| show(observer, passes::relax_products::PASS.name, f));
    Some(plain)
}

/// What the middle end has made, as backends take it.
pub(crate) fn verified(module: Module) -> VerifiedModule {
    let module = Arc::new(module);
    VerifiedModule::new(module.clone()).unwrap_or_else(|errors| {
        let all: Vec<String> = errors.iter().map(ToString::to_string).collect();
        bug!("the middle end", module, "it made a module malformed: {}", all.join("\n"))
    })
}

fn show(observer: Option<&Observer<'_>>, pass: &'static str, f: &Function) {
    if let Some(observer) = observer {
        observer(pass, f);
    }
}

fn without_rules(module: &Module) -> Module {
    let mut plain = module.clone();
    for f in module.functions().filter(|f| f.custom_vjp.is_some() || f.custom_jvp.is_some()) {
        plain.insert(Function { custom_vjp: None, custom_jvp: None, ..f.as_ref().clone() });
    }
    plain
}
