//! What nodes cost, in rough machine steps: enough to compare one plan for a loop with another.

use super::shape::{Shape, Shapes};
use cotan_loops::node::{Definitions, Expr, Node, Operand, Place, Target};
use cotan_ops::{Instruction, Work};

/// Trips assumed of a loop of which nothing is known.
pub(super) const ASSUMED_TRIPS: f64 = 16.0;
/// Definitions that are looked at to find how many trips a loop has at most.
const DEPTH: usize = 6;
/// Lanes that one step works on.
const LANES_PER_STEP: f64 = 8.0;
/// A call of a function of the host.
const HOST: f64 = 20.0;
/// A division or a root.
const DIVISION: f64 = 5.0;
/// A product in which a zero wins.
const MULZ: f64 = 3.0;
/// An element that is read or written by itself.
const ELEMENT: f64 = 1.5;
/// The largest stride at which elements are loaded or stored with those between them.
const SMALL_STRIDE: i64 = 4;
/// A value of a lane that is combined with an element anywhere: lanes are taken apart for it.
const SCATTERED: f64 = 10.0;
/// What a lane changes an element by in its turn.
const IN_TURN: f64 = 2.0;
/// The parts of a branch that decide which lanes take it.
const MASK: f64 = 3.0;
/// Trips of the longest of the lanes for each trip of one, where data say how many there are, as in the rows of a sparse matrix.
const LONGEST: f64 = 2.5;

/// The trips of a loop, at most as many as are assumed where they are not known.
pub(super) fn trips(count: Operand, definitions: &Definitions) -> f64 {
    let most = most(count, definitions, DEPTH).map_or(f64::INFINITY, |n| n.max(0) as f64);
    if count.as_i64().is_some() { most } else { most.min(ASSUMED_TRIPS) }
}

/// The largest value of a count that is not negative, and neither are the numbers that it is computed from.
fn most(count: Operand, definitions: &Definitions, depth: usize) -> Option<i64> {
    let local = match count {
        Operand::Const(_) => return count.as_i64(),
        Operand::Local(local) => local,
    };
    let Some(Expr::Native { instruction, args, .. }) = definitions.get(&local) else { return None };
    let of = |k: usize| depth.checked_sub(1).and_then(|depth| most(args[k], definitions, depth));
    if *instruction == Instruction::Min {
        of(0).into_iter().chain(of(1)).min()
    } else if *instruction == Instruction::Max {
        Some(of(0)?.max(of(1)?))
    } else if *instruction == Instruction::Select {
        Some(of(1)?.max(of(2)?))
    } else if [Instruction::Shr, Instruction::Sub].contains(instruction) {
        of(0)
    } else {
        None
    }
}

fn of_expr(expr: &Expr) -> f64 {
    match expr {
        Expr::Host { .. } => HOST,
        Expr::Native { instruction, .. } => match instruction.traits().work {
            Work::Step => 1.0,
            Work::Division => DIVISION,
            Work::ZeroProduct => MULZ,
        },
        Expr::Iota(_) | Expr::Any(_) | Expr::First(_) | Expr::Fold(..) | Expr::Lane(_) => 1.0,
        Expr::Copy(_) => 0.0,
    }
}

/// What a node without lists in it costs by itself.
pub(super) fn scalar(node: &Node, definitions: &Definitions) -> f64 {
    match node {
        Node::Let(_, expr) => of_expr(expr),
        // Blocks end once in thousands of values.
        Node::Set(..) | Node::PartialSums(_) => 0.0,
        Node::Load(..) | Node::Store(..) | Node::Check { .. } | Node::CountRecord(..) | Node::Bind { .. } => 1.0,
        Node::Combine { .. } => 3.0,
        Node::LoadLanes { .. } | Node::StoreLanes { .. } => 1.0,
        Node::StackExtend(..) => 2.0,
        Node::Copy { count, .. } => 10.0 + trips(*count, definitions) / LANES_PER_STEP,
        Node::Alloc { .. } | Node::StackOpen(_) => 2.0,
        Node::Print { .. } | Node::Call { .. } => 100.0,
        // One that is large enough to be worth a call.
        Node::Product(_) | Node::Routine(_) => 10_000.0,
        Node::Scope(_)
        | Node::Segment(_)
        | Node::For(_)
        | Node::Reduce(_)
        | Node::While(..)
        | Node::If(..)
        | Node::Switch(..) => 0.0,
    }
}

