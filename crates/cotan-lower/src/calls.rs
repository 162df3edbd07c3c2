//! Calls: of functions by name, of lambdas and functions that take functions by inlining.

use cotan_ir::{Atom, CheckKind, Op, Span};

use super::body::{Body, Closure, Value, within};
use super::code::Code;
use super::values::LeafTy;
use super::{Extent, Instance, Result};
use cotan_sema::dims::{Atom as SizeAtom, Dim, GenericId, LocalId};
use cotan_sema::typed::{Arg, CallableKind, FnId, Function, GenericArg, Lambda, Type};

/// A leading argument of an IR function.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lead {
    /// The same for every call from here.
    Atom(Atom),
    /// An extent of the arguments.
    Extent(Extent),
}

/// A call of a function that takes functions.
#[derive(Clone, Copy)]
pub(super) struct Inlined<'x, 'p> {
    pub(super) source: &'p Function,
    pub(super) callee: Closure<'p>,
    pub(super) generics: &'p [GenericArg],
    /// What it gives for parameters of function type.
    pub(super) functions: &'x [Option<Closure<'p>>],
}

/// A check of a shape that was written already.
struct ShapeCheck {
    span: Span,
    cond: Atom,
    /// What the message shows.
    args: Vec<Atom>,
}

impl<'a, 'p> Body<'a, 'p> {
    /// A call with arguments of the source.
    pub(super) fn call(&mut self, callee: Closure<'p>, args: &'p [Arg]) -> Result<Value> {
        let mut values = Vec::new();
        let mut functions = Vec::new();
        for arg in args {
            match arg {
                Arg::Value(e) => {
                    values.push(self.expr(e)?);
                    functions.push(None);
                }
                Arg::Function(callable) => {
                    values.push(Value::new());
                    functions.push(Some(self.closure(callable)));
                }
                Arg::Pack(_) => {}
            }
        }
        self.apply(callee, values, &functions)
    }

