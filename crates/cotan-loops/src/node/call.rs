//! Calls: of functions of the module, of numerical routines, and of a library for matrix products.

use super::{Buffer, Local, Operand, Tensor, View};
use cotan_ir::{Elem, TensorOp};

/// An argument or result of a call: a scalar, or elements of a buffer with their extents.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A scalar.
    Scalar(Operand),
    /// A tensor.
    Tensor(Tensor),
}

impl Argument {
    /// The operands.
    pub fn operands(&self) -> Vec<Operand> {
        match self {
            Argument::Scalar(operand) => vec![*operand],
            Argument::Tensor(tensor) => tensor.operands().collect(),
        }
    }
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

impl Routine {
    /// The arrays: what is written, then the operands.
    pub fn arrays(&self) -> impl Iterator<Item = &Tensor> {
        std::iter::once(&self.to).chain(&self.from)
    }
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

impl Product {
    /// The three matrices: what is written, then the factors.
    pub fn views(&self) -> [&View; 3] {
        [&self.to, &self.left, &self.right]
    }
}
