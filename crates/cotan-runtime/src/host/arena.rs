//! The memory of one thread of a call: a bump allocator with marks, and growable stacks.
//!
//! A bump allocator over one [`Range`] holds what was in use at the worst moment, and hardly more: what is released
//! lies at the end, and is handed out again. Stacks grow on their own, each in memory of its own.

use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use super::memory::{Block, MemoryLimit, Refusal, round_up};
use super::range::Range;
use crate::abi::{Mark, Stack};

/// The size of a stack when something is first pushed.
const FIRST_STACK_BYTES: usize = 1 << 10;
/// The largest stack that is moved by copying when it is full; beyond that it gets a range.
const SMALL_STACK_BYTES: usize = 64 << 10;

/// The memory of a stack that something was pushed to.
#[derive(Debug)]
enum Memory {
    Block(Block),
    Range(Range),
}

impl Memory {
    fn start(&self) -> *mut u8 {
        match self {
            Memory::Block(block) => block.start(),
            Memory::Range(range) => range.start(),
        }
    }

    /// Bytes that may be used.
    fn bytes(&self) -> usize {
        match self {
            Memory::Block(block) => block.bytes(),
            Memory::Range(range) => range.held(),
        }
    }
}

/// The memory of one stack.
#[derive(Debug)]
struct StackMemory {
    /// Nothing before the first push.
    memory: Option<Memory>,
    /// The stack itself, in the frame of the code that opened it; it is followed only while the stack is open.
    owner: *mut Stack,
}

// SAFETY: the owner is followed only on the thread that opened it.
unsafe impl Send for StackMemory {}

/// A bump allocator. Memory is kept when it is released, so that a loop, or the next call, finds it warm.
#[derive(Debug)]
pub struct Arena {
    limit: Arc<MemoryLimit>,
    /// One range, and more only where address space is short.
    pieces: Vec<Range>,
    /// The piece in use; pieces after it are free.
    current: usize,
    /// Bytes in use of that piece.
    offset: usize,
    /// The memory of stacks, which grow on their own: a stack opened before a mark may grow after it and must survive
    /// the release.
    stacks: Vec<StackMemory>,
    /// How many of them are open. The others wait for the next stack of their number, which in a loop, and in the next
    /// call, is most likely the same one.
    open_stacks: usize,
}

impl Arena {
    /// An arena that holds nothing yet.
    #[must_use]
    pub fn new(limit: &Arc<MemoryLimit>) -> Self {
        let limit = Arc::clone(limit);
        Self { limit, pieces: Vec::new(), current: 0, offset: 0, stacks: Vec::new(), open_stacks: 0 }
    }

    /// Memory for `bytes` bytes with unspecified content, valid until it is released.
    pub fn allocate(&mut self, bytes: usize) -> Result<*mut c_void, Refusal> {
        let bytes = round_up(bytes)?;
        let mut offset = self.offset;
        for index in self.current..self.pieces.len() {
            let end = offset.saturating_add(bytes);
            if self.pieces[index].hold(end).is_ok() {
                return Ok(self.take(index, offset, bytes));
            }
            offset = 0;
        }
        let mut piece = Range::new(bytes, &self.limit)?;
        piece.hold(bytes)?;
        self.pieces.push(piece);
        Ok(self.take(self.pieces.len() - 1, 0, bytes))
    }

    /// The same where the piece in use holds as much already, as in all iterations of a loop but the first.
    #[inline]
    pub fn allocate_held(&mut self, bytes: usize) -> Option<*mut c_void> {
        let bytes = round_up(bytes).ok()?;
        let piece = self.pieces.get(self.current)?;
        let offset = self.offset;
        self.offset = offset.checked_add(bytes).filter(|end| *end <= piece.held())?;
        // SAFETY: the piece has `bytes` bytes from `offset`.
        Some(unsafe { piece.start().add(offset) }.cast())
    }

    fn take(&mut self, index: usize, offset: usize, bytes: usize) -> *mut c_void {
        self.current = index;
        self.offset = offset + bytes;
        // SAFETY: the caller saw that the piece has `bytes` bytes from `offset`.
        unsafe { self.pieces[index].start().add(offset) }.cast()
    }

