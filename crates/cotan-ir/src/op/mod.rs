//! Statements and operations. The set is small and closed.
//!
//! What a kind is made of is described once, in [`parts`](Op::each_part); what it does beside giving results, in
//! [`effects`](Op::effects). Matches on all kinds are for code that gives each its meaning: verifier, printer, parser,
//! interpreter, lowering, differentiation, costs. Every other question goes through the description.

mod effects;
mod kinds;
mod parts;
mod walk;

pub use effects::Effects;
pub use parts::{OperandRole, Part, PartMut};
pub use walk::Walk;

use crate::{Atom, CheckKind, Prim, ReversePolicy, Span, Symbol, TensorOp, Var};

/// Statements and results. In a region, a block means "its results, plus what it wrote to accumulators".
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// In order of evaluation.
    pub stmts: Vec<Stmt>,
    /// Operands in scope at the end of the block.
    pub results: Vec<Atom>,
}

/// One statement: results bound to an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// The variables bound here; empty only for `acc_add`.
    pub results: Vec<Var>,
    /// What is computed.
    pub op: Op,
    /// The source text that it stands for.
    pub span: Span,
}

/// An operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// One scalar primitive, on scalars or element-wise on equal shapes; constants lift to any shape. Total: a
    /// primitive never fails, what can go wrong is said by a `Check` in front of it.
    Prim {
        /// Which.
        prim: Prim,
        /// Operands.
        args: Vec<Atom>,
    },
    /// A registered structural operation. The dims of its result stand in the result's type.
    Tensor {
        /// Which.
        op: TensorOp,
        /// Operands.
        args: Vec<Atom>,
        /// Static attributes (axes, permutations), in the order that the record documents.
        attrs: Vec<i64>,
    },
    /// Reads an element, or a sub-tensor where there are fewer indices than dims. The indices are in range: a `Check`
    /// that they pass through says so.
    Index {
        /// The tensor.
        array: Atom,
        /// Leading indices, i64.
        indices: Vec<Atom>,
    },
    /// The tensor with one element or sub-tensor replaced.
    Update {
        /// The tensor.
        array: Atom,
        /// Leading indices, i64.
        indices: Vec<Atom>,
        /// The new element or sub-tensor.
        value: Atom,
    },
    /// Adds (by the accumulator's monoid) to an accumulator that an enclosing region introduced, or writes one
    /// position of a log. No result.
    AccAdd {
        /// The accumulator.
        acc: Var,
        /// Leading indices, i64; none adds to the whole.
        indices: Vec<Atom>,
        /// What is added.
        value: Atom,
    },
    /// The parallel loop.
    Par(Box<Par>),
    /// The sequential loop.
    Loop(Box<Loop>),
    /// Lazy branches. A bool selector takes arm 0 when true and arm 1 when false; an i64 selects by number, clamped.
    Switch {
        /// Bool or i64 scalar.
        selector: Atom,
        /// At least one; all give results of the same types (but for lengths named by earlier results).
        arms: Vec<Block>,
    },
    /// A function of the module.
    Call {
        /// Its name.
        callee: Symbol,
        /// One per parameter.
        args: Vec<Atom>,
    },
    /// The value, if the condition holds; else the run-time error `kind` at the statement's span. Whoever needs the
    /// value after the check uses the result, so a check lives and dies with the value that needs it. The dims of the
    /// result may be named otherwise than those of the value: this is how a run-time size becomes a known one.
    Check {
        /// Bool scalar.
        cond: Atom,
        /// What is wrong if it does not hold.
        kind: CheckKind,
        /// i64 operands (others are converted by the printer of the message), shown in the message.
        args: Vec<Atom>,
        /// The value that needs the check.
        value: Atom,
    },
}

/// A commutative monoid to reduce with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Monoid {
    /// Sum.
    Add,
    /// Product.
    Mul,
    /// Maximum; NaN wins.
    Max,
    /// Minimum; NaN wins.
    Min,
    /// Logical and.
    And,
    /// Logical or.
    Or,
}

