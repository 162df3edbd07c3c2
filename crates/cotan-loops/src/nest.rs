//! The loop-nest IR: structured control, scalar locals, buffers with explicit memory.
//!
//! A function is a tree of [`Node`]s. A scalar is a [`Local`]; most are assigned once, where they are defined, and the
//! few marked mutable (carried values, sums) by `Set`. A tensor is a run of elements of a [`Buffer`], row-major, from an
//! offset; buffers are ids, never addresses. Every loop, branch and early exit is a node: there are no jumps.
//!
//! A local may have lanes: one value for each of several iterations of a loop that run side by side (see
//! [`vectorise`](crate::vectorise)). An instruction on lanes works lane by lane, and operands without lanes stand for
//! lanes that are all the same.

use crate::blocks::Blocks;
use cotan_ir::{CheckKind, Const, Elem, Monoid, Prim, Span, Symbol, TensorOp};
use cotan_ops::Instruction;

/// A scalar variable: an index into the function's table of locals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Local(pub u32);

impl Local {
    /// The index into the table of locals.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A piece of memory: an index into the function's table of buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Buffer(pub u32);

impl Buffer {
    /// The index into the table of buffers.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A scalar operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A local in scope.
    Local(Local),
    /// A constant.
    Const(Const),
}

impl Operand {
    /// An i64 constant.
    pub fn i64(value: i64) -> Operand {
        Operand::Const(Const::i64(value))
    }

    /// The value of an i64 constant.
    pub fn as_i64(self) -> Option<i64> {
        match self {
            Operand::Const(c) => c.as_i64(),
            Operand::Local(_) => None,
        }
    }
}

impl From<Local> for Operand {
    fn from(local: Local) -> Operand {
        Operand::Local(local)
    }
}

/// An element of a buffer, counted in elements from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The buffer.
    pub buffer: Buffer,
    /// An i64.
    pub offset: Operand,
}

/// What is known of a local.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalInfo {
    /// Base name, for the dump.
    pub name: Symbol,
    /// Its type.
    pub elem: Elem,
    /// Whether it is assigned more than once.
    pub is_mutable: bool,
    /// How many lanes it has; 1 for a plain scalar.
    pub lanes: u32,
}

/// What is known of a buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct BufferInfo {
    /// Base name, for the dump.
    pub name: Symbol,
    /// Type of the elements; a `bool` takes one byte.
    pub elem: Elem,
    /// Where its address comes from.
    pub kind: BufferKind,
    /// The source text of the statement that it belongs to: of a record, that of the loop.
    pub span: Span,
    /// Whether it holds a record that a loop keeps for its reverse sweep.
    pub is_record: bool,
}

/// Where the address of a buffer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferKind {
    /// A parameter of the function, by position; never written to.
    Param(usize),
    /// An `Alloc`, which takes memory from there.
    Allocated(Home),
    /// A stack: the address changes when the stack grows. Its final elements are read through a buffer bound to it.
    Stack,
    /// A `Bind`, possibly one of several in branches.
    Bound,
}

/// Where an allocation lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// In the arena, until the enclosing scope ends.
    Arena,
    /// In the frame of the function: a few bytes, known at compile time.
    Frame,
    /// In the memory that the caller offers for this result, if it suffices; else in the arena.
    Result(usize),
}

/// The value of a definition.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// The operand.
    Copy(Operand),
    /// A machine instruction on operands of type `elem` (of a select: its last two).
    Native {
        /// Which.
        instruction: Instruction,
        /// Type of the operands.
        elem: Elem,
        /// Operands.
        args: Vec<Operand>,
    },
    /// A function of the host.
    Host {
        /// The primitive that it evaluates.
        prim: Prim,
        /// What the `T` of its signature stands for.
        elem: Elem,
        /// Operands.
        args: Vec<Operand>,
    },
    /// The lanes base, base + 1, base + 2, ... of an i64.
    Iota(Operand),
    /// Whether any lane of a bool is true.
    Any(Operand),
    /// The number of the first lane of a bool that is true, i64; the number of lanes if none is.
    First(Operand),
    /// The lanes combined: halves pairwise until one is left, so that the result does not depend on the machine.
    Fold(Monoid, Operand),
    /// The lane of the first operand whose number is the second, an i64.
    Lane([Operand; 2]),
}

