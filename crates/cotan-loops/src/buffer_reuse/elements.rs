//! Whether a node makes one array of another element by element, so that both may have the same memory.

use super::Owners;
use crate::node::{Buffer, Expr, For, Local, Node, Operand, walk};
use cotan_ir::Elem;
use cotan_ops::Instruction;
use rustc_hash::FxHashMap;

/// Whether a node works on two buffers element by element, and has read the old element when it comes to the new one. A
/// number says how often the node mentions the buffer.
pub(super) fn is_made_over(node: &Node, old: (Buffer, usize), new: (Buffer, usize), owners: &Owners) -> bool {
    if let Node::Copy { from, to, count: _ } = node {
        return owners.of(from.buffer) == old.0 && owners.of(to.buffer) == new.0 && from.offset == to.offset;
    }
    let Node::For(l) = node else { return false };
    let work = Work { old: old.0, new: new.0, owners };
    let accesses = work.accesses(&l.body);
    let n_loads = accesses.iter().filter(|a| a.is_old).count();
    // Any other mention, such as in a call, is of a whole array.
    n_loads == old.1 && accesses.len() - n_loads == new.1 && work.is_in_order(l)
}

/// The two arrays.
struct Work<'a> {
    old: Buffer,
    new: Buffer,
    owners: &'a Owners,
}

/// A load of an old element, or a load or store of a new one.
struct Access {
    is_old: bool,
    offset: Operand,
}

impl Work<'_> {
    /// What nodes do with single elements.
    fn accesses(&self, nodes: &[Node]) -> Vec<Access> {
        let mut found = Vec::new();
        walk(nodes, &mut |node| found.extend(self.access(node)));
        found
    }

    fn access(&self, node: &Node) -> Option<Access> {
        let (Node::Load(_, place) | Node::Store(place, _)) = node else { return None };
        let is_load = matches!(node, Node::Load(..));
        let buffer = self.owners.of(place.buffer);
        let is_old = buffer == self.old && is_load;
        (is_old || buffer == self.new).then_some(Access { is_old, offset: place.offset })
    }

    /// Whether each iteration of a loop nest works on the elements of its own number only, and has read the old one
    /// when it comes to the new one. The nest goes down to the last loop that has all of the work in it.
    fn is_in_order(&self, outermost: &For) -> bool {
        let mut nest = vec![outermost];
        let mut sums = Sums::default();
        loop {
            let nodes = nest.last().map_or(&[][..], |l| body(l));
            sums.extend(sums_of(nodes));
            let parts = nodes.iter().map(|node| (node, self.accesses(std::slice::from_ref(node))));
            let parts: Vec<(&Node, Vec<Access>)> = parts.filter(|(_, accesses)| !accesses.is_empty()).collect();
            if let [(Node::For(inner), _)] = &parts[..] {
                nest.push(inner);
                continue;
            }
            let first_new = parts.iter().position(|(_, accesses)| accesses.iter().any(|a| !a.is_old));
            let last_old = parts.iter().rposition(|(_, accesses)| accesses.iter().any(|a| a.is_old));
            let mut all = parts.iter().flat_map(|(_, accesses)| accesses);
            return last_old < first_new && all.all(|a| is_number(a.offset, &nest, &sums));
        }
    }
}

/// Sums and products that offsets and counts are made of.
pub(crate) type Sums<'a> = FxHashMap<Local, (Instruction, &'a [Operand])>;

/// Those that a list defines.
pub(crate) fn sums_of(nodes: &[Node]) -> Sums<'_> {
    let mut sums = Sums::default();
    for node in nodes {
        if let Node::Let(local, Expr::Native { instruction, elem: Elem::I64, args }) = node {
            sums.insert(*local, (*instruction, args));
        }
    }
    sums
}

/// The nodes of the body of a loop.
fn body(l: &For) -> &[Node] {
    match &l.body[..] {
        [Node::Scope(body)] => body,
        body => body,
    }
}

/// Whether an offset is the row-major number of the iteration of a loop nest, which no other iteration has.
fn is_number(offset: Operand, nest: &[&For], sums: &Sums) -> bool {
    let Some((inner, outer)) = nest.split_last() else { return false };
    let index = Operand::Local(inner.index);
    if outer.is_empty() {
        return offset == index;
    }
    let Some([row, k]) = args_of(offset, Instruction::Add, sums) else { return false };
    let Some([number, n]) = args_of(*row, Instruction::Mul, sums) else { return false };
    *k == index && *n == inner.count && is_number(*number, outer, sums)
}

/// Whether a count is the product of extents.
pub(crate) fn is_number_of_elements(count: Operand, extents: &[Operand], sums: &Sums) -> bool {
    let Some((last, outer)) = extents.split_last() else { return count.as_i64() == Some(1) };
    if outer.is_empty() {
        return count == *last;
    }
    let Some([rows, n]) = args_of(count, Instruction::Mul, sums) else { return false };
    n == last && is_number_of_elements(*rows, outer, sums)
}

/// Whether an offset is a number times the product of extents.
pub(crate) fn is_product(offset: Operand, number: Operand, extents: &[Operand], sums: &Sums) -> bool {
    args_of(offset, Instruction::Mul, sums)
        .is_some_and(|args| args[0] == number && is_number_of_elements(args[1], extents, sums))
}

/// The operands of an instruction that gives this value.
fn args_of<'a>(value: Operand, wanted: Instruction, sums: &Sums<'a>) -> Option<&'a [Operand]> {
    match value {
        Operand::Local(local) => {
            sums.get(&local).filter(|(instruction, _)| *instruction == wanted).map(|(_, args)| *args)
        }
        Operand::Const(_) => None,
    }
}