    /// The present moment.
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark { block: self.current as i64, offset: self.offset as i64, stacks: self.open_stacks as i64 }
    }

    /// Frees all memory allocated, and all stacks opened, since `mark`.
    pub fn release(&mut self, mark: Mark) {
        self.current = mark.block as usize;
        self.offset = mark.offset as usize;
        self.open_stacks = mark.stacks as usize;
    }

    /// Frees everything.
    pub fn reset(&mut self) {
        self.release(Mark::default());
    }

    /// Gives what is not in use back to the machine.
    pub fn trim(&mut self) {
        self.stacks.truncate(self.open_stacks);
        for StackMemory { memory, owner } in &mut self.stacks {
            if let Some(Memory::Range(range)) = memory {
                // SAFETY: the stack is open, so it is where it was opened, and nobody else looks at it now.
                let stack = unsafe { &mut **owner };
                range.trim(stack.length as usize);
                stack.capacity = range.held() as i64;
            }
        }
        self.pieces.truncate(self.current + usize::from(self.offset > 0));
        if let Some(range) = self.pieces.get_mut(self.current) {
            range.trim(self.offset);
        }
    }

    /// Makes an empty stack, with the memory that an earlier one of its number has left.
    ///
    /// # Safety
    /// `stack` stays where it is until it is released.
    pub unsafe fn open_stack(&mut self, stack: *mut Stack) {
        let slot = self.open_stacks;
        self.open_stacks += 1;
        if slot == self.stacks.len() {
            self.stacks.push(StackMemory { memory: None, owner: stack });
        }
        self.stacks[slot].owner = stack;
        let memory = self.stacks[slot].memory.as_ref();
        let empty = Stack {
            data: memory.map_or(ptr::null_mut(), Memory::start).cast(),
            length: 0,
            capacity: memory.map_or(0, Memory::bytes) as i64,
            slot: slot as i64,
        };
        // SAFETY: by this function's contract.
        unsafe { stack.write(empty) };
    }

    /// Makes room for `bytes` more bytes. A stack that does not fit is left as it is.
    ///
    /// # Safety
    /// `stack` was opened in this arena and not released.
    pub unsafe fn reserve(&mut self, stack: *mut Stack, bytes: usize) -> Result<(), Refusal> {
        // SAFETY: by this function's contract.
        let stack = unsafe { &mut *stack };
        let length = stack.length as usize;
        let needed = length.saturating_add(bytes);
        let slot = stack.slot as usize;
        if let Some(Memory::Range(range)) = &mut self.stacks[slot].memory {
            range.hold_anywhere(needed)?;
        } else if needed > stack.capacity as usize {
            let memory = self.larger_memory(needed, stack.capacity as usize)?;
            if length > 0 {
                // SAFETY: the old memory has at least `length` bytes in use, the new one is larger.
                unsafe { ptr::copy_nonoverlapping(stack.data.cast(), memory.start(), length) };
            }
            self.stacks[slot].memory = Some(memory);
        }
        if let Some(memory) = &self.stacks[slot].memory {
            stack.data = memory.start().cast();
            stack.capacity = memory.bytes() as i64;
        }
        Ok(())
    }

    /// New memory for a stack that had `capacity` bytes of a block.
    fn larger_memory(&self, needed: usize, capacity: usize) -> Result<Memory, Refusal> {
        if needed <= SMALL_STACK_BYTES {
            let generous = needed.max(2 * capacity).max(FIRST_STACK_BYTES);
            let block = Block::new(generous, &self.limit).or_else(|_| Block::new(needed, &self.limit));
            return block.map(Memory::Block);
        }
        let mut range = Range::new(needed, &self.limit)?;
        range.hold(needed)?;
        Ok(Memory::Range(range))
    }
}

/// Arenas for the chunks of parallel loops, reused from chunk to chunk and from call to call.
#[derive(Debug)]
pub struct ArenaStore {
    limit: Arc<MemoryLimit>,
    spare: Mutex<Vec<Arena>>,
}

impl ArenaStore {
    /// A store whose arenas count against `limit`.
    #[must_use]
    pub fn new(limit: &Arc<MemoryLimit>) -> Self {
        Self { limit: Arc::clone(limit), spare: Mutex::default() }
    }

    /// Runs `work` with an empty arena of its own.
    pub(super) fn with_arena<T>(&self, work: impl FnOnce(&mut Arena) -> T) -> T {
        let spare = self.lock().pop();
        let mut arena = spare.unwrap_or_else(|| Arena::new(&self.limit));
        let result = work(&mut arena);
        arena.reset();
        self.lock().push(arena);
        result
    }

    /// Gives the memory of the arenas that are not in use back to the machine.
    pub(super) fn trim(&self) {
        self.lock().clear();
    }

