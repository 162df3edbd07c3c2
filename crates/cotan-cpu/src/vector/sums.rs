//! The sums of a loop whose iterations keep their order there, as they stand in its body.

use cotan_ir::Const;
use cotan_loops::node::{Buffer, Definitions, Expr, For, Independence, Local, Node, Operand, Target, walk};
use cotan_ops::Instruction;
use rustc_hash::{FxHashMap, FxHashSet};

/// What a body does to elements that iterations change in turn, see [`Independence::Ordered`].
#[derive(Debug, Default)]
pub(super) struct Sums {
    pub(super) are_ordered: bool,
    /// The elements as they were, and as they will be.
    old: FxHashSet<Local>,
    new: FxHashSet<Local>,
    /// Products that are added to elements, and may be rounded with the sum.
    products: FxHashSet<Local>,
}

impl Sums {
    pub(super) fn of(l: &For) -> Sums {
        let mut sums = Sums { are_ordered: l.independence == Independence::Ordered, ..Sums::default() };
        if sums.are_ordered {
            let mut reads: FxHashMap<Local, usize> = FxHashMap::default();
            walk(&l.body, &mut |node| {
                node.each_operand(&mut |operand| {
                    if let Operand::Local(local) = operand {
                        *reads.entry(local).or_default() += 1;
                    }
                });
            });
            let mut own = FxHashSet::default();
            walk(&l.body, &mut |node| {
                if let Node::Alloc { buffer, .. } = node {
                    own.insert(*buffer);
                }
            });
            sums.list(&l.body, &reads, &own);
        }
        sums
    }

    /// `own` are the arrays that each iteration has for itself: what it does to these has no turn.
    fn list(&mut self, nodes: &[Node], reads: &FxHashMap<Local, usize>, own: &FxHashSet<Buffer>) {
        for window in nodes.windows(3) {
            if let [Node::Load(old, from), Node::Let(new, Expr::Native { args, .. }), Node::Store(to, value)] = window
                && from == to
                && !own.contains(&to.buffer)
                && args.contains(&(*old).into())
                && *value == (*new).into()
                && [old, new].iter().all(|local| reads.get(local) == Some(&1))
            {
                self.old.insert(*old);
                self.new.insert(*new);
            }
        }
        for node in nodes {
            if let Node::Combine { target: Target::Element(_), value: Operand::Local(value), .. } = node
                && nodes.iter().any(|node| is_product(node, *value, reads))
            {
                self.products.insert(*value);
            }
            node.lists().into_iter().for_each(|list| self.list(list, reads, own));
        }
    }

    /// Whether an operand is an element as it was.
    pub(super) fn is_old(&self, operand: Operand) -> bool {
        matches!(operand, Operand::Local(local) if self.old.contains(&local))
    }

    /// Whether a local is an element as it will be.
    pub(super) fn is_new(&self, local: Local) -> bool {
        self.new.contains(&local)
    }

    /// Whether a node makes the one of the other, or reads it.
    pub(super) fn is_part(&self, node: &Node) -> bool {
        if let Node::Load(local, _) = node {
            return self.old.contains(local);
        }
        matches!(node, Node::Let(local, _) if self.new.contains(local))
    }

    /// The product that a value is, if the sum that it goes to may take it.
    pub(super) fn product<'d>(&self, value: Operand, definitions: &'d Definitions) -> Option<&'d Expr> {
        let Operand::Local(local) = value else { return None };
        definitions.get(&local).filter(|_| self.products.contains(&local))
    }
}

/// Whether a node defines a product that contraction gives to the sum that takes it.
fn is_product(node: &Node, value: Local, reads: &FxHashMap<Local, usize>) -> bool {
    let Node::Let(local, Expr::Native { instruction, elem, args }) = node else { return false };
    let is_plain = *instruction == Instruction::Mulc && elem.is_float() && reads.get(local) == Some(&1);
    let waits = || *instruction == Instruction::Fma && args[2] == Operand::Const(Const::float(*elem, -0.0));
    *local == value && (is_plain || waits())
}
