//! Wavefronts: loops of which an iteration needs some of those before it, as tiles that pass through stages.
//!
//! A thread takes whatever is ready, the last stage first, so that tiles are done with as early as can be. Nobody
//! waits at a barrier: stages may be as uneven as they are. Where nothing is ready somebody else is at work, because what
//! comes first of all that is left to do needs nothing but what is done or running.

use std::ffi::c_void;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use super::context;
use super::parallel::{Loop, LowestFailure, SharedCtx, in_order};
use crate::abi::{ChunkBody, Ctx, OK, Status};

/// How often a thread that finds nothing to do looks again before it lets others run.
const LOOKS: u32 = 64;

/// How far a stage is. It has a cache line of its own, and the one that processors fetch along with it.
#[repr(align(128))]
struct Stage {
    /// The tiles before this one were taken.
    taken: AtomicU64,
    /// The tiles before this one are done.
    done: AtomicU64,
}

/// What is left to do.
struct Progress {
    tiles: u64,
    slots: u64,
    stages: Vec<Stage>,
}

impl Progress {
    fn new(tiles: u64, stages: u64, slots: u64) -> Progress {
        let stages = (0..stages).map(|_| Stage { taken: AtomicU64::new(0), done: AtomicU64::new(0) });
        Progress { tiles, slots, stages: stages.collect() }
    }

    fn done(&self, stage: usize) -> u64 {
        self.stages[stage].done.load(Ordering::Acquire)
    }

    fn is_over(&self) -> bool {
        self.done(self.stages.len() - 1) == self.tiles
    }

    /// Takes something that is ready: a tile and a stage.
    fn take(&self) -> Option<(u64, usize)> {
        (0..self.stages.len()).rev().find_map(|stage| self.take_from(stage).map(|tile| (tile, stage)))
    }

    /// The next tile of a stage, if it is ready.
    fn take_from(&self, stage: usize) -> Option<u64> {
        let taken = &self.stages[stage].taken;
        let tile = taken.load(Ordering::Relaxed);
        if tile == self.tiles || self.done(stage) != tile {
            return None;
        }
        let is_ready = match stage.checked_sub(1) {
            Some(before) => self.done(before) > tile,
            None => self.done(self.stages.len() - 1) + self.slots > tile,
        };
        let take = || taken.compare_exchange(tile, tile + 1, Ordering::Relaxed, Ordering::Relaxed);
        (is_ready && take().is_ok()).then_some(tile)
    }

    fn finish(&self, tile: u64, stage: usize) {
        self.stages[stage].done.store(tile + 1, Ordering::Release);
    }
}

/// Runs `body` for every number below the first one of `shape`, which are the stages of tiles; the others are how many
/// stages a tile has, and how many tiles have memory of their own.
///
/// # Safety
/// The pointers in `ctx` are live; `body` may be called with `env` on any thread, once what it needs is done.
pub(super) unsafe fn wavefront(ctx: &mut Ctx, body: ChunkBody, env: *mut c_void, shape: [i64; 3]) -> Status {
    let [Ok(count), Ok(stages), Ok(slots)] = shape.map(u64::try_from) else { return OK };
    let work = Loop { body, env };
    // With fewer slots than stages hardly two threads could work.
    let may_share = stages > 1 && slots >= stages && count >= 2 * stages;
    // SAFETY: by this function's contract; a null pool stands for none.
    let pool =
        unsafe { context::pool(ctx).as_ref() }.filter(|pool| may_share && pool.is_parallel() && !pool.is_busy_here());
    let Some(pool) = pool else {
        // SAFETY: by this function's contract.
        return unsafe { in_order(ctx, &work, count) };
    };
    let progress = Progress::new(count / stages, stages, slots);
    let failure = LowestFailure::new();
    let shared = SharedCtx::of(ctx);
    let most_record_bytes = AtomicI64::new(ctx.most_record_bytes);
    let run = |tile: u64, stage: usize| {
        let number = tile * stages + stage as u64;
        // SAFETY: by this function's contract; what it needs is done.
        match unsafe { shared.run_chunk(&work, number) } {
            Ok(bytes) => {
                most_record_bytes.fetch_max(bytes, Ordering::Relaxed);
                progress.finish(tile, stage);
            }
            Err(error) => failure.record(number, error),
        }
    };
    let take_part = || {
        let mut looks = 0;
        while !progress.is_over() && failure.index() == u64::MAX {
            if let Some((tile, stage)) = progress.take() {
                run(tile, stage);
                looks = 0;
            } else if looks < LOOKS {
                looks += 1;
                (0..looks).for_each(|_| spin_loop());
            } else {
                std::thread::yield_now();
            }
        }
    };
    pool.for_each(stages.min(pool.threads() as u64), |_| take_part());
    ctx.most_record_bytes = most_record_bytes.into_inner();
    failure.leave_in(ctx)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Pool;
    use std::num::NonZeroUsize;
    use std::sync::Mutex;

    /// Runs tiles through stages on so many threads, and checks whenever one begins that what it needs is done.
    fn run_all(threads: usize, tiles: u64, stages: usize, slots: u64) {
        let progress = Progress::new(tiles, stages as u64, slots);
        let log = Mutex::new(vec![vec![false; stages]; tiles as usize]);
        let pool = Pool::new(NonZeroUsize::new(threads).unwrap()).unwrap();
        pool.for_each(threads as u64, |_| {
            while !progress.is_over() {
                let Some((tile, stage)) = progress.take() else {
                    std::thread::yield_now();
                    continue;
                };
                {
                    let log = log.lock().unwrap();
                    let t = tile as usize;
                    assert!(!log[t][stage], "twice");
                    assert!(stage == 0 || log[t][stage - 1]);
                    assert!(t == 0 || log[t - 1][stage]);
                    let frees = t.checked_sub(slots as usize).filter(|_| stage == 0);
                    assert!(frees.is_none_or(|freed| log[freed][stages - 1]), "its slot is in use");
                }
                log.lock().unwrap()[tile as usize][stage] = true;
                progress.finish(tile, stage);
            }
        });
        assert!(log.into_inner().unwrap().iter().flatten().all(|done| *done));
    }

    #[test]
    fn everything_runs_once_and_after_what_it_needs() {
        for threads in [1, 2, 3, 8] {
            for (tiles, stages) in [(1, 1), (1, 5), (7, 1), (40, 3), (25, 9)] {
                for slots in [1, 2, stages as u64, 100] {
                    run_all(threads, tiles, stages, slots);
                }
            }
        }
    }
}
