//! Closure conversion: code that is inlined elsewhere as an IR function of its own, so that it can be differentiated or have a
//! rule. What it reads from around becomes a leading parameter.

use std::collections::{BTreeSet, HashMap};

use cotan_ir::{Atom, Builder, Dim as IrDim, Elem, Function, ReversePolicy, Symbol, Ty, Var, free_vars};

use super::body::{Body, Closure, Frame, Share, Sizes, Value};
use super::calls::Lead;
use super::code::Code;
use super::function::with_results;
use super::values::LeafTy;
use super::{Extent, Lowering};
use cotan_sema::dims::Dim;
use cotan_sema::typed::Type;

/// The beginning of a function for code that would be inlined: its variables for everything around, and its own parameters.
/// Several functions may begin alike.
pub(super) struct Start<'p> {
    pub(super) symbol: Symbol,
    /// The values of its own parameters.
    pub(super) args: Vec<Value>,
    code: Code,
    frames: Vec<Frame<'p>>,
    frame: usize,
    n_frames: usize,
    sizes: Sizes,
    kept: ReversePolicy,
    /// What variables of the function are outside.
    captured: HashMap<Var, Var>,
    /// The variables of its own parameters, lengths first.
    own: Vec<Var>,
    /// Where the lengths are found.
    extents: Vec<Extent>,
}

impl<'a, 'p> Body<'a, 'p> {
    /// Begins a function for something callable.
    pub(super) fn start(&mut self, closure: Closure<'p>, symbol: Symbol) -> Start<'p> {
        let mut inner = Body::new(&mut *self.lowering, symbol.clone());
        inner.code.b.set_span(self.code.b.span());
        inner.frame = closure.frame;
        inner.n_frames = self.n_frames;
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
        let Body { code, frames, frame, n_frames, mut scopes, .. } = inner;
        Start {
            symbol,
            args,
            code,
            frames,
            frame,
            n_frames,
            sizes: scopes.pop().unwrap_or_default(),
            kept: self.kept,
            captured,
            own: own.lengths.into_iter().chain(own.leaves).collect(),
            extents: own.extents,
        }
    }
}

impl<'p> Start<'p> {
    /// The body of a function that begins so.
    pub(super) fn body<'x>(&self, lowering: &'x mut Lowering<'p>) -> Body<'x, 'p> {
        let mut body = Body::new(lowering, self.symbol.clone());
        body.code = self.code.clone();
        body.frames.clone_from(&self.frames);
        body.frame = self.frame;
        body.n_frames = self.n_frames;
        body.scopes = vec![self.sizes.clone()];
        body.kept = self.kept;
        body
    }

    /// The function with this code and value, all that it could read its parameters; and where its results are.
    pub(super) fn function(&self, code: Code, value: Value) -> (Function, Vec<usize>) {
        let mut function = code.b.finish(&self.symbol, Vec::new());
        function.params = self.captured.keys().chain(&self.own).copied().collect();
        with_results(function, value)
    }

    /// The captured variables that a function reads, those that are extents of others first.
    pub(super) fn read_by(&self, function: &Function) -> BTreeSet<Var> {
        self.with_extents(free_vars(function, &function.body, &[]))
    }

    /// Those of the function that stand for variables outside.
    pub(super) fn captured_from(&self, outside: &[Atom]) -> BTreeSet<Var> {
        let is_wanted = |(_, outer): &(&Var, &Var)| outside.contains(&Atom::Var(**outer));
        self.with_extents(self.captured.iter().filter(is_wanted).map(|(inner, _)| *inner).collect())
    }

    fn with_extents(&self, mut open: Vec<Var>) -> BTreeSet<Var> {
        let mut used = BTreeSet::new();
        while let Some(v) = open.pop() {
            if self.captured.contains_key(&v) && used.insert(v) {
                open.extend(self.code.b.var_ty(v).dim_vars());
            }
        }
        // Variables are numbered in the order in which they were captured: extents before what has them.
        used
    }

    /// All parameters of the function, if it reads these captured variables.
    pub(super) fn params(&self, used: &BTreeSet<Var>) -> Vec<Var> {
        used.iter().chain(&self.own).copied().collect()
    }

    /// What a caller gives for the parameters before its leaves.
    pub(super) fn leads(&self, used: &BTreeSet<Var>) -> Vec<Lead> {
        let captured = used.iter().map(|inner| Lead::Atom(self.captured[inner].into()));
        captured.chain(self.extents.iter().copied().map(Lead::Extent)).collect()
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
