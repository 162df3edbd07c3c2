//! Staged reductions: one whose iterations need the host (a numerical routine for each value) becomes a loop that keeps
//! the values in an array, and a reduction of that array. The order in which values are combined stays the documented one.

use crate::parallel::needs_host;
use cotan_ir::Elem;
use cotan_loops::node::walk_mut;
use cotan_loops::{
    Buffer, BufferInfo, BufferKind, Expr, For, Home, Independence, Local, LocalInfo, LoopFunction, Node, Operand,
    Place, Reduce, Sum, Target, Threads,
};
use cotan_ops::Instruction;

/// Stages the reductions of a function that a device can't run whole.
pub(super) fn stage_reductions(f: &mut LoopFunction) {
    let body = std::mem::take(&mut f.body);
    f.body = list(f, body);
}

fn list(f: &mut LoopFunction, nodes: Vec<Node>) -> Vec<Node> {
    let mut out = Vec::with_capacity(nodes.len());
    for mut node in nodes {
        node.map_lists(|inner| list(f, inner));
        if matches!(node, Node::Reduce(_)) && needs_host(&node) {
            let Node::Reduce(reduction) = node else { continue };
            out.extend(Stage { f }.staged(*reduction));
        } else {
            out.push(node);
        }
    }
    out
}

struct Stage<'f> {
    f: &'f mut LoopFunction,
}

impl Stage<'_> {
    fn staged(&mut self, Reduce { indices, sums, body }: Reduce) -> Vec<Node> {
        let mut nodes = Vec::new();
        let sizes: Vec<Operand> = sums.iter().map(|sum| self.product(&sum.extents, &mut nodes)).collect();
        let kept: Vec<Buffer> = sums.iter().map(|sum| self.array(sum, &indices, &mut nodes)).collect();
        // The loop that keeps.
        let mut inner = Vec::new();
        let number = self.number(&indices, &mut inner);
        let firsts: Vec<Operand> =
            sizes.iter().map(|size| self.native(Instruction::Mul, number, *size, &mut inner)).collect();
        let mut body = body;
        self.keep(&mut body, &sums, &kept, &firsts);
        inner.extend(body);
        nodes.extend(loops(&indices, inner));
        // The reduction of what was kept.
        let indices: Vec<(Local, Operand)> =
            indices.iter().map(|(_, count)| (self.local("i", Elem::I64), *count)).collect();
        let mut inner = Vec::new();
        let number = self.number(&indices, &mut inner);
        for ((sum, buffer), size) in sums.iter().zip(&kept).zip(&sizes) {
            let first = self.native(Instruction::Mul, number, *size, &mut inner);
            inner.push(self.taken_up(sum, *buffer, first, *size));
        }
        nodes.push(Node::Reduce(Box::new(Reduce { indices, sums, body: inner })));
        vec![Node::Scope(nodes)]
    }

    /// Values are stored where they were combined.
    fn keep(&mut self, body: &mut [Node], sums: &[Sum], kept: &[Buffer], firsts: &[Operand]) {
        walk_mut(body, &mut |node| {
            let Node::Combine { target, value, .. } = node else { return };
            let Some(k) = sums.iter().position(|sum| sum.target.has_memory_of(*target)) else { return };
            let (buffer, value) = (kept[k], *value);
            *node = match *target {
                Target::Local(_) => Node::Store(Place { buffer, offset: firsts[k] }, value),
                Target::Element(place) => {
                    let at = self.local("at", Elem::I64);
                    let sum = native(Instruction::Add, place.offset, firsts[k]);
                    let store = Node::Store(Place { buffer, offset: at.into() }, value);
                    Node::Segment(vec![Node::Let(at, sum), store])
                }
            };
        });
    }

    /// Takes up the elements of a value that was kept.
    fn taken_up(&mut self, sum: &Sum, buffer: Buffer, first: Operand, size: Operand) -> Node {
        let index = self.local("e", Elem::I64);
        let mut body = Vec::new();
        let offset = self.native(Instruction::Add, first, index.into(), &mut body);
        let value = self.local("value", self.f.buffers[buffer.index()].elem);
        body.push(Node::Load(value, Place { buffer, offset }));
        let target = match sum.target {
            Target::Local(local) => Target::Local(local),
            Target::Element(place) => Target::Element(Place { offset: index.into(), ..place }),
        };
        body.push(Node::Combine { monoid: sum.monoid, target, value: value.into() });
        counted(index, size, Independence::None, body)
    }

    /// An array of all values of a sum.
    fn array(&mut self, sum: &Sum, indices: &[(Local, Operand)], nodes: &mut Vec<Node>) -> Buffer {
        let elem = match sum.target {
            Target::Local(local) => self.f.elem(local),
            Target::Element(place) => self.f.buffers[place.buffer.index()].elem,
        };
        let kind = BufferKind::Allocated(Home::Arena);
        let span = cotan_ir::Span::default();
        self.f.buffers.push(BufferInfo { name: "values".into(), elem, kind, span, is_record: false });
        let buffer = Buffer(self.f.buffers.len() as u32 - 1);
        let extents = indices.iter().map(|(_, count)| *count).chain(sum.extents.iter().copied());
        nodes.push(Node::Alloc { buffer, extents: extents.collect() });
        buffer
    }

    /// The number of an index tuple, row-major.
    fn number(&mut self, indices: &[(Local, Operand)], nodes: &mut Vec<Node>) -> Operand {
        indices.iter().fold(Operand::i64(0), |number, (index, count)| {
            let row = self.native(Instruction::Mul, number, *count, nodes);
            self.native(Instruction::Add, row, (*index).into(), nodes)
        })
    }

    fn product(&mut self, extents: &[Operand], nodes: &mut Vec<Node>) -> Operand {
        extents.iter().fold(Operand::i64(1), |all, extent| self.native(Instruction::Mul, all, *extent, nodes))
    }

    fn native(&mut self, instruction: Instruction, a: Operand, b: Operand, nodes: &mut Vec<Node>) -> Operand {
        let to = self.local("t", Elem::I64);
        nodes.push(Node::Let(to, native(instruction, a, b)));
        to.into()
    }

    fn local(&mut self, name: &str, elem: Elem) -> Local {
        self.f.locals.push(LocalInfo { name: name.into(), elem, is_mutable: false, lanes: 1 });
        Local(self.f.locals.len() as u32 - 1)
    }
}

fn native(instruction: Instruction, a: Operand, b: Operand) -> Expr {
    Expr::Native { instruction, elem: Elem::I64, args: vec![a, b] }
}

fn loops(indices: &[(Local, Operand)], body: Vec<Node>) -> Vec<Node> {
    indices.iter().rev().fold(body, |body, (index, count)| vec![counted(*index, *count, Independence::All, body)])
}

fn counted(index: Local, count: Operand, independence: Independence, body: Vec<Node>) -> Node {
    Node::For(Box::new(For { index, count, threads: Threads::One, independence, lanes: 1, may_flush: false, body }))
}
