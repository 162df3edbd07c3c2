//! Nodes, executed.
//!
//! A frame has cells for the lanes of each local of the function, and the address of each buffer.

use crate::error::{CheckFailure, Outcome, RuntimeError, bug};
use crate::growth::Growth;
use crate::instruction::kernel;
use crate::memory::{Address, Memory, unwritten};
use crate::sum::Reducing;
use cotan_device::Need;
use cotan_ir::{CheckKind, Const, Elem, Monoid, Span};
use cotan_loops::{
    Buffer, BufferInfo, BufferKind, For, Home, Local, LoopFunction, Node, Operand, Place, Target, Threads, combining,
    heading,
};
use rustc_hash::FxHashMap;

/// What a run may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Nodes executed, plus elements that they copy or multiply.
    pub steps: u64,
    /// Bytes that are alive at one time, arguments and results among them.
    pub max_bytes: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { steps: u64::MAX, max_bytes: 8 << 30 }
    }
}

/// A run: the functions, and what has been used so far.
pub(crate) struct Machine<'p> {
    pub(crate) functions: FxHashMap<&'p str, &'p LoopFunction>,
    pub(crate) memory: Memory,
    steps_left: u64,
    /// Where output goes; nowhere without one.
    pub(crate) output: Option<&'p mut dyn FnMut(&str)>,
    /// What a kernel has limited room for; nothing where all grows as it likes.
    pub(crate) growth: Growth,
}

/// One activation of a function.
pub(crate) struct Frame<'f> {
    pub(crate) f: &'f LoopFunction,
    /// Where the lanes of each local begin.
    starts: Vec<usize>,
    cells: Vec<u64>,
    /// Where each buffer lies that has memory.
    pub(crate) buffers: Vec<Option<Address>>,
    /// The memory that the caller offers for results, with its number of elements.
    pub(crate) offered: Vec<Option<(Address, i64)>>,
    /// The arrays in the frame, which have their memory until the function ends.
    pub(crate) arrays: FxHashMap<Buffer, Address>,
    /// The lanes of the loop around.
    pub(crate) loop_lanes: u32,
    /// The sums of the reductions around.
    pub(crate) reducing: Vec<Reducing>,
}

impl<'f> Frame<'f> {
    pub(crate) fn new(f: &'f LoopFunction) -> Frame<'f> {
        let (mut starts, mut cells) = (Vec::with_capacity(f.locals.len()), Vec::new());
        for info in &f.locals {
            starts.push(cells.len());
            cells.resize(cells.len() + info.lanes as usize, unwritten(info.elem));
        }
        Frame {
            f,
            starts,
            cells,
            buffers: vec![None; f.buffers.len()],
            offered: vec![None; f.results.len()],
            arrays: FxHashMap::default(),
            loop_lanes: 1,
            reducing: Vec::new(),
        }
    }

    /// Makes it what another activation of the same function is, but for the sums of reductions.
    pub(crate) fn become_like(&mut self, other: &Frame<'f>) {
        self.cells.clone_from(&other.cells);
        self.buffers.clone_from(&other.buffers);
        self.offered.clone_from(&other.offered);
        self.arrays.clone_from(&other.arrays);
        self.loop_lanes = other.loop_lanes;
    }

    // ---- operands

    /// The value of a lane; what has no lanes is the same in all.
    pub(crate) fn lane(&self, operand: Operand, lane: usize) -> u64 {
        match operand {
            Operand::Const(c) => c.bits(),
            Operand::Local(local) => {
                let lane = if self.f.locals[local.index()].lanes == 1 { 0 } else { lane };
                self.cells[self.starts[local.index()] + lane]
            }
        }
    }

    /// All lanes of a value.
    pub(crate) fn lanes(&self, operand: Operand) -> Vec<u64> {
        (0..self.f.lanes(operand) as usize).map(|lane| self.lane(operand, lane)).collect()
    }

    /// The bits of a value without lanes.
    pub(crate) fn bits(&self, operand: Operand) -> u64 {
        self.lane(operand, 0)
    }

    /// The value of an i64.
    pub(crate) fn int(&self, operand: Operand) -> i64 {
        self.bits(operand) as i64
    }

    pub(crate) fn ints(&self, operands: &[Operand]) -> Vec<i64> {
        operands.iter().map(|operand| self.int(*operand)).collect()
    }

    /// Gives a local without lanes a value.
    pub(crate) fn set(&mut self, local: Local, bits: u64) {
        self.cells[self.starts[local.index()]] = bits;
    }

    /// Gives each lane of a local a value.
    pub(crate) fn each_lane(&mut self, to: Local, mut value: impl FnMut(&Self, usize) -> Outcome<u64>) -> Outcome<()> {
        let (start, lanes) = (self.starts[to.index()], self.f.locals[to.index()].lanes as usize);
        for lane in 0..lanes {
            self.cells[start + lane] = value(self, lane)?;
        }
        Ok(())
    }

    // ---- places

    /// Where a buffer begins.
    pub(crate) fn base(&self, buffer: Buffer) -> Outcome<Address> {
        match self.buffers[buffer.index()] {
            Some(address) => Ok(address),
            None => bug(format!("`{}` has no memory", self.info(buffer).name)),
        }
    }

    pub(crate) fn address(&self, place: Place) -> Outcome<Address> {
        Ok(self.base(place.buffer)?.plus(self.int(place.offset)))
    }

    pub(crate) fn info(&self, buffer: Buffer) -> &'f BufferInfo {
        &self.f.buffers[buffer.index()]
    }

