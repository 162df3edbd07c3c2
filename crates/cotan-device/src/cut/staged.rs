//! Staged reductions: one whose values are arrays, or whose iterations need the host (a numerical routine for each value) or add
//! to something else that they share, becomes a loop that keeps the values in an array, and a reduction of scalars for each
//! element. The order in which values are combined stays the documented one.

use super::writer::{Writer, counted, loops, store};
use crate::parallel::needs_host;
use cotan_ir::Elem;
use cotan_loops::node::walk_mut;
use cotan_loops::{
    Buffer, Expr, Independence, Local, LoopFunction, Node, Operand, Place, Reduce, Sum, Target, shared_beside_sums,
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
            if needs_host || has_arrays(&reduction) || !shared_beside_sums(&reduction).is_empty() {
                Writer { f }.staged(*reduction)
            } else {
                Node::Reduce(reduction)
            }
        } else {
            node
        });
    }
    out
}

fn has_arrays(reduction: &Reduce) -> bool {
    reduction.sums.iter().any(|sum| matches!(sum.target, Target::Element(_)))
}

impl Writer<'_> {
    fn staged(&mut self, Reduce { indices, sums, body }: Reduce) -> Node {
        let mut nodes = Vec::new();
        let sizes: Vec<Operand> = sums.iter().map(|sum| self.product(&sum.extents, &mut nodes)).collect();
        let kept: Vec<Buffer> = sums.iter().map(|sum| self.values(sum, &indices, &mut nodes)).collect();
        // The loop that keeps.
        let mut inner = Vec::new();
        let number = self.number(&indices, &mut inner);
        let firsts: Vec<Operand> =
            sizes.iter().map(|size| self.int(Instruction::Mul, number, *size, &mut inner)).collect();
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
        let first = self.int(Instruction::Mul, number, size, &mut body);
        let offset = self.int(Instruction::Add, first, element, &mut body);
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
                    let args = vec![place.offset, firsts[k]];
                    let sum = Expr::Native { instruction: Instruction::Add, elem: Elem::I64, args };
                    Node::Segment(vec![Node::Let(at, sum), store(buffer, at.into(), value)])
                }
            };
        });
    }

    /// An array of all values of a sum.
    fn values(&mut self, sum: &Sum, indices: &[(Local, Operand)], nodes: &mut Vec<Node>) -> Buffer {
        let elem = match sum.target {
            Target::Local(local) => self.f.elem(local),
            Target::Element(place) => self.elem(place.buffer),
        };
        let extents = indices.iter().map(|(_, count)| *count).chain(sum.extents.iter().copied());
        self.array("values", elem, &extents.collect::<Vec<_>>(), nodes)
    }
}
