//! Sample points of operations on tensors: what tests call them with.

/// A use of an operation.
#[derive(Clone, Copy, Debug)]
pub struct TensorSample {
    /// The operands.
    pub args: &'static [Sampled],
    /// Static attributes.
    pub attrs: &'static [i64],
    /// Extents of the result.
    pub dims: &'static [i64],
}

/// An operand of a use.
#[derive(Clone, Copy, Debug)]
pub struct Sampled {
    /// Extents.
    pub dims: &'static [i64],
    /// The elements.
    pub like: Like,
}

/// What the elements of an operand are like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Like {
    /// Numbers of the element type, no two of them equal by design.
    Numbers,
    /// Square matrices that are far from singular.
    Regular,
    /// Symmetric positive definite matrices.
    Definite,
    /// An i64 scalar.
    Position(i64),
}

/// Numbers of these extents.
pub(crate) const fn numbers(dims: &'static [i64]) -> Sampled {
    Sampled { dims, like: Like::Numbers }
}

/// Regular matrices of these extents.
pub(crate) const fn regular(dims: &'static [i64]) -> Sampled {
    Sampled { dims, like: Like::Regular }
}

/// An i64 scalar.
pub(crate) const fn position(at: i64) -> Sampled {
    Sampled { dims: &[], like: Like::Position(at) }
}
