//! How much work nodes are, roughly: it decides how large pieces are, and nothing else.

use super::write::{Writer, number};
use cotan_ir::Elem;
use cotan_loops::node::{Expr, Independence, Node, Operand};
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
        if let Node::For(l) = node {
            let inside = self.steps(&l.body);
            let inside = self.f64(Instruction::Add, inside, number(1.0));
            let trips = self.trips(l.count);
            let side_by_side = match l.independence {
                Independence::None => 1.0,
                Independence::Block | Independence::Ordered | Independence::All => SIDE_BY_SIDE,
            };
            let trips = self.f64(Instruction::Mul, trips, number(side_by_side));
            return self.f64(Instruction::Mul, trips, inside);
        }
        if let Node::While(_, body) = node {
            let inside = self.steps(body);
            return self.f64(Instruction::Mul, inside, number(UNKNOWN));
        }
        if let Node::If(..) | Node::Switch(..) = node {
            let arms: Vec<Operand> = node.lists().into_iter().map(|list| self.steps(list)).collect();
            return arms.into_iter().fold(number(1.0), |most, arm| self.f64(Instruction::Max, most, arm));
        }
        if let Node::Scope(body) | Node::Segment(body) = node {
            return self.steps(body);
        }
        if let Node::Copy { count, .. } = node {
            let trips = self.trips(*count);
            let work = self.f64(Instruction::Mul, trips, number(SIDE_BY_SIDE));
            return self.f64(Instruction::Add, work, number(2.0));
        }
        if let Node::Product(product) = node {
            return self.product_of_trips(SIDE_BY_SIDE, &product.extents);
        }
        if let Node::Routine(routine) = node {
            return self.product_of_trips(HOST, &routine.to.dims);
        }
        if let Node::Let(_, Expr::Host { .. }) = node {
            return number(HOST);
        }
        // Sizes are known before the nest runs, and what they cost is in the loops beside.
        let is_size = matches!(node, Node::Let(local, _) if self.f.elem(*local) == Elem::I64);
        number(if is_size { 0.5 } else { 1.0 })
    }

    fn product_of_trips(&mut self, work: f64, extents: &[Operand]) -> Operand {
        extents.iter().fold(number(work), |work, extent| {
            let trips = self.trips(*extent);
            self.f64(Instruction::Mul, work, trips)
        })
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
