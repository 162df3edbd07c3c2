//! Memory of compiled code: aligned blocks, counted against the limit of a call.

use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::abi::ALIGNMENT;

/// How many bytes a call may hold, over all its threads.
#[derive(Debug)]
pub struct MemoryLimit {
    max_bytes: usize,
    in_use: AtomicUsize,
    blocks: AtomicU64,
}

impl MemoryLimit {
    /// A limit of `max_bytes`.
    #[must_use]
    pub fn new(max_bytes: usize) -> Arc<Self> {
        Arc::new(Self { max_bytes, in_use: AtomicUsize::new(0), blocks: AtomicU64::new(0) })
    }

    /// Bytes held now.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.in_use.load(Ordering::Relaxed)
    }

    /// Blocks that were ever taken.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks.load(Ordering::Relaxed)
    }

    fn take(&self, bytes: usize) -> bool {
        self.in_use
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
                used.checked_add(bytes).filter(|sum| *sum <= self.max_bytes)
            })
            .is_ok()
    }

    fn give_back(&self, bytes: usize) {
        self.in_use.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// A block of memory that counts against a limit while it lives.
#[derive(Debug)]
pub(super) struct Block {
    start: NonNull<u8>,
    layout: Layout,
    limit: Arc<MemoryLimit>,
}

// SAFETY: a block is the only owner of its memory.
unsafe impl Send for Block {}

impl Block {
    /// At least `bytes` bytes, or nothing if the limit or the machine does not have them.
    pub(super) fn new(bytes: usize, limit: &Arc<MemoryLimit>) -> Option<Self> {
        let bytes = round_up(bytes.max(1))?;
        let layout = Layout::from_size_align(bytes, ALIGNMENT).ok()?;
        if !limit.take(bytes) {
            return None;
        }
        // SAFETY: the layout is not empty.
        let Some(start) = NonNull::new(unsafe { alloc(layout) }) else {
            limit.give_back(bytes);
            return None;
        };
        limit.blocks.fetch_add(1, Ordering::Relaxed);
        Some(Self { start, layout, limit: Arc::clone(limit) })
    }

    pub(super) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    pub(super) fn bytes(&self) -> usize {
        self.layout.size()
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
        self.limit.give_back(self.layout.size());
    }
}

/// The next multiple of the alignment.
pub(super) fn round_up(bytes: usize) -> Option<usize> {
    bytes.checked_next_multiple_of(ALIGNMENT)
}
