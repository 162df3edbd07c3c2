//! Memory: where buffers lie, the regions of a thread, arrays that grow.

use super::body::Body;
use super::layout::{Report, Word};
use super::{LONG, Unsupported};
use crate::emit::{Register, Value, Variable};
use cotan_device::Size;
use cotan_ir::Elem;
use cotan_loops::node::{BufferUse, walk};
use cotan_loops::{Buffer, Operand, Place, Target};
use cotan_ops::Instruction;
use rspirv::spirv::Op;

/// Where an array lies: the address of its first element, and how many bytes the next one is away.
#[derive(Clone, Copy, Debug)]
pub(super) enum Memory {
    /// Always there.
    Fixed([Value; 2]),
    /// There where it was bound last.
    Named([Variable; 2]),
}

impl Body<'_> {
    /// Says where all memory lies that the kernel begins with, and gives names that it binds variables.
    pub(super) fn open_memory(&mut self) {
        for buffer in &self.kernel.buffers {
            let address = self.word(Word::Memory(*buffer));
            let stride = self.bytes(*buffer);
            self.memory.insert(*buffer, Memory::Fixed([address, stride]));
        }
        for (position, region) in self.kernel.regions.iter().enumerate() {
            let place = self.region(position);
            self.memory.insert(region.buffer, Memory::Fixed(place));
        }
        let mut names = Vec::new();
        walk(&self.kernel.body, &mut |node| {
            node.each_buffer(&mut |buffer, usage| {
                if usage == BufferUse::Bind && !names.contains(&buffer) {
                    names.push(buffer);
                }
            });
        });
        for name in names {
            let variables = [(); 2].map(|()| self.out.variable(LONG));
            self.memory.insert(name, Memory::Named(variables));
        }
        for number in 0..self.plan.growing.len() {
            if self.layout.contains(&Word::Capacity(number)) {
                let missing = self.out.variable(Register::Bool);
                self.missing.insert(self.plan.growing[number], missing);
                self.set_missing(missing, false);
            }
        }
    }

    /// The first element of a region of the thread. Elements of threads lie side by side, eight bytes each.
    fn region(&mut self, position: usize) -> [Value; 2] {
        let (slab, threads, first) =
            (self.word(Word::Slab), self.word(Word::Threads), self.word(Word::Region(position)));
        let row = self.out.mul(LONG, first, threads);
        let thread = self.out.thread();
        let element = self.out.add(LONG, row, thread);
        let eight = self.out.int(LONG, 8);
        [self.out.address(Elem::U64, slab, element), self.out.mul(LONG, threads, eight)]
    }

    fn bytes(&mut self, buffer: Buffer) -> Value {
        let bytes = self.f().buffers[buffer.index()].elem.bytes();
        self.out.int(LONG, bytes as i64)
    }

    /// The address of the first element, and the bytes to the next one.
    fn whole(&mut self, buffer: Buffer) -> [Value; 2] {
        match self.memory.get(&buffer).expect("invariant: a kernel mentions memory that it is given, makes or binds") {
            Memory::Fixed(place) => *place,
            Memory::Named(variables) => variables.map(|variable| self.out.get(variable)),
        }
    }

    fn address(&mut self, place: Place) -> Value {
        let [first, stride] = self.whole(place.buffer);
        let offset = self.operand(place.offset);
        self.at([first, stride], offset)
    }

    fn at(&mut self, [first, stride]: [Value; 2], offset: Value) -> Value {
        let bytes = self.out.mul(LONG, offset, stride);
        self.out.add(LONG, first, bytes)
    }

    fn elem(&self, buffer: Buffer) -> Elem {
        self.f().buffers[buffer.index()].elem
    }

    // ---- elements

    pub(super) fn load(&mut self, from: Place) -> Value {
        let at = self.address(from);
        self.out.load(self.elem_of(from), at)
    }

    fn elem_of(&self, place: Place) -> Elem {
        self.elem(place.buffer)
    }

    /// Writes an element; to a stack only where it has room.
    pub(super) fn store(&mut self, to: Place, value: Value) {
        let elem = self.elem_of(to);
        let at = self.address(to);
        let Some(number) = self.growing(to.buffer) else { return self.out.store(elem, at, value) };
        let (offset, capacity) = (self.operand(to.offset), self.word(Word::Capacity(number)));
        let is_there = self.out.compare(Op::SLessThan, offset, capacity);
        self.out.when(is_there, |out| out.store(elem, at, value));
    }

    pub(super) fn combine(
        &mut self,
        instruction: Instruction,
        target: Target,
        value: Value,
    ) -> Result<(), Unsupported> {
        if self.take_up(target, value)? {
            return Ok(());
        }
        match target {
            Target::Local(local) => {
                let before = self.operand(local.into());
                let elem = self.f().elem(local);
                let total = self.combined(instruction, elem, [before, value])?;
                self.define(local, total);
            }
            Target::Element(place) => {
                let (elem, at) = (self.elem_of(place), self.address(place));
                let before = self.out.load(elem, at);
                let total = self.combined(instruction, elem, [before, value])?;
                self.out.store(elem, at, total);
            }
        }
        Ok(())
    }

    pub(super) fn copy(&mut self, from: Place, to: Place, count: Operand) -> Result<(), Unsupported> {
        let elem = self.elem_of(from);
        let [source, target] = [from, to].map(|place| self.address(place));
        let [[_, source_stride], [_, target_stride]] = [from, to].map(|place| self.whole(place.buffer));
        let count = self.operand(count);
        self.up_to(count, |body, k| {
            let at = body.at([source, source_stride], k);
            let value = body.out.load(elem, at);
            let at = body.at([target, target_stride], k);
            body.out.store(elem, at, value);
            Ok(())
        })
    }

    // ---- names

    pub(super) fn bind(&mut self, buffer: Buffer, to: Place) {
        self.leave_where_missing(to.buffer);
        let [_, stride] = self.whole(to.buffer);
        let first = self.address(to);
        if let Some(Memory::Named(variables)) = self.memory.get(&buffer) {
            let [name, step] = *variables;
            self.out.set(name, first);
            self.out.set(step, stride);
        }
    }

    pub(super) fn read_names(&mut self, cells: Value) {
        for buffer in &self.kernel.reads_names {
            let at = self.word_at(cells, self.plan.cells.buffers[buffer].0 as usize);
            let place = [self.out.load(Elem::U64, at), self.bytes(*buffer)];
            self.memory.insert(*buffer, Memory::Fixed(place));
        }
    }

    pub(super) fn write_names(&mut self, cells: Value) {
        for buffer in &self.kernel.writes_names {
            let at = self.word_at(cells, self.plan.cells.buffers[buffer].0 as usize);
            let [first, _] = self.whole(*buffer);
            self.out.store(Elem::U64, at, first);
        }
    }

    // ---- arrays that grow

    /// The number of an array that the kernel lets grow.
    fn growing(&self, buffer: Buffer) -> Option<usize> {
        self.missing.contains_key(&buffer).then(|| self.plan.growing.iter().position(|other| *other == buffer))?
    }

    /// An array of the thread; one whose size only the thread knows may have too little room.
    pub(super) fn allocate(&mut self, buffer: Buffer, extents: &[Operand]) {
        let is_growing = |size: &Size| matches!(size, Size::Growing(_));
        if !self.kernel.regions.iter().any(|region| region.buffer == buffer && is_growing(&region.size)) {
            return;
        }
        let zero = self.out.int(LONG, 0);
        let mut count = self.out.int(LONG, 1);
        for extent in extents {
            let extent = self.operand(*extent);
            let is_negative = self.out.compare(Op::SLessThan, extent, zero);
            let extent = self.out.choose(LONG, is_negative, zero, extent);
            count = self.out.mul(LONG, count, extent);
        }
        self.extend(buffer, count);
        self.leave_where_missing(buffer);
    }

    pub(super) fn open_stack(&mut self, buffer: Buffer) {
        if let Some(missing) = self.missing.get(&buffer) {
            self.set_missing(*missing, false);
        }
    }

    /// Notes what an array needs that has too little room.
    pub(super) fn extend(&mut self, buffer: Buffer, count: Value) {
        let Some(number) = self.growing(buffer) else { return };
        let (capacity, report) = (self.word(Word::Capacity(number)), self.word(Word::Report));
        let at = self.word_at(report, Report::NEEDS + number);
        let launch_at = self.word_at(report, Report::LAUNCH);
        let launch = self.word(Word::Launch);
        let missing = self.missing[&buffer];
        let lacks = self.out.compare(Op::SGreaterThan, count, capacity);
        self.out.when(lacks, |out| {
            out.atomic_extreme(Op::AtomicUMax, at, count);
            out.atomic_extreme(Op::AtomicUMin, launch_at, launch);
            let yes = out.constant(cotan_ir::Const::bool(true));
            out.set(missing, yes);
        });
    }

    fn leave_where_missing(&mut self, buffer: Buffer) {
        if let Some(missing) = self.missing.get(&buffer).copied() {
            let is_missing = self.out.get(missing);
            self.out.leave_if(is_missing, |_| {});
        }
    }

    fn set_missing(&mut self, missing: Variable, is_missing: bool) {
        let value = self.out.constant(cotan_ir::Const::bool(is_missing));
        self.out.set(missing, value);
    }
}
