//! The lowering of the functions of a program, each once for each way in which a reverse sweep is to treat loops: its
//! parameters, its value, its results.

use std::collections::HashSet;
use std::rc::Rc;

use cotan_ir::{Atom, Dim as IrDim, Elem, Mode, ReversePolicy, Ty, Var, bug};

use super::body::{Body, Frame, Value, ir_span, within};
use super::code::Code;
use super::{Extent, Instance, Lowering, Result, Signature};
use cotan_sema::dims::{Atom as SizeAtom, LocalId};
use cotan_sema::typed::{DerivativeMode, FnId, Function, FunctionBody, Type};

impl<'p> Lowering<'p> {
    /// A function of the program in the IR, as it is where a reverse sweep is to treat loops in this way.
    pub(super) fn instance(&mut self, id: FnId, outside: ReversePolicy) -> Result<Rc<Instance>> {
        let function = self.program.function(id);
        // A function that says the same itself is one and the same wherever it is called.
        let outside = ReversePolicy {
            checkpoint: None,
            recompute: outside.recompute && !function.recompute,
            mode: outside.mode.filter(|mode| function.mode.map(DerivativeMode::ir) != Some(*mode)),
        };
        let key = (id, outside);
        if let Some(instance) = self.instances.get(&key) {
            return Ok(instance.clone());
        }
        let instance = Rc::new(self.lower_function(function, key.1)?);
        self.instances.insert(key, instance.clone());
        self.lower_rules(id, &instance)?;
        Ok(instance)
    }

    /// Lowers a function of the source.
    fn lower_function(&mut self, function: &'p Function, outside: ReversePolicy) -> Result<Instance> {
        let recompute = if outside.recompute { ".recompute" } else { "" };
        let mode = match outside.mode {
            Some(Mode::Jvp) => ".forward",
            Some(Mode::Vjp) => ".reverse",
            None => "",
        };
        let symbol = self.free_symbol(&format!("{}{recompute}{mode}", function.name));
        let mut body = Body::new(self, symbol.clone());
        let frame = body.parameter_frame(function);
        body.push_frame(frame);
        let signature = body.parameters(function);
        body.result = function.result.clone();
        body.kept = within(outside, function);
        let value = body.function_value(function)?;
        Ok(finish(body, function, value, signature))
    }
}

