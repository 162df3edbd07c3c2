//! The memory of one thread of a call: a bump allocator with marks, and growable stacks.

use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use super::memory::{Block, MemoryLimit, round_up};
use crate::abi::{Mark, Stack};

/// The size of an arena's first block; each further one doubles what there is.
const FIRST_BLOCK_BYTES: usize = 16 << 10;
/// The size of a stack when something is first pushed.
const FIRST_STACK_BYTES: usize = 1 << 10;

/// A bump allocator. Blocks are kept when they are released, so that a loop, or the next call, finds
/// them warm.
#[derive(Debug)]
pub struct Arena {
    limit: Arc<MemoryLimit>,
    blocks: Vec<Block>,
    /// The block in use; blocks after it are free.
    current: usize,
    /// Bytes in use of that block.
    offset: usize,
    /// The memory of open stacks, which grow on their own: a stack opened before a mark may grow
    /// after it and must survive the release. An entry is empty until the first push.
    stacks: Vec<Option<Block>>,
}

impl Arena {
    /// An arena that holds nothing yet.
    #[must_use]
    pub fn new(limit: &Arc<MemoryLimit>) -> Self {
        Self { limit: Arc::clone(limit), blocks: Vec::new(), current: 0, offset: 0, stacks: Vec::new() }
    }

    /// Memory for `bytes` bytes with unspecified content, valid until it is released.
    pub fn allocate(&mut self, bytes: usize) -> Option<*mut c_void> {
        let bytes = round_up(bytes)?;
        let mut offset = self.offset;
        for index in self.current..self.blocks.len() {
            if bytes <= self.blocks[index].bytes() - offset {
                return Some(self.take(index, offset, bytes));
            }
            offset = 0;
        }
        let held: usize = self.blocks.iter().map(Block::bytes).sum();
        let generous = bytes.max(held).max(FIRST_BLOCK_BYTES);
        let block = Block::new(generous, &self.limit).or_else(|| Block::new(bytes, &self.limit))?;
        self.blocks.push(block);
        Some(self.take(self.blocks.len() - 1, 0, bytes))
    }

    fn take(&mut self, index: usize, offset: usize, bytes: usize) -> *mut c_void {
        self.current = index;
        self.offset = offset + bytes;
        // SAFETY: the caller saw that the block has `bytes` bytes from `offset`.
        unsafe { self.blocks[index].start().add(offset) }.cast()
    }

    /// The present moment.
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark { block: self.current as i64, offset: self.offset as i64, stacks: self.stacks.len() as i64 }
    }

    /// Frees all memory allocated, and all stacks opened, since `mark`.
    pub fn release(&mut self, mark: Mark) {
        self.current = mark.block as usize;
        self.offset = mark.offset as usize;
        self.stacks.truncate(mark.stacks as usize);
    }

    /// Frees everything. What took several blocks will find one that is large enough.
    pub fn reset(&mut self) {
        self.release(Mark::default());
        if self.blocks.len() > 1 {
            let held = self.blocks.iter().map(Block::bytes).sum();
            self.blocks.clear();
            self.blocks.extend(Block::new(held, &self.limit));
        }
    }

    /// An empty stack.
    pub fn open_stack(&mut self) -> Stack {
        self.stacks.push(None);
        Stack { data: ptr::null_mut(), length: 0, capacity: 0, slot: self.stacks.len() as i64 - 1 }
    }

    /// Makes room for `bytes` more bytes. A stack that does not fit is left as it is.
    ///
    /// # Safety
    /// `stack` was opened in this arena and not released.
    pub unsafe fn reserve(&mut self, stack: &mut Stack, bytes: usize) -> Option<()> {
        let length = stack.length as usize;
        let needed = length.checked_add(bytes)?;
        let capacity = stack.capacity as usize;
        if needed <= capacity {
            return Some(());
        }
        let generous = needed.max(capacity.saturating_mul(2)).max(FIRST_STACK_BYTES);
        let block = Block::new(generous, &self.limit).or_else(|| Block::new(needed, &self.limit))?;
        if length > 0 {
            // SAFETY: the old block has at least `length` bytes in use, the new one is larger.
            unsafe { ptr::copy_nonoverlapping(stack.data.cast(), block.start(), length) };
        }
        stack.data = block.start().cast();
        stack.capacity = block.bytes() as i64;
        self.stacks[stack.slot as usize] = Some(block);
        Some(())
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

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Arena>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
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
        assert!(arena.allocate(2 << 20).is_none());
        assert!(arena.allocate(usize::MAX).is_none());
        assert!(arena.allocate(1 << 20).is_some());
        assert!(arena.allocate(1).is_none());
        assert_eq!(limit.in_use(), 1 << 20);
        drop(arena);
        assert_eq!(limit.in_use(), 0);
    }

    #[test]
    fn a_second_round_finds_its_memory_in_one_block() {
        let (limit, mut arena) = arena(1 << 24);
        let round = |arena: &mut Arena| {
            for _ in 0..10 {
                arena.allocate(10_000).unwrap();
            }
            arena.reset();
        };
        round(&mut arena);
        let held = limit.in_use();
        round(&mut arena);
        assert_eq!((arena.blocks.len(), limit.in_use()), (1, held));
    }

    fn push(arena: &mut Arena, stack: &mut Stack, value: u64) -> Option<()> {
        // SAFETY: the stack is open in this arena, and room for eight bytes was made.
        unsafe {
            arena.reserve(stack, 8)?;
            let end = stack.data.cast::<u8>().add(stack.length as usize);
            end.cast::<u64>().write(value);
        }
        stack.length += 8;
        Some(())
    }

    fn content(stack: &Stack) -> Vec<u64> {
        // SAFETY: `length` bytes were written by `push`.
        unsafe { std::slice::from_raw_parts(stack.data.cast(), stack.length as usize / 8) }.to_vec()
    }

    #[test]
    fn a_stack_keeps_its_content_when_it_grows_inside_a_released_scope() {
        let (_limit, mut arena) = arena(1 << 24);
        let mut outer = arena.open_stack();
        for round in 0..50 {
            let mark = arena.mark();
            let mut inner = arena.open_stack();
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
        let mut stack = arena.open_stack();
        let mut pushed = Vec::new();
        while push(&mut arena, &mut stack, pushed.len() as u64).is_some() {
            pushed.push(pushed.len() as u64);
        }
        assert!(pushed.len() >= 512);
        assert_eq!(content(&stack), pushed);
    }
}
