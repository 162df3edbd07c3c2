//! The statements of the typed tree: bindings, assignments to places, loops.

use super::{BinaryOp, DerivativeMode, Expr, Index, LocalId, Pattern, Range, Type};
use cotan_ir::Checkpoint;
use cotan_syntax::Span;

/// `{ ... }`
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The statements.
    pub statements: Vec<Stmt>,
    /// The value; the unit value without it.
    pub value: Option<Expr>,
    /// Whether a reverse sweep runs its loops again instead of keeping what they computed.
    pub recompute: bool,
    /// The mode in which a reverse sweep differentiates its loops, where it has a choice.
    pub mode: Option<DerivativeMode>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub kind: StmtKind,
}

/// The kinds of statements.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// `let p = e`
    Let {
        /// What is bound; always matches.
        pattern: Pattern,
        /// The value.
        value: Expr,
    },
    /// `place op value`
    Assign {
        /// What is changed.
        target: Target,
        /// How; for a tuple of places always [`AssignOp::Set`].
        op: AssignOp,
        /// The right side, evaluated before the indices of the places. Its shape is that of the
        /// place, or it is a scalar, which then lifts (but not for [`AssignOp::Set`]).
        value: Expr,
    },
    /// An expression of unit type or one that never ends.
    Expr(Expr),
}

/// What an assignment changes.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A place.
    Place(Place),
    /// `(p, q)`: the parts of a tuple, all computed before any is stored.
    Tuple(Vec<Target>),
}

/// A place: a mutable local, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Where it stands.
    pub span: Span,
    /// The type of what is stored there.
    pub ty: Type,
    /// The local.
    pub root: LocalId,
    /// The way from the local to the part.
    pub steps: Vec<PlaceStep>,
}

/// One step into a place.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaceStep {
    /// From the start of the place to the end of the step.
    pub span: Span,
    /// The type after the step.
    pub ty: Type,
    /// What the step does.
    pub kind: PlaceStepKind,
}

/// The kinds of steps into a place.
#[derive(Clone, Debug, PartialEq)]
pub enum PlaceStepKind {
    /// A part of a tuple or struct.
    Field(usize),
    /// Elements or slices of a tensor.
    Index(Vec<Index>),
}

/// What an assignment does with the old value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AssignOp {
    /// `=`
    Set,
    /// `+=`, `.*=` and so on: old value, operator, right side.
    Binary(BinaryOp),
    /// `max=`
    Max,
    /// `min=`
    Min,
}

/// `for p in e { ... }`
#[derive(Clone, Debug, PartialEq)]
pub struct For {
    /// What is bound in each iteration; always matches.
    pub pattern: Pattern,
    /// What is iterated over.
    pub iterable: Iterable,
    /// What runs, of unit type.
    pub body: Expr,
    /// For an outermost loop of a kernel, whose iterations run in parallel: what they write. The
    /// order in which they run makes no difference.
    pub parallel: Option<Sharing>,
    /// What a reverse sweep keeps of it.
    pub checkpoint: Option<Checkpoint>,
}

/// What the iterations of a parallel loop write of variables from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sharing {
    /// Tensors of which each iteration reads and writes its own slot.
    pub owned: Vec<Owned>,
    /// Scalars and tensors to which all iterations contribute, and which none reads.
    pub accumulated: Vec<Accumulated>,
}

/// A tensor of which each iteration of a parallel loop has a slot of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Owned {
    /// The local.
    pub root: LocalId,
    /// The way to the tensor: positions of fields.
    pub path: Vec<usize>,
    /// The axis whose position belongs to the iteration.
    pub axis: usize,
    /// Which positions those are.
    pub slot: Slot,
}

/// The positions along one axis that belong to an iteration of a parallel loop over `i`.
#[derive(Clone, Debug, PartialEq)]
pub enum Slot {
    /// `factor * i + offset`, where the factor is not zero and the offset, a sum of products, is
    /// the same in all iterations.
    Element {
        /// The factor.
        factor: i64,
        /// The terms of the offset: a factor with an integer of any type; 1 without one.
        offset: Vec<(i64, Option<Expr>)>,
    },
    /// `i * length + j` for `j` in `0..length`: the terms of the length, as those of an offset.
    Block(Vec<(i64, Option<Expr>)>),
}

/// Something to which all iterations of a parallel loop contribute.
#[derive(Clone, Debug, PartialEq)]
pub struct Accumulated {
    /// The local.
    pub root: LocalId,
    /// The way to the scalar or tensor: positions of fields.
    pub path: Vec<usize>,
    /// How: `+=`, `*=`, `max=` or `min=`.
    pub op: AssignOp,
}

/// What a `for` iterates over; its bounds are evaluated once.
#[derive(Clone, Debug, PartialEq)]
pub enum Iterable {
    /// The values of a range, without a tensor in between.
    Range {
        /// The range.
        range: Range,
        /// Whether from the last to the first.
        reversed: bool,
    },
    /// The elements or rows of a tensor along its first axis.
    Tensor {
        /// The tensor.
        tensor: Expr,
        /// Whether from the last to the first.
        reversed: bool,
    },
}

/// `while c { ... }`
#[derive(Clone, Debug, PartialEq)]
pub struct While {
    /// A `bool` scalar.
    pub condition: Expr,
    /// What runs while it holds, of unit type.
    pub body: Expr,
    /// What a reverse sweep keeps of it.
    pub checkpoint: Option<Checkpoint>,
}
