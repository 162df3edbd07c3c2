//! Demand-driven generation: requests for derivatives are answered in order of dependency, each once.

use crate::error::{Error, Limits};
use crate::report::ReversedLoop;
use cotan_ir::{Atom, Block, Builder, Derived, Env, Function, Item, Mode, Module, Op, Symbol, bug};
use cotan_opt::Observer;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The extent of a function, for limits.
#[derive(Clone, Copy, Default)]
struct Extent {
    /// The nesting of derivatives in it and its callees.
    order: usize,
    /// Its own statements; callees are counted apart, because they are written once.
    stmts: usize,
    /// Whether it or a callee has checks.
    may_fail: bool,
}

/// The module while derivatives are written.
pub(crate) struct Session<'m> {
    module: &'m mut Module,
    limits: Limits,
    /// Whether every reverse sweep starts after the value.
    pub(crate) values_first: bool,
    /// The functions that are written, with all their callees.
    ready: FxHashMap<Symbol, Extent>,
    /// The functions being made ready, outermost first.
    open: Vec<Symbol>,
    reversed: Vec<ReversedLoop>,
    /// Is shown the source of a derivative after each pass of its preparation.
    pub(crate) observer: Option<&'m Observer<'m>>,
    write: Writer,
}

/// Writes the derivative of a request, under a name.
type Writer = fn(&mut Session<'_>, &Derived, &Symbol) -> Result<Function, Error>;

impl<'m> Session<'m> {
    pub(crate) fn new(module: &'m mut Module, limits: &Limits, write: Writer) -> Session<'m> {
        Session {
            module,
            limits: *limits,
            values_first: false,
            ready: FxHashMap::default(),
            open: Vec::new(),
            reversed: Vec::new(),
            observer: None,
            write,
        }
    }

    /// The loops reversed so far.
    pub(crate) fn into_reversed(self) -> Vec<ReversedLoop> {
        self.reversed
    }

    pub(crate) fn module(&self) -> &Module {
        self.module
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The function of that name, written if it is a derivative; so are the functions that it calls.
    pub(crate) fn function(&mut self, name: &Symbol) -> Result<Arc<Function>, Error> {
        self.make_ready(name)?;
        self.module.function(name).cloned().ok_or_else(|| Error::UnknownFunction(name.clone()))
    }

    /// The derivative `d`, under its canonical name.
    pub(crate) fn derivative(&mut self, d: &Derived) -> Result<Arc<Function>, Error> {
        let name = d.canonical_name();
        self.module.items.entry(name.clone()).or_insert_with(|| Item::Derived(d.clone()));
        self.function(&name)
    }

    /// Adds a generated function of the order of another one.
    pub(crate) fn add_beside(&mut self, other: &Symbol, f: Function) -> Result<(), Error> {
        let order = self.ready.get(other).map_or(0, |extent| extent.order);
        let f = self.module.insert(self.checked(f));
        let extent = Extent { order, ..self.extent(&f.body)? };
        self.ready.insert(f.name.clone(), extent);
        Ok(())
    }

    /// Whether code can fail. Its callees are written.
    pub(crate) fn has_checks(&self, block: &Block) -> bool {
        block.walk().map(|s| s.op.effects()).any(|effects| {
            let calls = |callee| self.ready.get(callee).is_none_or(|extent| extent.may_fail);
            effects.fails || effects.calls.is_some_and(calls)
        })
    }

    /// The function to differentiate, with the request checked against it. A function with a custom rule for this mode
    /// is differentiated as a call, because custom rules apply to calls.
    pub(crate) fn source(&mut self, d: &Derived) -> Result<Arc<Function>, Error> {
        let f = self.function(&d.of)?;
        let is_float_param = |k: usize| f.params.get(k).is_some_and(|p| f.ty(*p).is_float());
        if let Some(parameter) = d.wrt.iter().copied().find(|k| !is_float_param(*k)) {
            return Err(Error::NotDifferentiable { function: d.of.clone(), parameter });
        }
        let is_float_result = |k: usize| f.body.results.get(k).is_some_and(|r| f.is_float(*r));
        if let Some(result) = d.outs.iter().copied().find(|k| !is_float_result(*k)) {
            return Err(Error::NoDerivativeOfResult { function: d.of.clone(), result });
        }
        let rule = match d.mode {
            Mode::Jvp => &f.custom_jvp,
            Mode::Vjp => &f.custom_vjp,
        };
        Ok(if rule.is_some() { Arc::new(calling(&f)) } else { f })
    }

    /// Notes that a loop was reversed.
    pub(crate) fn report(&mut self, reversed: ReversedLoop) {
        self.reversed.push(reversed);
    }

    /// Whether a function being written has grown beyond the limit.
    pub(crate) fn check_size(&self, name: &Symbol, b: &Builder) -> Result<(), Error> {
        if b.vars().len() > self.limits.variables {
            return Err(Error::SizeLimit { function: name.clone(), limit: self.limits.variables });
        }
        Ok(())
    }

    /// Writes `name` if it is a derivative, and all its callees.
    fn make_ready(&mut self, name: &Symbol) -> Result<Extent, Error> {
        if let Some(extent) = self.ready.get(name) {
            return Ok(*extent);
        }
        if let Some(at) = self.open.iter().position(|open| open == name) {
            return Err(Error::Cycle(self.open[at..].iter().chain([name]).cloned().collect()));
        }
        self.open.push(name.clone());
        let extent = match self.module.items.get(name).cloned() {
            None => return Err(Error::UnknownFunction(name.clone())),
            Some(Item::Function(f)) => self.extent(&f.body)?,
            Some(Item::Derived(d)) => {
                let source = self.make_ready(&d.of)?;
                if source.order >= self.limits.order {
                    return Err(Error::OrderLimit { function: name.clone(), limit: self.limits.order });
                }
                if source.stmts > self.limits.variables {
                    return Err(Error::SizeLimit { function: name.clone(), limit: self.limits.variables });
                }
                let f = (self.write)(self, &d, name)?;
                let f = self.module.insert(self.checked(cotan_opt::simplify(f)));
                Extent { order: source.order + 1, ..self.extent(&f.body)? }
            }
        };
        self.open.pop();
        self.ready.insert(name.clone(), extent);
        Ok(extent)
    }

    fn extent(&mut self, block: &Block) -> Result<Extent, Error> {
        let mut whole = Extent::default();
        for s in &block.stmts {
            whole.stmts += 1;
            if let Op::Call { callee, .. } = &s.op {
                let callee = self.make_ready(callee)?;
                whole.order = whole.order.max(callee.order);
            }
            for b in s.op.blocks() {
                let inner = self.extent(b)?;
                whole.order = whole.order.max(inner.order);
                whole.stmts += inner.stmts;
            }
        }
        whole.may_fail = self.has_checks(block);
        Ok(whole)
    }

    /// A generated function, verified in debug builds.
    pub(crate) fn checked(&self, f: Function) -> Function {
        self.verify("differentiate", &f);
        f
    }

    /// Verifies a function after a pass in debug builds, and shows it to the observer.
    pub(crate) fn observe(&self, pass: &'static str, f: &Function) {
        self.verify(pass, f);
        if let Some(observer) = self.observer {
            observer(pass, f);
        }
    }

    fn verify(&self, pass: &str, f: &Function) {
        if cfg!(debug_assertions)
            && let Err(errors) = cotan_ir::verify(self.module, f)
        {
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            bug!(format_args!("pass `{pass}`"), f, "it made `{}` malformed: {}", f.name, errors.join("; "));
        }
    }
}

/// A wrapper that calls `f`.
fn calling(f: &Function) -> Function {
    let mut b = Builder::new();
    let mut env = Env::new();
    for p in &f.params {
        let ty = env.ty(f.ty(*p));
        let new = b.param(f.name_of(*p), ty);
        env.insert(*p, new.into());
    }
    let args: Vec<Atom> = f.params.iter().map(|p| env.atom((*p).into())).collect();
    let results = b.call(f, &args);
    b.finish(&f.name, results.into_iter().map(Atom::Var).collect())
}
