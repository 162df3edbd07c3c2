//! Upper bounds of numbers that are known beforehand: of the trips of loops, so that short ones are known.

use cotan_ir::{Elem, Monoid};
use cotan_loops::{Expr, Local, LoopFunction, Node, Operand};
use cotan_ops::Instruction;
use std::collections::BTreeMap;

/// What locals of type i64 are at most, in every lane.
#[derive(Debug, Default)]
pub(super) struct Bounds(BTreeMap<Local, i64>);

impl Bounds {
    /// Those of a function.
    pub(super) fn of_function(f: &LoopFunction) -> Bounds {
        let mut bounds = Bounds::default();
        bounds.nodes(&f.body);
        bounds
    }

    /// What an operand is at most, if that is known.
    pub(super) fn of(&self, operand: Operand) -> Option<i64> {
        match operand {
            Operand::Const(c) => c.as_i64(),
            Operand::Local(local) => self.0.get(&local).copied(),
        }
    }

    fn nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            if let Node::Let(local, expr) = node
                && let Some(bound) = self.of_expr(expr)
            {
                self.0.insert(*local, bound);
            }
            node.lists().into_iter().for_each(|list| self.nodes(list));
        }
    }

    fn of_expr(&self, expr: &Expr) -> Option<i64> {
        match expr {
            Expr::Copy(operand) | Expr::Lane([operand, _]) => self.of(*operand),
            Expr::Native { instruction, elem: Elem::I64, args } => self.of_instruction(*instruction, args),
            Expr::Fold(monoid, operand) => match monoid {
                Monoid::Max | Monoid::Min => self.of(*operand),
                Monoid::Add | Monoid::Mul | Monoid::And | Monoid::Or => None,
            },
            Expr::Native { .. } | Expr::Host { .. } | Expr::Iota(_) | Expr::Any(_) | Expr::First(_) => None,
        }
    }

    fn of_instruction(&self, instruction: Instruction, args: &[Operand]) -> Option<i64> {
        let natural = |operand: Operand| operand.as_i64().filter(|n| *n >= 0);
        match (instruction, args) {
            (Instruction::Min, [a, b]) => self.of(*a).into_iter().chain(self.of(*b)).min(),
            (Instruction::Max, [a, b]) | (Instruction::Select, [_, a, b]) => Some(self.of(*a)?.max(self.of(*b)?)),
            // What is added is not negative, so the sum can't wrap round from below.
            (Instruction::Add, [a, b]) => self.of(*a)?.checked_add(natural(*b)?),
            (Instruction::Shr, [a, b]) => {
                let distance = natural(*b).filter(|n| *n < i64::from(i64::BITS)).unwrap_or(0);
                Some(self.of(*a)?.max(0) >> distance)
            }
            (Instruction::And, [_, b]) => natural(*b),
            _ => None,
        }
    }
}
