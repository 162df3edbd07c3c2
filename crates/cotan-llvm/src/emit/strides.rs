//! Strides that are known beforehand: how far apart the offsets of neighbouring lanes are.

use cotan_ir::Elem;
use cotan_loops::{Expr, Local, LoopFunction, Node, Operand};
use cotan_ops::Instruction;
use std::collections::BTreeMap;

/// The distances of integers with lanes from one lane to the next, where that is one number.
#[derive(Debug, Default)]
pub(super) struct Strides(BTreeMap<Local, i64>);

impl Strides {
    /// Those of a function.
    pub(super) fn of_function(f: &LoopFunction) -> Strides {
        let mut strides = Strides::default();
        strides.nodes(f, &f.body);
        strides
    }

    /// The stride of an integer with lanes, if it is known.
    pub(super) fn of(&self, f: &LoopFunction, operand: Operand) -> Option<i64> {
        match operand {
            Operand::Local(local) if f.lanes(operand) > 1 => self.0.get(&local).copied(),
            Operand::Local(_) | Operand::Const(_) => Some(0),
        }
    }

    fn nodes(&mut self, f: &LoopFunction, nodes: &[Node]) {
        for node in nodes {
            if let Node::Let(local, expr) = node
                && f.lanes((*local).into()) > 1
                && f.elem(*local) == Elem::I64
                && let Some(stride) = self.of_expr(f, expr)
            {
                self.0.insert(*local, stride);
            }
            node.lists().into_iter().for_each(|list| self.nodes(f, list));
        }
    }

    fn of_expr(&self, f: &LoopFunction, expr: &Expr) -> Option<i64> {
        match expr {
            Expr::Iota(_) => Some(1),
            Expr::Native { instruction, elem: Elem::I64, args } => match (instruction, &args[..]) {
                (Instruction::Add, [a, b]) => self.of(f, *a)?.checked_add(self.of(f, *b)?),
                (Instruction::Sub, [a, b]) => self.of(f, *a)?.checked_sub(self.of(f, *b)?),
                (Instruction::Mul, [a, Operand::Const(n)]) => self.of(f, *a)?.checked_mul(n.as_i64()?),
                (Instruction::Mul, [Operand::Const(n), b]) => self.of(f, *b)?.checked_mul(n.as_i64()?),
                (Instruction::Shl, [a, Operand::Const(n)]) => {
                    let factor = 1_i64.checked_shl(n.as_i64()?.try_into().ok()?)?;
                    self.of(f, *a)?.checked_mul(factor)
                }
                _ => None,
            },
            Expr::Native { .. }
            | Expr::Copy(_)
            | Expr::Host { .. }
            | Expr::Any(_)
            | Expr::First(_)
            | Expr::Fold(..)
            | Expr::Lane(_) => None,
        }
    }
}
