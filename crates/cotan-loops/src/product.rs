//! Library calls for matrix products: which products are left to a library.
//!
//! A library wins where its setting up is small beside the work. It is called where the two sides of the product and the
//! number of terms of its sums are not tiny, and never for a vector, whose product reads each element once. In loops of a
//! small product iterations can have lanes, so a loop around it may have them as well, all its products side by side: that
//! is better where all of them are small, and another version of the loop runs where they are not.

use crate::node::{For, Local, LocalUse, LoopFunction, Node, Operand, Part, walk};
use crate::pass::NestPass;
use cotan_ir::{Const, Elem};
use cotan_ops::Instruction;
use rustc_hash::FxHashSet;

/// The record of this pass.
pub static PASS: NestPass = NestPass {
    name: "expand_products",
    doc: "Puts loops in the place of matrix products by a library.",
    run: |f, _| expand_products(f),
};

/// The least rows, columns and terms of a product that a library does.
const LEAST_SIDE: i64 = 4;
/// The least elements of such a product: with fewer, libraries add up in lanes, and round elsewhere.
const LEAST_ELEMENTS: i64 = 512;
/// The least products of two numbers in it.
const LEAST_WORK: i64 = 1 << 14;

/// Whether a product with these rows, columns and terms is done by loops, a bool: a constant where the extents are.
/// `define` gives the value of an instruction on two operands of a type.
pub fn is_small(
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

/// Puts loops in the place of every product by a library.
pub fn expand_products(f: &mut LoopFunction) {
    f.body = without_products(std::mem::take(&mut f.body));
}

/// The nodes with loops in the place of every product by a library.
fn without_products(nodes: Vec<Node>) -> Vec<Node> {
    let replaced = |mut node: Node| {
        if let Node::If(_, loops, library) = &mut node
            && library.iter().any(has_product)
        {
            return std::mem::take(loops);
        }
        node.map_lists(without_products);
        vec![node]
    };
    nodes.into_iter().flat_map(replaced).collect()
}

/// The same loop without products by a library, and their extents; nothing if there are none, or if extents are known in
/// the loop alone, so that nobody can tell beforehand.
pub fn small_version(l: &For) -> Option<(For, Vec<[Operand; 3]>)> {
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

/// The extents of products by a library, and the locals that nodes define or change.
fn collect(nodes: &[Node], extents: &mut Vec<[Operand; 3]>, inside: &mut FxHashSet<Local>) {
    walk(nodes, &mut |node| {
        if let Node::Product(product) = node {
            extents.push(product.extents);
        }
        node.each_part(&mut |part| {
            if let Part::Local(local, LocalUse::Define | LocalUse::Assign | LocalUse::Combine) = part {
                inside.insert(*local);
            }
        });
    });
}

/// Whether a node is a product by a library, or has one in it that no test stands in front of.
fn has_product(node: &Node) -> bool {
    let is_tested = matches!(node, Node::If(..) | Node::Switch(..) | Node::While(..));
    matches!(node, Node::Product(_)) || !is_tested && node.lists().into_iter().flatten().any(has_product)
}
