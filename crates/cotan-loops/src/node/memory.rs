//! Memory: buffers, and the places, tensors and matrices in them.

use super::{Local, Operand};
use cotan_ir::{Elem, Span, Symbol};

/// A piece of memory: an index into the function's table of buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Buffer(pub u32);

impl Buffer {
    /// The index into the table of buffers.
    pub fn index(self) -> usize {
        self.0 as usize
    }
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

/// An element of a buffer, counted in elements from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The buffer.
    pub buffer: Buffer,
    /// An i64.
    pub offset: Operand,
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

impl Tensor {
    /// The operands: where it starts, and how large it is.
    pub fn operands(&self) -> impl Iterator<Item = Operand> + '_ {
        std::iter::once(self.place.offset).chain(self.dims.iter().copied())
    }
}

/// A matrix in a buffer: so a transposed one needs no copy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Its first element.
    pub place: Place,
    /// How many elements the next row, and the next column, are away, i64.
    pub strides: [Operand; 2],
}

/// What a value is combined with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// An element.
    Element(Place),
    /// A mutable local.
    Local(Local),
}

impl Target {
    /// Whether both are the same local, or lie in the same buffer.
    pub fn has_memory_of(self, other: Target) -> bool {
        match (self, other) {
            (Target::Element(a), Target::Element(b)) => a.buffer == b.buffer,
            (Target::Local(a), Target::Local(b)) => a == b,
            (Target::Element(_), Target::Local(_)) | (Target::Local(_), Target::Element(_)) => false,
        }
    }
}
