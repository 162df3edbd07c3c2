//! Visitors of lists of nodes, at any depth.

use super::{Buffer, Expr, Local, Node, Operand, PartMut};
use rustc_hash::FxHashMap;

/// Visits every node of a list and of the lists in it, the outer ones first.
pub fn walk<'n>(nodes: &'n [Node], see: &mut impl FnMut(&'n Node)) {
    for node in nodes {
        see(node);
        node.lists().into_iter().for_each(|list| walk(list, see));
    }
}

/// The same, to change the nodes.
pub fn walk_mut(nodes: &mut [Node], see: &mut impl FnMut(&mut Node)) {
    for node in nodes {
        see(node);
        node.lists_mut().into_iter().for_each(|list| walk_mut(list, see));
    }
}

/// Whether something holds for any node of a list or of the lists in it.
pub fn any(nodes: &[Node], holds: &mut impl FnMut(&Node) -> bool) -> bool {
    nodes.iter().any(|node| holds(node) || node.lists().into_iter().any(|list| any(list, holds)))
}

/// How many nodes there are in a list and in the lists in it.
pub fn count(nodes: &[Node]) -> usize {
    let mut n = 0;
    walk(nodes, &mut |_| n += 1);
    n
}

/// Visits every local that nodes define, at any depth, with its value if it is written there.
pub fn each_definition<'n>(nodes: &'n [Node], see: &mut impl FnMut(Local, Option<&'n Expr>)) {
    walk(nodes, &mut |node| node.each_definition(see));
}

/// The values that locals are defined by.
pub type Definitions = FxHashMap<Local, Expr>;

/// Those in a list and in the lists in it.
pub fn definitions_of(nodes: &[Node]) -> Definitions {
    let mut found = Definitions::default();
    each_definition(nodes, &mut |local, expr| {
        expr.map(|expr| found.insert(local, expr.clone()));
    });
    found
}

/// Renames every buffer that nodes mention, at any depth.
pub fn rename_buffers(nodes: &mut [Node], name: &mut impl FnMut(Buffer) -> Buffer) {
    walk_mut(nodes, &mut |node| {
        node.each_part_mut(&mut |part| {
            if let PartMut::Buffer(buffer, _) = part {
                *buffer = name(*buffer);
            }
        });
    });
}

/// Visits every operand that nodes read or note, at any depth, to change it. What nodes define, assign to, or combine
/// into stays.
pub fn each_operand_mut(nodes: &mut [Node], see: &mut impl FnMut(&mut Operand)) {
    walk_mut(nodes, &mut |node| {
        node.each_part_mut(&mut |part| {
            if let PartMut::Operand(operand, _) = part {
                see(operand);
            }
        });
    });
}

impl Node {
    /// Visits every buffer that the node or a node in it mentions.
    pub fn each_buffer_inside(&self, see: &mut impl FnMut(Buffer)) {
        walk(std::slice::from_ref(self), &mut |node| node.each_buffer(&mut |buffer, _| see(buffer)));
    }

    /// Replaces every inner list by what becomes of it.
    pub fn map_lists(&mut self, mut map: impl FnMut(Vec<Node>) -> Vec<Node>) {
        self.lists_mut().into_iter().for_each(|list| *list = map(std::mem::take(list)));
    }

    /// Whether it is a counted loop or a reduction, or has one in it.
    pub fn has_loop(&self) -> bool {
        any(std::slice::from_ref(self), &mut |node| matches!(node, Node::For(_) | Node::Reduce(_)))
    }
}
