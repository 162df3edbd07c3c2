//! Memory of lanes: places, rows that are brought together, accumulators, copies, allocation.

use super::{FRAME_BYTES, Private, Shape, Stride, TRUE, Value, Writer};
use cotan_ir::{Elem, Monoid};
use cotan_loops::PartialSums;
use cotan_loops::node::{
    Buffer, BufferInfo, BufferKind, Expr, Home, Local, Node, Operand, Place, Target, combining, rounds,
};
use cotan_ops::Instruction;
use cotan_ops::reduce::neutral;

impl Writer<'_, '_> {
    /// The elements of an array of this strip that lanes have at an offset.
    pub(super) fn private(&mut self, buffer: Buffer, offset: Operand) -> Option<Place> {
        let Private { buffer, .. } = *self.buffers.get(&buffer)?;
        let lanes = Operand::i64(self.lanes.into());
        let offset = if self.shapes.is_uniform(offset) {
            let offset = self.scalar(offset);
            self.i64(Instruction::Mul, offset, lanes)
        } else {
            let offsets = self.in_lanes(offset);
            let rows = self.i64(Instruction::Mul, offsets, lanes);
            let numbers = self.define("lanes", Elem::I64, self.lanes, Expr::Iota(Operand::i64(0)));
            self.i64(Instruction::Add, rows, numbers)
        };
        Some(Place { buffer, offset })
    }

    /// The elements of lanes at a place, and the mask that reading and writing them needs.
    pub(super) fn place(&mut self, place: Place) -> (Place, Option<Operand>) {
        if let Some(own) = self.private(place.buffer, place.offset) {
            // Memory of a lane is there whether it runs or not.
            let mask = if self.lanes_of(own.offset) > 1 { self.running() } else { None };
            return (own, mask);
        }
        let offset = match self.shapes.of_operand(place.offset) {
            Shape::Linear(stride) if stride.number() == Some(1) => self.scalar(place.offset),
            Shape::Linear(_) | Shape::Varying | Shape::Uniform => self.in_lanes(place.offset),
        };
        (Place { buffer: place.buffer, offset }, self.running())
    }

    pub(super) fn load(&mut self, local: Local, from: Place) {
        let info = self.f.locals[local.index()].clone();
        if !self.buffers.contains_key(&from.buffer) && self.shapes.is_uniform(from.offset) {
            let offset = self.scalar(from.offset);
            let new = self.tables.local(&info.name, info.elem, 1, false);
            self.push(Node::Load(new, Place { buffer: from.buffer, offset }));
            self.values.insert(local, Value::Scalar(new.into()));
            return;
        }
        let value = self.load_lanes(&info.name, info.elem, from);
        self.values.insert(local, Value::Lanes(value));
    }

    pub(super) fn load_lanes(&mut self, name: &str, elem: Elem, from: Place) -> Operand {
        let (from, mask) = match self.row_element(from) {
            Some(found) => found,
            None => self.place(from),
        };
        let to = self.tables.local(name, elem, self.lanes, false);
        self.push(Node::LoadLanes { to, from, mask });
        to.into()
    }

    /// Where an element of a row lies if the rows of this matrix are brought together, see Note [Rows], and the mask that
    /// reading it needs.
    pub(super) fn row_element(&mut self, from: Place) -> Option<(Place, Option<Operand>)> {
        let [row, column] = self.shapes.sum(from.offset)?;
        let Some([count, length]) = self.shapes.extents(from.buffer) else { return None };
        let length = *length;
        let is_row = *count == self.count && self.shapes.is_product(row, self.index, length);
        let inner: Vec<Local> = self.inner.iter().map(|(index, _)| *index).collect();
        if !is_row || !self.shapes.is_read_again(column, &inner) {
            return None;
        }
        // An element that no lane reads may lie outside.
        let is_whole = self.inner.iter().any(|(index, n)| Operand::Local(*index) == column && *n == length);
        let mask = if is_whole { None } else { self.running() };
        let rows = match self.rows.get(&from.buffer) {
            Some(rows) => *rows,
            None => self.bring_together(from.buffer, length),
        };
        let column = self.scalar(column);
        let offset = self.i64(Instruction::Mul, column, Operand::i64(self.lanes.into()));
        Some((Place { buffer: rows, offset }, mask))
    }

