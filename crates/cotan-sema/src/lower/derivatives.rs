//! Derivative forms: requests for derivatives, and ordinary IR that calls them.
//!
//! What is differentiated becomes an IR function of its own ([`Base`]); code that is inlined elsewhere (a lambda, a
//! function that takes functions) is lowered as one, with what it reads from around as leading parameters. A gradient
//! is a vjp with cotangent 1; a Jacobian stacks jvps of basis tangents or vjps of basis cotangents; a Hessian is the
//! Jacobian, and a Hessian-vector product the jvp, of a function that gives the gradient.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use cotan_ir::{
    Atom, Builder, Const, Derived, Dim as IrDim, Elem, Env, Function, Mode, Op, ParResult, Ty, Var, free_vars,
};
use cotan_ops::{FILL, TRANSPOSE, cast_to};

use super::calls::{Lead, takes_functions};
use super::dims::LeafTy;
use super::function::{Body, Closure, Frame, with_results};
use super::shares::Share;
use super::tangents::{floats_of, tangent_leaves, with_tags};
use super::values::Value;
use super::{Extent, Lowering, Result};
use crate::dims::Dim;
use crate::typed::{CallableKind, Derivative, DerivativeForm, DerivativeMode};

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
        let base = self.base(callee, functions)?;
        let n = base.params.len();
        let args = self.arguments(&base.leads, &args[..n].concat()).into_iter().chain(args[n..].concat()).collect();
        Ok(assemble(self.lowering, &mut self.b, derivative, &base, args))
    }

    /// Something callable as an IR function.
    fn base(&mut self, closure: Closure<'p>, functions: &[Option<Closure<'p>>]) -> Result<Base> {
        let (params, result) = self.in_frame(closure.frame, |body| {
            let callable = closure.callable;
            let params: Vec<Vec<LeafTy>> = callable.params.iter().map(|ty| body.leaf_types(ty)).collect();
            (params, body.leaf_types(&callable.result))
        });
        match &closure.callable.kind {
            CallableKind::Function { function, .. } if takes_functions(self.program().function(*function)) => {
                self.outline(closure, functions, (params, result))
            }
            CallableKind::Function { function, generics } => {
                let (instance, leads) =
                    self.in_frame(closure.frame, |body| body.instance_with_leads(*function, generics))?;
                let results = instance.signature.results.clone();
                Ok(Base { function: instance.function.clone(), leads, params, results, result })
            }
            CallableKind::Lambda(_) | CallableKind::Vmap(_) => self.outline(closure, functions, (params, result)),
            CallableKind::Param(local) => {
                let function = self.frames[closure.frame].functions.get(local).copied();
                self.base(function.expect("invariant: a parameter of function type is bound"), functions)
            }
            CallableKind::Derivative(inner) => {
                let base = self.base(Closure { callable: &inner.base, frame: closure.frame }, functions)?;
                Ok(wrapper(self.lowering, inner, base, (params, result)))
            }
        }
    }

    /// Lowers what would be inlined as a function. What it reads from around becomes a leading parameter.
    fn outline(
        &mut self,
        closure: Closure<'p>,
        functions: &[Option<Closure<'p>>],
        (params, result): (Vec<Vec<LeafTy>>, Vec<LeafTy>),
    ) -> Result<Base> {
        let symbol = self.lowering.free_symbol(&format!("{}.lambda", self.symbol));
        let mut inner = Body::new(&mut *self.lowering, symbol.clone());
        inner.b.set_span(self.b.span());
        inner.frame = closure.frame;
        inner.n_frames = self.n_frames;
        inner.kept.recompute = self.kept.recompute;
        let mut captures = Captures { outer: &self.b, inner: &mut inner.b, known: HashMap::new() };
        let frames: Vec<Frame<'p>> = self.frames.iter().map(|frame| captures.frame(frame)).collect();
        let mut sizes = HashMap::new();
        for scope in &self.scopes {
            sizes.extend(scope.iter().map(|(key, size)| (key.clone(), captures.atom(*size))));
        }
        let captured: HashMap<Var, Var> = captures.known.iter().map(|(outer, inner)| (*inner, *outer)).collect();
        inner.frames = frames;
        inner.scopes = vec![sizes];
        inner.non_negative =
            captured.iter().filter(|(_, outer)| self.non_negative.contains(outer)).map(|(inner, _)| *inner).collect();
        inner.named = captured.keys().copied().collect();

        let mut extents = Vec::new();
        let mut extent_vars: Vec<(Dim, Var)> = Vec::new();
        let mut extent_params: Vec<Var> = Vec::new();
        let mut args: Vec<Value> = Vec::new();
        let mut leaf_vars = Vec::new();
        for ty in &closure.callable.params {
            let names = inner.leaf_names("x", ty);
            let mut value = Value::new();
            for (name, leaf) in names.iter().zip(inner.leaf_types(ty)) {
                let mut dims = Vec::new();
                for (axis, dim) in leaf.dims.iter().enumerate() {
                    dims.push(match dim.as_constant() {
                        _ if leaf.is_payload() => {
                            let v = inner.b.var("n", Ty::scalar(Elem::I64));
                            inner.non_negative.insert(v);
                            extent_params.push(v);
                            extents.push(Extent { leaf: leaf_vars.len(), axis });
                            IrDim::Var(v)
                        }
                        Some(n) => IrDim::Const(n),
                        None => {
                            let outer_name = inner.size(dim).and_then(Atom::var).map(|v| inner.b.info(v).name.clone());
                            let known = extent_vars.iter().find(|(other, _)| other == dim).map(|(_, v)| *v);
                            IrDim::Var(known.unwrap_or_else(|| {
                                let name = outer_name.unwrap_or_else(|| "n".into());
                                let v = inner.b.var(&name, Ty::scalar(Elem::I64));
                                inner.non_negative.insert(v);
                                inner.know_size(dim, v.into());
                                extent_vars.push((dim.clone(), v));
                                extent_params.push(v);
                                extents.push(Extent { leaf: leaf_vars.len(), axis });
                                v
                            }))
                        }
                    });
                }
                let v = inner.b.var(name, Ty::new(leaf.elem, dims));
                leaf_vars.push(v);
                value.push(v.into());
            }
            args.push(value);
        }
        let own: Vec<Var> = extent_params.into_iter().chain(leaf_vars.iter().copied()).collect();
        inner.lowering.enter("lambda", closure.callable.span)?;
        let value = inner.apply(closure, args, functions)?;
        inner.lowering.leave();
        let Body { lowering, b, .. } = inner;
        let mut function = b.finish(&symbol, Vec::new());
        function.params = captured.keys().copied().chain(own.iter().copied()).collect();
        let (mut function, results) = with_results(function, value);
        let used = used_captures(&function, &captured);
        function.params = used.iter().copied().chain(own).collect();
        let leads = used.iter().map(|inner| Lead::Atom(captured[inner].into()));
        let leads = leads.chain(extents.into_iter().map(Lead::Extent)).collect();
        Ok(Base { function: lowering.module.insert(function), leads, params, results, result })
    }
}

