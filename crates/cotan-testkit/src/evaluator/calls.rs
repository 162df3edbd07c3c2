//! Calls of functions, lambdas and derivatives.

use super::Machine;
use super::frame::{Closure, Frame, Generic};
use super::value::{Flow, Value, bug};
use cotan_ir::CheckKind;
use cotan_sema::dims::{Atom, Dim};
use cotan_sema::typed::{
    Arg, Callable, CallableKind, Expr, ExprKind, FnId, Function, FunctionBody, GenericArg, GenericId, LocalId, Param,
    Type,
};
use cotan_syntax::Span;
use std::cell::RefCell;
use std::rc::Rc;

impl<'p> Machine<'p> {
    /// A call with arguments of the source. The shape checks around arguments come after all arguments: they may be
    /// about sizes of later ones.
    pub(super) fn call(&mut self, callee: &'p Callable, args: &'p [Arg], span: Span) -> Flow<Value> {
        let callee = self.closure(callee);
        let mut values = Vec::new();
        let mut functions = Vec::new();
        for arg in args {
            match arg {
                Arg::Value(e) => {
                    values.push(self.part(unchecked(e))?);
                    functions.push(None);
                }
                Arg::Pack(_) => return bug("a pack as an argument"),
                Arg::Function(callable) => {
                    values.push(Value::unit());
                    functions.push(Some(self.closure(callable)));
                }
            }
        }
        for (arg, value) in args.iter().zip(&values) {
            if let Arg::Value(e) = arg
                && matches!(e.kind, ExprKind::ShapeCheck(_))
            {
                self.check_shape(&e.ty, value, e.span)?;
                self.settle(&e.ty, value)?;
            }
        }
        self.call_span = span;
        self.apply(&callee, values, &functions)
    }

    /// A call with one value for each parameter, and functions for the parameters of function type.
    pub(super) fn apply(
        &mut self,
        callee: &Closure<'p>,
        args: Vec<Value>,
        functions: &[Option<Closure<'p>>],
    ) -> Flow<Value> {
        match &callee.callable.kind {
            CallableKind::Function { function, generics } => {
                apply_function(self, callee, *function, generics, args, functions)
            }
            CallableKind::Lambda(lambda) => self.in_frame(callee.frame.clone(), |machine| {
                for (pattern, value) in lambda.params.iter().zip(args) {
                    machine.bind(pattern, value)?;
                }
                machine.body_value(&lambda.body)?.met()
            }),
            CallableKind::Param(local) => {
                let function = callee.frame.functions.get(local.0 as usize).cloned().flatten();
                let Some(function) = function else { return bug("a parameter of function type without a function") };
                self.apply(&function, args, functions)
            }
            CallableKind::Derivative(derivative) => {
                let base = Closure { callable: &derivative.base, frame: callee.frame.clone() };
                // Types are those of the body that the form stands in.
                self.in_frame(callee.frame.clone(), |machine| machine.derivative(derivative, &base, args, functions))
            }
            CallableKind::Vmap(vmap) => self.vmap(callee, vmap, &args, functions),
        }
    }

    /// Runs a function whose generics are known.
    pub(super) fn run(
        &mut self,
        function: &'p Function,
        generics: Vec<Generic>,
        args: Vec<Value>,
        functions: &[Option<Closure<'p>>],
    ) -> Flow<Value> {
        let n_locals = match &function.body {
            FunctionBody::Source(body) => body.locals.len(),
            FunctionBody::Derivative(_) | FunctionBody::Required(_) => function.params.len(),
        };
        let frame = Rc::new(Frame {
            generics,
            functions: functions.to_vec(),
            locals: RefCell::new(vec![None; n_locals]),
            sizes: RefCell::new(vec![None; function.n_sizes()]),
        });
        self.in_frame(frame.clone(), |machine| {
            for ((local, param), value) in locals_of(&function.params).zip(&args) {
                let value = if param.nodiff { value.without_derivative() } else { value.clone() };
                machine.set_local(local, value);
            }
            for (param, value) in function.params.iter().zip(&args) {
                if !matches!(param.ty, Type::Function(_)) {
                    machine.settle(&param.ty, value)?;
                }
            }
            match &function.body {
                FunctionBody::Source(body) => machine.body_value(&body.value),
                FunctionBody::Derivative(derivative) => {
                    let base = Closure { callable: &derivative.base, frame };
                    machine.derivative(derivative, &base, args, functions)
                }
                FunctionBody::Required(_) => bug("a function of a trait without its impl"),
            }
        })
    }
}

fn apply_function<'p>(
    machine: &mut Machine<'p>,
    callee: &Closure<'p>,
    id: FnId,
    generics: &'p [GenericArg],
    args: Vec<Value>,
    functions: &[Option<Closure<'p>>],
) -> Flow<Value> {
    let function = machine.program.function(id);
    let mut known = Vec::new();
    machine.in_frame(callee.frame.clone(), |machine| {
        for (k, arg) in generics.iter().enumerate() {
            known.push(match machine.generic(arg)? {
                Generic::Size(None) => Generic::Size(extent_of(function, GenericId(k as u32), &args)),
                Generic::Size(Some(n)) => {
                    // What is solved from an argument, or written in brackets, is an error of the call.
                    let span = machine.call_span;
                    machine.checks.check(n >= 0, CheckKind::NegativeSize, span)?;
                    Generic::Size(Some(n))
                }
                known @ (Generic::Elem(_) | Generic::Type(_) | Generic::Pack(_)) => known,
            });
        }
        Ok(())
    })?;
    let (function, known) = machine.chosen(function, known)?;
    if let Some(value) = machine.by_rule(callee, function, &known, &args, functions)? {
        return Ok(value);
    }
    machine.run(function, known, args, functions)?.met()
}

/// Parameter `k` is local `k`.
fn locals_of(params: &[Param]) -> impl Iterator<Item = (LocalId, &Param)> {
    params.iter().enumerate().map(|(k, param)| (LocalId(k as u32), param))
}

/// The expression inside a shape check.
fn unchecked(e: &Expr) -> &Expr {
    if let ExprKind::ShapeCheck(operand) = &e.kind { operand } else { e }
}

/// The extent of an argument that the type of its parameter calls by this size.
pub(super) fn extent_of(function: &Function, id: GenericId, args: &[Value]) -> Option<i64> {
    let size = Dim::atom(Atom::Size(id));
    let found = |(param, value): (&Param, &Value)| {
        let axis = param.ty.dims().iter().position(|dim| *dim == size)?;
        Some(value.tensor().ok()?.dims[axis] as i64)
    };
    function.params.iter().zip(args).find_map(found)
}
