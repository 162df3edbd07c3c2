//! Code that is inlined elsewhere as a function of its own, so that it can be differentiated.

use std::collections::{BTreeSet, HashMap};

use cotan_ir::{Atom, Builder, Dim as IrDim, Elem, Function, Ty, Var, free_vars};

use super::super::body::{Body, Closure, Frame, Share, Value};
use super::super::calls::Lead;
use super::super::code::Code;
use super::super::function::with_results;
use super::super::values::LeafTy;
use super::super::{Extent, Result};
use super::Base;
use cotan_sema::dims::Dim;

impl<'a, 'p> Body<'a, 'p> {
    /// Lowers what would be inlined as a function. What it reads from around becomes a leading parameter.
    pub(super) fn outline(
        &mut self,
        closure: Closure<'p>,
        functions: &[Option<Closure<'p>>],
        (params, result): (Vec<Vec<LeafTy>>, Vec<LeafTy>),
    ) -> Result<Base> {
        let symbol = self.lowering.free_symbol(&format!("{}.lambda", self.symbol));
        let mut inner = Body::new(&mut *self.lowering, symbol.clone());
        inner.code.b.set_span(self.code.b.span());
        inner.frame = closure.frame;
        inner.n_frames = self.n_frames;
        inner.kept = self.kept;
        let mut captures = Captures { outer: &self.code.b, inner: &mut inner.code.b, known: HashMap::new() };
        let frames: Vec<Frame<'p>> = self.frames.iter().map(|frame| captures.frame(frame)).collect();
        let mut sizes = HashMap::new();
        for scope in &self.scopes {
            sizes.extend(scope.iter().map(|(key, size)| (key.clone(), captures.atom(*size))));
        }
        let captured: HashMap<Var, Var> = captures.known.iter().map(|(outer, inner)| (*inner, *outer)).collect();
        inner.frames = frames;
        inner.scopes = vec![sizes];
        inner.code.non_negative = captured
            .iter()
            .filter(|(_, outer)| self.code.non_negative.contains(outer))
            .map(|(inner, _)| *inner)
            .collect();
        inner.code.named = captured.keys().copied().collect();

        let mut extents = Vec::new();
        let mut extent_vars: Vec<(Dim, Var)> = Vec::new();
        let mut extent_params: Vec<Var> = Vec::new();
        let mut args: Vec<Value> = Vec::new();
        let mut leaf_vars = Vec::new();
        for ty in &closure.callable.params {
            let names = inner.layout.leaf_names("x", ty);
            let mut value = Value::new();
            for (name, leaf) in names.iter().zip(inner.layout.leaf_types(ty)) {
                let mut dims = Vec::new();
                for (axis, dim) in leaf.dims.iter().enumerate() {
                    dims.push(match dim.as_constant() {
                        _ if leaf.is_payload() => {
                            let v = inner.code.b.var("n", Ty::scalar(Elem::I64));
                            inner.code.non_negative.insert(v);
                            extent_params.push(v);
                            extents.push(Extent { leaf: leaf_vars.len(), axis });
                            IrDim::Var(v)
                        }
                        Some(n) => IrDim::Const(n),
                        None => {
                            let outer_name =
                                inner.size(dim).and_then(Atom::var).map(|v| inner.code.b.info(v).name.clone());
                            let known = extent_vars.iter().find(|(other, _)| other == dim).map(|(_, v)| *v);
                            IrDim::Var(known.unwrap_or_else(|| {
                                let name = outer_name.unwrap_or_else(|| "n".into());
                                let v = inner.code.b.var(&name, Ty::scalar(Elem::I64));
                                inner.code.non_negative.insert(v);
                                inner.know_size(dim, v.into());
                                extent_vars.push((dim.clone(), v));
                                extent_params.push(v);
                                extents.push(Extent { leaf: leaf_vars.len(), axis });
                                v
                            }))
                        }
                    });
                }
                let v = inner.code.b.var(name, Ty::new(leaf.elem, dims));
                leaf_vars.push(v);
                value.push(v.into());
            }
            args.push(value);
        }
        let own: Vec<Var> = extent_params.into_iter().chain(leaf_vars.iter().copied()).collect();
        inner.lowering.enter("lambda", closure.callable.span)?;
        let value = inner.apply(closure, args, functions)?;
        inner.lowering.leave();
        let Body { lowering, code: Code { b, .. }, .. } = inner;
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
