//! Derivatives that a module asks for, written in the order in which they need one another.

use crate::jvp::jvp;
use crate::vjp::vjp;
use crate::{Error, Limits};
use cotan_ir::{Block, Builder, Derived, Function, Item, Mode, Module, Op, Symbol};
use std::collections::HashMap;
use std::sync::Arc;

/// Replaces every derivative that the module asks for by a function. Derivatives of callees that turn out to be needed
/// are added under their canonical names.
///
/// The functions differentiated should have been through [`cotan_opt::prepare`] before: contraction decides the bits
/// of the primal and has no place behind this pass.
pub fn expand(module: &mut Module, limits: &Limits) -> Result<(), Error> {
    let is_derived = |item: &Item| match item {
        Item::Derived(_) => true,
        Item::Function(_) => false,
    };
    let names: Vec<Symbol> = module.items.iter().filter(|(_, item)| is_derived(item)).map(|(n, _)| n.clone()).collect();
    let mut session = Session::new(module, limits);
    names.iter().try_for_each(|name| session.function(name).map(|_| ()))
}

/// The derivative `d`, which the module holds under its canonical name afterwards.
pub fn derivative(module: &mut Module, d: &Derived, limits: &Limits) -> Result<Arc<Function>, Error> {
    Session::new(module, limits).derivative(d)
}

/// The module while derivatives are written.
pub(crate) struct Session<'m> {
    module: &'m mut Module,
    limits: Limits,
    /// Of every function whose callees are known to be written: how deep derivatives are nested in it.
    orders: HashMap<Symbol, usize>,
    /// The functions being made ready, outermost first.
    open: Vec<Symbol>,
}

impl<'m> Session<'m> {
    pub(crate) fn new(module: &'m mut Module, limits: &Limits) -> Session<'m> {
        Session { module, limits: *limits, orders: HashMap::new(), open: Vec::new() }
    }

    pub(crate) fn module(&self) -> &Module {
        self.module
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

    /// The function to differentiate, with the request checked against it.
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
        Ok(f)
    }

    /// Whether a function being written has grown beyond the limit.
    pub(crate) fn check_size(&self, name: &Symbol, b: &Builder) -> Result<(), Error> {
        if b.vars().len() > self.limits.variables {
            return Err(Error::SizeLimit { function: name.clone(), limit: self.limits.variables });
        }
        Ok(())
    }

    /// Writes `name` if it is a derivative, and everything that it calls; gives the order of its derivatives.
    fn make_ready(&mut self, name: &Symbol) -> Result<usize, Error> {
        if let Some(order) = self.orders.get(name) {
            return Ok(*order);
        }
        if let Some(at) = self.open.iter().position(|open| open == name) {
            return Err(Error::Cycle(self.open[at..].iter().chain([name]).cloned().collect()));
        }
        self.open.push(name.clone());
        let order = match self.module.items.get(name).cloned() {
            None => return Err(Error::UnknownFunction(name.clone())),
            Some(Item::Function(f)) => self.order_of_callees(&f.body)?,
            Some(Item::Derived(d)) => {
                let order = self.make_ready(&d.of)? + 1;
                if order > self.limits.order {
                    return Err(Error::OrderLimit { function: name.clone(), limit: self.limits.order });
                }
                let f = match d.mode {
                    Mode::Jvp => jvp(self, &d, name)?,
                    Mode::Vjp => vjp(self, &d, name)?,
                };
                let f = self.checked(cotan_opt::simplify(&f));
                self.module.insert(f);
                order
            }
        };
        self.open.pop();
        self.orders.insert(name.clone(), order);
        Ok(order)
    }

    fn order_of_callees(&mut self, block: &Block) -> Result<usize, Error> {
        let mut order = 0;
        for s in &block.stmts {
            if let Op::Call { callee, .. } = &s.op {
                order = order.max(self.make_ready(callee)?);
            }
            for b in s.op.blocks() {
                order = order.max(self.order_of_callees(b)?);
            }
        }
        Ok(order)
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
