//! How much work a piece of a loop nest is, roughly: it decides what is worth starting threads for. The estimate looks
//! at the text of the nest alone, so that the decision is the same on every machine.

use crate::nest::{Expr, Node, Operand};

/// Trips assumed of a loop whose count is no constant.
const ASSUMED_TRIPS: i64 = 8;
/// Steps that a call of the host, or a division, costs.
const CALL: i64 = 10;

/// The number of scalar steps of a list of nodes.
pub(crate) fn cost(nodes: &[Node]) -> i64 {
    nodes.iter().map(node_cost).fold(0, i64::saturating_add)
}

fn node_cost(node: &Node) -> i64 {
    match node {
        Node::Let(_, Expr::Host { .. }) => CALL,
        Node::Let(..)
        | Node::Set(..)
        | Node::Load(..)
        | Node::Store(..)
        | Node::LoadLanes { .. }
        | Node::StoreLanes { .. }
        | Node::Combine { .. }
        | Node::StackExtend(..)
        | Node::CountRecord(..)
        | Node::Bind { .. }
        | Node::Check { .. } => 1,
        Node::Copy { count, .. } => trips(*count),
        Node::Alloc { .. } | Node::StackOpen(_) => CALL,
        Node::Segment(body) => cost(body),
        Node::Scope(body) => cost(body).saturating_add(CALL),
        Node::For(f) => trips(f.count).saturating_mul(cost(&f.body).saturating_add(1)),
        Node::While(_, body) => ASSUMED_TRIPS.saturating_mul(cost(body).saturating_add(1)),
        Node::If(_, yes, no) => cost(yes).max(cost(no)).saturating_add(1),
        Node::Switch(_, arms) => arms.iter().map(|arm| cost(arm)).max().unwrap_or(0).saturating_add(1),
        Node::Call { .. } | Node::Print { .. } => CALL * CALL,
    }
}

fn trips(count: Operand) -> i64 {
    count.as_i64().unwrap_or(ASSUMED_TRIPS).max(0)
}
