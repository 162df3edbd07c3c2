//! Derivative forms: requests for derivatives, and ordinary IR that calls them.
//!
//! What is differentiated becomes an IR function of its own ([`Base`]); code that is inlined elsewhere (a lambda, a
//! function that takes functions) is lowered as one, with what it reads from around as leading parameters. A gradient
//! is a vjp with cotangent 1; a Jacobian stacks jvps of basis tangents or vjps of basis cotangents; a Hessian is the
//! Jacobian, and a Hessian-vector product the jvp, of a function that gives the gradient.

mod calls;
mod matrices;
mod outline;

use std::sync::Arc;

use cotan_ir::{Atom, Builder, Dim as IrDim, Elem, Env, Function, Ty, Var};

use super::body::{Body, Closure, Value, under};
use super::calls::{Lead, takes_functions};
use super::function::with_results;
use super::tangents::with_tags;
use super::values::LeafTy;
use super::{Extent, Lowering, Result};
use calls::Calls;
use cotan_sema::typed::{CallableKind, Derivative, DerivativeForm, DerivativeMode};

/// An IR function that is differentiated.
struct Base {
    function: Arc<Function>,
    /// Its parameters before the leaves.
    leads: Vec<Lead>,
    /// The leaves of each parameter of the source.
    params: Vec<Vec<LeafTy>>,
    /// Where the leaves of the result stand among the results.
    results: Vec<usize>,
    /// The leaves of the result.
    result: Vec<LeafTy>,
}

impl<'a, 'p> Body<'a, 'p> {
    /// A call of a derivative that stands in `frame`.
    pub(super) fn derivative(
        &mut self,
        derivative: &'p Derivative,
        frame: usize,
        args: Vec<Value>,
        functions: &[Option<Closure<'p>>],
    ) -> Result<Value> {
        let callee = Closure { callable: &derivative.base, frame };
        let args = self.with_checked_sizes(callee, args);
        let base = base_of(self, derivative, callee, functions)?;
        let n = base.params.len();
        let args =
            self.code.arguments(&base.leads, &args[..n].concat()).into_iter().chain(args[n..].concat()).collect();
        Ok(assemble(self.lowering, &mut self.code.b, derivative, &base, args))
    }
}

/// What something callable takes before its leaves, as an IR function.
pub(super) fn leads_of<'p>(body: &mut Body<'_, 'p>, closure: Closure<'p>) -> Result<Vec<Lead>> {
    Ok(base(body, closure, &[])?.leads)
}

/// What is differentiated, as an IR function. Where that is done in reverse by request, it is in all of it.
fn base_of<'p>(
    body: &mut Body<'_, 'p>,
    derivative: &Derivative,
    callee: Closure<'p>,
    functions: &[Option<Closure<'p>>],
) -> Result<Base> {
    let outside = body.kept;
    if derivative.mode == Some(DerivativeMode::Reverse) {
        body.kept = under(outside, false, derivative.mode);
    }
    let base = base(body, callee, functions);
    body.kept = outside;
    base
}

/// Something callable as an IR function.
fn base<'p>(body: &mut Body<'_, 'p>, closure: Closure<'p>, functions: &[Option<Closure<'p>>]) -> Result<Base> {
    let (params, result) = body.in_frame(closure.frame, |body| {
        let callable = closure.callable;
        let params: Vec<Vec<LeafTy>> = callable.params.iter().map(|ty| body.layout.leaf_types(ty)).collect();
        (params, body.layout.leaf_types(&callable.result))
    });
    match &closure.callable.kind {
        CallableKind::Function { function, .. } if takes_functions(body.lowering.program.function(*function)) => {
            body.outline(closure, functions, (params, result))
        }
        CallableKind::Function { function, generics } => {
            let (instance, leads) =
                body.in_frame(closure.frame, |body| body.instance_with_leads(*function, generics))?;
            let results = instance.signature.results.clone();
            Ok(Base { function: instance.function.clone(), leads, params, results, result })
        }
        CallableKind::Lambda(_) | CallableKind::Vmap(_) => body.outline(closure, functions, (params, result)),
        CallableKind::Param(local) => {
            let function = body.frames[closure.frame].functions.get(local).copied();
            base(body, function.expect("invariant: a parameter of function type is bound"), functions)
        }
        CallableKind::Derivative(inner) => {
            let callee = Closure { callable: &inner.base, frame: closure.frame };
            let base = base_of(body, inner, callee, functions)?;
            Ok(wrapper(body.lowering, inner, base, (params, result)))
        }
    }
}