    /// What all arenas count against.
    pub(super) fn limit(&self) -> &Arc<MemoryLimit> {
        &self.limit
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Arena>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::range::CHUNK_BYTES;
    use super::*;
    use crate::abi::ALIGNMENT;

    fn arena(max_bytes: usize) -> (Arc<MemoryLimit>, Arena) {
        let limit = MemoryLimit::new(max_bytes);
        let arena = Arena::new(&limit);
        (limit, arena)
    }

    #[test]
    fn allocations_are_aligned_and_do_not_overlap() {
        let (_limit, mut arena) = arena(1 << 24);
        let sizes = [0, 1, 63, 64, 65, 40_000, 8, 100_000, 1];
        let mut spans: Vec<(usize, usize)> =
            sizes.iter().map(|&size| (arena.allocate(size).unwrap() as usize, size)).collect();
        assert!(spans.iter().all(|(start, _)| start % ALIGNMENT == 0));
        spans.sort_unstable();
        for pair in spans.windows(2) {
            assert!(pair[0].0 + pair[0].1 <= pair[1].0, "{pair:?}");
        }
    }

    #[test]
    fn memory_released_is_handed_out_again() {
        let (_limit, mut arena) = arena(1 << 24);
        arena.allocate(100).unwrap();
        let mark = arena.mark();
        let first = arena.allocate(100).unwrap();
        arena.allocate(1 << 20).unwrap();
        arena.release(mark);
        assert_eq!(arena.allocate(100).unwrap(), first);
    }

    #[test]
    fn the_limit_holds_and_memory_counts_until_it_is_freed() {
        let (limit, mut arena) = arena(1 << 20);
        assert_eq!(arena.allocate(2 << 20), Err(Refusal::Limit));
        assert_eq!(arena.allocate(usize::MAX), Err(Refusal::Machine));
        assert!(arena.allocate(1 << 20).is_ok());
        assert_eq!(arena.allocate(1), Err(Refusal::Limit));
        assert_eq!(limit.in_use(), 1 << 20);
        drop(arena);
        assert_eq!(limit.in_use(), 0);
    }

    #[test]
    fn large_tensors_are_held_exactly_whatever_comes_and_goes() {
        let (limit, mut arena) = arena(1 << 30);
        let mut live = 0;
        let mut most = 0;
        let mut marks = Vec::new();
        // Sizes that rise and fall, released in the order of a stack.
        for step in 0..200usize {
            if step % 7 < 4 {
                let bytes = 100_000 + 37_000 * (step * step % 23);
                marks.push((arena.mark(), live));
                arena.allocate(bytes).unwrap();
                live += bytes;
                most = most.max(live);
            } else if let Some((mark, before)) = marks.pop() {
                arena.release(mark);
                live = before;
            }
        }
        assert!(limit.peak() <= most + most / 20, "{} bytes were held for {most}", limit.peak());
    }

    #[test]
    fn a_second_round_takes_nothing_from_the_machine() {
        let (limit, mut arena) = arena(1 << 24);
        let round = |arena: &mut Arena| {
            for size in [10, 10_000, 300_000] {
                arena.allocate(size).unwrap();
                let mark = arena.mark();
                for inner in 0..5 {
                    let (mut small, mut large) = (closed(), closed());
                    open(arena, &mut small);
                    open(arena, &mut large);
                    for step in 0..30 * size as u64 / 100 {
                        push(arena, &mut large, step).unwrap();
                    }
                    push(arena, &mut small, inner).unwrap();
                    arena.allocate(size).unwrap();
                    arena.release(mark);
                }
            }
            arena.reset();
        };
        round(&mut arena);
        let first = (limit.in_use(), limit.blocks());
        round(&mut arena);
        assert_eq!((limit.in_use(), limit.blocks()), first);
    }

    #[test]
    fn a_stack_that_is_opened_again_in_a_loop_takes_memory_once() {
        let (limit, mut arena) = arena(1 << 30);
        let mut taken = Vec::new();
        for _ in 0..3 {
            let mark = arena.mark();
            let mut stack = closed();
            open(&mut arena, &mut stack);
            for step in 0..100_000 {
                push(&mut arena, &mut stack, step).unwrap();
            }
            assert_eq!(content(&stack), (0..100_000).collect::<Vec<_>>());
            arena.release(mark);
            taken.push(limit.blocks());
        }
        assert_eq!(taken, [taken[0]; 3]);
    }

    #[test]
    fn a_stack_holds_what_it_contains_to_a_chunk() {
        let (limit, mut arena) = arena(1 << 30);
        let mut stack = closed();
        open(&mut arena, &mut stack);
        for step in 0..1_000_000usize {
            push(&mut arena, &mut stack, step as u64).unwrap();
            let used = 8 * (step + 1);
            if used > SMALL_STACK_BYTES {
                assert!(limit.in_use() <= used + CHUNK_BYTES, "{} bytes are held for {used}", limit.in_use());
            }
        }
        assert!(limit.peak() <= 8_000_000 + CHUNK_BYTES);
    }

    #[test]
    fn a_stack_keeps_what_it_contains_and_gives_back_what_an_earlier_one_left() {
        let (limit, mut arena) = arena(1 << 20);
        let mut stack = closed();
        let fill = |arena: &mut Arena, stack: &mut Stack, n: u64| {
            open(arena, stack);
            (0..n).for_each(|step| push(arena, stack, step).unwrap());
        };
        fill(&mut arena, &mut stack, 100_000);
        arena.reset();
        fill(&mut arena, &mut stack, 20_000);
        assert!(limit.in_use() > 800_000);
        arena.trim();
        assert!(limit.in_use() < 160_000 + CHUNK_BYTES);
        arena.allocate(700_000).unwrap();
        push(&mut arena, &mut stack, 20_000).unwrap();
        assert_eq!(content(&stack), (0..=20_000).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_not_in_use_is_given_back() {
        let (limit, mut arena) = arena(1 << 30);
        arena.allocate(10).unwrap();
        let mut kept = closed();
        open(&mut arena, &mut kept);
        push(&mut arena, &mut kept, 7).unwrap();
        arena.allocate(100_000).unwrap();
        let held = limit.in_use();
        let mark = arena.mark();
        arena.allocate(1_000_000).unwrap();
        let mut freed = closed();
        open(&mut arena, &mut freed);
        push(&mut arena, &mut freed, 8).unwrap();
        arena.trim();
        assert!(limit.in_use() > held + 1_000_000 - CHUNK_BYTES);
        arena.release(mark);
        arena.trim();
        assert!(limit.in_use() < held + CHUNK_BYTES);
        assert_eq!(content(&kept), [7]);
    }

    /// Room for a stack.
    fn closed() -> Stack {
        Stack { data: ptr::null_mut(), length: 0, capacity: 0, slot: 0 }
    }

    fn open(arena: &mut Arena, stack: &mut Stack) {
        // SAFETY: the tests below leave their stacks where they are.
        unsafe { arena.open_stack(stack) };
    }

    fn push(arena: &mut Arena, stack: &mut Stack, value: u64) -> Result<(), Refusal> {
        // SAFETY: the stack is open in this arena, and room for eight bytes was made.
        unsafe {
            arena.reserve(stack, 8)?;
            let end = stack.data.cast::<u8>().add(stack.length as usize);
            end.cast::<u64>().write(value);
        }
        stack.length += 8;
        Ok(())
    }

    fn content(stack: &Stack) -> Vec<u64> {
        // SAFETY: `length` bytes were written by `push`.
        unsafe { std::slice::from_raw_parts(stack.data.cast(), stack.length as usize / 8) }.to_vec()
    }

    #[test]
    fn a_stack_keeps_its_content_when_it_grows_inside_a_released_scope() {
        let (_limit, mut arena) = arena(1 << 24);
        let mut outer = closed();
        open(&mut arena, &mut outer);
        for round in 0..50 {
            let mark = arena.mark();
            let mut inner = closed();
            open(&mut arena, &mut inner);
            for step in 0..20 {
                push(&mut arena, &mut inner, step).unwrap();
                push(&mut arena, &mut outer, round * 20 + step).unwrap();
            }
            assert_eq!(content(&inner), (0..20).collect::<Vec<_>>());
            arena.release(mark);
        }
        assert_eq!(content(&outer), (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn a_stack_that_cannot_grow_keeps_what_it_has() {
        let (_limit, mut arena) = arena(8 << 10);
        let mut stack = closed();
        open(&mut arena, &mut stack);
        let mut pushed = Vec::new();
        while push(&mut arena, &mut stack, pushed.len() as u64).is_ok() {
            pushed.push(pushed.len() as u64);
        }
        assert!(pushed.len() >= 512);
        assert_eq!(content(&stack), pushed);
    }
}
