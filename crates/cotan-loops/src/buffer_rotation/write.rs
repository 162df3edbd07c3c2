//! How arrays exchange their memory, see Note [Rotation].

use super::{Around, Chain, Known, Rotation};
use crate::node::{Buffer, BufferInfo, BufferKind, Expr, Local, LocalInfo, Node, Operand, Place, rename_buffers};
use cotan_ir::{Elem, Span};
use cotan_ops::Instruction;

/// Rotates the arrays of a chain, in the list that is the body of a loop.
pub(super) fn rotate(this: &mut Rotation, list: &mut Vec<Node>, chain: &Chain, known: &Known, around: &mut Around) {
    // The oldest state first: every array takes the memory of the one behind it.
    let memory: Vec<Buffer> = chain.arrays.iter().rev().copied().collect();
    let names = renamed(this, list, chain, &memory);
    let phase = local(this, "phase", Elem::I64, true);
    let arms = (0..memory.len()).map(|shift| {
        let bound = names.iter().enumerate().map(|(k, name)| bind(*name, memory[(k + shift) % memory.len()]));
        bound.collect()
    });
    let now = local(this, "phase", Elem::I64, false);
    list.splice(0..0, [Node::Let(now, Expr::Copy(phase.into())), Node::Switch(now.into(), arms.collect())]);
    let next = i64(this, list, Instruction::Add, [now.into(), Operand::i64(1)]);
    let more = is_less(this, list, [next, Operand::i64(memory.len() as i64)]);
    let after = local(this, "phase", Elem::I64, false);
    let args = vec![more, next, Operand::i64(0)];
    list.push(Node::Let(after, Expr::Native { instruction: Instruction::Select, elem: Elem::I64, args }));
    list.push(Node::Set(phase, after.into()));

    let extents = &known[&memory[0]];
    around.before.push(Node::Alloc { buffer: chain.arrays[0], extents: extents.clone() });
    around.before.push(Node::Set(phase, Operand::i64(0)));
    let count = size(this, &mut around.behind, extents);
    let end = local(this, "phase", Elem::I64, false);
    let arms = (0..memory.len()).map(|shift| brought_home(&memory, shift, count));
    around.behind.extend([Node::Let(end, Expr::Copy(phase.into())), Node::Switch(end.into(), arms.collect())]);
}

/// Takes the copies of a chain and the allocation of the new array out of a list, which has second names for the arrays
/// from now on.
pub(super) fn renamed(this: &mut Rotation, list: &mut Vec<Node>, chain: &Chain, memory: &[Buffer]) -> Vec<Buffer> {
    let names: Vec<Buffer> = memory.iter().map(|array| second_name(this, *array)).collect();
    let is_gone = |at: usize, node: &Node| {
        chain.copies.contains(&at) || matches!(node, Node::Alloc { buffer, .. } if *buffer == chain.arrays[0])
    };
    let nodes = std::mem::take(list);
    list.extend(nodes.into_iter().enumerate().filter(|(at, node)| !is_gone(*at, node)).map(|(_, node)| node));
    rename_buffers(list, &mut |b| memory.iter().position(|array| *array == b).map_or(b, |k| names[k]));
    names
}

/// Copies that bring all arrays but the new one, the last, to their own memory, when each has that of the one so many
/// behind it.
fn brought_home(memory: &[Buffer], shift: usize, count: Operand) -> Vec<Node> {
    match (memory, shift) {
        ([old, new], 1) => vec![copy(*new, *old, count)],
        ([older, old, new], 1) => vec![copy(*old, *older, count), copy(*new, *old, count)],
        ([older, old, new], 2) => vec![copy(*older, *old, count), copy(*new, *older, count)],
        _ => Vec::new(),
    }
}

pub(super) fn whole(buffer: Buffer) -> Place {
    Place { buffer, offset: Operand::i64(0) }
}

pub(super) fn copy(from: Buffer, to: Buffer, count: Operand) -> Node {
    Node::Copy { from: whole(from), to: whole(to), count }
}

pub(super) fn bind(name: Buffer, to: Buffer) -> Node {
    Node::Bind { buffer: name, to: whole(to) }
}

/// The number of elements of an array.
pub(super) fn size(this: &mut Rotation, list: &mut Vec<Node>, extents: &[Operand]) -> Operand {
    let n = extents.iter().copied().reduce(|n, extent| i64(this, list, Instruction::Mul, [n, extent]));
    n.unwrap_or(Operand::i64(1))
}

pub(super) fn i64(this: &mut Rotation, list: &mut Vec<Node>, instruction: Instruction, args: [Operand; 2]) -> Operand {
    let result = local(this, "n", Elem::I64, false);
    list.push(Node::Let(result, Expr::Native { instruction, elem: Elem::I64, args: args.to_vec() }));
    result.into()
}

/// Whether one number is less than another one.
pub(super) fn is_less(this: &mut Rotation, list: &mut Vec<Node>, args: [Operand; 2]) -> Operand {
    let result = local(this, "more", Elem::Bool, false);
    list.push(Node::Let(result, Expr::Native { instruction: Instruction::Lt, elem: Elem::I64, args: args.to_vec() }));
    result.into()
}

fn local(this: &mut Rotation, name: &str, elem: Elem, is_mutable: bool) -> Local {
    this.locals.push(LocalInfo { name: name.into(), elem, is_mutable, lanes: 1 });
    Local(this.locals.len() as u32 - 1)
}

fn second_name(this: &mut Rotation, buffer: Buffer) -> Buffer {
    let BufferInfo { name, elem, .. } = this.buffers[buffer.index()].clone();
    this.buffers.push(BufferInfo { name, elem, kind: BufferKind::Bound, span: Span::NONE, is_record: false });
    Buffer(this.buffers.len() as u32 - 1)
}
