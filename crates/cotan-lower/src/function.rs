//! The lowering of one function body: its builder, the frames of inlined code, and scopes of sizes.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use cotan_ir::{Atom, Builder, Dim as IrDim, Elem, Mode, ReversePolicy, Span as IrSpan, Symbol, Ty, Var, bug};
use cotan_syntax::Span;
use cotan_syntax::span::FileId;

use super::accumulation::Share;
use super::control::Flow;
use super::values::Value;
use super::{Extent, Instance, Lowering, Result, Signature};
use cotan_sema::dims::{Atom as SizeAtom, Dim, LocalId};
use cotan_sema::typed::{Callable, DerivativeMode, Expr, FnId, Function, FunctionBody, Local, Program, Type};
use cotan_sema::types::Scalar;

/// A function value: something callable and the frame whose locals it reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closure<'p> {
    pub(super) callable: &'p Callable,
    pub(super) frame: usize,
}

/// The names of one function of the source: the one that is lowered, or one that is inlined into it.
#[derive(Clone, Debug)]
pub(super) struct Frame<'p> {
    /// Distinguishes the frame from all others of the IR function.
    pub(super) id: usize,
    /// The table of locals.
    pub(super) table: &'p [Local],
    /// What the generics, which are sizes, stand for.
    pub(super) sizes: Vec<Option<Atom>>,
    /// Values of locals in scope.
    pub(super) locals: Vec<Option<Value>>,
    /// Parameters of function type.
    pub(super) functions: HashMap<LocalId, Closure<'p>>,
    /// The mutable locals in scope.
    pub(super) mutable: Vec<LocalId>,
    /// How the parallel loop around, if there is one, writes the leaves of locals from outside.
    pub(super) shares: BTreeMap<(LocalId, usize), Share>,
}

/// Sizes known in a block, by frame and normal form.
pub(super) type Sizes = HashMap<(usize, Dim), Atom>;

/// The body of an IR function.
pub(super) struct Body<'a, 'p> {
    pub(super) lowering: &'a mut Lowering<'p>,
    pub(super) b: Builder,
    /// The frames of code that is being inlined, outermost first.
    pub(super) frames: Vec<Frame<'p>>,
    /// The frame of the code that is being lowered.
    pub(super) frame: usize,
    pub(super) n_frames: usize,
    /// Sizes known in the open blocks.
    pub(super) scopes: Vec<Sizes>,
    /// Where control may have gone.
    pub(super) flow: Flow,
    /// The type of what `return` gives.
    pub(super) result: Type,
    /// Whether a loop stands around, within the body that `return` leaves.
    pub(super) in_loop: bool,
    /// Variables that carry a name of the source.
    pub(super) named: HashSet<Var>,
    /// Numbers that are known not to be negative.
    pub(super) non_negative: HashSet<Var>,
    /// Numbers that are known to lie below some other i64.
    pub(super) bounded: HashSet<Var>,
    /// What a reverse sweep keeps of the loops that are lowered.
    pub(super) kept: ReversePolicy,
    /// The name of the IR function.
    pub(super) symbol: Symbol,
}

/// How a reverse sweep treats the loops of a block with these attributes, which stands where it treats them so.
pub(super) fn under(outside: ReversePolicy, recompute: bool, mode: Option<DerivativeMode>) -> ReversePolicy {
    let mode = mode.map(DerivativeMode::ir).or(outside.mode);
    ReversePolicy { recompute: outside.recompute || recompute, mode, ..outside }
}

/// The same for a function that is called there. The mode of its caller goes before its own, because whoever takes a
/// derivative may say in what mode that is done throughout.
pub(super) fn within(outside: ReversePolicy, function: &Function) -> ReversePolicy {
    let mode = outside.mode.or(function.mode.map(DerivativeMode::ir));
    ReversePolicy { recompute: outside.recompute || function.recompute, mode, ..outside }
}

/// The IR's span for one of the syntax.
pub(super) fn ir_span(span: Span) -> IrSpan {
    IrSpan::new(span.file.0, span.start, span.end)
}

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
        Ok(body.finish(function, value, signature))
    }
}

impl<'a, 'p> Body<'a, 'p> {
    pub(super) fn new(lowering: &'a mut Lowering<'p>, symbol: Symbol) -> Self {
        Self {
            lowering,
            b: Builder::new(),
            frames: Vec::new(),
            frame: 0,
            n_frames: 0,
            scopes: vec![Sizes::new()],
            flow: Flow::default(),
            result: Type::UNIT,
            in_loop: false,
            named: HashSet::new(),
            non_negative: HashSet::new(),
            bounded: HashSet::new(),
            kept: ReversePolicy::default(),
            symbol,
        }
    }