/// What a value is combined with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// An element.
    Element(Place),
    /// A mutable local.
    Local(Local),
}

/// An argument or result of a call: a scalar, or elements of a buffer with their extents.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// A scalar.
    Scalar(Operand),
    /// A tensor.
    Tensor(Tensor),
}

/// A dense row-major tensor in a buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Its first element.
    pub place: Place,
    /// Type of the elements.
    pub elem: Elem,
    /// Extents, i64.
    pub dims: Vec<Operand>,
}

/// Where a call leaves a result.
#[derive(Clone, Debug, PartialEq)]
pub enum CallResult {
    /// In a local of this type.
    Scalar(Local),
    /// In memory that exists already.
    Into(Tensor),
    /// In memory that the callee allocates, because the size is known only afterwards; the rank.
    New(Buffer, usize),
}

/// One step of a function.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// Defines a local.
    Let(Local, Expr),
    /// Assigns to a mutable local.
    Set(Local, Operand),
    /// Defines a local as an element.
    Load(Local, Place),
    /// Writes an element.
    Store(Place, Operand),
    /// Defines a local with lanes as elements: consecutive ones from an offset without lanes on, else one at the offset
    /// of each lane. Only the lanes of the mask are read, the others are zero.
    LoadLanes {
        /// The local.
        to: Local,
        /// Where the elements lie.
        from: Place,
        /// A bool with lanes; `None` for all lanes.
        mask: Option<Operand>,
    },
    /// Writes lanes to elements, see [`Node::LoadLanes`]. Offsets of different lanes differ.
    StoreLanes {
        /// Where the elements lie.
        to: Place,
        /// The lanes.
        value: Operand,
        /// A bool with lanes; `None` for all lanes.
        mask: Option<Operand>,
    },
    /// Combines an accumulator in place with a value. The order in which iterations of an independent loop do so is free.
    Combine {
        /// How.
        monoid: Monoid,
        /// The accumulator.
        target: Target,
        /// The value.
        value: Operand,
    },
    /// Copies so many elements. The two ranges may be the same, but do not overlap otherwise.
    Copy {
        /// The first element read.
        from: Place,
        /// The first element written.
        to: Place,
        /// How many, i64.
        count: Operand,
    },
    /// Works on the partial results of a reduction, where a block of it ends.
    Blocks(Blocks),
    /// Gives a buffer memory for a tensor of these extents, with unspecified content. A size that overflows, or for
    /// which there is no memory, ends the call with an error. Only the list of nodes around it, with the lists in that,
    /// mentions the buffer; the results of the function are mentioned after all of them.
    Alloc {
        /// The buffer.
        buffer: Buffer,
        /// Extents, i64; negative ones count as zero.
        extents: Vec<Operand>,
    },
    /// Counts a tensor of these extents among the records that loops keep for their reverse sweeps.
    CountRecord(Elem, Vec<Operand>),
    /// Makes a buffer an empty stack.
    StackOpen(Buffer),
    /// Makes room in a stack for at least so many elements, which then count as written.
    StackExtend(Buffer, Operand),
    /// Names a place by a buffer of its own.
    Bind {
        /// The buffer that gets a name.
        buffer: Buffer,
        /// Its first element.
        to: Place,
    },
    /// A body whose arena allocations are released at its end.
    Scope(Vec<Node>),
    /// A part of a long block, that a backend compiles by itself.
    Segment(Vec<Node>),
    /// A counted loop.
    For(Box<For>),
    /// Runs its body as long as the mutable local is true.
    While(Local, Vec<Node>),
    /// Two branches.
    If(Operand, Vec<Node>, Vec<Node>),
    /// Several branches by number; a number out of range takes the nearest one.
    Switch(Operand, Vec<Vec<Node>>),
    /// Ends the call with an error unless the condition holds.
    Check {
        /// A bool.
        cond: Operand,
        /// The error.
        kind: CheckKind,
        /// What is reported: i64 and u64, and floats where the kind reports them.
        args: Vec<Operand>,
        /// The source text that it stands for.
        span: Span,
    },
    /// The product of two matrices by a library. It stands in the second arm of a [`Node::If`] whose first arm does the
    /// same by loops, so that whoever can't have it can have those, see [`without_products`](crate::without_products).
    Product(Box<Product>),
    /// A numerical routine of the op table.
    Routine(Box<Routine>),
    /// Writes to the output of the call.
    Print {
        /// The text that comes first, UTF-8.
        text: Vec<u8>,
        /// The value that comes after it.
        value: Option<Tensor>,
        /// Where the extents of the value lie, i64 each.
        extents: Option<Place>,
    },
    /// Calls a function of the module.
    Call {
        /// Its name.
        callee: Symbol,
        /// One per parameter.
        args: Vec<Piece>,
        /// One per result.
        results: Vec<CallResult>,
    },
}

