//! Rules that replace derived ones: an adapter between the signature of the source and that of the IR.
//!
//! The IR asks a rule for one cotangent, or gives it one tangent, for every float leaf of the parameters; a rule of the
//! source knows nothing of `@nodiff` parameters, and takes the sizes that are its own.

use std::rc::Rc;

use cotan_ir::{Atom, Const, Env, Symbol, Ty};

use super::body::{Body, Closure, Value, ir_span};
use super::code::Code;
use super::tangents::{floats_of, tangent_leaves, with_tags};
use super::{Instance, Lowering, Result};
use cotan_sema::typed::{Callable, FnId, Function};

/// The names of the adapters of a function.
#[derive(Clone, Debug, Default)]
pub(super) struct RuleSymbols {
    vjp: Option<Symbol>,
    jvp: Option<Symbol>,
}

impl<'p> Lowering<'p> {
    /// Reserves names for the rules of a function.
    pub(super) fn rule_symbols(&mut self, function: &Function, of: &Symbol) -> RuleSymbols {
        let symbol =
            |rule: &Option<Callable>, suffix: &str| rule.is_some().then(|| self.free_symbol(&format!("{of}.{suffix}")));
        RuleSymbols { vjp: symbol(&function.rules.vjp, "vjp_rule"), jvp: symbol(&function.rules.jvp, "jvp_rule") }
    }

    /// Lowers the rules of a function, which may call it.
    pub(super) fn lower_rules(&mut self, id: FnId, instance: &Rc<Instance>) -> Result<()> {
        let program = self.program;
        let function = program.function(id);
        if let (Some(rule), Some(symbol)) = (&function.rules.vjp, &instance.function.custom_vjp) {
            self.adapter(function, instance, symbol, rule, vjp_rule)?;
        }
        if let (Some(rule), Some(symbol)) = (&function.rules.jvp, &instance.function.custom_jvp) {
            self.adapter(function, instance, symbol, rule, jvp_rule)?;
        }
        Ok(())
    }

    /// A function that takes the parameters of an instance, and what else `lower` makes parameters of.
    fn adapter(
        &mut self,
        function: &'p Function,
        instance: &Instance,
        symbol: &Symbol,
        rule: &'p Callable,
        lower: impl FnOnce(&mut Body<'_, 'p>, Ruled<'_, 'p>) -> Result<Value>,
    ) -> Result<()> {
        let mut body = Body::new(self, symbol.clone());
        body.code.b.set_span(ir_span(rule.span));
        let frame = body.parameter_frame(function);
        body.push_frame(frame);
        let signature = body.parameters(function);
        debug_assert_eq!(signature.extents.len(), instance.signature.extents.len());
        let params = body.code.b.params().iter().map(|v| Atom::Var(*v));
        let env = instance.function.params.iter().copied().zip(params).collect();
        let value = lower(&mut body, Ruled { function, instance, rule, functions: &[], env })?;
        let Body { lowering, code, .. } = body;
        let adapter = code.b.finish(symbol, value);
        lowering.module.insert(adapter);
        Ok(())
    }
}

/// What a rule is for, in an adapter that has its parameters.
pub(super) struct Ruled<'x, 'p> {
    pub(super) function: &'p Function,
    pub(super) instance: &'x Instance,
    pub(super) rule: &'p Callable,
    /// What is given for parameters of function type.
    pub(super) functions: &'x [Option<Closure<'p>>],
    /// The variables of the instance as those of the adapter.
    pub(super) env: Env,
}

impl Ruled<'_, '_> {
    /// The floats that functions given to it capture, as parameters. No derivative flows into them: the checker lets
    /// functions read them where it is stopped, and nowhere else.
    fn captured(&self, body: &Body<'_, '_>) -> Vec<Ty> {
        let of = &self.instance.function;
        let n_leaves: usize = given_arguments(body, self.function).iter().map(Vec::len).sum();
        let before = of.params[..of.params.len() - n_leaves].iter().map(|v| of.ty(*v));
        before.filter(|ty| ty.is_float()).map(|ty| self.env.ty(ty)).collect()
    }
}

impl RuleSymbols {
    /// Notes the rules at their function.
    pub(super) fn mark(self, function: &mut cotan_ir::Function) {
        function.custom_vjp = self.vjp;
        function.custom_jvp = self.jvp;
    }
}

