//! Memory of compiled code: aligned blocks, counted against the limit of a call.

use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::abi::{ALIGNMENT, ErrorSlot, code};
use cotan_ops::memory::Memory;

/// A block of so many bytes lies on huge pages, where the system gives them to those who ask: the processor looks up one
/// address in 512, which a walk through a large array feels.
const HUGE_BLOCK: usize = 4 << 20;

/// The size of a huge page.
const HUGE_PAGE: usize = 2 << 20;

/// Why there is no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The call may not hold as much.
    Limit,
    /// The machine has no more, or no addresses for it.
    Machine,
}

/// How many bytes a call may hold, over all its threads, and how many it did.
#[derive(Debug)]
pub struct MemoryLimit {
    max_bytes: usize,
    in_use: AtomicUsize,
    peak: AtomicUsize,
    blocks: AtomicU64,
}

impl MemoryLimit {
    /// A limit of `max_bytes`.
    #[must_use]
    pub fn new(max_bytes: usize) -> Arc<Self> {
        Arc::new(Self { max_bytes, in_use: AtomicUsize::new(0), peak: AtomicUsize::new(0), blocks: AtomicU64::new(0) })
    }

    /// Bytes that may be held.
    #[must_use]
    pub fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// Bytes held now.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.in_use.load(Ordering::Relaxed)
    }

    /// The most bytes that were held since [`MemoryLimit::start_peak`].
    #[must_use]
    pub fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }

    /// Forgets earlier peaks: what is held now counts.
    pub(super) fn start_peak(&self) {
        self.peak.store(self.in_use(), Ordering::Relaxed);
    }

    /// How often memory was ever taken from the machine.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks.load(Ordering::Relaxed)
    }

    /// Counts a block of `bytes` as held, unless that would be too much.
    pub(super) fn take(&self, bytes: usize) -> Result<(), Refusal> {
        self.hold(bytes)?;
        self.blocks.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Counts `bytes` that libraries work in as held, unless that would be too much.
    pub(super) fn hold(&self, bytes: usize) -> Result<(), Refusal> {
        let before = self.in_use.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            used.checked_add(bytes).filter(|sum| *sum <= self.max_bytes)
        });
        let before = before.map_err(|_| Refusal::Limit)?;
        self.peak.fetch_max(before + bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Counts `bytes` as held no more.
    pub(super) fn give_back(&self, bytes: usize) {
        self.in_use.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl MemoryLimit {
    /// The error of something of `wanted` bytes for which there is no memory.
    pub(super) fn out_of_memory(&self, wanted: usize, refusal: Refusal) -> ErrorSlot {
        let shown = |bytes: usize| i64::try_from(bytes).unwrap_or(i64::MAX);
        let max_bytes = match refusal {
            Refusal::Limit => shown(self.max_bytes()),
            Refusal::Machine => code::NO_LIMIT,
        };
        let mut error = ErrorSlot { code: code::OUT_OF_MEMORY, ..ErrorSlot::default() };
        error.args[..3].copy_from_slice(&[shown(wanted), shown(self.in_use()), max_bytes]);
        error
    }
}

/// What routines work in counts as well.
impl Memory for MemoryLimit {
    fn take(&self, bytes: usize) -> bool {
        self.hold(bytes).is_ok()
    }

    fn give_back(&self, bytes: usize) {
        MemoryLimit::give_back(self, bytes);
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
    /// At least `bytes` bytes, if the limit and the machine have them.
    pub(super) fn new(bytes: usize, limit: &Arc<MemoryLimit>) -> Result<Self, Refusal> {
        let bytes = round_up(bytes.max(1))?;
        let is_huge = bytes >= HUGE_BLOCK;
        let alignment = if is_huge { HUGE_PAGE } else { ALIGNMENT };
        let layout = Layout::from_size_align(bytes, alignment).map_err(|_| Refusal::Machine)?;
        limit.take(bytes)?;
        // SAFETY: the layout is not empty.
        let Some(start) = NonNull::new(unsafe { alloc(layout) }) else {
            limit.give_back(bytes);
            return Err(Refusal::Machine);
        };
        if is_huge {
            ask_for_huge_pages(start, bytes);
        }
        Ok(Self { start, layout, limit: Arc::clone(limit) })
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

/// Asks the system to put a fresh block on huge pages. It may say no, and then all is as before.
#[cfg(target_os = "linux")]
fn ask_for_huge_pages(start: NonNull<u8>, bytes: usize) {
    // SAFETY: the range was allocated just now, on whole pages of any size; the advice does not change what it holds.
    unsafe { libc::madvise(start.as_ptr().cast(), bytes / HUGE_PAGE * HUGE_PAGE, libc::MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn ask_for_huge_pages(_: NonNull<u8>, _: usize) {}

/// The next multiple of the alignment.
pub(super) fn round_up(bytes: usize) -> Result<usize, Refusal> {
    bytes.checked_next_multiple_of(ALIGNMENT).ok_or(Refusal::Machine)
}
