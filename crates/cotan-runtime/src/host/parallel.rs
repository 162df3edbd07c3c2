//! Parallel loops over chunks: in any order, on any thread, and the lowest chunk that fails decides.

use std::ffi::c_void;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::arena::Arena;
use super::context;
use super::guard::guarded;
use super::watch::Watch;
use crate::abi::{ChunkBody, Ctx, ErrorSlot, FAILED, OK, Status};

/// One parallel loop.
pub(super) struct Loop {
    pub(super) body: ChunkBody,
    pub(super) env: *mut c_void,
}

// SAFETY: a body may run on several threads at once; that is what the emitter generates it for.
unsafe impl Sync for Loop {}

impl Loop {
    /// Runs chunk `index` in `ctx`.
    ///
    /// # Safety
    /// As for [`parallel_for`].
    unsafe fn run(&self, ctx: &mut Ctx, index: u64) -> Status {
        // SAFETY: by this function's contract.
        unsafe { (self.body)(ctx, self.env, index as i64) }
    }
}

/// The failure that decides: the one of the lowest chunk so far.
pub(super) struct LowestFailure {
    /// Its index, `u64::MAX` while there is none; chunks above it need not start.
    index: AtomicU64,
    error: Mutex<ErrorSlot>,
}

impl LowestFailure {
    pub(super) fn new() -> Self {
        Self { index: AtomicU64::new(u64::MAX), error: Mutex::default() }
    }

    pub(super) fn index(&self) -> u64 {
        self.index.load(Ordering::Acquire)
    }

    pub(super) fn record(&self, index: u64, error: ErrorSlot) {
        // The lock is held while both change, so that they stay a pair.
        let mut slot = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        if index < self.index() {
            self.index.store(index, Ordering::Release);
            *slot = error;
        }
    }

    /// Leaves the error in the context of the loop; gives the loop's status.
    pub(super) fn leave_in(self, ctx: &mut Ctx) -> Status {
        if self.index() == u64::MAX {
            return OK;
        }
        ctx.error = self.error.into_inner().unwrap_or_else(PoisonError::into_inner);
        FAILED
    }
}

/// Runs `body` for every chunk of `0..n`.
///
/// # Safety
/// The pointers in `ctx` are live; `body` may be called with `env` on any thread.
pub(super) unsafe fn parallel_for(ctx: &mut Ctx, body: ChunkBody, env: *mut c_void, n: i64) -> Status {
    let Ok(count) = u64::try_from(n) else { return OK };
    let work = Loop { body, env };
    // SAFETY: by this function's contract; a null pool stands for none.
    let pool = unsafe { context::pool(ctx).as_ref() }.filter(|pool| count > 1 && pool.is_parallel());
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
            failure.leave_in(ctx)
        }
    }
}

/// Runs the chunks one after the other in the caller's context; the first failure is the lowest.
///
/// # Safety
/// As for [`parallel_for`].
pub(super) unsafe fn in_order(ctx: &mut Ctx, work: &Loop, count: u64) -> Status {
    for index in 0..count {
        // SAFETY: by this function's contract; a null watch watches nothing.
        if let Err(error) = unsafe { look(ctx) } {
            ctx.error = error;
            return FAILED;
        }
        // SAFETY: by this function's contract; no other reference to the arena is live.
        unsafe {
            let mark = (*context::arena(ctx)).mark();
            let status = work.run(ctx, index);
            (*context::arena(ctx)).release(mark);
            if status != OK {
                return status;
            }
        }
    }
    OK
}

/// The reason to stop, if the call is to: chunks may be so many that none of them polls.
///
/// # Safety
/// The watch in `ctx` is live, or null.
unsafe fn look(ctx: &Ctx) -> Result<(), ErrorSlot> {
    // SAFETY: by this function's contract.
    unsafe { context::watch(ctx).as_ref() }.map_or(Ok(()), Watch::look)
}

/// What chunks on other threads inherit from the context of the loop.
pub(super) struct SharedCtx {
    parent: Ctx,
}

// SAFETY: the store, the pool and the watch are `Sync`; the parent's arena and error slot are
// replaced before a chunk runs.
unsafe impl Sync for SharedCtx {}

impl SharedCtx {
    pub(super) fn of(ctx: &Ctx) -> Self {
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
    pub(super) unsafe fn run_chunk(&self, work: &Loop, index: u64) -> Result<i64, ErrorSlot> {
        // SAFETY: the watch outlives the call.
        unsafe { look(&self.parent)? };
        // SAFETY: the store outlives the call.
        let arenas = unsafe { &*context::arenas(&self.parent) };
        let run = |arena: &mut Arena| {
            let mut ctx = Ctx { arena: std::ptr::from_mut(arena).cast(), error: ErrorSlot::default(), ..self.parent };
            // SAFETY: by this function's contract.
            match unsafe { work.run(&mut ctx, index) } {
                OK => Ok(ctx.most_record_bytes),
                _ => Err(ctx.error),
            }
        };
        // A panic that left this thread would leave others waiting for what it had to do.
        guarded(|| arenas.with_arena(run)).unwrap_or_else(Err)
    }
}
