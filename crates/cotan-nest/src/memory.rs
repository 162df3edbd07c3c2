//! Memory: blocks of elements, each with its type, and the arena that scopes release.
//!
//! An element is the bits of its [constant](cotan_ir::Const), whatever its type. A block that nobody has written to holds
//! a pattern, and one that was released holds nothing. While threads run that know nothing of each other, what one of them
//! reads or writes and another one has written is a race.

use crate::error::{Outcome, RuntimeError, bug};
use cotan_ir::{AllocationSite, Const, Elem, OutOfMemory};
use cotan_loops::BufferInfo;

/// The bits of what nobody has written, in every byte.
const PATTERN: u64 = 0x5b5b_5b5b_5b5b_5b5b;

/// The bits of a value of a type that nobody has written.
pub(crate) fn unwritten(elem: Elem) -> u64 {
    Const::from_bits(elem, PATTERN).bits()
}

/// An element of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Address {
    block: usize,
    offset: i64,
}

impl Address {
    /// The address so many elements further on.
    pub(crate) fn plus(self, n: i64) -> Address {
        Address { offset: self.offset.wrapping_add(n), ..self }
    }
}

struct Block {
    elem: Elem,
    cells: Vec<u64>,
    /// The last thread that wrote to each element, for as many as a thread ever did.
    writers: Vec<u64>,
}

/// All memory of a run.
#[derive(Default)]
pub(crate) struct Memory {
    blocks: Vec<Option<Block>>,
    /// The blocks of the arena, in the order in which they were allocated.
    arena: Vec<usize>,
    held: u64,
    max_bytes: u64,
    threads: Threads,
}

/// Threads that know nothing of each other, by numbers that none has twice.
#[derive(Clone, Copy, Default)]
struct Threads {
    /// The one that runs; 0 where there is none.
    running: u64,
    /// The first one of its launch.
    first: u64,
    /// The last one that there was.
    last: u64,
}

impl Threads {
    fn is_race(self, writer: u64) -> bool {
        self.running != 0 && writer >= self.first && writer != self.running
    }
}

/// What the arena held at some time.
#[derive(Clone, Copy)]
pub(crate) struct Mark(usize);

impl Memory {
    pub(crate) fn new(max_bytes: u64) -> Memory {
        Memory { blocks: Vec::new(), arena: Vec::new(), held: 0, max_bytes, threads: Threads::default() }
    }

    // ---- threads

    /// A launch of threads that know nothing of each other begins.
    pub(crate) fn begin_launch(&mut self) {
        self.threads.first = self.threads.last + 1;
    }

    /// The next thread of a launch runs.
    pub(crate) fn begin_thread(&mut self) {
        self.threads.last += 1;
        self.threads.running = self.threads.last;
    }

    /// No thread of a launch runs.
    pub(crate) fn end_launch(&mut self) {
        self.threads.running = 0;
    }

    // ---- allocation

    /// A block of so many elements that is released by name.
    pub(crate) fn allocate(&mut self, info: &BufferInfo, count: i64) -> Outcome<Address> {
        let block = self.blocks.len();
        self.blocks.push(Some(Block { elem: info.elem, cells: Vec::new(), writers: Vec::new() }));
        let address = Address { block, offset: 0 };
        self.extend(address, info, count)?;
        Ok(address)
    }

    /// A block of so many elements that is released with those that came before it.
    pub(crate) fn allocate_in_arena(&mut self, info: &BufferInfo, count: i64) -> Outcome<Address> {
        let address = self.allocate(info, count)?;
        self.arena.push(address.block);
        Ok(address)
    }

