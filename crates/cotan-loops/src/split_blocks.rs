//! Long straight-line blocks are cut into segments: the time that a backend takes for a function grows faster than its
//! size. A loop nest that is short is never cut, so inner loops stay whole.

use crate::node::{LoopFunction, Node};

/// Nodes, inner ones included.
#[derive(Clone, Copy)]
struct Lengths {
    /// Up to which a block stays whole.
    longest_block: usize,
    /// Of a segment, about.
    segment: usize,
}

/// Of blocks without loops, whose values would go through memory from one segment to the next.
const STRAIGHT: Lengths = Lengths { longest_block: 2000, segment: 400 };
/// Of blocks with loops, which want the registers for themselves.
const AROUND_LOOPS: Lengths = Lengths { longest_block: 700, segment: 200 };

/// Cuts the blocks of a function that are too long: the last thing before a backend takes it.
pub fn split_blocks(f: &mut LoopFunction) {
    f.body = cut(std::mem::take(&mut f.body));
}

/// Cuts the blocks among `nodes` that are too long.
fn cut(nodes: Vec<Node>) -> Vec<Node> {
    let lengths = if nodes.iter().any(Node::has_loop) { AROUND_LOOPS } else { STRAIGHT };
    if nodes.iter().map(size).sum::<usize>() <= lengths.longest_block {
        return nodes;
    }
    let mut segments = Vec::new();
    let mut segment = Vec::new();
    let mut length = 0;
    for node in nodes.into_iter().map(cut_inside) {
        length += size(&node);
        segment.push(node);
        if length >= lengths.segment {
            segments.push(std::mem::take(&mut segment));
            length = 0;
        }
    }
    segments.push(segment);
    segments.retain(|s| !s.is_empty());
    // One segment of everything gains nothing.
    match segments.len() {
        1 => segments.swap_remove(0),
        _ => segments.into_iter().map(Node::Segment).collect(),
    }
}

/// Cuts long blocks inside one node.
fn cut_inside(node: Node) -> Node {
    match node {
        Node::Scope(body) => Node::Scope(cut(body)),
        Node::Segment(body) => Node::Segment(body),
        Node::For(mut f) => {
            f.body = cut(f.body);
            Node::For(f)
        }
        Node::While(go, body) => Node::While(go, cut(body)),
        Node::If(cond, yes, no) => Node::If(cond, cut(yes), cut(no)),
        Node::Switch(on, arms) => Node::Switch(on, arms.into_iter().map(cut).collect()),
        other @ (Node::Let(..)
        | Node::Set(..)
        | Node::Load(..)
        | Node::Store(..)
        | Node::LoadLanes { .. }
        | Node::StoreLanes { .. }
        | Node::Combine { .. }
        | Node::Copy { .. }
        | Node::PartialSums(_)
        | Node::Alloc { .. }
        | Node::CountRecord(..)
        | Node::StackOpen(_)
        | Node::StackExtend(..)
        | Node::Bind { .. }
        | Node::Check { .. }
        | Node::Product(_)
        | Node::Routine(_)
        | Node::Print { .. }
        | Node::Call { .. }) => other,
    }
}

/// Nodes that end up in one function with this one.
fn size(node: &Node) -> usize {
    let total = |nodes: &[Node]| nodes.iter().map(size).sum::<usize>();
    match node {
        Node::Scope(body) | Node::While(_, body) => 2 + total(body),
        Node::For(f) => 2 + total(&f.body),
        Node::If(_, yes, no) => 2 + total(yes) + total(no),
        Node::Switch(_, arms) => 2 + arms.iter().map(|arm| total(arm)).sum::<usize>(),
        Node::Segment(_)
        | Node::Let(..)
        | Node::Set(..)
        | Node::Load(..)
        | Node::Store(..)
        | Node::LoadLanes { .. }
        | Node::StoreLanes { .. }
        | Node::Combine { .. }
        | Node::Copy { .. }
        | Node::PartialSums(_)
        | Node::Alloc { .. }
        | Node::CountRecord(..)
        | Node::StackOpen(_)
        | Node::StackExtend(..)
        | Node::Bind { .. }
        | Node::Check { .. }
        | Node::Product(_)
        | Node::Routine(_)
        | Node::Print { .. }
        | Node::Call { .. } => 1,
    }
}
