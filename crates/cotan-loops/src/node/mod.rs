//! The loop-nest IR: structured control, scalar locals, buffers with explicit memory.
//!
//! A function is a tree of [`Node`]s. A scalar is a [`Local`]; most are assigned once, where they are defined, and the
//! few marked mutable (carried values, sums) by `Set`. A tensor is a run of elements of a [`Buffer`], row-major, from an
//! offset; buffers are ids, never addresses. Every loop, branch and early exit is a node: there are no jumps.
//!
//! A local may have lanes: one value for each of several iterations of a loop that run side by side (see
//! [`For::lanes`]). An instruction on lanes works lane by lane, and operands without lanes stand for
//! lanes that are all the same.
//!
//! What a node mentions, and its effects, is said once, by [`Node::each_part`]; everything that asks about several
//! kinds of nodes asks there.

mod call;
mod counted;
mod expr;
mod function;
mod memory;
mod mentions;
mod operand;
mod properties;
mod reduce;
mod shape;
mod shared;
mod visit;

use crate::partial_sums::PartialSums;
pub use call::{Argument, CallResult, Product, Routine};
use cotan_ir::{CheckKind, Elem, Monoid, Span, Symbol};
pub use counted::{For, Independence, Sharing, Sum, Threads, Wave};
pub use expr::{Expr, combining, rounds};
pub use function::{LoopFunction, Param};
pub use memory::{Buffer, BufferInfo, BufferKind, Home, Place, Target, Tensor, View};
pub use mentions::Mentions;
pub use operand::{Local, LocalInfo, Operand};
pub use reduce::Reduce;
pub use shape::{BufferUse, Effect, LocalUse, OperandUse, Part, PartMut};
pub use shared::{shared_beside_sums, shared_targets};
pub use visit::{
    Definitions, any, count, definitions_of, each_definition, each_operand_mut, rename_buffers, walk, walk_mut,
};

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
    PartialSums(PartialSums),
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
    /// A reduction that is not cut into partial results, in nests for devices.
    Reduce(Box<Reduce>),
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
    /// same by loops, so that whoever can't have it can have those, see [`expand_products`](crate::expand_products).
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
        args: Vec<Argument>,
        /// One per result.
        results: Vec<CallResult>,
    },
}