/// The derivative of a base as a function that can be differentiated again. `params` and `result` are its leaves.
fn wrapper(
    lowering: &mut Lowering<'_>,
    derivative: &Derivative,
    base: Base,
    (params, result): (Vec<Vec<LeafTy>>, Vec<LeafTy>),
) -> Base {
    let symbol = lowering.free_symbol(&format!("{}.{}", base.function.name, derivative.form.as_str()));
    let mut b = Builder::new();
    let mut env = Env::new();
    let function = base.function.clone();
    let mut args: Vec<Atom> = Vec::new();
    let (lead_params, leaf_params) = function.params.split_at(base.leads.len());
    let mut leads = base.leads.clone();
    let param_like = |b: &mut Builder, env: &mut Env, v: Var| {
        let ty = env.ty(function.ty(v));
        let param = b.param(function.name_of(v), ty);
        env.insert(v, param.into());
        Atom::from(param)
    };
    for v in lead_params {
        args.push(param_like(&mut b, &mut env, *v));
    }
    // The payload of a tangent has extents of its own; they are checked against those of the value.
    let extra = params[base.params.len()..].concat();
    let mut extents = Vec::new();
    for (k, leaf) in extra.iter().enumerate().filter(|(_, leaf)| leaf.is_payload()) {
        for axis in 0..leaf.dims.len() {
            extents.push((k, b.param("n", Ty::scalar(Elem::I64))));
            leads.push(Lead::Extent(Extent { leaf: leaf_params.len() + k, axis }));
        }
    }
    for v in leaf_params {
        args.push(param_like(&mut b, &mut env, *v));
    }
    let mut floats = extra_params(derivative, &base, &env).into_iter().flatten();
    for (k, leaf) in extra.iter().enumerate() {
        if leaf.is_tag {
            args.push(b.param("tag", Ty::scalar(Elem::I64)).into());
            continue;
        }
        let (name, mut ty) = floats.next().expect("invariant: a form takes the floats of a tangent");
        if leaf.is_payload() {
            ty.dims = extents.iter().filter(|(at, _)| *at == k).map(|(_, v)| IrDim::Var(*v)).collect();
        }
        args.push(b.param(&name, ty).into());
    }
    let value = assemble(lowering, &mut b, derivative, &base, args);
    let (function, results) = with_results(b.finish(&symbol, Vec::new()), value);
    Base { function: lowering.module.insert(function), leads, params, results, result }
}

/// The floats of the tangents or cotangents that a form takes: for each of its parameters names and types.
fn extra_params(derivative: &Derivative, base: &Base, env: &Env) -> Vec<Vec<(String, Ty)>> {
    let function = &base.function;
    match derivative.form {
        DerivativeForm::Grad | DerivativeForm::ValueAndGrad | DerivativeForm::Jacobian | DerivativeForm::Hessian => {
            Vec::new()
        }
        DerivativeForm::Jvp | DerivativeForm::Hvp => {
            let tangent = |k: usize| {
                let param = function.params[k];
                (format!("{}_tan", function.name_of(param)), env.ty(function.ty(param)))
            };
            let names = base.wrt_leaves(&derivative.wrt).into_iter();
            names.map(|leaves| leaves.into_iter().map(tangent).collect()).collect()
        }
        DerivativeForm::Vjp => {
            let cotangent = |k: &usize| {
                let result = function.body.results[*k];
                ("result_cot".to_owned(), env.ty(&function.atom_ty(result)))
            };
            vec![base.float_results().iter().map(cotangent).collect()]
        }
    }
}

impl Base {
    /// For each of some parameters of the source, the float parameters of the function that are its leaves.
    fn wrt_leaves(&self, wrt: &[usize]) -> Vec<Vec<usize>> {
        let leaves = |param: &usize| {
            let first = self.first_leaf(*param);
            let is_float = |k: &usize| self.function.ty(self.function.params[*k]).is_float();
            (first..first + self.params[*param].len()).filter(is_float).collect()
        };
        wrt.iter().map(leaves).collect()
    }