impl<'p> Body<'_, 'p> {
    /// A frame whose sizes are new parameters of the IR function.
    pub(super) fn parameter_frame(&mut self, function: &'p Function) -> Frame<'p> {
        let mut frame = self.function_frame(function);
        for (generic, size) in function.generics.iter().zip(&mut frame.sizes) {
            let v = self.code.b.param(&generic.name, Ty::scalar(Elem::I64));
            self.code.named.insert(v);
            self.code.non_negative.insert(v);
            *size = Some(v.into());
        }
        frame
    }

    /// Makes the parameters of the IR function and binds the locals of the source function to them.
    pub(super) fn parameters(&mut self, function: &'p Function) -> Signature {
        let mut leaf = 0;
        let mut extents = Vec::new();
        let mut payloads: Vec<Vec<IrDim>> = Vec::new();
        for param in &function.params {
            for ty in self.layout.leaf_types(&param.ty) {
                payloads.push(Vec::new());
                for (axis, dim) in ty.dims.iter().enumerate() {
                    if ty.is_payload() {
                        let v = self.code.b.param(&format!("{}_extent", param.name), Ty::scalar(Elem::I64));
                        self.code.non_negative.insert(v);
                        payloads[leaf].push(IrDim::Var(v));
                        extents.push(Extent { leaf, axis });
                        continue;
                    }
                    let is_given = matches!(dim.as_atom(), Some(SizeAtom::Size(_) | SizeAtom::Value(_)));
                    if dim.as_constant().is_none() && !is_given && self.known_size(dim).is_none() {
                        let v = self.code.b.param(&format!("{}_extent", param.name), Ty::scalar(Elem::I64));
                        self.code.non_negative.insert(v);
                        self.know_size(dim, v.into());
                        extents.push(Extent { leaf, axis });
                    }
                }
                leaf += 1;
            }
        }
        let mut first = 0;
        for (k, param) in function.params.iter().enumerate() {
            let value = parameter(self, &param.name, &param.ty, &payloads[first..]);
            first += value.len();
            let stopped = if param.nodiff { self.code.without_derivative(value) } else { value };
            self.bind_parameter(k, stopped);
        }
        Signature { extents, results: Vec::new() }
    }

    /// Gives parameter number `at` of the current frame its value.
    pub(super) fn bind_parameter(&mut self, at: usize, value: Value) {
        let frame = self.current_mut();
        frame.locals[at] = Some(value);
        if frame.table.get(at).is_some_and(|local| local.mutable) {
            frame.mutable.push(LocalId(at as u32));
        }
    }

    /// The value of a function whose parameters are bound in the current frame.
    pub(super) fn function_value(&mut self, function: &'p Function) -> Result<Value> {
        match &function.body {
            FunctionBody::Source(body) => self.body_value(&body.value),
            FunctionBody::Derivative(derivative) => {
                let locals = &self.current().locals[..function.params.len()];
                let args = locals.iter().map(|value| value.clone().unwrap_or_default()).collect();
                let functions = (0..function.params.len() as u32)
                    .map(|k| self.current().functions.get(&LocalId(k)).copied())
                    .collect::<Vec<_>>();
                self.code.b.set_span(ir_span(derivative.span));
                self.derivative(derivative, self.frame, args, &functions)
            }
            FunctionBody::Required(_) => bug!("lowering", function.name, "instances call the functions of impls"),
        }
    }
}

/// New parameters of the IR function for the leaves of a type whose sizes are all known. Payloads have dims of
/// their own, one list for each leaf.
fn parameter(body: &mut Body<'_, '_>, name: &str, ty: &Type, payloads: &[Vec<IrDim>]) -> Value {
    let names = body.layout.leaf_names(name, ty);
    let tys = body.layout.leaf_types(ty);
    let mut value = Vec::new();
    for ((name, leaf), payload) in names.iter().zip(tys).zip(payloads) {
        let ty = match leaf.is_payload() {
            true => Ty::new(leaf.elem, payload.clone()),
            false => body.ir_ty(&leaf).unwrap_or_else(|| Ty::scalar(leaf.elem)),
        };
        let v = body.code.b.param(name, ty);
        body.code.named.insert(v);
        value.push(v.into());
    }
    value
}

/// Ends the function: a result whose type names a variable of the body comes after that variable.
fn finish(body: Body<'_, '_>, source: &Function, value: Value, signature: Signature) -> Instance {
    let Body { lowering, code: Code { b, .. }, symbol, .. } = body;
    lowering.n_operations += b.vars().len();
    let function = b.finish(&symbol, Vec::new());
    let (mut function, results) = with_results(function, value);
    lowering.rule_symbols(source, &symbol).mark(&mut function);
    let function = lowering.module.insert(function);
    Instance { function, signature: Signature { results, ..signature } }
}

/// A function with these results, each after the lengths of the body that its type names; gives the positions of the
/// results.
pub(super) fn with_results(mut function: cotan_ir::Function, value: Value) -> (cotan_ir::Function, Vec<usize>) {
    let params: HashSet<Var> = function.params.iter().copied().collect();
    let mut results: Vec<Atom> = Vec::new();
    let mut positions = Vec::new();
    for leaf in value {
        if let Atom::Var(v) = leaf {
            for dim in function.ty(v).dim_vars() {
                if !params.contains(&dim) && !results.contains(&dim.into()) {
                    results.push(dim.into());
                }
            }
        }
        positions.push(results.len());
        results.push(leaf);
    }
    function.body.results = results;
    (function, positions)
}