/// `(arguments.., results.., cotangents of float results..) -> cotangents of float parameters`
pub(super) fn vjp_rule<'p>(body: &mut Body<'_, 'p>, ruled: Ruled<'_, 'p>) -> Result<Value> {
    let captured = ruled.captured(body);
    let Ruled { function, instance, rule, functions, mut env } = ruled;
    let mut args = given_arguments(body, function);
    let of = instance.function.clone();
    let mut results = Vec::new();
    for result in &of.body.results {
        let ty = env.ty(&of.atom_ty(*result));
        let param = body.code.b.param("result", ty);
        if let Atom::Var(v) = result {
            env.insert(*v, param.into());
        }
        results.push(param);
    }
    let value: Value = instance.signature.results.iter().map(|k| results[*k].into()).collect();
    body.know_sizes(&function.result, &value);
    let float = |v: &&Atom| body.code.b.ty(**v).is_float();
    let floats: Vec<Ty> = value.iter().filter(float).map(|v| body.code.b.ty(*v)).collect();
    let cotangent: Vec<Atom> = floats.into_iter().map(|ty| body.code.b.param("result_cot", ty).into()).collect();
    let cotangent = with_tags(&body.layout.leaf_types(&function.result), &value, &mut cotangent.into_iter());
    args.extend([value, cotangent]);
    let given = body.apply(Closure { callable: rule, frame: body.frame }, args, functions)?;
    let mut given = given.into_iter();
    let zeros = captured.into_iter().map(|ty| body.code.fill(Const::zero(ty.elem).into(), &ty.dims));
    let mut cotangents: Value = zeros.collect();
    for (k, param) in function.params.iter().enumerate() {
        let value = body.current().locals[k].clone().unwrap_or_default();
        let leaves = body.layout.leaf_types(&param.ty);
        let n_given = if param.nodiff { 0 } else { tangent_leaves(&leaves).len() };
        let given: Value = given.by_ref().take(n_given).collect();
        let mut floats = floats_of(&mut body.code.b, &leaves, &value, &given).into_iter();
        for leaf in value {
            let ty = body.code.b.ty(leaf);
            if !ty.is_float() {
                continue;
            }
            cotangents.push(match floats.next() {
                Some(cotangent) => of_type(&mut body.code, cotangent, &ty),
                None => body.code.fill(Const::zero(ty.elem).into(), &ty.dims),
            });
        }
    }
    Ok(cotangents)
}

/// `(arguments.., tangents of float parameters..) -> (results.., tangents of float results..)`
pub(super) fn jvp_rule<'p>(body: &mut Body<'_, 'p>, ruled: Ruled<'_, 'p>) -> Result<Value> {
    for ty in ruled.captured(body) {
        body.code.b.param("captured_tan", ty);
    }
    let Ruled { function, instance, rule, functions, mut env } = ruled;
    let mut args = given_arguments(body, function);
    let mut tangents: Vec<Value> = Vec::new();
    for (k, param) in function.params.iter().enumerate() {
        let value = body.current().locals[k].clone().unwrap_or_default();
        let mut floats = Value::new();
        for leaf in &value {
            let ty = body.code.b.ty(*leaf);
            if ty.is_float() {
                floats.push(body.code.b.param(&format!("{}_tan", param.name), ty).into());
            }
        }
        if !floats.is_empty() && !param.nodiff {
            tangents.push(with_tags(&body.layout.leaf_types(&param.ty), &value, &mut floats.into_iter()));
        }
    }
    args.extend(tangents);
    let results = body.apply(Closure { callable: rule, frame: body.frame }, args, functions)?;
    let of = instance.function.clone();
    let leaves = &instance.signature.results;
    let (values, tangents) = results.split_at(leaves.len());
    let leaf_types = body.layout.leaf_types(&function.result);
    let of_leaf = |k: usize| leaves.iter().position(|other| *other == k);
    let mut all = Value::new();
    for (k, result) in of.body.results.iter().enumerate() {
        let given = match of_leaf(k) {
            Some(leaf) => {
                let ty = env.ty(&of.atom_ty(*result));
                let extents: Vec<Atom> = ty.dims.iter().map(|dim| dim.atom()).collect();
                match leaf_types[leaf].is_payload() {
                    true => body.code.leaf_like(&leaf_types[leaf], values, leaf, &extents),
                    false => of_type(&mut body.code, values[leaf], &ty),
                }
            }
            None => length(body, function, instance, *result, values),
        };
        if let Atom::Var(v) = result {
            env.insert(*v, given);
        }
        all.push(given);
    }
    let is_float = |k: &&usize| of.is_float(of.body.results[**k]);
    let given: Value = leaves.iter().map(|k| all[*k]).collect();
    let tangents = floats_of(&mut body.code.b, &leaf_types, &given, tangents);
    for (k, tangent) in leaves.iter().filter(is_float).zip(tangents) {
        let given = of_type(&mut body.code, tangent, &env.ty(&of.atom_ty(of.body.results[*k])));
        all.push(given);
    }
    Ok(all)
}

/// A length that an instance gives beside its leaves, computed from the sizes of the arguments: the result has no
/// size that only the run knows, else there is no such rule. That of a payload is the extent in the value.
fn length<'p>(
    body: &mut Body<'_, 'p>,
    function: &'p Function,
    instance: &Instance,
    length: Atom,
    values: &[Atom],
) -> Atom {
    let of = &instance.function;
    let leaf_tys = body.layout.leaf_types(&function.result);
    for ((k, leaf), value) in instance.signature.results.iter().zip(leaf_tys).zip(values) {
        let dims = of.atom_ty(of.body.results[*k]).dims;
        if let Some(axis) = dims.iter().position(|dim| dim.atom() == length) {
            if leaf.is_payload() {
                return body.code.b.ty(*value).dims[axis].atom();
            }
            return body.size(&leaf.dims[axis]).unwrap_or(Atom::i64(0));
        }
    }
    Atom::i64(0)
}

/// A leaf with the dims of a type, which it has.
fn of_type(code: &mut Code, leaf: Atom, ty: &Ty) -> Atom {
    let dims: Vec<Atom> = ty.dims.iter().map(|dim| dim.atom()).collect();
    code.with_dims(leaf, &dims, cotan_ir::CheckKind::ShapeMismatch)
}

/// The values of the parameters.
fn given_arguments(body: &Body<'_, '_>, function: &Function) -> Vec<Value> {
    body.current().locals[..function.params.len()].iter().map(|value| value.clone().unwrap_or_default()).collect()
}