/// The captured variables that a function needs, those that are extents of others first.
fn used_captures(function: &Function, captured: &HashMap<Var, Var>) -> BTreeSet<Var> {
    let mut used = BTreeSet::new();
    let mut open = free_vars(function, &function.body, &[]);
    while let Some(v) = open.pop() {
        if captured.contains_key(&v) && used.insert(v) {
            open.extend(function.ty(v).dim_vars());
        }
    }
    // Variables are numbered in the order in which they were captured: extents before what has them.
    used
}

/// Stands variables of an inner function for those of the outer one.
struct Captures<'x> {
    outer: &'x Builder,
    inner: &'x mut Builder,
    known: HashMap<Var, Var>,
}

impl Captures<'_> {
    fn atom(&mut self, a: Atom) -> Atom {
        match a {
            Atom::Var(v) => self.var(v).into(),
            Atom::Const(_) => a,
        }
    }

    fn var(&mut self, v: Var) -> Var {
        if let Some(inner) = self.known.get(&v) {
            return *inner;
        }
        let info = self.outer.info(v).clone();
        let dims = info.ty.dims.iter().map(|dim| IrDim::from_atom(self.atom(dim.atom()))).collect();
        let inner = self.inner.var(&info.name, Ty::new(info.ty.elem, dims));
        self.known.insert(v, inner);
        inner
    }

    fn frame<'p>(&mut self, frame: &Frame<'p>) -> Frame<'p> {
        let mut frame = frame.clone();
        for size in frame.sizes.iter_mut().flatten() {
            *size = self.atom(*size);
        }
        for leaf in frame.locals.iter_mut().flatten().flatten() {
            *leaf = self.atom(*leaf);
        }
        for share in frame.shares.values_mut() {
            if let Share::Slot(slot) = share {
                slot.base = self.atom(slot.base);
                slot.extent = self.atom(slot.extent);
            }
        }
        // Locals of the surroundings are read-only in what is differentiated.
        frame.mutable.clear();
        frame
    }
}

