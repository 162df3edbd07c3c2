//! Nests of two loops whose iterations are straight-line code.

use super::super::plan::{is_sequential, list_of};
use cotan_loops::node::{Expr, For, Independence, Local, Node, Operand, Target, Threads, any, count, walk};
use rustc_hash::FxHashSet;

/// Bodies with more nodes than this stay as they are: they are written twice.
const MOST_NODES: usize = 1000;

/// A nest: what stands before the inner loop, which may run again in each of its iterations, and an iteration of it.
pub(super) struct Nest {
    /// The counters of the outer and the inner loop.
    pub(super) indices: [Local; 2],
    pub(super) counts: [Operand; 2],
    pub(super) may_flush: bool,
    pub(super) before: Vec<Node>,
    pub(super) body: Vec<Node>,
}

impl Nest {
    /// That of a loop with another one as the last part of its body.
    pub(super) fn of(outer: &For) -> Option<Nest> {
        let (last, before) = list_of(&outer.body).split_last()?;
        let Node::For(inner) = last else { return None };
        // One row or two, or columns, leave most lanes empty.
        let is_long = |l: &For| l.count.as_i64().is_none_or(|n| n > 2);
        let is_nest = is_sequential(outer) && is_sequential(inner) && is_long(outer) && is_long(inner);
        let is_plain = before.iter().all(is_repeatable)
            && !any(&inner.body, &mut |node| !is_straight(node))
            && inner.body.iter().all(|node| matches!(node, Node::Check { .. }) || !may_fail(node));
        (is_nest && is_plain && count(&outer.body) <= MOST_NODES).then(|| Nest {
            indices: [outer.index, inner.index],
            counts: [outer.count, inner.count],
            may_flush: outer.may_flush || inner.may_flush,
            before: before.to_vec(),
            body: inner.body.clone(),
        })
    }

    /// The nodes of an iteration, with what stands before the inner loop.
    pub(super) fn iteration(&self) -> impl Iterator<Item = &Node> {
        self.before.iter().chain(&self.body)
    }

    /// The nest if no check fails, without what only checks read.
    pub(super) fn without_checks(&self) -> Nest {
        let mut read = FxHashSet::default();
        let does_more = |node: &Node| !node.only_defines() && !matches!(node, Node::Check { .. });
        let body = needed(&self.body, does_more, &mut read);
        let before = needed(&self.before, does_more, &mut read);
        Nest { before, body, ..*self }
    }

    /// The inner loop.
    pub(super) fn inner(&self) -> For {
        let ([_, index], [_, count]) = (self.indices, self.counts);
        let (threads, independence, body) = (Threads::One, Independence::None, self.body.clone());
        For { index, count, threads, independence, lanes: 1, may_flush: false, body }
    }
}

/// The nodes that define a local, or what that takes.
pub(super) fn defining(nodes: &[Node], local: Local) -> Vec<Node> {
    needed(nodes, |_| false, &mut FxHashSet::from_iter([local]))
}

/// The nodes that are wanted, or define what is read behind them.
fn needed(nodes: &[Node], is_wanted: impl Fn(&Node) -> bool, read: &mut FxHashSet<Local>) -> Vec<Node> {
    let mut kept: Vec<Node> = Vec::with_capacity(nodes.len());
    for node in nodes.iter().rev() {
        let mut is_read = is_wanted(node);
        node.each_definition(&mut |local, _| is_read |= read.contains(&local));
        if is_read {
            walk(std::slice::from_ref(node), &mut |node| {
                node.each_operand(&mut |operand| {
                    if let Operand::Local(local) = operand {
                        read.insert(local);
                    }
                });
            });
            kept.push(node.clone());
        }
    }
    kept.reverse();
    kept
}

/// Whether a node only defines a local, which has the same value if it does so again, or is a check.
fn is_repeatable(node: &Node) -> bool {
    let calls_host = matches!(node, Node::Let(_, Expr::Host { .. }));
    !calls_host && matches!(node, Node::Let(..) | Node::Load(..) | Node::Check { .. })
}

/// Whether a node computes, reads and writes elements or variables, or branches.
fn is_straight(node: &Node) -> bool {
    let combines = matches!(node, Node::Combine { target: Target::Element(_) | Target::Local(_), .. });
    let computes = matches!(node, Node::Let(..) | Node::Set(..) | Node::Load(..) | Node::Store(..));
    combines || computes || matches!(node, Node::If(..) | Node::Switch(..) | Node::Check { .. })
}

fn may_fail(node: &Node) -> bool {
    any(std::slice::from_ref(node), &mut |node| matches!(node, Node::Check { .. }))
}