    /// Lets a block have so many elements at least.
    pub(crate) fn extend(&mut self, address: Address, info: &BufferInfo, count: i64) -> Outcome<()> {
        let (held, max_bytes) = (self.held, self.max_bytes);
        let Some(Some(block)) = self.blocks.get_mut(address.block) else { return bug("a released array grows") };
        let count = usize::try_from(count).unwrap_or(0);
        let more = count.saturating_sub(block.cells.len());
        let bytes = |n: usize| (n as u64).saturating_mul(info.elem.bytes() as u64);
        let refused = |limit| {
            let site = AllocationSite { name: info.name.clone(), span: info.span, is_record: info.is_record };
            RuntimeError::OutOfMemory(Box::new(OutOfMemory { wanted: bytes(count), held, limit, site: Some(site) }))
        };
        if held.saturating_add(bytes(more)) > max_bytes {
            return Err(refused(Some(max_bytes)));
        }
        block.cells.try_reserve_exact(more).map_err(|_| refused(None))?;
        block.cells.resize(block.cells.len() + more, unwritten(block.elem));
        self.held += bytes(more);
        Ok(())
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark(self.arena.len())
    }

    /// Releases what the arena has taken since.
    pub(crate) fn release(&mut self, mark: Mark) {
        for block in self.arena.split_off(mark.0) {
            self.free(Address { block, offset: 0 });
        }
    }

    /// Releases a block.
    pub(crate) fn free(&mut self, address: Address) {
        if let Some(block) = self.blocks[address.block].take() {
            self.held -= block.cells.len() as u64 * block.elem.bytes() as u64;
        }
        while let Some(None) = self.blocks.last() {
            self.blocks.pop();
        }
    }

    // ---- elements

    /// An element.
    pub(crate) fn read(&self, address: Address) -> Outcome<u64> {
        Ok(self.elements(address, 1)?[0])
    }

    /// Writes an element.
    pub(crate) fn write(&mut self, address: Address, bits: u64) -> Outcome<()> {
        self.elements_mut(address, 1)?[0] = bits;
        Ok(())
    }

    /// So many elements.
    pub(crate) fn elements(&self, address: Address, count: usize) -> Outcome<&[u64]> {
        let Some(Some(block)) = self.blocks.get(address.block) else { return bug("memory is read after its release") };
        let Some(range) = range(address, count, block) else { return bug(outside(address, count, block)) };
        if self.threads.running != 0 {
            let writers = &block.writers[range.start.min(block.writers.len())..range.end.min(block.writers.len())];
            if writers.iter().any(|writer| self.threads.is_race(*writer)) {
                return bug("a thread reads what another one writes");
            }
        }
        Ok(&block.cells[range])
    }

    /// So many elements, to be written.
    pub(crate) fn elements_mut(&mut self, address: Address, count: usize) -> Outcome<&mut [u64]> {
        let Some(Some(block)) = self.blocks.get_mut(address.block) else {
            return bug("memory is written to after its release");
        };
        let Some(range) = range(address, count, block) else { return bug(outside(address, count, block)) };
        if self.threads.running != 0 {
            if block.writers.len() < block.cells.len() {
                block.writers.resize(block.cells.len(), 0);
            }
            for writer in &mut block.writers[range.clone()] {
                if self.threads.is_race(*writer) {
                    return bug("two threads write to one element");
                }
                *writer = self.threads.running;
            }
        }
        Ok(&mut block.cells[range])
    }

    /// Copies elements; the two ranges may overlap.
    pub(crate) fn copy(&mut self, from: Address, to: Address, count: usize) -> Outcome<()> {
        let cells = self.elements(from, count)?.to_vec();
        self.elements_mut(to, count)?.copy_from_slice(&cells);
        Ok(())
    }
}

/// The cells of a range; none, wherever that is, for an empty one.
fn range(address: Address, count: usize, block: &Block) -> Option<std::ops::Range<usize>> {
    if count == 0 {
        return Some(0..0);
    }
    let start = usize::try_from(address.offset).ok()?;
    let end = start.checked_add(count)?;
    (end <= block.cells.len()).then_some(start..end)
}

fn outside(address: Address, count: usize, block: &Block) -> String {
    format!("elements {}, {count} of them, of an array of {}", address.offset, block.cells.len())
}