    /// Where the leaves of a parameter of the source begin among the parameters of the function.
    fn first_leaf(&self, param: usize) -> usize {
        self.leads.len() + self.params[..param].iter().map(Vec::len).sum::<usize>()
    }

    /// The float leaves of the result, as positions among the results.
    fn float_results(&self) -> Vec<usize> {
        let results = &self.function.body.results;
        self.results.iter().copied().filter(|k| self.function.is_float(results[*k])).collect()
    }

    /// Where the lengths that the types of results name, and the body computes, can be read off cotangents of them:
    /// position among `outs` and axis.
    fn lengths(&self, outs: &[usize]) -> Vec<(usize, usize)> {
        let mut seen: Vec<Var> = Vec::new();
        let mut places = Vec::new();
        for (k, out) in outs.iter().enumerate() {
            for (axis, dim) in self.function.atom_ty(self.function.body.results[*out]).dims.iter().enumerate() {
                if let Some(v) = dim.var()
                    && !self.function.params.contains(&v)
                    && !seen.contains(&v)
                {
                    seen.push(v);
                    places.push((k, axis));
                }
            }
        }
        places
    }
}

/// Appends a call of a derivative form. `args` are all arguments of the base's function, then tangents or cotangents.
fn assemble(lowering: &mut Lowering<'_>, b: &mut Builder, form: &Derivative, base: &Base, args: Vec<Atom>) -> Value {
    let n = base.function.params.len();
    let (args, extra) = args.split_at(n);
    let names = base.wrt_leaves(&form.wrt);
    let all = names.concat();
    let mut at = Calls { lowering, b, base, args };
    match form.form {
        DerivativeForm::Grad => {
            let (value, gradients) = at.gradient(&all, form.mode);
            [&at.tangents_of_params(&form.wrt, gradients), &value[1..]].concat()
        }
        DerivativeForm::ValueAndGrad => {
            let (value, gradients) = at.gradient(&all, form.mode);
            [&value[..1], &at.tangents_of_params(&form.wrt, gradients), &value[1..]].concat()
        }
        DerivativeForm::Jvp => {
            let tangents = at.floats_of_params(&form.wrt, extra);
            let (value, tangents) = at.jvp(&all, &base.float_results(), &tangents);
            let tangents = with_tags(&base.result, &value, &mut tangents.into_iter());
            [value, tangents].concat()
        }
        DerivativeForm::Vjp => {
            let (outs, cotangents) = (base.float_results(), at.floats_of_result(extra));
            let cotangents = at.of_computed_lengths(&outs, cotangents);
            let (value, cotangents) = at.vjp(&all, &outs, &cotangents);
            [value, at.tangents_of_params(&form.wrt, cotangents)].concat()
        }
        DerivativeForm::Jacobian => {
            let outs = base.float_results();
            names.iter().flat_map(|params| at.jacobian(params, &outs, form.mode)).collect()
        }
        DerivativeForm::Hessian => {
            let gradient = at.gradient_function(&all);
            let mut outs = gradient.results.iter();
            let rows: Vec<Vec<usize>> =
                names.iter().map(|params| outs.by_ref().take(params.len()).copied().collect()).collect();
            let mode = form.mode.or(Some(DerivativeMode::Forward));
            let mut at = Calls { base: &gradient, ..at };
            let pairs = rows.iter().flat_map(|outs| names.iter().map(move |params| (params, outs)));
            pairs.flat_map(|(params, outs)| at.jacobian(params, outs, mode)).collect()
        }
        DerivativeForm::Hvp => {
            let tangents = at.floats_of_params(&form.wrt, extra);
            let gradient = at.gradient_function(&all);
            let outs = gradient.results.clone();
            let mut of_gradient = Calls { base: &gradient, ..at.again() };
            let tangents = match form.mode {
                Some(DerivativeMode::Forward) | None => of_gradient.jvp(&all, &outs, &tangents).1,
                // The matrix of second derivatives is its own transpose.
                Some(DerivativeMode::Reverse) => of_gradient.vjp(&all, &outs, &tangents).1,
            };
            at.tangents_of_params(&form.wrt, tangents)
        }
    }
}
