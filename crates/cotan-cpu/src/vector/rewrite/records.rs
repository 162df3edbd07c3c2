//! Records of lanes: stacks that all lanes of a strip share, and the bytes of what loops keep.
//!
//! Note [Stacks of lanes]. A strip has one stack for each one of the body, opened at its head as arrays are: element by element,
//! the lanes beside each other. It grows to what the running lane with most elements needs. What a lane does not use
//! there is never read. A stack that the body opens again and again is the same each time, and need not grow again.
//!
//! Note [Bytes of lanes]. What is told of a parallel loop is what the iteration with most records holds. Where lanes keep
//! records of different lengths, or some lanes none, each lane counts its own, and the strip tells the most.

use super::{Private, Shapes, Writer};
use cotan_ir::{Elem, Monoid};
use cotan_loops::node::{Buffer, BufferInfo, BufferKind, Expr, Local, Node, Operand, Place};
use cotan_ops::Instruction;

/// More elements than any machine has memory for, in all lanes as well.
const TOO_MANY: i64 = 1 << 48;

/// The bytes of records in each lane, see Note [Bytes of lanes].
#[derive(Clone, Copy, Debug)]
pub(super) struct Records {
    /// Those that are alive.
    alive: Local,
    /// The most there were.
    most: Local,
}

impl Writer<'_, '_> {
    // ---- stacks

    pub(super) fn open_stack(&mut self, buffer: Buffer) {
        let info = self.f.buffers[buffer.index()].clone();
        let new = self.new_buffer(BufferInfo { kind: BufferKind::Stack, ..info });
        self.takes_arena = true;
        self.head.push(Node::StackOpen(new));
        self.buffers.insert(buffer, Private { buffer: new, mask: self.mask.number });
    }

    pub(super) fn extend_stack(&mut self, buffer: Buffer, count: Operand) {
        let count = if self.shapes.is_uniform(count) { self.scalar(count) } else { self.in_lanes(count) };
        self.grow(buffer, count);
    }

    /// A record whose length is known where it begins, and may differ between lanes.
    pub(super) fn allocate_record(&mut self, buffer: Buffer, extents: &[Operand]) {
        self.open_stack(buffer);
        let (mut count, too_many) = (Operand::i64(1), Operand::i64(TOO_MANY));
        for extent in extents {
            let extent = if self.shapes.is_uniform(*extent) { self.scalar(*extent) } else { self.in_lanes(*extent) };
            let extent = self.i64(Instruction::Max, extent, Operand::i64(0));
            let fits = self.native(Instruction::MulFits, Elem::I64, Elem::Bool, &[count, extent]);
            let product = self.i64(Instruction::Mul, count, extent);
            let product = self.i64(Instruction::Min, product, too_many);
            count = self.native(Instruction::Select, Elem::I64, Elem::I64, &[fits, product, too_many]);
        }
        self.grow(buffer, count);
    }

    /// Gives each lane room for so many elements.
    fn grow(&mut self, buffer: Buffer, count: Operand) {
        let Private { buffer, .. } = self.buffers[&buffer];
        let most = if self.lanes_of(count) > 1 { self.most(count) } else { count };
        let all = self.i64(Instruction::Mul, most, Operand::i64(self.lanes.into()));
        self.push(Node::StackExtend(buffer, all));
    }

    /// One name for what is an array of its own in each lane.
    pub(super) fn bind(&mut self, buffer: Buffer, to: Place) {
        let new = self.new_buffer(self.f.buffers[buffer.index()].clone());
        let to = self.private(to.buffer, to.offset).expect("invariant: names of other memory are not admitted");
        self.push(Node::Bind { buffer: new, to });
        self.buffers.insert(buffer, Private { buffer: new, mask: self.mask.number });
    }

    // ---- bytes

    pub(super) fn open_records(&mut self) {
        let alive = self.tables.local("alive", Elem::I64, self.lanes, true);
        let most = self.tables.local("most", Elem::I64, self.lanes, true);
        self.push(Node::Set(alive, Operand::i64(0)));
        self.push(Node::Set(most, Operand::i64(0)));
        self.records = Some(Records { alive, most });
    }

    pub(super) fn count_record(&mut self, elem: Elem, extents: &[Operand]) {
        let Some(records) = self.records else {
            let extents = extents.iter().map(|e| self.scalar(*e)).collect();
            return self.push(Node::CountRecord(elem, extents));
        };
        let mut bytes = Operand::i64(elem.bytes() as i64);
        for extent in extents {
            let extent = self.in_lanes(*extent);
            let extent = self.i64(Instruction::Max, extent, Operand::i64(0));
            bytes = self.i64(Instruction::Mul, bytes, extent);
        }
        if let Some(running) = self.running() {
            bytes = self.native(Instruction::Select, Elem::I64, Elem::I64, &[running, bytes, Operand::i64(0)]);
        }
        let alive = self.bytes(records.alive);
        let alive = self.i64(Instruction::Add, alive, bytes);
        self.push(Node::Set(records.alive, alive));
        let most = self.bytes(records.most);
        let most = self.i64(Instruction::Max, most, alive);
        self.push(Node::Set(records.most, most));
    }

    /// The body of a loop, whose records end with an iteration.
    pub(super) fn nodes_with_records(&mut self, nodes: &[Node]) {
        let records = self.records.filter(|_| nodes.iter().any(Node::leaves_records));
        let before = records.map(|records| self.bytes(records.alive));
        self.nodes(nodes);
        if let (Some(records), Some(before)) = (records, before) {
            self.push(Node::Set(records.alive, before));
        }
    }

    /// Tells the most that a lane has kept.
    pub(super) fn report_records(&mut self) {
        let Some(records) = self.records.take() else { return };
        let most = self.bytes(records.most);
        let most = self.define("most", Elem::I64, 1, Expr::Fold(Monoid::Max, most));
        self.push(Node::CountRecord(Elem::I8, vec![most]));
    }

    fn bytes(&mut self, of: Local) -> Operand {
        self.define("bytes", Elem::I64, self.lanes, Expr::Copy(of.into()))
    }
}

/// Whether some lanes keep other records than others.
pub(super) fn has_uneven_records(nodes: &[Node], shapes: &Shapes, diverges: bool) -> bool {
    nodes.iter().any(|node| {
        if let Node::CountRecord(_, extents) = node {
            return diverges || !extents.iter().all(|e| shapes.is_uniform(*e));
        }
        let parts = node.selectors().into_iter().any(|on| !shapes.is_uniform(on));
        node.lists().into_iter().any(|list| has_uneven_records(list, shapes, diverges || parts))
    })
}