/// The result of an operation that a routine computes. All arrays are dense and row-major; what is written overlaps
/// nothing that is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Routine {
    /// The operation.
    pub op: TensorOp,
    /// Its static attributes.
    pub attrs: Vec<i64>,
    /// What is written.
    pub to: Tensor,
    /// The operands; scalars have no extents.
    pub from: Vec<Tensor>,
}

/// `to = left right`. The sum of every element is that of the definition of `matmul` to the bit: in
/// [`runs`](cotan_ops::runs), each a chain of `fma` from 0, added in order. What is written overlaps nothing that is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Product {
    /// Type of the elements: `f32` or `f64`.
    pub elem: Elem,
    /// What is written, `[rows, columns]`.
    pub to: View,
    /// The first factor, `[rows, summed]`.
    pub left: View,
    /// The second factor, `[summed, columns]`.
    pub right: View,
    /// Rows and columns of the product, and how many terms a sum has, i64.
    pub extents: [Operand; 3],
}

/// A matrix in a buffer: so a transposed one needs no copy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Its first element.
    pub place: Place,
    /// How many elements the next row, and the next column, are away, i64.
    pub strides: [Operand; 2],
}

/// A counted loop: `index` from 0 up to `count`, not at all if that is negative.
#[derive(Clone, Debug, PartialEq)]
pub struct For {
    /// The iteration number, an i64 defined here.
    pub index: Local,
    /// An i64.
    pub count: Operand,
    /// Whether iterations may run on several threads.
    pub threads: Threads,
    /// Which iterations may run side by side.
    pub independence: Independence,
    /// How many iterations of the loop that this was made of run side by side in one of these.
    pub lanes: u32,
    /// Whether subnormal results in it may become zero.
    pub may_flush: bool,
    /// Run once per iteration.
    pub body: Vec<Node>,
}

/// Which iterations of a loop do not depend on each other, but for what they [`Node::Combine`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Independence {
    /// Nothing is known: one after the other.
    None,
    /// Those whose numbers, counted as the elements of a reduction, have the same quotient by
    /// [`LANES`](cotan_ops::reduce::LANES).
    Block,
    /// All.
    All,
}

/// Whether iterations of a loop run on several threads.
#[derive(Clone, Debug, PartialEq)]
pub enum Threads {
    /// One after the other.
    One,
    /// They may; [`fork`](crate::fork) decides how.
    May(Sharing),
    /// Each iteration is a piece of work for a thread.
    Each,
    /// Each iteration is a piece of work for a thread, once those that it needs are done.
    Wave(Wave),
}

