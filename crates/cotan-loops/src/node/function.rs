//! A function as a loop nest.

use super::{Argument, Buffer, BufferInfo, Local, LocalInfo, Node, Operand, Tensor};
use cotan_ir::{Elem, Symbol};

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
    pub results: Vec<Argument>,
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
