//! Where a program may make a NaN, and what is reported of it.

use cotan_ir::{Elem, Monoid, Prim, Span, Symbol, TensorOp};

/// An operation that may make a NaN. The check reports numbers: the position of this site, the operands shown, the
/// iteration numbers of the loops around it, from 0, and the indices of the element.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// What makes it.
    pub made: Made,
    /// The source text, and what is computed of it.
    pub span: Span,
    /// The name of the result.
    pub result: Symbol,
    /// The operands.
    pub operands: Vec<Shown>,
    /// The loops around it, outermost first. Where there are very many, the innermost ones.
    pub loops: Vec<Enclosing>,
    /// How many indices the element has; none of a scalar.
    pub n_indices: usize,
}

/// What makes a NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Made {
    /// A primitive.
    Prim(Prim),
    /// A sum or product over a parallel loop.
    Reduced(Monoid),
    /// A sum of what a loop adds to an accumulator.
    Accumulated,
    /// A tensor operation.
    Tensor(TensorOp),
}

/// An operand that is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// The name of the variable.
    pub name: Symbol,
    /// The source text that computes it, where the variable has no name of the source.
    pub span: Option<Span>,
    /// Its type.
    pub elem: Elem,
}

/// A loop around a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enclosing {
    /// The source text of the loop.
    pub span: Span,
    /// How many indices it has: one, or one for each level of a parallel loop.
    pub n_indices: usize,
}
