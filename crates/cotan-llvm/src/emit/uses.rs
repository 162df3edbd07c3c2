//! Use counts: how often nodes mention each local and buffer, and which they define.

use super::pieces::{is_flushing, is_split_off};
use cotan_loops::node::{
    Argument, Buffer, BufferInfo, BufferKind, BufferUse, Home, Local, LocalUse, LoopFunction, Node, Operand,
    OperandUse, Param, Part, Tensor,
};
use std::collections::{BTreeMap, BTreeSet};

/// How often some nodes mention each local and buffer, and which they define.
#[derive(Debug, Default)]
pub(super) struct Uses {
    pub(super) locals: BTreeMap<Local, usize>,
    pub(super) buffers: BTreeMap<Buffer, usize>,
    pub(super) defined_locals: BTreeSet<Local>,
    pub(super) defined_buffers: BTreeSet<Buffer>,
    /// Those of second names.
    pub(super) bound_buffers: BTreeSet<Buffer>,
    /// Sizes of the buffers that are allocated in the frame.
    frame_bytes: BTreeMap<Buffer, i64>,
    /// Whether they touch the caller's memory for results.
    pub(super) allocates_results: bool,
}

impl Uses {
    /// Those of a whole function.
    pub(super) fn of_function(f: &LoopFunction) -> Uses {
        let mut uses = Uses::default();
        for param in &f.params {
            match param {
                Param::Scalar(local) => uses.defines(*local),
                Param::Tensor(tensor) => uses.tensor(tensor),
            }
        }
        f.body.iter().for_each(|node| uses.node(f, node));
        f.results.iter().for_each(|result| uses.argument(result));
        uses
    }

    /// Those of the segments among some nodes, other pieces left out.
    pub(super) fn of_segments(f: &LoopFunction, nodes: &[Node]) -> Uses {
        let mut uses = Uses::default();
        uses.segments(f, nodes);
        uses
    }

    fn segments(&mut self, f: &LoopFunction, nodes: &[Node]) {
        for node in nodes {
            if let Node::Segment(body) = node {
                self.nodes(f, body);
                continue;
            }
            if let Node::For(l) = node {
                if is_split_off(l) {
                    continue;
                }
                if is_flushing(l) {
                    self.node(f, node);
                    continue;
                }
            }
            node.lists().into_iter().for_each(|list| self.segments(f, list));
        }
    }

    pub(super) fn locals(&self) -> impl Iterator<Item = Local> + '_ {
        self.locals.keys().copied()
    }

    pub(super) fn buffers(&self) -> impl Iterator<Item = Buffer> + '_ {
        self.buffers.keys().copied()
    }

    pub(super) fn frame_bytes(&self, buffer: Buffer) -> i64 {
        self.frame_bytes.get(&buffer).copied().unwrap_or(0)
    }

    fn local(&mut self, local: Local) {
        *self.locals.entry(local).or_default() += 1;
    }

    fn buffer(&mut self, buffer: Buffer) {
        *self.buffers.entry(buffer).or_default() += 1;
    }

    pub(super) fn defines(&mut self, local: Local) {
        self.local(local);
        self.defined_locals.insert(local);
    }

    fn operand(&mut self, operand: Operand) {
        if let Operand::Local(local) = operand {
            self.local(local);
        }
    }

    fn tensor(&mut self, tensor: &Tensor) {
        self.buffer(tensor.place.buffer);
        tensor.operands().for_each(|operand| self.operand(operand));
    }

    fn argument(&mut self, argument: &Argument) {
        match argument {
            Argument::Scalar(operand) => self.operand(*operand),
            Argument::Tensor(tensor) => self.tensor(tensor),
        }
    }

    pub(super) fn nodes(&mut self, f: &LoopFunction, nodes: &[Node]) {
        nodes.iter().for_each(|node| self.node(f, node));
    }

    fn node(&mut self, f: &LoopFunction, node: &Node) {
        if let Node::Alloc { buffer, extents } = node {
            self.allocation(*buffer, &f.buffers[buffer.index()], extents);
        }
        node.each_part(&mut |part| match part {
            Part::Local(local, LocalUse::Define) => self.defines(*local),
            Part::Local(local, LocalUse::Assign | LocalUse::Combine | LocalUse::Test) => self.local(*local),
            Part::Operand(operand, OperandUse::Read) => self.operand(*operand),
            Part::Buffer(_, BufferUse::Note) => {}
            Part::Buffer(buffer, usage) => {
                if matches!(usage, BufferUse::Bind | BufferUse::Receive) {
                    self.bound_buffers.insert(*buffer);
                }
                self.buffer(*buffer);
            }
            Part::List(list) => self.nodes(f, list),
            Part::Local(_, LocalUse::Note) | Part::Operand(_, OperandUse::Note) | Part::Effect(_) => {}
        });
    }

    fn allocation(&mut self, buffer: Buffer, info: &BufferInfo, extents: &[Operand]) {
        if info.kind == BufferKind::Allocated(Home::Frame) {
            let n: i64 = extents.iter().filter_map(|d| d.as_i64()).product();
            self.frame_bytes.insert(buffer, n * info.elem.bytes() as i64);
        } else {
            self.defined_buffers.insert(buffer);
        }
        self.allocates_results |= matches!(info.kind, BufferKind::Allocated(Home::Result(_)));
    }
}
