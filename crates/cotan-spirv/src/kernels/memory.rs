//! Memory: where buffers lie, the regions of a thread, arrays that grow.

use super::body::Body;
use super::layout::{Report, Word};
use super::{LONG, Unsupported};
use crate::emit::{Register, ThreadArray, Value, Variable};
use cotan_device::{Region, Size};
use cotan_ir::{Const, Elem};
use cotan_loops::node::{BufferUse, walk};
use cotan_loops::{Buffer, Operand, Place, Target};
use cotan_ops::Instruction;
use rspirv::spirv::Op;

/// Where an array lies: in device memory by the address of its first element, and how many bytes the next one is away.
#[derive(Clone, Copy, Debug)]
pub(super) enum Memory {
    /// Always there.
    Fixed([Value; 2]),
    /// There where it was bound last.
    Named([Variable; 2]),
    /// In the private memory of the thread, from an element on that was bound last, if it is a name.
    Private(ThreadArray, Option<Variable>),
}

/// An array that grows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    /// Its number.
    number: usize,
    /// How many elements it has room for.
    capacity: Value,
    /// How many elements it was to have since it was opened.
    wanted: Variable,
    /// The most before that.
    needs: Variable,
}

/// Where an element lies.
#[derive(Clone, Copy, Debug)]
enum Spot {
    /// In device memory, at an address.
    At(Value),
    /// In the private memory of the thread, at an index.
    Private(ThreadArray, Value),
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
            match self.stage.growing().private(region) {
                Some(elements) => self.open_private(region, elements),
                None => {
                    let place = self.region(position);
                    self.memory.insert(region.buffer, Memory::Fixed(place));
                }
            }
        }
        let mut names = Vec::new();
        walk(&self.kernel.body, &mut |node| {
            node.each_buffer(&mut |buffer, usage| {
                if usage == BufferUse::Bind && !names.contains(&buffer) && !self.memory.contains_key(&buffer) {
                    names.push(buffer);
                }
            });
        });
        for name in names {
            let variables = [(); 2].map(|()| self.out.variable(LONG));
            self.memory.insert(name, Memory::Named(variables));
        }
        if self.f().watched.iter().any(|result| self.kernel.buffers.contains(result)) {
            let (has_nan, no) = (self.out.variable(Register::Bool), self.out.constant(Const::bool(false)));
            self.out.set(has_nan, no);
            self.has_nan = Some(has_nan);
        }
        for number in 0..self.plan.growing.len() {
            if self.layout.contains(&Word::Capacity(number)) {
                self.open_growing(number);
            }
        }
    }

    /// An array in private memory, with its names. One that grows has an element more, for what it has no room for.
    fn open_private(&mut self, region: &Region, elements: u32) {
        let length = if matches!(region.size, Size::Growing(_)) { elements + 1 } else { elements };
        let array = self.out.thread_array(Register::of(self.elem(region.buffer)), length);
        self.memory.insert(region.buffer, Memory::Private(array, None));
        for name in &region.names {
            let first = self.out.variable(LONG);
            self.memory.insert(*name, Memory::Private(array, Some(first)));
        }
    }

    fn open_growing(&mut self, number: usize) {
        let buffer = self.plan.growing[number];
        let region = self.kernel.regions.iter().find(|region| region.buffer == buffer);
        let capacity = match region.and_then(|region| self.stage.growing().private(region)) {
            Some(elements) => self.out.int(LONG, elements.into()),
            None => self.word(Word::Capacity(number)),
        };
        let [wanted, needs] = [(); 2].map(|()| self.out.variable(LONG));
        let zero = self.out.int(LONG, 0);
        [wanted, needs].into_iter().for_each(|variable| self.out.set(variable, zero));
        self.growing.insert(buffer, Growth { number, capacity, wanted, needs });
    }

    /// The first element of a region of the thread, in the tile of its workgroup, where elements of threads lie side by side, eight
    /// bytes each.
    fn region(&mut self, position: usize) -> [Value; 2] {
        let (slab, row, first) = (self.word(Word::Slab), self.word(Word::Row), self.word(Word::Region(position)));
        let (thread, size) = (self.out.thread(), self.out.int(LONG, self.out.workgroup().into()));
        let [group, local] = [Op::UDiv, Op::UMod].map(|op| self.out.op(op, LONG, &[thread, size]));
        let before = self.out.mul(LONG, group, row);
        let before = self.out.add(LONG, before, first);
        let before = self.out.mul(LONG, before, size);
        let element = self.out.add(LONG, before, local);
        let stride = self.out.int(LONG, 8 * i64::from(self.out.workgroup()));
        [self.out.address(Elem::U64, slab, element), stride]
    }

    fn bytes(&mut self, buffer: Buffer) -> Value {
        let bytes = self.f().buffers[buffer.index()].elem.bytes();
        self.out.int(LONG, bytes as i64)
    }

    /// The address of the first element, and the bytes to the next one.
    fn whole(&mut self, buffer: Buffer) -> [Value; 2] {
        match self.memory.get(&buffer) {
            Some(Memory::Fixed(place)) => *place,
            Some(Memory::Named(variables)) => variables.map(|variable| self.out.get(variable)),
            Some(Memory::Private(..)) | None => {
                unreachable!(
                    "invariant: a kernel mentions memory that it is given, makes or binds, and binds no private memory"
                )
            }
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

    fn spot(&mut self, place: Place) -> Spot {
        let Some(Memory::Private(array, first)) = self.memory.get(&place.buffer).copied() else {
            return Spot::At(self.address(place));
        };
        let offset = self.operand(place.offset);
        let Some(first) = first else { return Spot::Private(array, offset) };
        let first = self.out.get(first);
        Spot::Private(array, self.out.add(LONG, first, offset))
    }

    /// The place so many elements behind another one of the same array.
    fn behind(&mut self, first: Spot, buffer: Buffer, offset: Value) -> Spot {
        match first {
            Spot::At(address) => {
                let [_, stride] = self.whole(buffer);
                Spot::At(self.at([address, stride], offset))
            }
            Spot::Private(array, index) => Spot::Private(array, self.out.add(LONG, index, offset)),
        }
    }

    fn load_from(&mut self, elem: Elem, spot: Spot) -> Value {
        match spot {
            Spot::At(address) => self.out.load(elem, address),
            Spot::Private(array, index) => self.out.get_element(array, index),
        }
    }

    fn store_to(&mut self, elem: Elem, spot: Spot, value: Value) {
        match spot {
            Spot::At(address) => self.out.store(elem, address, value),
            Spot::Private(array, index) => self.out.set_element(array, index, value),
        }
    }

    fn elem(&self, buffer: Buffer) -> Elem {
        self.f().buffers[buffer.index()].elem
    }

    // ---- elements

    pub(super) fn load(&mut self, from: Place) -> Value {
        let spot = self.spot(from);
        self.load_from(self.elem_of(from), spot)
    }

    fn elem_of(&self, place: Place) -> Elem {
        self.elem(place.buffer)
    }

    /// Writes an element; to a stack only where it has room.
    pub(super) fn store(&mut self, to: Place, value: Value) {
        let elem = self.elem_of(to);
        self.watch(to.buffer, value);
        let spot = self.spot(to);
        let Some(Growth { capacity, .. }) = self.growing.get(&to.buffer).copied() else {
            return self.store_to(elem, spot, value);
        };
        match spot {
            Spot::At(at) => {
                let offset = self.operand(to.offset);
                let is_there = self.out.compare(Op::SLessThan, offset, capacity);
                self.out.when(is_there, |out| out.store(elem, at, value));
            }
            Spot::Private(array, index) => {
                let index = self.out.extreme(Instruction::Min, Elem::I64, index, capacity);
                self.out.set_element(array, index, value);
            }
        }
    }

    /// Notes whether a value is NaN that is stored to a result which is watched.
    fn watch(&mut self, buffer: Buffer, value: Value) {
        let elem = self.elem(buffer);
        let Some(has_nan) = self.has_nan.filter(|_| self.f().watched.contains(&buffer)) else { return };
        let is_nan = self.out.is_nan(elem, value);
        let before = self.out.get(has_nan);
        let after = self.out.op(Op::LogicalOr, Register::Bool, &[before, is_nan]);
        self.out.set(has_nan, after);
    }

    /// Lets a host do the call if a NaN was stored.
    pub(super) fn report_nan(&mut self) {
        let Some(has_nan) = self.has_nan else { return };
        let has_nan = self.out.get(has_nan);
        self.hand_to_host(has_nan);
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
                let (elem, spot) = (self.elem_of(place), self.spot(place));
                let before = self.load_from(elem, spot);
                let total = self.combined(instruction, elem, [before, value])?;
                self.store_to(elem, spot, total);
            }
        }
        Ok(())
    }

    pub(super) fn copy(&mut self, from: Place, to: Place, count: Operand) -> Result<(), Unsupported> {
        let elem = self.elem_of(from);
        let [source, target] = [from, to].map(|place| self.spot(place));
        let count = self.operand(count);
        self.up_to(count, |body, k| {
            let at = body.behind(source, from.buffer, k);
            let value = body.load_from(elem, at);
            let at = body.behind(target, to.buffer, k);
            body.store_to(elem, at, value);
            Ok(())
        })
    }

    // ---- names

    pub(super) fn bind(&mut self, buffer: Buffer, to: Place) {
        self.leave_where_missing(to.buffer);
        match (self.memory.get(&buffer).copied(), self.spot(to)) {
            (Some(Memory::Named([name, step])), Spot::At(first)) => {
                let [_, stride] = self.whole(to.buffer);
                self.out.set(name, first);
                self.out.set(step, stride);
            }
            (Some(Memory::Private(_, Some(name))), Spot::Private(_, first)) => self.out.set(name, first),
            (
                Some(Memory::Fixed(_) | Memory::Named(_) | Memory::Private(..)) | None,
                Spot::At(_) | Spot::Private(..),
            ) => {
                unreachable!("invariant: names have variables, and those of private memory are names of nothing else")
            }
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
        self.open_stack(buffer);
        self.extend(buffer, count);
        self.leave_where_missing(buffer);
    }

    pub(super) fn open_stack(&mut self, buffer: Buffer) {
        if let Some(Growth { wanted, needs, .. }) = self.growing.get(&buffer).copied() {
            let most = self.most(wanted, needs);
            self.out.set(needs, most);
            let zero = self.out.int(LONG, 0);
            self.out.set(wanted, zero);
        }
    }

    /// The greater one of two numbers.
    fn most(&mut self, a: Variable, b: Variable) -> Value {
        let [a, b] = [a, b].map(|variable| self.out.get(variable));
        self.out.extreme(Instruction::Max, Elem::I64, a, b)
    }

    /// Notes what an array needs. That it has too little room is reported where the thread ends: a branch costs time in each
    /// iteration, also where it is not taken.
    pub(super) fn extend(&mut self, buffer: Buffer, count: Value) {
        let Some(Growth { wanted, .. }) = self.growing.get(&buffer).copied() else { return };
        let before = self.out.get(wanted);
        let most = self.out.extreme(Instruction::Max, Elem::I64, before, count);
        self.out.set(wanted, most);
    }

    /// Reports the arrays that have had too little room.
    pub(super) fn report_needs(&mut self) {
        let mut all: Vec<Growth> = self.growing.values().copied().collect();
        if all.is_empty() {
            return;
        }
        all.sort_by_key(|growth| growth.number);
        let (report, launch) = (self.word(Word::Report), self.word(Word::Launch));
        let launch_at = self.word_at(report, Report::LAUNCH);
        for Growth { number, capacity, wanted, needs } in all {
            let at = self.word_at(report, Report::NEEDS + number);
            let needs = self.most(wanted, needs);
            let lacks = self.out.compare(Op::SGreaterThan, needs, capacity);
            self.out.when(lacks, |out| {
                out.atomic_extreme(Op::AtomicUMax, at, needs);
                out.atomic_extreme(Op::AtomicUMin, launch_at, launch);
            });
        }
    }

    /// Ends the thread where elements are missing.
    fn leave_where_missing(&mut self, buffer: Buffer) {
        if let Some(Growth { capacity, wanted, .. }) = self.growing.get(&buffer).copied() {
            let wanted = self.out.get(wanted);
            let is_missing = self.out.compare(Op::SGreaterThan, wanted, capacity);
            let branches = self.out.begin_branches(is_missing);
            self.report_needs();
            self.out.otherwise(branches);
            self.out.end_branches(branches);
            self.out.leave_if(is_missing, |_| {});
        }
    }
}