    pub(super) fn bring_together(&mut self, matrix: Buffer, length: Operand) -> Buffer {
        let info = self.f.buffers[matrix.index()].clone();
        let kind = BufferKind::Allocated(Home::Arena);
        let rows = self.new_buffer(BufferInfo { kind, is_record: false, ..info });
        self.takes_arena = true;
        self.rows.insert(matrix, rows);
        let lanes = Operand::i64(self.lanes.into());
        let body = self.list(|w| {
            w.push(Node::Alloc { buffer: rows, extents: vec![length, lanes] });
            let first = w.scalar(w.index.into());
            let row = w.i64(Instruction::Mul, first, length);
            let stride = Stride { factor: 1, by: vec![length] };
            let column = w.tables.local("k", Elem::I64, 1, false);
            let copy = w.list(|w| {
                let start = w.i64(Instruction::Add, row, column.into());
                let offset = w.linear(start, &stride);
                let to = w.tables.local("x", info.elem, w.lanes, false);
                let mask = w.live;
                w.push(Node::LoadLanes { to, from: Place { buffer: matrix, offset }, mask });
                let offset = w.i64(Instruction::Mul, column.into(), lanes);
                w.push(Node::StoreLanes { to: Place { buffer: rows, offset }, value: to.into(), mask: None });
            });
            w.push_loop(column, length, copy, false);
        });
        self.head.extend(body);
        rows
    }

    pub(super) fn store(&mut self, to: Place, value: Operand) {
        let (to, mask) = self.place(to);
        let mask = mask.or_else(|| if self.mask.number == 0 { None } else { self.running() });
        self.push(Node::StoreLanes { to, value, mask });
    }

    pub(super) fn combine(&mut self, monoid: Monoid, target: Target, value: Operand) {
        match target {
            Target::Local(local) if self.mutable.contains_key(&local) => {
                let variable = self.mutable[&local];
                let info = self.tables.locals[variable.local.index()].clone();
                let value = self.in_lanes(value);
                let old = self.define(&info.name, info.elem, info.lanes, Expr::Copy(variable.local.into()));
                let mut new = self.native(combining(monoid), info.elem, info.elem, &[old, value]);
                if let Some(mask) =
                    self.mask.lanes.filter(|_| info.lanes > 1 && self.mask.number != variable.first_mask)
                {
                    new = self.native(Instruction::Select, info.elem, info.elem, &[mask, new, old]);
                }
                self.push(Node::Set(variable.local, new));
            }
            Target::Local(local) => {
                let value = self.in_lanes(value);
                self.combine_outside(monoid, local, value);
            }
            Target::Element(place) => self.combine_element(monoid, place, value),
        }
    }

    pub(super) fn combine_element(&mut self, monoid: Monoid, place: Place, value: Operand) {
        if self.shapes.sums.are_ordered && !self.buffers.contains_key(&place.buffer) {
            return self.combine_in_order(monoid, place, value);
        }
        let value = self.in_lanes(value);
        let elem = self.elem_of(value);
        let apart = match self.shapes.of_operand(place.offset) {
            Shape::Linear(stride) => self.is_not_zero(&stride),
            Shape::Uniform | Shape::Varying => false,
        };
        if apart || self.buffers.contains_key(&place.buffer) {
            // Another contribution of an iteration may go where that of another iteration has gone before.
            self.tables.regroups_sums |= apart && rounds(monoid, elem);
            let old = self.load_lanes("old", elem, place);
            let new = self.native(combining(monoid), elem, elem, &[old, value]);
            return self.store(place, new);
        }
        if self.shapes.is_uniform(place.offset) {
            let value = self.folded(monoid, value);
            let target = Target::Element(Place { offset: self.scalar(place.offset), ..place });
            return self.push(Node::Combine { monoid, target, value });
        }
        self.scatter(monoid, place, value);
    }

    /// Whether a stride is known not to be zero here: what counts the iterations of a loop is not, inside of it.
    fn is_not_zero(&self, stride: &Stride) -> bool {
        stride.factor != 0 && stride.by.iter().all(|n| self.inner.iter().any(|(_, count)| count == n))
    }

    /// The value of one lane.
    pub(super) fn of_lane(&mut self, value: Operand, lane: Operand) -> Operand {
        let elem = self.elem_of(value);
        if self.lanes_of(value) == 1 { value } else { self.define("x", elem, 1, Expr::Lane([value, lane])) }
    }