    /// A call with one value for each parameter, and functions for the parameters of function type.
    pub(super) fn apply(
        &mut self,
        callee: Closure<'p>,
        args: Vec<Value>,
        functions: &[Option<Closure<'p>>],
    ) -> Result<Value> {
        let callable = callee.callable;
        match &callable.kind {
            CallableKind::Function { function, generics } => {
                let args = self.with_checked_sizes(callee, args);
                let source = self.lowering.program.function(*function);
                if takes_functions(source) {
                    let call = Inlined { source, callee, generics, functions };
                    return if source.rules.any() {
                        self.ruled_call(call, &args)
                    } else {
                        self.inlined(call, args, |body| body.function_value(source))
                    };
                }
                let (instance, leads) =
                    self.in_frame(callee.frame, |body| body.instance_with_leads(*function, generics))?;
                Ok(self.code.call_of(&instance, &leads, &args))
            }
            CallableKind::Lambda(lambda) => apply_lambda(self, lambda, callee, args),
            CallableKind::Param(local) => {
                let function = self.frames[callee.frame].functions.get(local).copied();
                let function = function.expect("invariant: a parameter of function type is bound");
                self.apply(function, args, functions)
            }
            CallableKind::Derivative(derivative) => self.derivative(derivative, callee.frame, args, functions),
            CallableKind::Vmap(vmap) => self.vmap(callable, vmap, callee.frame, args, functions),
        }
    }

    /// The arguments of a call whose sizes fit. A size that is solved from an argument or written in brackets may be
    /// negative, or there may be none, as of `2*N` for an odd extent: it is checked in front of the call, whatever the
    /// callee does with that argument, and what was checked stands in the types of the arguments from there on.
    pub(super) fn with_checked_sizes(&mut self, callee: Closure<'p>, args: Vec<Value>) -> Vec<Value> {
        let (function, generics) = match &callee.callable.kind {
            CallableKind::Function { function, generics } => (self.lowering.program.function(*function), generics),
            CallableKind::Derivative(derivative) => {
                return self.with_checked_sizes(Closure { callable: &derivative.base, ..callee }, args);
            }
            CallableKind::Param(local) => match self.frames[callee.frame].functions.get(local).copied() {
                Some(function) => return self.with_checked_sizes(function, args),
                None => return args,
            },
            CallableKind::Lambda(_) | CallableKind::Vmap(_) => return args,
        };
        let mut args = args;
        for (k, generic) in generics.iter().enumerate() {
            let GenericArg::Size(dim) = generic else { continue };
            let Some(size) = self.in_frame(callee.frame, |body| body.size(dim)) else { continue };
            let mut checked = solved_size(self, function, k, dim, size, &args);
            if !dim.is_surely_non_negative() {
                checked = self.code.checked_count(checked);
            }
            if checked == size {
                continue;
            }
            self.in_frame(callee.frame, |body| body.know_size(dim, checked));
            for leaf in args.iter_mut().flatten() {
                let extents: Vec<Atom> = self.code.b.ty(*leaf).dims.iter().map(|extent| extent.atom()).collect();
                if extents.contains(&size) {
                    let extents: Vec<Atom> = extents.into_iter().map(|n| if n == size { checked } else { n }).collect();
                    *leaf = self.code.with_dims(*leaf, &extents, CheckKind::ShapeMismatch);
                }
            }
        }
        args
    }

    /// Lowers in a frame of a function that takes functions, with the arguments and functions that a call gives it.
    pub(super) fn inlined(
        &mut self,
        call: Inlined<'_, 'p>,
        args: Vec<Value>,
        lower: impl FnOnce(&mut Self) -> Result<Value>,
    ) -> Result<Value> {
        let source = call.source;
        self.lowering.enter(&source.name, call.callee.callable.span)?;
        let mut frame = self.function_frame(source);
        for (k, generic) in call.generics.iter().enumerate() {
            if let GenericArg::Size(dim) = generic {
                frame.sizes[k] = self.size_of_call(call, k, dim, &args);
            }
        }
        for (k, function) in call.functions.iter().enumerate() {
            if let Some(function) = function {
                frame.functions.insert(LocalId(k as u32), *function);
            }
        }
        let previous = self.push_frame(frame);
        let result = std::mem::replace(&mut self.result, source.result.clone());
        let outside = self.kept;
        self.kept = within(outside, source);
        let value = self.scoped(|body| {
            for (k, (param, value)) in source.params.iter().zip(args).enumerate() {
                body.know_sizes(&param.ty, &value);
                let value = if param.nodiff { body.code.without_derivative(value) } else { value };
                body.bind_parameter(k, value);
            }
            lower(body)
        });
        self.result = result;
        self.kept = outside;
        self.pop_frame(previous);
        self.lowering.leave();
        value
    }

    /// What generic number `k` of a function that takes functions is.
    fn size_of_call(&mut self, call: Inlined<'_, 'p>, k: usize, dim: &Dim, args: &[Value]) -> Option<Atom> {
        if let Some(size) = self.in_frame(call.callee.frame, |body| body.size(dim)) {
            return Some(size);
        }
        match extent_of_size(self, call.source, k) {
            Lead::Atom(_) => None,
            Lead::Extent(Extent { leaf, axis }) => {
                args.concat().get(leaf).map(|leaf| self.code.b.ty(*leaf).dims[axis].atom())
            }
        }
    }

    /// Lowers in another frame.
    pub(super) fn in_frame<T>(&mut self, frame: usize, lower: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.frame, frame);
        let result = lower(self);
        self.frame = before;
        result
    }

    /// An instance, and what its parameters before the leaves are at this use.
    pub(super) fn instance_with_leads(
        &mut self,
        id: FnId,
        generics: &[GenericArg],
    ) -> Result<(std::rc::Rc<Instance>, Vec<Lead>)> {
        let instance = self.lowering.instance(id, self.kept)?;
        let source = self.lowering.program.function(id);
        let mut leads = Vec::new();
        for (k, generic) in generics.iter().enumerate() {
            match generic {
                GenericArg::Size(dim) => leads.push(match self.size(dim) {
                    Some(size) => Lead::Atom(size),
                    None => extent_of_size(self, source, k),
                }),
                GenericArg::Scalar(_) | GenericArg::Type(_) | GenericArg::Pack(_) => {}
            }
        }
        leads.extend(instance.signature.extents.iter().copied().map(Lead::Extent));
        Ok((instance, leads))
    }
}

impl Code {
    /// All arguments of an IR function, given the leaves.
    pub(super) fn arguments(&self, leads: &[Lead], leaves: &[Atom]) -> Vec<Atom> {
        let lead = |lead: &Lead| match lead {
            Lead::Atom(a) => *a,
            Lead::Extent(Extent { leaf, axis }) => self.b.ty(leaves[*leaf]).dims[*axis].atom(),
        };
        leads.iter().map(lead).chain(leaves.iter().copied()).collect()
    }