    pub(super) fn program(&self) -> &'p Program {
        self.lowering.program
    }

    // ---- frames

    /// A frame for a function; its sizes are not known yet.
    pub(super) fn function_frame(&mut self, function: &'p Function) -> Frame<'p> {
        let table: &'p [Local] = match &function.body {
            FunctionBody::Source(body) => &body.locals,
            FunctionBody::Derivative(_) | FunctionBody::Required(_) => &[],
        };
        let n_locals = table.len().max(function.params.len());
        self.n_frames += 1;
        Frame {
            id: self.n_frames,
            table,
            sizes: vec![None; function.generics.len()],
            locals: vec![None; n_locals],
            functions: HashMap::new(),
            mutable: Vec::new(),
            shares: BTreeMap::new(),
        }
    }

    /// A frame whose sizes are new parameters of the IR function.
    pub(super) fn parameter_frame(&mut self, function: &'p Function) -> Frame<'p> {
        let mut frame = self.function_frame(function);
        for (generic, size) in function.generics.iter().zip(&mut frame.sizes) {
            let v = self.b.param(&generic.name, Ty::scalar(Elem::I64));
            self.named.insert(v);
            self.non_negative.insert(v);
            *size = Some(v.into());
        }
        frame
    }

    /// Enters a frame; it is left with [`Self::pop_frame`].
    pub(super) fn push_frame(&mut self, frame: Frame<'p>) -> usize {
        self.frames.push(frame);
        std::mem::replace(&mut self.frame, self.frames.len() - 1)
    }

    /// Leaves the frame that was entered last, for the one that was current before.
    pub(super) fn pop_frame(&mut self, previous: usize) {
        self.frames.pop();
        self.frame = previous;
    }

    pub(super) fn current(&self) -> &Frame<'p> {
        &self.frames[self.frame]
    }

    pub(super) fn current_mut(&mut self) -> &mut Frame<'p> {
        &mut self.frames[self.frame]
    }

    /// The element type of a scalar type.
    pub(super) fn elem(&self, scalar: Scalar) -> Elem {
        match scalar {
            Scalar::Of(elem) => elem,
            Scalar::Param(_) | Scalar::Var(_) => {
                bug!("lowering", format_args!("{scalar:?}"), "instances have no type parameters")
            }
        }
    }

    // ---- parameters and results

    /// Makes the parameters of the IR function and binds the locals of the source function to them.
    pub(super) fn parameters(&mut self, function: &'p Function) -> Signature {
        let mut leaf = 0;
        let mut extents = Vec::new();
        let mut payloads: Vec<Vec<IrDim>> = Vec::new();
        for param in &function.params {
            for ty in self.leaf_types(&param.ty) {
                payloads.push(Vec::new());
                for (axis, dim) in ty.dims.iter().enumerate() {
                    if ty.is_payload() {
                        let v = self.b.param(&format!("{}_extent", param.name), Ty::scalar(Elem::I64));
                        self.non_negative.insert(v);
                        payloads[leaf].push(IrDim::Var(v));
                        extents.push(Extent { leaf, axis });
                        continue;
                    }
                    let is_given = matches!(dim.as_atom(), Some(SizeAtom::Size(_) | SizeAtom::Value(_)));
                    if dim.as_constant().is_none() && !is_given && self.known_size(dim).is_none() {
                        let v = self.b.param(&format!("{}_extent", param.name), Ty::scalar(Elem::I64));
                        self.non_negative.insert(v);
                        self.know_size(dim, v.into());
                        extents.push(Extent { leaf, axis });
                    }
                }
                leaf += 1;
            }
        }
        let mut first = 0;
        for (k, param) in function.params.iter().enumerate() {
            let value = self.parameter(&param.name, &param.ty, &payloads[first..]);
            first += value.len();
            let stopped = if param.nodiff { self.without_derivative(value) } else { value };
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

    /// New parameters of the IR function for the leaves of a type whose sizes are all known. Payloads have dims of
    /// their own, one list for each leaf.
    fn parameter(&mut self, name: &str, ty: &Type, payloads: &[Vec<IrDim>]) -> Value {
        let names = self.leaf_names(name, ty);
        let tys = self.leaf_types(ty);
        let mut value = Vec::new();
        for ((name, leaf), payload) in names.iter().zip(tys).zip(payloads) {
            let ty = match leaf.is_payload() {
                true => Ty::new(leaf.elem, payload.clone()),
                false => self.ir_ty(&leaf).unwrap_or_else(|| Ty::scalar(leaf.elem)),
            };
            let v = self.b.param(name, ty);
            self.named.insert(v);
            value.push(v.into());
        }
        value
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
                self.b.set_span(ir_span(derivative.span));
                self.derivative(derivative, self.frame, args, &functions)
            }
            FunctionBody::Required(_) => bug!("lowering", function.name, "instances call the functions of impls"),
        }
    }

    /// Ends the function: a result whose type names a variable of the body comes after that variable.
    fn finish(self, source: &Function, value: Value, signature: Signature) -> Instance {
        let Body { lowering, b, symbol, .. } = self;
        lowering.n_operations += b.vars().len();
        let function = b.finish(&symbol, Vec::new());
        let (mut function, results) = with_results(function, value);
        lowering.rule_symbols(source, &symbol).mark(&mut function);
        let function = lowering.module.insert(function);
        Instance { function, signature: Signature { results, ..signature } }
    }

    // ---- names and spans

    /// Lowers with the source position `span`.
    pub(super) fn at<T>(&mut self, span: Span, lower: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.b.span();
        self.b.set_span(ir_span(span));
        let result = lower(self);
        self.b.set_span(before);
        result
    }

    /// The source position of the statements that follow.
    pub(super) fn span(&self) -> Span {
        let IrSpan { file, start, end, role: _ } = self.b.span();
        Span::new(FileId(file), start, end)
    }

    /// Gives leaves that have no name of the source yet the names of a local.
    pub(super) fn name_leaves(&mut self, name: &str, ty: &Type, value: &Value) {
        if name.starts_with('$') || name == "_" {
            return;
        }
        for (name, atom) in self.leaf_names(name, ty).into_iter().zip(value) {
            if let Atom::Var(v) = atom
                && self.named.insert(*v)
            {
                self.b.info_mut(*v).name = name.into();
            }
        }
    }

    /// A scalar value.
    pub(super) fn scalar(&mut self, e: &'p Expr) -> Result<Atom> {
        let value = self.expr(e)?;
        Ok(value.first().copied().expect("invariant: a scalar has one leaf"))
    }
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