/// The derivative of a base as a function that can be differentiated again.
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
            let cotangents = at.floats_of_result(extra);
            let (value, cotangents) = at.vjp(&all, &base.float_results(), &cotangents);
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

/// Calls of derivatives of one base with the same arguments.
struct Calls<'x, 'p> {
    lowering: &'x mut Lowering<'p>,
    b: &'x mut Builder,
    base: &'x Base,
    args: &'x [Atom],
}

impl<'p> Calls<'_, 'p> {
    /// The same calls once more.
    fn again(&mut self) -> Calls<'_, 'p> {
        Calls { lowering: &mut *self.lowering, b: &mut *self.b, base: self.base, args: self.args }
    }

    /// The tangents of some parameters of the source, made of those of their floats.
    fn tangents_of_params(&self, wrt: &[usize], floats: Value) -> Value {
        let mut floats = floats.into_iter();
        let of_param = |param: &usize| {
            with_tags(&self.base.params[*param], &self.args[self.base.first_leaf(*param)..], &mut floats)
        };
        wrt.iter().flat_map(of_param).collect()
    }

    /// The floats of the tangents that are given for some parameters of the source.
    fn floats_of_params(&mut self, wrt: &[usize], tangents: &[Atom]) -> Value {
        let mut rest = tangents;
        let mut floats = Value::new();
        for param in wrt {
            let leaves = &self.base.params[*param];
            let (own, others) = rest.split_at(tangent_leaves(leaves).len());
            floats.extend(floats_of(self.b, leaves, &self.args[self.base.first_leaf(*param)..], own));
            rest = others;
        }
        floats
    }

    /// The floats of the cotangent that is given for the result. Its variants are those of the value, which an enum has
    /// to be asked for.
    fn floats_of_result(&mut self, cotangent: &[Atom]) -> Value {
        let leaves = &self.base.result;
        if !leaves.iter().any(|leaf| leaf.is_tag) {
            return cotangent.to_vec();
        }
        let results = self.b.call(&self.base.function, self.args);
        let value = self.leaves_of(&results);
        floats_of(self.b, leaves, &value, cotangent)
    }

    /// Types in the caller for those of the base.
    fn env(&self) -> Env {
        self.base.function.params.iter().copied().zip(self.args.iter().copied()).collect()
    }

    /// New variables for the results of the base.
    fn results(&mut self, env: &mut Env) -> Vec<Var> {
        let function = self.base.function.clone();
        let mut results = Vec::new();
        for r in &function.body.results {
            let name = r.var().map_or("result", |v| function.name_of(v));
            let ty = env.ty(&function.atom_ty(*r));
            let out = self.b.var(name, ty);
            if let Atom::Var(v) = r {
                env.entry(*v).or_insert(out.into());
            }
            results.push(out);
        }
        results
    }

    fn leaves_of(&self, results: &[Var]) -> Value {
        self.base.results.iter().map(|k| results[*k].into()).collect()
    }

    /// Value, and cotangents of the parameters at positions `wrt`, for cotangents of the results at positions `outs`.
    fn vjp(&mut self, wrt: &[usize], outs: &[usize], cotangents: &[Atom]) -> (Value, Value) {
        let function = self.base.function.clone();
        let ascending: Vec<usize> = wrt.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        let mut env = self.env();
        let results = self.results(&mut env);
        let own: Vec<Var> = ascending
            .iter()
            .map(|k| {
                let param = function.params[*k];
                let ty = env.ty(function.ty(param)).tangent();
                self.b.var(&format!("{}_cot", function.name_of(param)), ty)
            })
            .collect();
        let cotangents: Vec<Atom> = cotangents.iter().map(|c| self.computed(*c)).collect();
        let lengths = self.base.lengths(outs);
        let length = |(out, axis): &(usize, usize)| self.b.ty(cotangents[*out]).dims[*axis].atom();
        let lengths: Vec<Atom> = lengths.iter().map(length).collect();
        let args = [self.args, &lengths, &cotangents].concat();
        let derived =
            Derived { of: function.name.clone(), mode: Mode::Vjp, wrt: ascending.clone(), outs: outs.to_vec() };
        let callee = self.lowering.request(derived);
        self.b.push(results.iter().chain(&own).copied().collect(), Op::Call { callee, args });
        let elems = ascending.iter().map(|k| function.ty(function.params[*k]).elem);
        let own: Vec<Atom> = own.into_iter().zip(elems).map(|(c, elem)| self.stored(c, elem)).collect();
        (self.leaves_of(&results), in_order(wrt, &ascending, &own))
    }

    /// Value, and tangents of the results at positions `outs`, for tangents of the parameters at positions `wrt`.
    fn jvp(&mut self, wrt: &[usize], outs: &[usize], tangents: &[Atom]) -> (Value, Value) {
        let function = self.base.function.clone();
        let ascending: Vec<usize> = wrt.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        let positions = ascending.iter().filter_map(|k| wrt.iter().position(|w| w == k));
        let sorted: Vec<Atom> = positions.map(|at| self.computed(tangents[at])).collect();
        let mut env = self.env();
        let results = self.results(&mut env);
        let own: Vec<Var> = outs
            .iter()
            .map(|k| {
                let result = function.body.results[*k];
                let name = result.var().map_or("result", |v| function.name_of(v));
                let ty = env.ty(&function.atom_ty(result)).tangent();
                self.b.var(&format!("{name}_tan"), ty)
            })
            .collect();
        let derived = Derived { of: function.name.clone(), mode: Mode::Jvp, wrt: ascending, outs: outs.to_vec() };
        let callee = self.lowering.request(derived);
        let args = [self.args, &sorted].concat();
        self.b.push(results.iter().chain(&own).copied().collect(), Op::Call { callee, args });
        let elems = outs.iter().map(|k| function.atom_ty(function.body.results[*k]).elem);
        let own = own.into_iter().zip(elems).map(|(tan, elem)| self.stored(tan, elem)).collect();
        (self.leaves_of(&results), own)
    }

    /// A derivative of the type of its value in the type that it is computed with.
    fn computed(&mut self, derivative: Atom) -> Atom {
        let elem = self.b.ty(derivative).elem;
        match derivative.constant().and_then(|c| c.as_float()) {
            _ if elem.storage().is_none() => derivative,
            Some(x) => Const::float(elem.computed(), x).into(),
            None => self.b.prim(cast_to(elem.computed()).prim(), &[derivative]).into(),
        }
    }

    /// A derivative that was computed, in the type of its value: rounded once where that is a storage type.
    fn stored(&mut self, derivative: Var, elem: Elem) -> Atom {
        if self.b.var_ty(derivative).elem == elem {
            return derivative.into();
        }
        self.b.prim(cast_to(elem).prim(), &[derivative.into()]).into()
    }

    /// The value, which begins with a float, and the gradients of that.
    fn gradient(&mut self, wrt: &[usize], mode: Option<DerivativeMode>) -> (Value, Value) {
        let out = self.base.results[0];
        match mode {
            Some(DerivativeMode::Reverse) | None => {
                let elem = self.base.function.atom_ty(self.base.function.body.results[out]).elem;
                self.vjp(wrt, &[out], &[Const::number(elem, 1).into()])
            }
            Some(DerivativeMode::Forward) => {
                let function = self.base.function.clone();
                let results = self.b.call(&function, self.args);
                (self.leaves_of(&results), self.jacobian(wrt, &[out], mode))
            }
        }
    }

    /// A function that gives the gradients of the base.
    fn gradient_function(&mut self, wrt: &[usize]) -> Base {
        let function = self.base.function.clone();
        let symbol = self.lowering.free_symbol(&format!("{}.grad", function.name));
        let mut b = Builder::new();
        let mut env = Env::new();
        let mut args: Vec<Atom> = Vec::new();
        for v in &function.params {
            let ty = env.ty(function.ty(*v));
            let param = b.param(function.name_of(*v), ty);
            env.insert(*v, param.into());
            args.push(param.into());
        }
        let mut calls = Calls { lowering: &mut *self.lowering, b: &mut b, base: self.base, args: &args };
        let (_, gradients) = calls.gradient(wrt, None);
        let (function, results) = with_results(b.finish(&symbol, Vec::new()), gradients);
        Base {
            function: self.lowering.module.insert(function),
            leads: self.base.leads.clone(),
            params: self.base.params.clone(),
            results,
            result: Vec::new(),
        }
    }

    /// For each of some results the derivatives with respect to each of some parameters: dims of the result, then of
    /// the parameter.
    fn jacobian(&mut self, params: &[usize], outs: &[usize], mode: Option<DerivativeMode>) -> Value {
        let mut blocks = Value::new();
        for out in outs {
            for param in params {
                blocks.push(self.block(*param, *out, mode));
            }
        }
        blocks
    }

    /// The derivatives of one result with respect to one parameter, in the element type of the parameter.
    fn block(&mut self, param: usize, out: usize, mode: Option<DerivativeMode>) -> Atom {
        let param_ty = self.b.ty(self.args[param]);
        let result_ty = self.result_ty(out);
        match mode.unwrap_or_else(|| cheaper_mode(&param_ty, &result_ty)) {
            DerivativeMode::Reverse => {
                self.per_element(&result_ty, |calls, basis| calls.vjp(&[param], &[out], &[basis]).1[0])
            }
            DerivativeMode::Forward => {
                let stacked = self.per_element(&param_ty, |calls, basis| {
                    let tangent = calls.jvp(&[param], &[out], &[basis]).1[0];
                    if result_ty.elem == param_ty.elem {
                        return tangent;
                    }
                    calls.b.prim(cast_to(param_ty.elem).prim(), &[tangent]).into()
                });
                let (n_param, n_result) = (param_ty.rank() as i64, result_ty.rank() as i64);
                if n_param == 0 || n_result == 0 {
                    return stacked;
                }
                let ty = Ty::new(param_ty.elem, [result_ty.dims, param_ty.dims].concat());
                let perm: Vec<i64> = (n_param..n_param + n_result).chain(0..n_param).collect();
                self.b.tensor(TRANSPOSE.op(), &[stacked], &perm, ty).into()
            }
        }
    }

    /// The type of a result of the base in the caller. A length that the base computes is found by calling it.
    fn result_ty(&mut self, out: usize) -> Ty {
        let function = self.base.function.clone();
        let env = self.env();
        let ty = function.atom_ty(function.body.results[out]);
        if ty.dim_vars().all(|v| env.contains_key(&v)) {
            return env.ty(&ty);
        }
        let results = self.b.call(&function, self.args);
        self.b.var_ty(results[out]).clone()
    }

    /// Stacks `f` of every basis tensor of a type; of a scalar just `f` of 1.
    fn per_element(&mut self, ty: &Ty, f: impl Fn(&mut Self, Atom) -> Atom) -> Atom {
        let one = Const::number(ty.elem, 1).into();
        if ty.is_scalar() {
            return f(self, one);
        }
        let zeros = self.b.tensor(FILL.op(), &[Const::zero(ty.elem).into()], &[], ty.clone());
        let indices: Vec<Var> = ty.dims.iter().map(|_| self.b.var("i", Ty::scalar(Elem::I64))).collect();
        let at: Vec<Atom> = indices.iter().map(|v| Atom::Var(*v)).collect();
        self.b.open_block();
        let basis = self.b.named("basis").update(zeros.into(), &at, one);
        let element = f(self, basis.into());
        let block = self.b.close_block(vec![element]);
        let extents = ty.dims.iter().map(|dim| dim.atom()).collect();
        self.b.finish_par(indices, extents, vec![ParResult::Stacked], Vec::new(), block)[0].into()
    }
}

/// Values for ascending positions, in the order in which the positions were asked for.
fn in_order(asked: &[usize], ascending: &[usize], values: &[Atom]) -> Value {
    let find = |k: &usize| ascending.iter().position(|other| other == k);
    asked.iter().filter_map(find).map(|at| values[at]).collect()
}

/// Forward runs once for each element of the parameter, reverse once for each of the result. Where sizes do not tell,
/// reverse.
fn cheaper_mode(param: &Ty, result: &Ty) -> DerivativeMode {
    let count = |ty: &Ty| {
        let extent = |dim: &IrDim| dim.atom().constant().and_then(|c| c.as_i64());
        ty.dims.iter().try_fold(1i64, |product, dim| product.checked_mul(extent(dim)?))
    };
    let is_forward = match (count(param), count(result)) {
        (Some(param), Some(result)) => param <= result,
        (Some(param), None) => param == 1,
        (None, Some(_)) => false,
        (None, None) => param.dims == result.dims,
    };
    if is_forward { DerivativeMode::Forward } else { DerivativeMode::Reverse }
}
