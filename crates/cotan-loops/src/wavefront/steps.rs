//! How much work nodes are, roughly: it decides how large pieces are, and nothing else.

use super::write::{Writer, number};
use crate::node::{Expr, Independence, Node, Operand};
use cotan_ir::Elem;
use cotan_ops::Instruction;

/// Iterations of a loop of which nothing is known.
const UNKNOWN: f64 = 16.0;
/// How many iterations of independent ones take as long as one: they have lanes.
const SIDE_BY_SIDE: f64 = 0.125;
/// Steps that a function of the host stands for.
const HOST: f64 = 32.0;

impl Writer<'_> {
    /// The steps of nodes, an f64, in front of the nest.
    pub(super) fn steps(&mut self, nodes: &[Node]) -> Operand {
        nodes.iter().fold(number(0.0), |sum, node| {
            let more = self.steps_of(node);
            self.f64(Instruction::Add, sum, more)
        })
    }

    fn steps_of(&mut self, node: &Node) -> Operand {
        match node {
            Node::For(l) => {
                let inside = self.steps(&l.body);
                let inside = self.f64(Instruction::Add, inside, number(1.0));
                let trips = self.trips(l.count);
                let side_by_side = match l.independence {
                    Independence::None => 1.0,
                    Independence::Block | Independence::All => SIDE_BY_SIDE,
                };
                let trips = self.f64(Instruction::Mul, trips, number(side_by_side));
                self.f64(Instruction::Mul, trips, inside)
            }
            Node::While(_, body) => {
                let inside = self.steps(body);
                self.f64(Instruction::Mul, inside, number(UNKNOWN))
            }
            Node::Copy { count, .. } => {
                let trips = self.trips(*count);
                let work = self.f64(Instruction::Mul, trips, number(SIDE_BY_SIDE));
                self.f64(Instruction::Add, work, number(2.0))
            }
            Node::If(..) | Node::Switch(..) => {
                let arms: Vec<Operand> = node.lists().into_iter().map(|list| self.steps(list)).collect();
                arms.into_iter().fold(number(1.0), |most, arm| self.f64(Instruction::Max, most, arm))
            }
            Node::Scope(body) | Node::Segment(body) => self.steps(body),
            Node::Let(_, Expr::Host { .. }) => number(HOST),
            Node::Product(product) => product.extents.iter().fold(number(SIDE_BY_SIDE), |work, extent| {
                let trips = self.trips(*extent);
                self.f64(Instruction::Mul, work, trips)
            }),
            Node::Routine(routine) => routine.to.dims.iter().fold(number(HOST), |work, extent| {
                let trips = self.trips(*extent);
                self.f64(Instruction::Mul, work, trips)
            }),
            // Sizes are known before the nest runs, and what they cost is in the loops beside.
            Node::Let(local, _) if self.f.elem(*local) == Elem::I64 => number(0.5),
            Node::Let(..)
            | Node::Set(..)
            | Node::Load(..)
            | Node::Store(..)
            | Node::LoadLanes { .. }
            | Node::StoreLanes { .. }
            | Node::Combine { .. }
            | Node::PartialSums(_)
            | Node::Alloc { .. }
            | Node::CountRecord(..)
            | Node::StackOpen(_)
            | Node::StackExtend(..)
            | Node::Bind { .. }
            | Node::Check { .. }
            | Node::Print { .. }
            | Node::Call { .. } => number(1.0),
        }
    }

    /// About how often a loop runs: where the count differs between iterations, what it is at most.
    fn trips(&mut self, count: Operand) -> Operand {
        match self.most(count) {
            Some(n) => {
                let n = self.float_of(n);
                self.f64(Instruction::Max, n, number(0.0))
            }
            None => number(UNKNOWN),
        }
    }

    fn most(&mut self, count: Operand) -> Option<Operand> {
        if let Some(fixed) = self.hoisted(count) {
            return Some(fixed);
        }
        let Operand::Local(local) = count else { return None };
        let Expr::Native { instruction, elem: Elem::I64, args } = self.definition(local)? else { return None };
        match (instruction, &args[..]) {
            (Instruction::Min, [a, b]) => match (self.most(*a), self.most(*b)) {
                (Some(a), Some(b)) => Some(self.i64(Instruction::Min, a, b)),
                (one, other) => one.or(other),
            },
            // What is taken off is some counter.
            (Instruction::Sub, [a, _]) => self.most(*a),
            _ => None,
        }
    }
}