    /// A call of an instance, and its leaves.
    pub(super) fn call_of(&mut self, instance: &Instance, leads: &[Lead], args: &[Value]) -> Value {
        let args = self.arguments(leads, &args.concat());
        let results = self.b.call(&instance.function, &args);
        let positions = &instance.signature.results;
        for (k, v) in results.iter().enumerate() {
            if !positions.contains(&k) {
                self.non_negative.insert(*v);
            }
        }
        positions.iter().map(|k| results[*k].into()).collect()
    }
}

/// The size that generic number `k` stands for. One that was found by a division, as `N` from an argument with the
/// extent `2*N`, may not exist: the checks of that argument then guard the size too.
fn solved_size<'p>(
    body: &mut Body<'_, 'p>,
    callee: &'p Function,
    k: usize,
    dim: &Dim,
    size: Atom,
    args: &[Value],
) -> Atom {
    let mut is_quotient = false;
    dim.each_atom(&mut |atom| is_quotient |= matches!(atom, SizeAtom::Floor(..)));
    let own = SizeAtom::Size(GenericId(k as u32));
    let params: Vec<LeafTy> = callee.params.iter().flat_map(|param| body.layout.leaf_types(&param.ty)).collect();
    let is_given = params.iter().flat_map(|leaf| &leaf.dims).any(|dim| dim.as_atom() == Some(&own));
    if !is_quotient || is_given {
        return size;
    }
    let mut checks = Vec::new();
    for (leaf, arg) in params.iter().zip(args.iter().flatten()) {
        let mut is_source = false;
        leaf.dims.iter().for_each(|dim| dim.each_atom(&mut |atom| is_source |= *atom == own));
        let mut value = *arg;
        while is_source && let Some((check, guarded)) = shape_check_of(&mut body.code, value) {
            checks.push(check);
            value = guarded;
        }
    }
    let span = body.code.b.span();
    let size = checks.into_iter().rev().fold(size, |size, check: ShapeCheck| {
        body.code.b.set_span(check.span);
        body.code.check(check.cond, CheckKind::ShapeMismatch, &check.args, size)
    });
    body.code.b.set_span(span);
    size
}

/// The check of the shape of a value that was just made, and the value that it guards.
fn shape_check_of(code: &mut Code, value: Atom) -> Option<(ShapeCheck, Atom)> {
    let made = code.b.stmts().iter().rev().find(|stmt| stmt.results.iter().any(|v| Atom::Var(*v) == value))?;
    if let Op::Check { cond, kind: CheckKind::ShapeMismatch, args, value } = &made.op {
        Some((ShapeCheck { span: made.span, cond: *cond, args: args.clone() }, *value))
    } else {
        None
    }
}

/// The axis of the arguments that is as long as generic number `k` of a function.
fn extent_of_size<'p>(body: &Body<'_, 'p>, function: &'p Function, k: usize) -> Lead {
    let size = Dim::atom(SizeAtom::Size(GenericId(k as u32)));
    let mut leaf = 0;
    for param in &function.params {
        for ty in body.layout.leaf_types(&param.ty) {
            if let Some(axis) = ty.dims.iter().position(|dim| *dim == size)
                && !ty.is_payload()
            {
                return Lead::Extent(Extent { leaf, axis });
            }
            leaf += 1;
        }
    }
    Lead::Atom(Atom::i64(0))
}

fn apply_lambda<'p>(
    body: &mut Body<'_, 'p>,
    lambda: &'p Lambda,
    callee: Closure<'p>,
    args: Vec<Value>,
) -> Result<Value> {
    let result = std::mem::replace(&mut body.result, callee.callable.result.clone());
    let value = body.in_frame(callee.frame, |body| {
        body.scoped(|body| {
            for (pattern, value) in lambda.params.iter().zip(args) {
                body.know_sizes(&pattern.ty, &value);
                body.bind(pattern, value)?;
            }
            body.body_value(&lambda.body)
        })
    });
    body.result = result;
    value
}

/// Whether a function has parameters of function type, so that each call is specialised.
pub(super) fn takes_functions(function: &Function) -> bool {
    function.params.iter().any(|param| matches!(param.ty, Type::Function(_)))
}
