//! Derivatives that a module asks for, written in the order in which they need one another.

use crate::jvp::jvp;
use crate::vjp::vjp;
use crate::{Error, Limits, ReversedLoop};
use cotan_ir::{Atom, Block, Builder, Derived, Env, Function, Item, Mode, Module, Op, Symbol};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Replaces every derivative that the module asks for by a function. Derivatives of callees that turn out to be needed
/// are added under their canonical names.
///
/// The functions differentiated should have been through [`cotan_opt::BEFORE_AD`] before: contraction decides the bits
/// of the primal and has no place behind this pass.
///
/// Gives what there is to say of the loops that were reversed, in the order in which that was done.
pub fn expand(module: &mut Module, limits: &Limits) -> Result<Vec<ReversedLoop>, Error> {
    expand_all(Session::new(module, limits))
}

/// Like [`expand`], but every reverse sweep starts after the value, also where nothing can fail on the way to it. That is
/// for those who look for the first of something else than a check.
pub fn expand_values_first(module: &mut Module, limits: &Limits) -> Result<Vec<ReversedLoop>, Error> {
    expand_all(Session { values_first: true, ..Session::new(module, limits) })
}

fn expand_all(mut session: Session<'_>) -> Result<Vec<ReversedLoop>, Error> {
    let is_derived = |item: &Item| match item {
        Item::Derived(_) => true,
        Item::Function(_) => false,
    };
    let items = &session.module.items;
    let names: Vec<Symbol> = items.iter().filter(|(_, item)| is_derived(item)).map(|(n, _)| n.clone()).collect();
    names.iter().try_for_each(|name| session.function(name).map(|_| ()))?;
    Ok(session.reversed)
}

/// The derivative `d`, which the module holds under its canonical name afterwards.
pub fn derivative(module: &mut Module, d: &Derived, limits: &Limits) -> Result<Arc<Function>, Error> {
    Session::new(module, limits).derivative(d)
}

/// How much a function stands for.
#[derive(Clone, Copy, Default)]
struct Extent {
    /// How deep derivatives are nested in it and in what it calls.
    order: usize,
    /// Its own statements. What it calls is written once, however often it is called.
    stmts: usize,
    /// Whether it, or what it calls, has checks.
    may_fail: bool,
}

/// The module while derivatives are written.
pub(crate) struct Session<'m> {
    module: &'m mut Module,
    limits: Limits,
    /// Whether every reverse sweep starts after the value.
    pub(crate) values_first: bool,
    /// The functions that are written, with all that they call.
    ready: FxHashMap<Symbol, Extent>,
    /// The functions being made ready, outermost first.
    open: Vec<Symbol>,
    reversed: Vec<ReversedLoop>,
}

impl<'m> Session<'m> {
    pub(crate) fn new(module: &'m mut Module, limits: &Limits) -> Session<'m> {
        Session {
            module,
            limits: *limits,
            values_first: false,
            ready: FxHashMap::default(),
            open: Vec::new(),
            reversed: Vec::new(),
        }
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

    /// The derivative `d` of a function of `n_values` results without these, for callers who have them: so nothing is printed
    /// twice, and checks on the way to a value are not made again. With it the number of results in front of the
    /// derivatives: lengths that their types name.
    pub(crate) fn derivative_alone(&mut self, d: &Derived, n_values: usize) -> Result<(Arc<Function>, usize), Error> {
        let whole = self.derivative(d)?;
        let lengths = lengths_of_derivatives(&whole, n_values);
        let name: Symbol = format!("{}.alone", whole.name).into();
        if self.module.function(&name).is_none() {
            let first_seed = self.function(&d.of)?.params.len();
            let f = cotan_opt::simplify(alone(&whole, name.clone(), first_seed, n_values, &lengths));
            let order = self.ready.get(&whole.name).map_or(0, |extent| extent.order);
            let f = self.module.insert(self.checked(f));
            let extent = Extent { order, ..self.extent(&f.body)? };
            self.ready.insert(name.clone(), extent);
        }
        Ok((self.function(&name)?, lengths.len()))
    }

    /// Whether code can fail. What it calls is written.
    pub(crate) fn has_checks(&self, block: &Block) -> bool {
        block.stmts.iter().any(|s| match &s.op {
            // Where the condition is known to hold, the check only renames dims.
            Op::Check { cond, .. } => cond.truth() != Some(true),
            Op::Call { callee, .. } => self.ready.get(callee).is_none_or(|extent| extent.may_fail),
            Op::Prim { .. }
            | Op::Tensor { .. }
            | Op::Index { .. }
            | Op::Update { .. }
            | Op::AccAdd { .. }
            | Op::Par(_)
            | Op::Loop(_)
            | Op::Switch { .. } => s.op.blocks().iter().any(|b| self.has_checks(b)),
        })
    }

    /// The function to differentiate, with the request checked against it. One that has a rule of its own for this mode
    /// is differentiated as a call, because calls are where rules apply.
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
    pub(crate) fn tell(&mut self, reversed: ReversedLoop) {
        self.reversed.push(reversed);
    }

    /// Whether a function being written has grown beyond the limit.
    pub(crate) fn check_size(&self, name: &Symbol, b: &Builder) -> Result<(), Error> {
        if b.vars().len() > self.limits.variables {
            return Err(Error::SizeLimit { function: name.clone(), limit: self.limits.variables });
        }
        Ok(())
    }

    /// Writes `name` if it is a derivative, and everything that it calls.
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
                let f = match d.mode {
                    Mode::Jvp => jvp(self, &d, name)?,
                    Mode::Vjp => vjp(self, &d, name)?,
                };
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
        if cfg!(debug_assertions)
            && let Err(errors) = cotan_ir::verify(self.module, &f)
        {
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            panic!("bug: a derivative is malformed: {}\n{f}", errors.join("; "));
        }
        f
    }
}

/// A function that only calls `f`.
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

/// The positions of those of the first `n_values` results of a derivative that are lengths in the types of the others.
fn lengths_of_derivatives(whole: &Function, n_values: usize) -> Vec<usize> {
    let (values, derivatives) = whole.body.results.split_at(n_values);
    let mut named = derivatives.iter().filter_map(|a| a.var()).flat_map(|v| whole.ty(v).dim_vars()).collect::<Vec<_>>();
    named.retain(|d| !whole.params.contains(d));
    (0..n_values).filter(|k| values[*k].var().is_some_and(|v| named.contains(&v))).collect()
}

/// A derivative without values, but for these lengths. Its caller has the values, so that it need not come after them.
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