    /// The number of elements of an array. Negative extents count as zero, and bytes that overflow are the most there are.
    pub(crate) fn count(&self, elem: Elem, extents: &[Operand]) -> i64 {
        let bytes = elem.bytes() as i64;
        let product = |all: i64, extent: &Operand| all.checked_mul(self.int(*extent).max(0)).unwrap_or(i64::MAX);
        let all = extents.iter().fold(bytes, product);
        if all == i64::MAX { all } else { all / bytes }
    }
}

impl<'p> Machine<'p> {
    pub(crate) fn new(
        functions: &'p [LoopFunction],
        options: &Options,
        output: Option<&'p mut dyn FnMut(&str)>,
    ) -> Machine<'p> {
        Machine {
            functions: functions.iter().map(|f| (&*f.name, f)).collect(),
            memory: Memory::new(options.max_bytes),
            steps_left: options.steps,
            output,
            growth: Growth::default(),
        }
    }

    /// A machine for the threads of a kernel.
    pub(crate) fn of_kernel(memory: Memory, steps_left: u64, growth: Growth) -> Machine<'p> {
        Machine { functions: FxHashMap::default(), memory, steps_left, output: None, growth }
    }

    /// Gives back what it was given, and tells what had too little room.
    pub(crate) fn take_back(self, memory: &mut Memory, steps_left: &mut u64) -> Vec<Need> {
        (*memory, *steps_left) = (self.memory, self.steps_left);
        self.growth.needs()
    }

    /// Counts steps.
    pub(crate) fn spend(&mut self, steps: u64) -> Outcome<()> {
        self.steps_left = self.steps_left.checked_sub(steps).ok_or(RuntimeError::OutOfSteps)?;
        Ok(())
    }

    /// Runs nodes one after the other.
    pub(crate) fn list(&mut self, frame: &mut Frame<'p>, nodes: &'p [Node]) -> Outcome<()> {
        nodes.iter().try_for_each(|node| {
            self.spend(1)?;
            self.node(frame, node).map_err(|e| e.at(|| heading(frame.f, node)))
        })
    }

    fn node(&mut self, frame: &mut Frame<'p>, node: &'p Node) -> Outcome<()> {
        match node {
            Node::Let(local, expr) => frame.define(*local, expr),
            Node::Set(local, value) => frame.each_lane(*local, |frame, lane| Ok(frame.lane(*value, lane))),
            Node::Load(local, from) => {
                self.is_there(from.buffer)?;
                let bits = self.memory.read(frame.address(*from)?)?;
                frame.set(*local, bits);
                Ok(())
            }
            Node::Store(to, value) => self.memory.write(frame.address(*to)?, frame.bits(*value)),
            Node::LoadLanes { to, from, mask } => self.load_lanes(frame, *to, *from, *mask),
            Node::StoreLanes { to, value, mask } => self.store_lanes(frame, *to, *value, *mask),
            Node::Combine { monoid, target, value } => self.combine(frame, *monoid, *target, *value),
            Node::Copy { from, to, count } => {
                self.is_there(from.buffer)?;
                let count = usize::try_from(frame.int(*count)).unwrap_or(0);
                self.spend(count as u64)?;
                self.memory.copy(frame.address(*from)?, frame.address(*to)?, count)
            }
            Node::PartialSums(blocks) => self.partial_sums(frame, blocks),
            Node::Alloc { buffer, extents } => self.allocate(frame, *buffer, extents),
            // What is counted is shown by a backend, and changes nothing.
            Node::CountRecord(..) => Ok(()),
            Node::StackOpen(buffer) => {
                frame.buffers[buffer.index()] = Some(self.memory.allocate_in_arena(frame.info(*buffer), 0)?);
                Ok(())
            }
            Node::StackExtend(buffer, count) => {
                self.growth.has_room(*buffer, frame.int(*count));
                self.memory.extend(frame.base(*buffer)?, frame.info(*buffer), frame.int(*count))
            }
            Node::Bind { buffer, to } => {
                self.is_there(to.buffer)?;
                frame.buffers[buffer.index()] = Some(frame.address(*to)?);
                Ok(())
            }
            Node::Scope(body) => self.scope(frame, body),
            Node::Segment(body) => self.list(frame, body),
            Node::For(l) => self.counted(frame, l),
            Node::Reduce(reduction) => self.reduction(frame, reduction),
            Node::While(go, body) => {
                while frame.bits((*go).into()) != 0 {
                    self.spend(1)?;
                    self.list(frame, body)?;
                }
                Ok(())
            }
            Node::If(cond, yes, no) => self.list(frame, if frame.bits(*cond) != 0 { yes } else { no }),
            Node::Switch(on, arms) => {
                let last = arms.len().saturating_sub(1);
                let number = usize::try_from(frame.int(*on).max(0)).map_or(last, |n| n.min(last));
                self.list(frame, &arms[number])
            }
            Node::Check { cond, kind, args, span } => check(frame, *cond, *kind, args, *span),
            Node::Product(product) => self.product(frame, product),
            Node::Routine(routine) => self.routine(frame, routine),
            Node::Print { text, value, extents } => self.print(frame, text, value.as_ref(), *extents),
            Node::Call { callee, args, results } => self.call(frame, callee, args, results),
        }
    }

    /// Leaves where elements of an array are missing.
    fn is_there(&self, buffer: Buffer) -> Outcome<()> {
        if self.growth.lacks(buffer) { Err(RuntimeError::TooLittleRoom) } else { Ok(()) }
    }

    /// Runs nodes and releases what they take from the arena.
    fn scope(&mut self, frame: &mut Frame<'p>, nodes: &'p [Node]) -> Outcome<()> {
        let mark = self.memory.mark();
        self.list(frame, nodes)?;
        self.memory.release(mark);
        Ok(())
    }

    fn counted(&mut self, frame: &mut Frame<'p>, l: &'p For) -> Outcome<()> {
        let outside = frame.loop_lanes;
        frame.loop_lanes = outside.max(l.lanes);
        let count = if frame.is_idle(l) { 0 } else { frame.int(l.count) };
        for k in 0..count {
            self.spend(1)?;
            frame.set(l.index, k as u64);
            match l.threads {
                // The threads that share iterations have an arena each.
                Threads::Each | Threads::Wave(_) => self.scope(frame, &l.body)?,
                Threads::One | Threads::May(_) => self.list(frame, &l.body)?,
            }
        }
        frame.loop_lanes = outside;
        Ok(())
    }

    fn combine(&mut self, frame: &mut Frame, monoid: Monoid, target: Target, value: Operand) -> Outcome<()> {
        if frame.take_up(target, value)? {
            return Ok(());
        }
        let kernel = kernel(combining(monoid), frame.f.operand_elem(value))?;
        match target {
            Target::Element(place) => {
                let address = frame.address(place)?;
                let total = kernel(&[self.memory.read(address)?, frame.bits(value)]);
                self.memory.write(address, total)
            }
            Target::Local(local) => frame
                .each_lane(local, |frame, lane| Ok(kernel(&[frame.lane(local.into(), lane), frame.lane(value, lane)]))),
        }
    }

    fn allocate(&mut self, frame: &mut Frame, buffer: Buffer, extents: &[Operand]) -> Outcome<()> {
        let info = frame.info(buffer);
        let count = frame.count(info.elem, extents);
        if !self.growth.has_room(buffer, count) {
            return Err(RuntimeError::TooLittleRoom);
        }
        let BufferKind::Allocated(home) = info.kind else { return bug(format!("`{}` is not allocated", info.name)) };
        let address = match home {
            Home::Arena => self.memory.allocate_in_arena(info, count)?,
            Home::Frame => match frame.arrays.get(&buffer) {
                Some(address) => *address,
                None => {
                    let address = self.memory.allocate(info, count)?;
                    frame.arrays.insert(buffer, address);
                    address
                }
            },
            Home::Result(k) => match frame.offered[k] {
                Some((address, room)) if count <= room => address,
                Some(_) | None => self.memory.allocate_in_arena(info, count)?,
            },
        };
        frame.buffers[buffer.index()] = Some(address);
        Ok(())
    }
}

fn check(frame: &Frame, cond: Operand, kind: CheckKind, args: &[Operand], span: Span) -> Outcome<()> {
    if frame.bits(cond) != 0 {
        return Ok(());
    }
    let shown = |arg: &Operand| {
        let constant = Const::from_bits(frame.f.operand_elem(*arg), frame.bits(*arg));
        constant.as_integer().unwrap_or(constant.bits().into())
    };
    Err(RuntimeError::Check(CheckFailure { kind, args: args.iter().map(shown).collect(), span }))
}