/// Which iterations of a loop need others, see [`wavefronts`](crate::wavefronts). Iteration `n` is stage `n % stages` of
/// tile `n / stages`. It needs the stage before of its tile, its stage of the tile before, and, if it is the first of its
/// tile, all stages of the tile `slots` earlier, whose memory it takes over. So these, and what they need, are over when
/// it starts; others may run at the same time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wave {
    /// How many stages a tile has, i64.
    pub stages: Operand,
    /// How many tiles have memory of their own, i64.
    pub slots: Operand,
}

/// What is known of a loop whose iterations may run on several threads.
#[derive(Clone, Debug, PartialEq)]
pub struct Sharing {
    /// How many scalar steps an iteration is, roughly, an f64. It follows from sizes alone, so that where a loop is cut
    /// does not depend on the number of threads.
    pub steps: Operand,
    /// What iterations combine values into that other iterations may combine into as well. No iteration reads it.
    pub sums: Vec<Sum>,
}

/// Something that iterations combine values into.
#[derive(Clone, Debug, PartialEq)]
pub struct Sum {
    /// How.
    pub monoid: Monoid,
    /// A mutable local, or the first element of a whole buffer.
    pub target: Target,
    /// Of a buffer the extents, i64; nothing for a local.
    pub extents: Vec<Operand>,
}

/// A function as a loop nest.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopFunction {
    /// Its name in the module.
    pub name: Symbol,
    /// Every local.
    pub locals: Vec<LocalInfo>,
    /// Every buffer.
    pub buffers: Vec<BufferInfo>,
    /// The parameters: a local for a scalar, a buffer for a tensor.
    pub params: Vec<Param>,
    /// What it does.
    pub body: Vec<Node>,
    /// What it gives back. A tensor lies in the memory of its result ([`Home::Result`]).
    pub results: Vec<Piece>,
    /// Whether lanes, or threads, add up what iterations would add one after the other, so that floats are rounded
    /// elsewhere.
    pub regroups_sums: bool,
    /// Buffers of results at whose stores the caller is told of a NaN.
    pub watched: Vec<Buffer>,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Param {
    /// A scalar.
    Scalar(Local),
    /// A tensor.
    Tensor(Tensor),
}

impl LoopFunction {
    /// The type of a local.
    pub fn elem(&self, local: Local) -> Elem {
        self.locals[local.index()].elem
    }

    /// How many lanes an operand has; a constant has one.
    pub fn lanes(&self, operand: Operand) -> u32 {
        match operand {
            Operand::Local(local) => self.locals[local.index()].lanes,
            Operand::Const(_) => 1,
        }
    }

    /// The type of an operand.
    pub fn operand_elem(&self, operand: Operand) -> Elem {
        match operand {
            Operand::Local(local) => self.elem(local),
            Operand::Const(c) => c.elem(),
        }
    }
}

/// Whether the order of what is combined shows in the result.
pub(crate) fn rounds(monoid: Monoid, elem: Elem) -> bool {
    match monoid {
        Monoid::Add | Monoid::Mul => elem.is_float(),
        Monoid::Max | Monoid::Min | Monoid::And | Monoid::Or => false,
    }
}

/// The instruction that combines two values of a monoid.
pub fn combining(monoid: Monoid) -> Instruction {
    match monoid {
        Monoid::Add => Instruction::Add,
        Monoid::Mul => Instruction::Mul,
        Monoid::Max => Instruction::Max,
        Monoid::Min => Instruction::Min,
        Monoid::And => Instruction::And,
        Monoid::Or => Instruction::Or,
    }
}

impl Expr {
    /// The operands.
    pub fn operands(&self) -> &[Operand] {
        match self {
            Expr::Copy(operand) | Expr::Iota(operand) | Expr::Any(operand) | Expr::First(operand) => {
                std::slice::from_ref(operand)
            }
            Expr::Fold(_, operand) => std::slice::from_ref(operand),
            Expr::Native { args, .. } | Expr::Host { args, .. } => args,
            Expr::Lane(args) => args,
        }
    }
}

