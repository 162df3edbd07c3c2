//! Scattered sums: what lanes combine into elements anywhere.
//!
//! Several lanes may mean the same element, so they go one after the other, in a loop over lanes. No register gives an element
//! at a number that only the run knows: offsets, values and the mask are stored in the frame, once, and each lane loads its own.
//! What is combined into several elements without anything in between goes through one such loop, in which the sums of one lane
//! do not wait for each other.

use super::Writer;
use cotan_ir::{Elem, Monoid, Span};
use cotan_loops::node::{Buffer, BufferInfo, BufferKind, Home, Node, Operand, Place, Target, rounds};
use rustc_hash::FxHashMap;

/// Sums that go through one loop over lanes, at most: their offsets and values stay in the frame.
const MOST_SCATTERED: usize = 32;

/// What the lanes of a strip combine into elements anywhere.
pub(super) struct Scattered {
    monoid: Monoid,
    buffer: Buffer,
    offsets: Operand,
    value: Operand,
}

/// The sums that wait for their loop, and the arrays of the frame that such loops take.
#[derive(Default)]
pub(super) struct Scatters {
    waiting: Vec<Scattered>,
    arrays: FxHashMap<Elem, Vec<Buffer>>,
}

impl Scatters {
    /// Another strip has other arrays.
    pub(super) fn forget_arrays(&mut self) {
        self.arrays.clear();
    }

    /// Whether the sums that wait may be combined after a node instead of before it.
    pub(super) fn may_wait_for(&self, node: &Node) -> bool {
        if let Node::Load(_, from) = node {
            return self.waiting.iter().all(|sum| sum.buffer != from.buffer);
        }
        matches!(node, Node::Let(..) | Node::Combine { target: Target::Element(_), .. })
    }
}

impl Writer<'_, '_> {
    /// Lets lanes combine values into elements of which several may be the same.
    pub(super) fn scatter(&mut self, monoid: Monoid, place: Place, value: Operand) {
        self.tables.regroups_sums |= rounds(monoid, self.elem_of(value));
        let offsets = self.in_lanes(place.offset);
        self.scatters.waiting.push(Scattered { monoid, buffer: place.buffer, offsets, value });
        if self.scatters.waiting.len() == MOST_SCATTERED {
            self.flush_scattered();
        }
    }

    /// Writes the loop of the sums that wait for it.
    pub(super) fn flush_scattered(&mut self) {
        let waiting = std::mem::take(&mut self.scatters.waiting);
        if waiting.is_empty() {
            return;
        }
        let values: Vec<Operand> = waiting.iter().flat_map(|sum| [sum.offsets, sum.value]).collect();
        self.each_running_lane(&values, |w, _, elements| {
            for (Scattered { monoid, buffer, .. }, element) in waiting.iter().zip(elements.chunks_exact(2)) {
                let target = Target::Element(Place { buffer: *buffer, offset: element[0] });
                w.push(Node::Combine { monoid: *monoid, target, value: element[1] });
            }
        });
    }

    /// The lanes that run, one after the other; `write` is given the number of the lane, and what the lane has of some values.
    pub(super) fn each_running_lane(
        &mut self,
        values: &[Operand],
        write: impl FnOnce(&mut Self, Operand, Vec<Operand>),
    ) {
        let running = self.running();
        let mut used = FxHashMap::default();
        let stored: Vec<Stored> = values.iter().map(|value| self.stored(*value, &mut used)).collect();
        let running = running.map(|running| self.stored(running, &mut used));
        let lane = self.tables.local("lane", Elem::I64, 1, false);
        let elements = |w: &mut Self| {
            let elements = stored.iter().map(|value| w.loaded(*value, lane.into())).collect();
            write(w, lane.into(), elements);
        };
        let body = self.list(|w| match running {
            None => elements(w),
            Some(running) => {
                let runs = w.loaded(running, lane.into());
                let nodes = w.list(elements);
                w.push(Node::If(runs, nodes, Vec::new()));
            }
        });
        self.push_loop(lane, Operand::i64(self.lanes.into()), body, false);
    }

    /// Stores a value of lanes in the frame; a scalar stays what it is.
    pub(super) fn stored(&mut self, value: Operand, used: &mut FxHashMap<Elem, usize>) -> Stored {
        if self.lanes_of(value) == 1 {
            return Stored::Scalar(value);
        }
        let elem = self.elem_of(value);
        let number = used.entry(elem).or_insert(0);
        let buffer = match self.scatters.arrays.get(&elem).and_then(|arrays| arrays.get(*number)) {
            Some(buffer) => *buffer,
            None => self.array_of_lanes(elem),
        };
        *number += 1;
        let to = Place { buffer, offset: Operand::i64(0) };
        self.push(Node::StoreLanes { to, value, mask: None });
        Stored::In(buffer)
    }

    fn array_of_lanes(&mut self, elem: Elem) -> Buffer {
        let kind = BufferKind::Allocated(Home::Frame);
        let buffer =
            self.new_buffer(BufferInfo { name: "lanes".into(), elem, kind, span: Span::NONE, is_record: false });
        self.head.push(Node::Alloc { buffer, extents: vec![Operand::i64(self.lanes.into())] });
        self.scatters.arrays.entry(elem).or_default().push(buffer);
        buffer
    }

    /// What a lane has of a value.
    pub(super) fn loaded(&mut self, value: Stored, lane: Operand) -> Operand {
        match value {
            Stored::Scalar(value) => value,
            Stored::In(buffer) => {
                let elem = self.tables.buffers[buffer.index()].elem;
                let local = self.tables.local("x", elem, 1, false);
                self.push(Node::Load(local, Place { buffer, offset: lane }));
                local.into()
            }
        }
    }
}

/// A value of lanes, in the frame.
#[derive(Clone, Copy)]
pub(super) enum Stored {
    Scalar(Operand),
    In(Buffer),
}
