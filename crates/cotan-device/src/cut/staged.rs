//! Staged reductions: one whose values are arrays, or whose iterations need the host (a numerical routine for each value),
//! becomes a loop that keeps the values in an array, and a reduction of scalars for each element. The order in which values
//! are combined stays the documented one.

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
        let needs_host = needs_host(&node);
        out.push(if let Node::Reduce(reduction) = node {
            if needs_host || has_arrays(&reduction) { Stage { f }.staged(*reduction) } else { Node::Reduce(reduction) }
        } else {
            node
        });
    }
    out
}

fn has_arrays(reduction: &Reduce) -> bool {
    reduction.sums.iter().any(|sum| matches!(sum.target, Target::Element(_)))
}

struct Stage<'f> {
    f: &'f mut LoopFunction,
}

impl Stage<'_> {
    fn staged(&mut self, Reduce { indices, sums, body }: Reduce) -> Node {
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
        // The reductions of what was kept.
        for ((sum, buffer), size) in sums.iter().zip(kept).zip(sizes) {
            match sum.target {
                Target::Local(_) => {
                    let reduction = self.reduction(sum, &indices, buffer, size, Operand::i64(0));
                    nodes.push(reduction);
                }
                Target::Element(place) => nodes.push(self.each_element(sum, place, &indices, buffer, size)),
            }
        }
        Node::Scope(nodes)
    }

    /// The reduction of one element of the values that were kept.
    fn reduction(
        &mut self,
        sum: &Sum,
        indices: &[(Local, Operand)],
        buffer: Buffer,
        size: Operand,
        element: Operand,
    ) -> Node {
        let indices: Vec<(Local, Operand)> =
            indices.iter().map(|(_, count)| (self.local("i", Elem::I64), *count)).collect();
        let mut body = Vec::new();
        let number = self.number(&indices, &mut body);
        let first = self.native(Instruction::Mul, number, size, &mut body);
        let offset = self.native(Instruction::Add, first, element, &mut body);
        let value = self.local("value", self.f.buffers[buffer.index()].elem);
        body.push(Node::Load(value, Place { buffer, offset }));
        body.push(Node::Combine { monoid: sum.monoid, target: sum.target, value: value.into() });
        let sums = vec![Sum { extents: Vec::new(), ..sum.clone() }];
        Node::Reduce(Box::new(Reduce { indices, sums, body }))
    }

    /// The same for each element of an array, which holds the start values.
    fn each_element(
        &mut self,
        sum: &Sum,
        place: Place,
        indices: &[(Local, Operand)],
        buffer: Buffer,
        size: Operand,
    ) -> Node {
        let elem = self.f.buffers[buffer.index()].elem;
        let (index, start, end) = (self.local("e", Elem::I64), self.local("start", elem), self.local("total", elem));
        let total = self.mutable("total", elem);
        let at = Place { offset: index.into(), ..place };
        let scalar = Sum { target: Target::Local(total), ..sum.clone() };
        let body = vec![
            Node::Load(start, at),
            Node::Set(total, start.into()),
            self.reduction(&scalar, indices, buffer, size, index.into()),
            Node::Let(end, Expr::Copy(total.into())),
            Node::Store(at, end.into()),
        ];
        counted(index, size, Independence::All, body)
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
        self.new_local(name, elem, false)
    }

    fn mutable(&mut self, name: &str, elem: Elem) -> Local {
        self.new_local(name, elem, true)
    }

    fn new_local(&mut self, name: &str, elem: Elem, is_mutable: bool) -> Local {
        self.f.locals.push(LocalInfo { name: name.into(), elem, is_mutable, lanes: 1 });
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
