//! Which matrix products are left to a library.
//!
//! A library wins where its setting up is small beside the work. It is called where the two sides of the product and the
//! number of terms of its sums are not tiny, and never for a vector, whose product reads each element once. In loops of a
//! small product iterations can have lanes, so a loop around it may have them as well, all its products side by side: that
//! is better where all of them are small, and another version of the loop runs where they are not.

use crate::node::{CallResult, For, Local, Node, Operand, Target};
use cotan_ir::{Const, Elem};
use cotan_ops::Instruction;
use rustc_hash::FxHashSet;

/// The least rows, columns and terms of a product that a library does.
const LEAST_SIDE: i64 = 4;
/// The least elements of such a product: with fewer, libraries add up in lanes, and round elsewhere.
const LEAST_ELEMENTS: i64 = 512;
/// The least products of two numbers in it.
const LEAST_WORK: i64 = 1 << 14;

/// Whether a product with these rows, columns and terms is done by loops, a bool: a constant where the extents are.
/// `define` gives the value of an instruction on two operands of a type.
pub(crate) fn is_small(
    [rows, columns, summed]: [Operand; 3],
    define: &mut dyn FnMut(Instruction, Elem, [Operand; 2]) -> Operand,
) -> Operand {
    let mut of = |instruction, a: Operand, b: Operand| match (instruction, a.as_i64(), b.as_i64()) {
        (Instruction::Min, Some(a), Some(b)) => Operand::i64(a.min(b)),
        (Instruction::Mul, Some(a), Some(b)) => Operand::i64(a.saturating_mul(b)),
        (Instruction::Lt, Some(a), Some(b)) => bool_of(a < b),
        _ => define(instruction, Elem::I64, [a, b]),
    };
    let sides = of(Instruction::Min, rows, columns);
    let least = of(Instruction::Min, sides, summed);
    let elements = of(Instruction::Mul, rows, columns);
    let work = of(Instruction::Mul, elements, summed);
    let limits = [(least, LEAST_SIDE), (elements, LEAST_ELEMENTS), (work, LEAST_WORK)];
    let tests = limits.map(|(n, limit)| of(Instruction::Lt, n, Operand::i64(limit)));
    tests.into_iter().fold(bool_of(false), |any, test| either(any, test, define))
}

/// Whether that is known before the product runs.
pub(crate) fn is_surely_small(extents: [Operand; 3]) -> bool {
    let known = extents.map(Operand::as_i64);
    known.iter().flatten().any(|n| *n < LEAST_SIDE)
        || known.iter().all(Option::is_some) && is_small(extents, &mut |_, _, [a, _]| a) == bool_of(true)
}

/// Whether one of two conditions holds.
pub(crate) fn either(
    a: Operand,
    b: Operand,
    define: &mut dyn FnMut(Instruction, Elem, [Operand; 2]) -> Operand,
) -> Operand {
    match (a, b) {
        (Operand::Const(c), other) | (other, Operand::Const(c)) if c.bits() == 0 => other,
        (Operand::Const(_), _) | (_, Operand::Const(_)) => bool_of(true),
        (Operand::Local(_), Operand::Local(_)) => define(Instruction::Or, Elem::Bool, [a, b]),
    }
}

fn bool_of(value: bool) -> Operand {
    Operand::Const(Const::bool(value))
}

/// The nodes with loops in the place of every product by a library.
pub fn without_products(nodes: Vec<Node>) -> Vec<Node> {
    let replaced = |mut node: Node| {
        if let Node::If(_, loops, library) = &mut node
            && library.iter().any(has_product)
        {
            return std::mem::take(loops);
        }
        node.lists_mut().into_iter().for_each(|list| *list = without_products(std::mem::take(list)));
        vec![node]
    };
    nodes.into_iter().flat_map(replaced).collect()
}

/// The same loop without products by a library, and their extents; nothing if there are none, or if extents are known in
/// the loop alone, so that nobody can tell beforehand.
pub(crate) fn small_version(l: &For) -> Option<(For, Vec<[Operand; 3]>)> {
    let (mut extents, mut inside) = (Vec::new(), FxHashSet::default());
    inside.insert(l.index);
    collect(&l.body, &mut extents, &mut inside);
    let is_outside = |operand: &Operand| match operand {
        Operand::Local(local) => !inside.contains(local),
        Operand::Const(_) => true,
    };
    if extents.is_empty() || !extents.iter().flatten().all(is_outside) {
        return None;
    }
    Some((For { body: without_products(l.body.clone()), ..l.clone() }, extents))
}

/// The extents of products by a library, and the locals that nodes define.
fn collect(nodes: &[Node], extents: &mut Vec<[Operand; 3]>, inside: &mut FxHashSet<Local>) {
    for node in nodes {
        match node {
            Node::Product(product) => extents.push(product.extents),
            Node::Let(local, _) | Node::Set(local, _) | Node::Load(local, _) | Node::LoadLanes { to: local, .. } => {
                inside.insert(*local);
            }
            Node::Combine { target: Target::Local(local), .. } => {
                inside.insert(*local);
            }
            Node::For(l) => {
                inside.insert(l.index);
            }
            Node::Call { results, .. } => inside.extend(results.iter().filter_map(|result| match result {
                CallResult::Scalar(local) => Some(*local),
                CallResult::Into(_) | CallResult::New(..) => None,
            })),
            Node::Store(..)
            | Node::StoreLanes { .. }
            | Node::Combine { target: Target::Element(_), .. }
            | Node::PartialSums(_)
            | Node::Copy { .. }
            | Node::Alloc { .. }
            | Node::CountRecord(..)
            | Node::StackOpen(_)
            | Node::StackExtend(..)
            | Node::Bind { .. }
            | Node::Scope(_)
            | Node::Segment(_)
            | Node::While(..)
            | Node::If(..)
            | Node::Switch(..)
            | Node::Check { .. }
            | Node::Routine(_)
            | Node::Print { .. } => {}
        }
        node.lists().into_iter().for_each(|list| collect(list, extents, inside));
    }
}

/// Whether a node is a product by a library, or has one in it that no test stands in front of.
fn has_product(node: &Node) -> bool {
    match node {
        Node::Product(_) => true,
        Node::For(l) => l.body.iter().any(has_product),
        Node::Scope(body) | Node::Segment(body) => body.iter().any(has_product),
        Node::Let(..)
        | Node::Set(..)
        | Node::Load(..)
        | Node::Store(..)
        | Node::LoadLanes { .. }
        | Node::StoreLanes { .. }
        | Node::Combine { .. }
        | Node::PartialSums(_)
        | Node::Copy { .. }
        | Node::Routine(_)
        | Node::Alloc { .. }
        | Node::CountRecord(..)
        | Node::StackOpen(_)
        | Node::StackExtend(..)
        | Node::Bind { .. }
        | Node::While(..)
        | Node::If(..)
        | Node::Switch(..)
        | Node::Check { .. }
        | Node::Print { .. }
        | Node::Call { .. } => false,
    }
}
