//! The loop-nest IR: structured control, scalar locals, buffers with explicit memory.
//!
//! A function is a tree of [`Node`]s. A scalar is a [`Local`]; most are assigned once, where they are defined, and the
//! few marked mutable (carried values, sums) by `Set`. A tensor is a run of elements of a [`Buffer`], row-major, from an
//! offset; buffers are ids, never addresses. Every loop, branch and early exit is a node: there are no jumps.

use cotan_ir::{CheckKind, Const, Elem, Prim, Span, Symbol};
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
    /// Copies so many elements. The two ranges may be the same, but do not overlap otherwise.
    Copy {
        /// The first element read.
        from: Place,
        /// The first element written.
        to: Place,
        /// How many, i64.
        count: Operand,
    },
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

/// A counted loop: `index` from 0 up to `count`, not at all if that is negative.
#[derive(Clone, Debug, PartialEq)]
pub struct For {
    /// The iteration number, an i64 defined here.
    pub index: Local,
    /// An i64.
    pub count: Operand,
    /// Whether iterations may run on several threads, and what one costs.
    pub parallel: Option<Cost>,
    /// Run once per iteration.
    pub body: Vec<Node>,
}

/// A rough number of scalar steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost(pub i64);

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

    /// The type of an operand.
    pub fn operand_elem(&self, operand: Operand) -> Elem {
        match operand {
            Operand::Local(local) => self.elem(local),
            Operand::Const(c) => c.elem(),
        }
    }
}
