//! Splitting of long basic blocks: they are cut into segments, since the time that a backend takes for a function grows
//! faster than its size. A loop nest that is short is never cut, so inner loops stay whole.

use cotan_loops::NestPass;
use cotan_loops::node::{LoopFunction, Node};

/// The record of this pass.
pub(crate) static PASS: NestPass = NestPass {
    name: "split_blocks",
    doc: "Cuts long blocks into segments that are compiled by themselves.",
    run: |f, _| split_blocks(f),
};

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
fn cut_inside(mut node: Node) -> Node {
    if !matches!(node, Node::Segment(_)) {
        node.map_lists(cut);
    }
    node
}

/// Nodes that end up in one function with this one.
fn size(node: &Node) -> usize {
    let lists = node.lists();
    if lists.is_empty() || matches!(node, Node::Segment(_)) {
        return 1;
    }
    2 + lists.into_iter().flatten().map(size).sum::<usize>()
}
