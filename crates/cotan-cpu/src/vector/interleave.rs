//! Unroll and jam: independent iterations whose inner loops are chains of dependent operations run side by side in scalar code.
//!
//! The rows of a matrix times a vector are sums in order, one `fma` after the other, and the machine waits for each of them.
//! Lanes would have to gather an element of every row. Eight rows at a time are eight chains, which is what the machine has in
//! flight at once, and every row is read in order. It is done as lanes are, with the lanes then taken apart.
//!
//! The last strip begins so early that it is whole, and iterations run again there: so the body only reads what it does not write,
//! and adds to nothing outside of it.

use super::shape::{Shape, Shapes};
use cotan_loops::node::{Buffer, BufferKind, BufferUse, Expr, For, Independence, Local, Node, Place, count, walk};
use cotan_ops::Work;
use rustc_hash::FxHashSet;

/// How many iterations run at a time.
pub(super) const LANES: u32 = 8;

/// Nodes of a body at most: it is written once for each of them.
const MOST_NODES: usize = 64;

/// What an operation costs in one of several chains, where a vector operation is 1: machines begin two or more at a time.
const OPERATION: f64 = 0.5;

/// What an iteration costs, if the body is such that iterations can be interleaved.
pub(super) fn cost(l: &For, shapes: &Shapes) -> Option<f64> {
    let has_chain = l.body.iter().any(Node::has_loop);
    if !has_chain || count(&l.body) > MOST_NODES || !repeats(l, shapes) {
        return None;
    }
    Interleaving { shapes, inner: Vec::new() }.nodes(&l.body)
}

/// Whether iterations may run again: nothing that they write is read, by this name or another one.
fn repeats(l: &For, shapes: &Shapes) -> bool {
    let (mut read, mut written): (FxHashSet<Buffer>, FxHashSet<Buffer>) = Default::default();
    walk(&l.body, &mut |node| {
        node.each_buffer(&mut |buffer, usage| {
            if usage == BufferUse::Read {
                read.insert(buffer);
            } else {
                written.insert(buffer);
            }
        });
    });
    let has_one_name = |b: &Buffer| shapes.f.buffers[b.index()].kind != BufferKind::Bound;
    read.is_disjoint(&written) && written.iter().all(has_one_name)
}

struct Interleaving<'a> {
    shapes: &'a Shapes<'a>,
    /// The indices of the inner loops around, outermost first.
    inner: Vec<Local>,
}

impl Interleaving<'_> {
    fn nodes(&mut self, nodes: &[Node]) -> Option<f64> {
        nodes.iter().try_fold(0.0, |cost, node| Some(cost + self.node(node)?))
    }

    /// What a node costs for each iteration; nothing if it is in the way.
    fn node(&mut self, node: &Node) -> Option<f64> {
        match node {
            Node::Let(local, expr) => match (self.shapes.of_operand((*local).into()), expr) {
                (_, Expr::Copy(_)) => Some(0.0),
                (Shape::Varying, Expr::Native { instruction, .. }) => match instruction.traits().work {
                    Work::Step => Some(OPERATION),
                    // Vectors have several of these for the price of one.
                    Work::Division | Work::ZeroProduct => None,
                },
                // Part of addresses.
                (Shape::Linear(_), Expr::Native { .. }) => Some(0.0),
                (Shape::Uniform, Expr::Native { .. }) => Some(1.0 / f64::from(LANES)),
                (
                    _,
                    Expr::Host { .. } | Expr::Iota(_) | Expr::Any(_) | Expr::First(_) | Expr::Fold(..) | Expr::Lane(_),
                ) => None,
            },
            Node::Set(..) => Some(0.0),
            Node::Load(_, place) if self.reads_again(*place) => None,
            Node::Load(_, place) => match self.shapes.of_operand(place.offset) {
                Shape::Uniform => Some(1.0 / f64::from(LANES)),
                Shape::Linear(_) | Shape::Varying => Some(OPERATION),
            },
            Node::Store(..) => Some(1.0),
            Node::For(l) if l.independence == Independence::None && self.shapes.is_uniform(l.count) => {
                let trips = super::cost::trips(l.count, self.shapes.definitions);
                self.inner.push(l.index);
                let body = self.nodes(&l.body);
                self.inner.pop();
                Some(trips * body?)
            }
            Node::Scope(body) | Node::Segment(body) => self.nodes(body),
            Node::For(_)
            | Node::Copy { .. }
            | Node::Combine { .. }
            | Node::PartialSums(_)
            | Node::Alloc { .. }
            | Node::CountRecord(..)
            | Node::StackOpen(_)
            | Node::StackExtend(..)
            | Node::Bind { .. }
            | Node::Check { .. }
            | Node::LoadLanes { .. }
            | Node::StoreLanes { .. }
            | Node::Reduce(_)
            | Node::Product(_)
            | Node::Routine(_)
            | Node::While(..)
            | Node::If(..)
            | Node::Switch(..)
            | Node::Print { .. }
            | Node::Call { .. } => None,
        }
    }

    /// Whether a row is read again and again: lanes bring such rows together, and are faster then.
    fn reads_again(&self, place: Place) -> bool {
        let column = self.shapes.sum(place.offset).map(|[_, column]| column);
        let differs = !self.shapes.is_uniform(place.offset);
        differs && column.is_some_and(|column| self.shapes.is_read_again(column, &self.inner))
    }
}
