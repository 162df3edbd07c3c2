//! The threads that parallel loops run on.

use std::num::NonZeroUsize;

use rayon::ThreadPool;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

/// Compiled code keeps its scratch vectors in its frames. The memory is reserved, not used, until
/// it does.
const STACK_BYTES: usize = 16 << 20;

/// A pool of threads of Cotan's own, apart from any that the host program uses.
#[derive(Debug)]
pub struct Pool {
    /// Nothing for one thread: loops then run where they are called.
    threads: Option<ThreadPool>,
}

impl Pool {
    /// A pool of `threads` threads; the error is the system's refusal to start them.
    pub fn new(threads: NonZeroUsize) -> Result<Self, String> {
        if threads.get() == 1 {
            return Ok(Self { threads: None });
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads.get())
            .stack_size(STACK_BYTES)
            .thread_name(|index| format!("cotan-{index}"))
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Self { threads: Some(pool) })
    }

    /// How many threads there are.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads.as_ref().map_or(1, ThreadPool::current_num_threads)
    }

    /// Whether [`Pool::for_each`] uses threads other than the caller's.
    pub(super) fn is_parallel(&self) -> bool {
        self.threads.is_some()
    }

    /// Runs `work` for every index below `count`, in any order, and waits for all of them. It may be
    /// called from inside `work`.
    pub(super) fn for_each(&self, count: u64, work: impl Fn(u64) + Sync + Send) {
        match &self.threads {
            Some(pool) => pool.install(|| (0..count).into_par_iter().for_each(work)),
            None => (0..count).for_each(work),
        }
    }
}
