//! Parallel loops: the index range is cut into chunks, and the lowest chunk that fails decides.
//!
//! Where the cuts are depends on the range alone, never on the number of threads: partial results of
//! chunks, combined in their order, are then the same bits on every machine.

use std::ffi::c_void;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::abi::{ChunkBody, Ctx, ErrorSlot, FAILED, OK, Status};

/// A loop is cut into at most this many chunks: a few for each core of a large machine.
pub const MAX_CHUNKS: i64 = 256;

/// The length of every chunk but the last: the smallest multiple of `grain` that leaves at most
/// [`MAX_CHUNKS`] chunks. Chunk `c` starts at `c * chunk_size`, so that a body knows its number.
/// A grain below one counts as one.
#[must_use]
pub fn chunk_size(n: i64, grain: i64) -> i64 {
    let grain = grain.max(1) as u64;
    let grains = (n.max(1) as u64).div_ceil(grain);
    let size = grains.div_ceil(MAX_CHUNKS as u64).saturating_mul(grain);
    i64::try_from(size).unwrap_or(i64::MAX)
}

/// One parallel loop.
struct Loop {
    body: ChunkBody,
    env: *mut c_void,
    n: u64,
    chunk: u64,
}

// SAFETY: a body may run on several threads at once; that is what the emitter generates it for.
unsafe impl Sync for Loop {}

impl Loop {
    /// Runs chunk `index` in `ctx`.
    ///
    /// # Safety
    /// As for [`parallel_for`].
    unsafe fn run(&self, ctx: &mut Ctx, index: u64) -> Status {
        let low = index * self.chunk;
        let high = low.saturating_add(self.chunk).min(self.n);
        // SAFETY: by this function's contract.
        unsafe { (self.body)(ctx, self.env, low as i64, high as i64) }
    }
}

/// The failure that decides: the one of the lowest chunk so far.
struct LowestFailure {
    /// Its index, `u64::MAX` while there is none; chunks above it need not start.
    index: AtomicU64,
    error: Mutex<ErrorSlot>,
}

impl LowestFailure {
    fn new() -> Self {
        Self { index: AtomicU64::new(u64::MAX), error: Mutex::default() }
    }

    fn index(&self) -> u64 {
        self.index.load(Ordering::Acquire)
    }

    fn record(&self, index: u64, error: ErrorSlot) {
        // The lock is held while both change, so that they stay a pair.
        let mut slot = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        if index < self.index() {
            self.index.store(index, Ordering::Release);
            *slot = error;
        }
    }
}

/// Runs `body` over `0..n` in chunks.
///
/// # Safety
/// The pointers in `ctx` are live; `body` may be called with `env` on any thread.
pub(super) unsafe fn parallel_for(ctx: &mut Ctx, body: ChunkBody, env: *mut c_void, n: i64, grain: i64) -> Status {
    if n <= 0 {
        return OK;
    }
    let chunk = chunk_size(n, grain) as u64;
    let work = Loop { body, env, n: n as u64, chunk };
    let count = work.n.div_ceil(chunk);
    // SAFETY: by this function's contract; a null pool stands for none.
    let pool = unsafe { ctx.pool.as_ref() }.filter(|pool| count > 1 && pool.is_parallel());
    match pool {
        // SAFETY: by this function's contract.
        None => unsafe { in_order(ctx, &work, count) },
        Some(pool) => {
            let failure = LowestFailure::new();
            let shared = SharedCtx::of(ctx);
            let most_record_bytes = AtomicI64::new(ctx.most_record_bytes);
            pool.for_each(count, |index| {
                if index < failure.index() {
                    // SAFETY: by this function's contract.
                    match unsafe { shared.run_chunk(&work, index) } {
                        Ok(bytes) => {
                            most_record_bytes.fetch_max(bytes, Ordering::Relaxed);
                        }
                        Err(error) => failure.record(index, error),
                    }
                }
            });
            ctx.most_record_bytes = most_record_bytes.into_inner();
            if failure.index() == u64::MAX {
                return OK;
            }
            ctx.error = failure.error.into_inner().unwrap_or_else(PoisonError::into_inner);
            FAILED
        }
    }
}

/// Runs the chunks one after the other in the caller's context; the first failure is the lowest.
///
/// # Safety
/// As for [`parallel_for`].
unsafe fn in_order(ctx: &mut Ctx, work: &Loop, count: u64) -> Status {
    for index in 0..count {
        // SAFETY: by this function's contract; no other reference to the arena is live.
        unsafe {
            let mark = (*ctx.arena).mark();
            let status = work.run(ctx, index);
            (*ctx.arena).release(mark);
            if status != OK {
                return status;
            }
        }
    }
    OK
}

/// What chunks on other threads inherit from the context of the loop.
struct SharedCtx {
    parent: Ctx,
}

// SAFETY: the store, the pool and the watch are `Sync`; the parent's arena and error slot are
// replaced before a chunk runs.
unsafe impl Sync for SharedCtx {}

impl SharedCtx {
    fn of(ctx: &Ctx) -> Self {
        Self {
            parent: Ctx {
                arena: std::ptr::null_mut(),
                output: std::ptr::null_mut(),
                error: ErrorSlot::default(),
                ..*ctx
            },
        }
    }

    /// Runs a chunk in a context of its own; gives the most bytes of records that were alive.
    ///
    /// # Safety
    /// As for [`parallel_for`].
    unsafe fn run_chunk(&self, work: &Loop, index: u64) -> Result<i64, ErrorSlot> {
        // SAFETY: the store outlives the call.
        let arenas = unsafe { &*self.parent.arenas };
        arenas.with_arena(|arena| {
            let mut ctx = Ctx { arena, error: ErrorSlot::default(), ..self.parent };
            // SAFETY: by this function's contract.
            match unsafe { work.run(&mut ctx, index) } {
                OK => Ok(ctx.most_record_bytes),
                _ => Err(ctx.error),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_multiples_of_the_grain_and_few() {
        for n in [1, 2, 255, 256, 257, 1000, 1 << 40, i64::MAX] {
            for grain in [i64::MIN, 0, 1, 8, 100, i64::MAX] {
                let size = chunk_size(n, grain);
                assert!(size >= 1 && (size == i64::MAX || size % grain.max(1) == 0));
                assert!((n as u64).div_ceil(size as u64) <= MAX_CHUNKS as u64);
            }
        }
        assert_eq!(chunk_size(1000, 8), 8);
        assert_eq!(chunk_size(10_000, 8), 40);
    }
}