impl Tensor {
    /// The operands: where it starts, and how large it is.
    pub(crate) fn operands(&self) -> impl Iterator<Item = Operand> + '_ {
        std::iter::once(self.place.offset).chain(self.dims.iter().copied())
    }
}

impl Piece {
    /// Visits the operands.
    pub(crate) fn each_operand(&self, see: &mut impl FnMut(Operand)) {
        match self {
            Piece::Scalar(operand) => see(*operand),
            Piece::Tensor(tensor) => tensor.operands().for_each(see),
        }
    }
}

impl Routine {
    /// The arrays: what is written, then the operands.
    pub fn arrays(&self) -> impl Iterator<Item = &Tensor> {
        std::iter::once(&self.to).chain(&self.from)
    }

    /// The same arrays, to change them.
    pub(crate) fn arrays_mut(&mut self) -> impl Iterator<Item = &mut Tensor> {
        std::iter::once(&mut self.to).chain(&mut self.from)
    }
}

impl Product {
    /// The three matrices: what is written, then the factors.
    pub fn views(&self) -> [&View; 3] {
        [&self.to, &self.left, &self.right]
    }

    /// The operands: where the matrices lie, and how large they are.
    pub fn operands(&self) -> impl Iterator<Item = Operand> + '_ {
        let views = self.views().into_iter().flat_map(|view| [view.place.offset, view.strides[0], view.strides[1]]);
        views.chain(self.extents)
    }
}

impl Target {
    /// The operand in it.
    fn operand(self) -> Operand {
        match self {
            Target::Element(place) => place.offset,
            Target::Local(local) => local.into(),
        }
    }
}

impl Node {
    /// Visits every operand that the node itself reads or combines into, not those of the nodes in it.
    pub(crate) fn each_operand(&self, see: &mut impl FnMut(Operand)) {
        match self {
            Node::Let(_, expr) => expr.operands().iter().copied().for_each(see),
            Node::Set(_, value) => see(*value),
            Node::Load(_, from) => see(from.offset),
            Node::Store(to, value) => [to.offset, *value].into_iter().for_each(see),
            Node::LoadLanes { to: _, from, mask } => std::iter::once(from.offset).chain(*mask).for_each(see),
            Node::StoreLanes { to, value, mask } => [to.offset, *value].into_iter().chain(*mask).for_each(see),
            Node::Combine { monoid: _, target, value } => [target.operand(), *value].into_iter().for_each(see),
            Node::Copy { from, to, count } => [from.offset, to.offset, *count].into_iter().for_each(see),
            Node::Blocks(blocks) => [blocks.lanes.offset, blocks.size, blocks.number].into_iter().for_each(see),
            Node::Alloc { buffer: _, extents } | Node::CountRecord(_, extents) => extents.iter().copied().for_each(see),
            Node::StackOpen(_) | Node::Scope(_) | Node::Segment(_) => {}
            Node::StackExtend(_, count) => see(*count),
            Node::Bind { buffer: _, to } => see(to.offset),
            Node::For(l) => {
                see(l.count);
                if let Threads::May(Sharing { steps, sums }) = &l.threads {
                    see(*steps);
                    sums.iter()
                        .flat_map(|sum| std::iter::once(sum.target.operand()).chain(sum.extents.iter().copied()))
                        .for_each(&mut *see);
                }
                if let Threads::Wave(Wave { stages, slots }) = l.threads {
                    [stages, slots].into_iter().for_each(see);
                }
            }
            Node::While(go, _) => see((*go).into()),
            Node::If(operand, ..) | Node::Switch(operand, _) => see(*operand),
            Node::Check { cond, kind: _, args, span: _ } => std::iter::once(cond).chain(args).copied().for_each(see),
            Node::Product(product) => product.operands().for_each(see),
            Node::Routine(routine) => routine.arrays().flat_map(Tensor::operands).for_each(see),
            Node::Print { text: _, value, extents } => {
                let value = value.iter().flat_map(Tensor::operands);
                value.chain(extents.iter().map(|place| place.offset)).for_each(see);
            }
            Node::Call { callee: _, args, results } => {
                args.iter().for_each(|arg| arg.each_operand(see));
                results.iter().for_each(|result| match result {
                    CallResult::Scalar(_) | CallResult::New(..) => {}
                    CallResult::Into(tensor) => tensor.operands().for_each(&mut *see),
                });
            }
        }
    }