/// What a strip costs.
pub(super) struct Estimate<'a> {
    pub(super) shapes: &'a Shapes<'a>,
    pub(super) lanes: f64,
}

impl Estimate<'_> {
    pub(super) fn nodes(&self, nodes: &[Node]) -> f64 {
        nodes.iter().map(|node| self.node(node)).sum()
    }

    fn node(&self, node: &Node) -> f64 {
        let steps = self.lanes / LANES_PER_STEP;
        match node {
            Node::Let(local, expr) => match (self.shapes.of_operand((*local).into()), expr) {
                (Shape::Varying, Expr::Host { .. }) => self.lanes * HOST,
                (Shape::Varying, expr) => steps.max(1.0) * of_expr(expr),
                (Shape::Uniform | Shape::Linear(_), expr) => of_expr(expr),
            },
            Node::Set(..) => steps * 0.5,
            Node::Load(_, place) => self.access(*place),
            Node::Store(_, Operand::Local(new)) if self.shapes.sums.is_new(*new) => IN_TURN * self.lanes,
            Node::Store(place, _) => self.access(*place),
            Node::Combine { target, .. } => match target {
                Target::Local(_) => steps,
                Target::Element(place) if self.shapes.private.contains(&place.buffer) => 3.0 * steps,
                Target::Element(_) if self.shapes.sums.are_ordered => IN_TURN * self.lanes,
                Target::Element(place) => match self.shapes.of_operand(place.offset) {
                    Shape::Uniform => 2.0 * steps + 6.0,
                    Shape::Linear(stride) if stride.number() != Some(0) => 2.0 * self.access(*place) + steps,
                    Shape::Linear(_) | Shape::Varying => SCATTERED * self.lanes,
                },
            },
            Node::Copy { from, to, count } => self.trips(*count) * (self.access(*from) + self.access(*to)) + 2.0,
            Node::Scope(body) | Node::Segment(body) => self.nodes(body),
            Node::For(l) => {
                let guard = if self.shapes.is_uniform(l.count) { 0.0 } else { MASK };
                let longest = if self.shapes.is_ragged(l.count) { LONGEST } else { 1.0 };
                self.trips(l.count) * longest * (self.nodes(&l.body) + guard) + 2.0
            }
            Node::While(_, body) => ASSUMED_TRIPS * (self.nodes(body) + MASK) + 2.0,
            Node::If(cond, yes, no) if self.shapes.is_uniform(*cond) => self.nodes(yes).max(self.nodes(no)) + 2.0,
            Node::If(_, yes, no) => self.nodes(yes) + self.nodes(no) + 2.0 * MASK,
            Node::Switch(on, arms) if self.shapes.is_uniform(*on) => {
                arms.iter().map(|arm| self.nodes(arm)).fold(0.0, f64::max) + 2.0
            }
            Node::Switch(_, arms) => arms.iter().map(|arm| self.nodes(arm) + MASK).sum(),
            Node::Check { cond, .. } => {
                if self.shapes.is_uniform(*cond) {
                    1.0
                } else {
                    3.0 * steps
                }
            }
            Node::LoadLanes { .. }
            | Node::StoreLanes { .. }
            | Node::PartialSums(_)
            | Node::Alloc { .. }
            | Node::CountRecord(..)
            | Node::StackOpen(_)
            | Node::Bind { .. }
            | Node::Reduce(_)
            | Node::Product(_)
            | Node::Routine(_)
            | Node::Print { .. }
            | Node::Call { .. } => scalar(node, self.shapes.definitions),
            Node::StackExtend(_, n) if self.shapes.is_uniform(*n) => scalar(node, self.shapes.definitions),
            Node::StackExtend(..) => scalar(node, self.shapes.definitions) + 4.0 * steps,
        }
    }

    fn trips(&self, count: Operand) -> f64 {
        trips(count, self.shapes.definitions)
    }

    /// Reading or writing the elements of all lanes.
    fn access(&self, place: Place) -> f64 {
        let steps = self.lanes / LANES_PER_STEP;
        let is_private = self.shapes.private.contains(&place.buffer);
        match self.shapes.of_operand(place.offset) {
            Shape::Uniform if is_private => steps,
            Shape::Uniform => 1.0,
            Shape::Linear(stride) if !is_private && let Some(n @ 1..=SMALL_STRIDE) = stride.number() => {
                n as f64 * steps
            }
            Shape::Linear(_) | Shape::Varying => ELEMENT * self.lanes,
        }
    }
}