impl Monoid {
    /// Every monoid.
    pub const ALL: [Monoid; 6] = [Monoid::Add, Monoid::Mul, Monoid::Max, Monoid::Min, Monoid::And, Monoid::Or];

    /// The name in the text form; also the name of the primitive that combines two values.
    pub fn name(self) -> &'static str {
        match self {
            Monoid::Add => "add",
            Monoid::Mul => "mul",
            Monoid::Max => "max",
            Monoid::Min => "min",
            Monoid::And => "and",
            Monoid::Or => "or",
        }
    }
}

/// How a parallel loop makes a result of what its body gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParResult {
    /// One element per index.
    Stacked,
    /// Combined over all indices, starting from `init`.
    Reduced {
        /// The operation.
        monoid: Monoid,
        /// The start value; it takes part in ties.
        init: Atom,
    },
}

/// What kind of accumulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccKind {
    /// Combines what is written with what is there. `Add` anywhere; `Max` and `Min` under a `Par` only.
    Reduce(Monoid),
    /// Starts empty; every position is written once, by one explicit i64 index, and the length is the final value of
    /// a carried i64 of the same loop. Loops only.
    Log,
}

/// An accumulator that a region introduces. It is a name to write to, not a value: its final array is a result of the
/// region, and nobody can read it before.
#[derive(Clone, Debug, PartialEq)]
pub struct Acc {
    /// The name. Its type is that of the final array; for a log, dim 0 is `Const(0)`.
    pub var: Var,
    /// How writes combine.
    pub kind: AccKind,
    /// The start value; `None` exactly for a log.
    pub init: Option<Atom>,
}

/// The parallel loop. Results: one per body result, then one per accumulator.
#[derive(Clone, Debug, PartialEq)]
pub struct Par {
    /// One i64 variable per level.
    pub indices: Vec<Var>,
    /// One i64 operand per level, never negative.
    pub extents: Vec<Atom>,
    /// One per body result.
    pub kinds: Vec<ParResult>,
    /// Accumulators, in scope in the body.
    pub accs: Vec<Acc>,
    /// Run once for every index tuple.
    pub body: Block,
}

/// The sequential loop, counted or a while. Results: the trip count (while only), carried values, accumulators,
/// stacked results. The body gives the next carried values, then the stacked elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// The i64 iteration number, from 0.
    pub index: Var,
    /// The number of iterations (none if negative); `None` makes it a while, which runs as long as its first carried
    /// value, a bool, is true.
    pub count: Option<Atom>,
    /// Carried values, of invariant type.
    pub params: Vec<Var>,
    /// Their start values.
    pub inits: Vec<Atom>,
    /// Accumulators (`Add` or logs), in scope in the body.
    pub accs: Vec<Acc>,
    /// Run once per iteration.
    pub body: Block,
    /// What a reverse sweep keeps.
    pub kept: ReversePolicy,
}

/// The results of a loop by role.
#[derive(Clone, Copy, Debug)]
pub struct LoopResults<'a> {
    /// The trip count of a while.
    pub trips: Option<Var>,
    /// Final carried values.
    pub carried: &'a [Var],
    /// Final accumulators.
    pub accs: &'a [Var],
    /// Stacked results.
    pub stacked: &'a [Var],
}

impl LoopResults<'_> {
    /// Whether there is a result with one element per iteration.
    pub fn has_stacked(&self) -> bool {
        !self.stacked.is_empty()
    }
}

impl Loop {
    /// Splits the results of the loop's statement by role.
    pub fn split<'a>(&self, results: &'a [Var]) -> LoopResults<'a> {
        let head = usize::from(self.count.is_none());
        let (trips, rest) = results.split_at(head);
        let (carried, rest) = rest.split_at(self.params.len());
        let (accs, stacked) = rest.split_at(self.accs.len());
        LoopResults { trips: trips.first().copied(), carried, accs, stacked }
    }
}
