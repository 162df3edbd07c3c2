//! Code that is inlined elsewhere as a function of its own, so that it can be differentiated.

use std::collections::{BTreeSet, HashMap};

use cotan_ir::{Atom, Builder, Dim as IrDim, Elem, Function, Ty, Var, free_vars};

use super::super::body::{Body, Closure, Frame, Share, Sizes, Value};
use super::super::calls::Lead;
use super::super::code::Code;
use super::super::function::with_results;
use super::super::values::LeafTy;
use super::super::{Extent, Result};
use super::Base;
use cotan_sema::dims::Dim;
use cotan_sema::typed::Type;

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
        let sizes = captures.sizes(&self.scopes);
        let captured: HashMap<Var, Var> = captures.known.iter().map(|(outer, inner)| (*inner, *outer)).collect();
        inner.frames = frames;
        inner.scopes = vec![sizes];
        inner.code.non_negative = captured
            .iter()
            .filter(|(_, outer)| self.code.non_negative.contains(outer))
            .map(|(inner, _)| *inner)
            .collect();
        inner.code.named = captured.keys().copied().collect();

        let mut own = Params::default();
        let args: Vec<Value> = closure.callable.params.iter().map(|ty| own.value(&mut inner, ty)).collect();
        let extents = own.extents;
        let own: Vec<Var> = own.lengths.into_iter().chain(own.leaves).collect();
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

/// The parameters of the function itself: what the code is called with.
#[derive(Default)]
struct Params {
    /// Extents of leaves that are parameters, and where they are found.
    lengths: Vec<Var>,
    extents: Vec<Extent>,
    /// Those that are sizes of the source.
    sizes: Vec<(Dim, Var)>,
    leaves: Vec<Var>,
}

impl Params {
    /// Parameters for the leaves of a value of this type.
    fn value(&mut self, inner: &mut Body<'_, '_>, ty: &Type) -> Value {
        let names = inner.layout.leaf_names("x", ty);
        let mut value = Value::new();
        for (name, leaf) in names.iter().zip(inner.layout.leaf_types(ty)) {
            let dims = (0..leaf.dims.len()).map(|axis| self.dim(inner, &leaf, axis)).collect();
            let v = inner.code.b.var(name, Ty::new(leaf.elem, dims));
            self.leaves.push(v);
            value.push(v.into());
        }
        value
    }

    /// The extent of the next leaf along an axis.
    fn dim(&mut self, inner: &mut Body<'_, '_>, leaf: &LeafTy, axis: usize) -> IrDim {
        let dim = &leaf.dims[axis];
        if leaf.is_payload() {
            return IrDim::Var(self.length(inner, "n", axis));
        }
        if let Some(n) = dim.as_constant() {
            return IrDim::Const(n);
        }
        let outer_name = inner.size(dim).and_then(Atom::var).map(|v| inner.code.b.info(v).name.clone());
        if let Some((_, known)) = self.sizes.iter().find(|(other, _)| other == dim) {
            return IrDim::Var(*known);
        }
        let v = self.length(inner, &outer_name.unwrap_or_else(|| "n".into()), axis);
        inner.know_size(dim, v.into());
        self.sizes.push((dim.clone(), v));
        IrDim::Var(v)
    }

    fn length(&mut self, inner: &mut Body<'_, '_>, name: &str, axis: usize) -> Var {
        let v = inner.code.b.var(name, Ty::scalar(Elem::I64));
        inner.code.non_negative.insert(v);
        self.lengths.push(v);
        self.extents.push(Extent { leaf: self.leaves.len(), axis });
        v
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

    /// What is known of sizes in the scopes around.
    fn sizes(&mut self, scopes: &[Sizes]) -> Sizes {
        let mut sizes = Sizes::new();
        for scope in scopes {
            // In the order of the variables around: the parameters of the function follow the captures.
            let mut known: Vec<_> = scope.iter().collect();
            known.sort_unstable_by_key(|(_, size)| size.var());
            sizes.extend(known.into_iter().map(|(key, size)| (key.clone(), self.atom(*size))));
        }
        sizes
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