    /// Where blocks of reductions end. If that is at the same value in all lanes, the partial results of all lanes are
    /// those of one reduction of larger values. Lanes that do not run may take part in it only if they never had any.
    pub(super) fn partial_sums(&mut self, sums: &PartialSums) {
        let Private { buffer, mask } = self.buffers[&sums.lanes.buffer];
        let lanes = Operand::i64(self.lanes.into());
        let first = self.scalar(sums.lanes.offset);
        let offset = self.i64(Instruction::Mul, first, lanes);
        let size = self.scalar(sums.size);
        let place = Place { buffer, offset };
        if self.shapes.is_uniform(sums.number) && mask == self.mask.number {
            let size = self.i64(Instruction::Mul, size, lanes);
            let number = self.scalar(sums.number);
            return self.push(Node::PartialSums(PartialSums { lanes: place, size, number, ..*sums }));
        }
        let number = match self.shapes.of_operand(sums.number) {
            Shape::Uniform => self.scalar(sums.number),
            Shape::Linear(_) | Shape::Varying => self.in_lanes(sums.number),
        };
        let stride = self.lanes;
        self.each_running_lane(&[number], |w, lane, elements| {
            let offset = w.i64(Instruction::Add, offset, lane);
            let (lanes, number) = (Place { buffer, offset }, elements[0]);
            w.push(Node::PartialSums(PartialSums { lanes, size, stride, number, ..*sums }));
        });
    }

    /// The values of the lanes that run, combined.
    pub(super) fn folded(&mut self, monoid: Monoid, value: Operand) -> Operand {
        let elem = self.elem_of(value);
        self.tables.regroups_sums |= rounds(monoid, elem);
        let nothing = Operand::Const(neutral(monoid, elem));
        let lanes = match self.running() {
            Some(mask) => self.native(Instruction::Select, elem, elem, &[mask, value, nothing]),
            None if self.lanes_of(value) > 1 => value,
            None => {
                let args = vec![TRUE, value, nothing];
                self.define("v", elem, self.lanes, Expr::Native { instruction: Instruction::Select, elem, args })
            }
        };
        self.define("sum", elem, 1, Expr::Fold(monoid, lanes))
    }

    pub(super) fn allocate(&mut self, buffer: Buffer, extents: &[Operand]) {
        if !self.shapes.is_known_outside(extents) {
            return self.allocate_record(buffer, extents);
        }
        let mut info = self.f.buffers[buffer.index()].clone();
        let mut extents = extents.to_vec();
        extents.push(Operand::i64(self.lanes.into()));
        let bytes = extents.iter().try_fold(info.elem.bytes() as i64, |n, e| n.checked_mul(e.as_i64()?));
        if bytes.is_none_or(|n| n > FRAME_BYTES) {
            info.kind = BufferKind::Allocated(Home::Arena);
            self.takes_arena = true;
        }
        let new = self.new_buffer(info);
        self.head.push(Node::Alloc { buffer: new, extents });
        self.buffers.insert(buffer, Private { buffer: new, mask: self.mask.number });
    }

    pub(super) fn new_buffer(&mut self, info: BufferInfo) -> Buffer {
        self.tables.buffers.push(info);
        Buffer(self.tables.buffers.len() as u32 - 1)
    }

    pub(super) fn copy(&mut self, from: Place, to: Place, count: Operand) {
        let is_plain = self.mask.number == 0 && self.shapes.is_uniform(count);
        let private = |w: &Self, p: Place| w.buffers.contains_key(&p.buffer) && w.shapes.is_uniform(p.offset);
        if is_plain && private(self, from) && private(self, to) {
            let (from, _) = self.place(from);
            let (to, _) = self.place(to);
            let count = self.scalar(count);
            let count = self.i64(Instruction::Mul, count, Operand::i64(self.lanes.into()));
            return self.push(Node::Copy { from, to, count });
        }
        let elem = self.f.buffers[to.buffer.index()].elem;
        self.trips(count, false, |w, k| {
            let at = |w: &mut Self, place: Place| {
                if let Some(own) = w.private(place.buffer, place.offset) {
                    let step = w.i64(Instruction::Mul, k, Operand::i64(w.lanes.into()));
                    let mask = if w.lanes_of(own.offset) > 1 { w.running() } else { None };
                    return (Place { offset: w.i64(Instruction::Add, own.offset, step), ..own }, mask);
                }
                if w.shapes.is_uniform(place.offset) {
                    // The same elements for all lanes.
                    let first = w.scalar(place.offset);
                    return (Place { offset: w.i64(Instruction::Add, first, k), ..place }, None);
                }
                let (place, mask) = w.place(place);
                (Place { offset: w.i64(Instruction::Add, place.offset, k), ..place }, mask)
            };
            let is_shared = !w.buffers.contains_key(&from.buffer) && w.shapes.is_uniform(from.offset);
            let (source, mask) = at(w, from);
            let value = if is_shared {
                let to = w.tables.local("x", elem, 1, false);
                w.push(Node::Load(to, source));
                to
            } else {
                let to = w.tables.local("x", elem, w.lanes, false);
                w.push(Node::LoadLanes { to, from: source, mask });
                to
            };
            let (target, mask) = at(w, to);
            let mask = mask.or_else(|| if w.mask.number == 0 { None } else { w.running() });
            w.push(Node::StoreLanes { to: target, value: value.into(), mask });
        });
    }
}
