//! The state of the lowering of one function body: its builder, the frames of inlined code, scopes of sizes, where
//! control may have gone, and how the parallel loop around writes variables from outside.

use std::collections::{BTreeMap, HashMap};

use cotan_ir::{Atom, ReversePolicy, Span as IrSpan, Symbol, Var};
use cotan_syntax::Span;

use super::code::Code;
use super::values::Layout;
use super::{Lowering, Result};
use cotan_sema::dims::{Dim, LocalId};
use cotan_sema::typed::{Callable, DerivativeMode, Expr, Function, FunctionBody, Local, Type};

/// The leaves of a value, in order.
pub(super) type Value = Vec<Atom>;

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

/// How a parallel loop writes a leaf of a variable from outside.
#[derive(Clone, Copy, Debug)]
pub(super) enum Share {
    /// The value of the leaf is the part that belongs to the iteration.
    Slot(Slot),
    /// All iterations write to an accumulator.
    Accumulator(Var),
    /// What is written here is computed by another pass over the loop.
    Elsewhere,
}

/// The part of a tensor that belongs to an iteration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// The axis whose position belongs to the iteration.
    pub(super) axis: usize,
    /// The extent of that axis in the whole tensor.
    pub(super) extent: Atom,
    /// The first position that belongs to the iteration.
    pub(super) base: Atom,
    pub(super) kind: SlotKind,
}

/// How many positions belong to an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlotKind {
    /// One; the slot lacks the axis. Whether the position is in range is known.
    Element { is_in_range: bool },
    /// Several, one after the other; the slot keeps the axis.
    Block,
}

/// What is known of a truth value while lowering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Truth {
    Known(bool),
    Is(Atom),
    Not(Atom),
}

/// Where control may have gone.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    /// Whether control has left the statements that are being lowered.
    pub(super) escaped: Truth,
    /// Whether the loop goes on after this iteration.
    pub(super) running: Truth,
    /// Whether a `return` ended the loop.
    pub(super) returned: Truth,
    /// What is returned; `None` where nothing is yet.
    pub(super) result: Option<Value>,
}

impl Default for Flow {
    fn default() -> Self {
        Self { escaped: Truth::Known(false), running: Truth::Known(true), returned: Truth::Known(false), result: None }
    }
}

/// The body of an IR function.
pub(super) struct Body<'a, 'p> {
    pub(super) lowering: &'a mut Lowering<'p>,
    /// Its code.
    pub(super) code: Code,
    /// How values of the program lie flat.
    pub(super) layout: Layout<'p>,
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
    /// What a reverse sweep keeps of the loops that are lowered.
    pub(super) kept: ReversePolicy,
    /// The name of the IR function.
    pub(super) symbol: Symbol,
}

impl<'a, 'p> Body<'a, 'p> {
    pub(super) fn new(lowering: &'a mut Lowering<'p>, symbol: Symbol) -> Self {
        let layout = Layout { program: lowering.program };
        Self {
            lowering,
            code: Code::new(),
            layout,
            frames: Vec::new(),
            frame: 0,
            n_frames: 0,
            scopes: vec![Sizes::new()],
            flow: Flow::default(),
            result: Type::UNIT,
            in_loop: false,
            kept: ReversePolicy::default(),
            symbol,
        }
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

    // ---- names and spans

    /// Lowers with the source position `span`.
    pub(super) fn at<T>(&mut self, span: Span, lower: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.code.b.span();
        self.code.b.set_span(ir_span(span));
        let result = lower(self);
        self.code.b.set_span(before);
        result
    }

    /// Gives leaves that have no name of the source yet the names of a local.
    pub(super) fn name_leaves(&mut self, name: &str, ty: &Type, value: &Value) {
        if name.starts_with('$') || name == "_" {
            return;
        }
        for (name, atom) in self.layout.leaf_names(name, ty).into_iter().zip(value) {
            if let Atom::Var(v) = atom
                && self.code.named.insert(*v)
            {
                self.code.b.info_mut(*v).name = name.into();
            }
        }
    }

    /// A scalar value.
    pub(super) fn scalar(&mut self, e: &'p Expr) -> Result<Atom> {
        let value = self.expr(e)?;
        Ok(value.first().copied().expect("invariant: a scalar has one leaf"))
    }
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
