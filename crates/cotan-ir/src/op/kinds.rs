//! Questions about one kind of operation.

use super::{Loop, Op};
use crate::{Atom, Prim, TensorOp, Var};

impl Op {
    /// The loop, if it is one.
    pub fn as_loop(&self) -> Option<&Loop> {
        if let Op::Loop(l) = self { Some(l) } else { None }
    }

    /// The operands, if it is this primitive.
    pub fn args_of(&self, asked: Prim) -> Option<&[Atom]> {
        if let Op::Prim { prim, args } = self
            && *prim == asked
        {
            Some(args)
        } else {
            None
        }
    }

    /// The operands, if it is this tensor operation.
    pub fn args_of_tensor(&self, asked: TensorOp) -> Option<&[Atom]> {
        if let Op::Tensor { op, args, .. } = self
            && *op == asked
        {
            Some(args)
        } else {
            None
        }
    }

    /// Whether all that the operation does is to make one value of its operands: it has no inner blocks, writes no
    /// accumulator and calls no function. It may be a check.
    pub fn is_value(&self) -> bool {
        self.blocks().is_empty() && self.written().is_none() && !matches!(self, Op::Call { .. })
    }

    /// Whether inner blocks run once for every value of an index: it is a parallel or a sequential loop.
    pub fn is_loop_nest(&self) -> bool {
        matches!(self, Op::Par(_) | Op::Loop(_))
    }

    /// The index variables of a parallel or sequential loop with the number of values that each takes; `None` for that
    /// of a while.
    pub fn indices(&self) -> Vec<(Var, Option<Atom>)> {
        if let Op::Par(p) = self {
            p.indices.iter().copied().zip(p.extents.iter().copied().map(Some)).collect()
        } else if let Op::Loop(l) = self {
            vec![(l.index, l.count)]
        } else {
            Vec::new()
        }
    }

    /// Of the results of the operation's statement, those that are final accumulators, in the order of [`Op::accs`].
    pub fn acc_results<'a>(&self, results: &'a [Var]) -> &'a [Var] {
        let first = self.first_acc();
        &results[first..first + self.accs().len()]
    }

    /// The position of the first accumulator among the results.
    pub fn first_acc(&self) -> usize {
        if let Op::Par(p) = self {
            p.kinds.len()
        } else if let Op::Loop(l) = self {
            usize::from(l.count.is_none()) + l.params.len()
        } else {
            0
        }
    }
}