    /// Visits every local that it defines itself, with the value if that is written there; not those that it assigns to,
    /// and not what its lists define.
    pub fn each_definition<'n>(&'n self, see: &mut impl FnMut(Local, Option<&'n Expr>)) {
        match self {
            Node::Let(local, expr) => see(*local, Some(expr)),
            Node::Load(local, _) | Node::LoadLanes { to: local, .. } => see(*local, None),
            Node::For(l) => see(l.index, None),
            Node::Call { results, .. } => results.iter().for_each(|result| match result {
                CallResult::Scalar(local) => see(*local, None),
                CallResult::New(..) | CallResult::Into(_) => {}
            }),
            Node::Set(..)
            | Node::Store(..)
            | Node::StoreLanes { .. }
            | Node::Combine { .. }
            | Node::Copy { .. }
            | Node::Blocks(_)
            | Node::Alloc { .. }
            | Node::CountRecord(..)
            | Node::StackOpen(_)
            | Node::StackExtend(..)
            | Node::Bind { .. }
            | Node::Scope(_)
            | Node::Segment(_)
            | Node::While(..)
            | Node::If(..)
            | Node::Switch(..)
            | Node::Check { .. }
            | Node::Product(_)
            | Node::Routine(_)
            | Node::Print { .. } => {}
        }
    }

    /// Whether it is a counted loop, or has one in it.
    pub(crate) fn has_loop(&self) -> bool {
        matches!(self, Node::For(_)) || self.lists().into_iter().flatten().any(Node::has_loop)
    }

    /// The lists of nodes in it.
    pub fn lists(&self) -> Vec<&[Node]> {
        match self {
            Node::Scope(body) | Node::Segment(body) | Node::While(_, body) => vec![body],
            Node::For(l) => vec![&l.body],
            Node::If(_, yes, no) => vec![yes, no],
            Node::Switch(_, arms) => arms.iter().map(Vec::as_slice).collect(),
            Node::Let(..)
            | Node::Set(..)
            | Node::Load(..)
            | Node::Store(..)
            | Node::LoadLanes { .. }
            | Node::StoreLanes { .. }
            | Node::Combine { .. }
            | Node::Copy { .. }
            | Node::Blocks(_)
            | Node::Alloc { .. }
            | Node::CountRecord(..)
            | Node::StackOpen(_)
            | Node::StackExtend(..)
            | Node::Bind { .. }
            | Node::Check { .. }
            | Node::Product(_)
            | Node::Routine(_)
            | Node::Print { .. }
            | Node::Call { .. } => Vec::new(),
        }
    }

    /// The same lists, to change them.
    pub fn lists_mut(&mut self) -> Vec<&mut Vec<Node>> {
        match self {
            Node::Scope(body) | Node::Segment(body) | Node::While(_, body) => vec![body],
            Node::For(l) => vec![&mut l.body],
            Node::If(_, yes, no) => vec![yes, no],
            Node::Switch(_, arms) => arms.iter_mut().collect(),
            Node::Let(..)
            | Node::Set(..)
            | Node::Load(..)
            | Node::Store(..)
            | Node::LoadLanes { .. }
            | Node::StoreLanes { .. }
            | Node::Combine { .. }
            | Node::Copy { .. }
            | Node::Blocks(_)
            | Node::Alloc { .. }
            | Node::CountRecord(..)
            | Node::StackOpen(_)
            | Node::StackExtend(..)
            | Node::Bind { .. }
            | Node::Check { .. }
            | Node::Product(_)
            | Node::Routine(_)
            | Node::Print { .. }
            | Node::Call { .. } => Vec::new(),
        }
    }
}
