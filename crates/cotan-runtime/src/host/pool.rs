//! The threads that parallel loops run on.

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::available_parallelism;

use super::crew::shared_out;
use super::float_mode::FloatMode;
use super::parts::Parts;
use rayon::ThreadPool;

/// Compiled code keeps its scratch vectors in its frames. The memory is reserved, not used, until
/// it does.
const STACK_BYTES: usize = 16 << 20;

/// How many threads a pool may have for each core that this process may use. More than a few only wait for each other, and
/// thousands hold the machine up.
pub const MOST_THREADS_PER_CORE: usize = 16;

/// How many threads a pool may have.
#[must_use]
pub fn most_threads() -> NonZeroUsize {
    let cores = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    cores.saturating_mul(NonZeroUsize::MIN.saturating_add(MOST_THREADS_PER_CORE - 1))
}

/// Refuses a number of threads beyond the bound.
pub fn check_threads(threads: NonZeroUsize) -> Result<(), String> {
    let most = most_threads();
    if threads <= most {
        return Ok(());
    }
    Err(format!(
        "expected at most {most} threads, which is {MOST_THREADS_PER_CORE} for each core that this process may use, found \
         {threads}"
    ))
}

thread_local! {
    /// Whether this thread works on a loop. Loops inside of it stay on it: all threads have work then.
    static IS_AT_WORK: Cell<bool> = const { Cell::new(false) };
}

/// While it lives, its thread works on a loop: also one that a panic ends does so no more.
struct AtWork;

impl AtWork {
    fn begin() -> AtWork {
        IS_AT_WORK.set(true);
        AtWork
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        IS_AT_WORK.set(false);
    }
}

/// A pool of threads of Cotan's own, apart from any that the host program uses.
#[derive(Debug)]
pub struct Pool {
    /// Nothing for one thread: loops then run where they are called.
    threads: Option<Arc<ThreadPool>>,
    /// How many of them work on a loop at the same time.
    most: usize,
    /// The process that started them. A child of it, forked off, has the memory of the pool and none of its threads.
    process: u32,
}

impl Pool {
    /// A pool of `threads` threads, at most [`most_threads`]; the error says that it is too many, or is the system's refusal
    /// to start them.
    pub fn new(threads: NonZeroUsize) -> Result<Self, String> {
        check_threads(threads)?;
        if threads.get() == 1 {
            return Ok(Self { threads: None, most: 1, process: std::process::id() });
        }
        // The caller of a loop is one of them.
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads.get() - 1)
            .stack_size(STACK_BYTES)
            .thread_name(|index| format!("cotan-{index}"))
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Self { threads: Some(Arc::new(pool)), most: threads.get(), process: std::process::id() })
    }

    /// The same threads, of which at most so many work on a loop.
    #[must_use]
    pub fn limited(&self, most: NonZeroUsize) -> Self {
        let most = most.get().min(self.most);
        Self { threads: self.threads.clone().filter(|_| most > 1), most, process: self.process }
    }

    /// How many threads work on a loop.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.most
    }

    /// Whether [`Pool::for_each`] uses threads other than the caller's.
    pub(super) fn is_parallel(&self) -> bool {
        self.at_hand().is_some()
    }

    /// The threads, where there are any in this process.
    fn at_hand(&self) -> Option<&Arc<ThreadPool>> {
        self.threads.as_ref().filter(|_| self.process == std::process::id())
    }

    /// Whether the thread that asks takes part in a loop already, so that loops inside of it stay on it.
    pub(super) fn is_busy_here(&self) -> bool {
        IS_AT_WORK.get()
    }

    /// Runs `work` for every index below `count`, in any order, and waits for all of them. It may be
    /// called from inside `work`.
    pub(super) fn for_each(&self, count: u64, work: impl Fn(u64) + Sync + Send) {
        let Some(pool) = self.at_hand().filter(|_| !IS_AT_WORK.get()) else {
            return (0..count).for_each(work);
        };
        let n_parts = u64::try_from(self.most).unwrap_or(u64::MAX).min(count);
        let parts = Parts::of(count, n_parts);
        let mode = FloatMode::of_this_thread();
        let share = |part| {
            let _inherited = mode.inherited();
            let _at_work = AtWork::begin();
            parts.taken_by(part).for_each(&work);
        };
        // The caller begins at once: threads that sleep take about as long to wake as a short loop runs.
        shared_out(&share, |crew| {
            for part in 1..n_parts {
                let crew = crew.clone();
                pool.spawn(move || crew.take_part(part));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::guard::guarded;
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn several(threads: usize) -> Pool {
        Pool::new(NonZeroUsize::new(threads).unwrap()).unwrap()
    }

    #[test]
    fn every_index_is_visited_once_whatever_the_limit() {
        let pool = several(4);
        for most in 1..=5 {
            let pool = pool.limited(NonZeroUsize::new(most).unwrap());
            assert_eq!(pool.threads(), most.min(4));
            let visits: Vec<AtomicUsize> = (0..1000).map(|_| AtomicUsize::new(0)).collect();
            pool.for_each(10, |outer| {
                pool.for_each(100, |inner| {
                    visits[(100 * outer + inner) as usize].fetch_add(1, Ordering::Relaxed);
                });
            });
            assert!(visits.iter().all(|n| n.load(Ordering::Relaxed) == 1), "at most {most}");
        }
    }

    /// A child has no thread of the pool, so loops run on its own.
    #[test]
    #[cfg(unix)]
    fn loops_run_in_a_forked_child() {
        let pool = several(4);
        let visits = AtomicUsize::new(0);
        let visit = |_: u64| _ = visits.fetch_add(1, Ordering::Relaxed);
        pool.for_each(100, visit);
        // SAFETY: the child runs the loop, and leaves without anything of the test's.
        let child = unsafe { libc::fork() };
        assert!(child >= 0);
        if child == 0 {
            pool.for_each(100, visit);
            let is_right = visits.load(Ordering::Relaxed) == 200 && !pool.is_parallel();
            // SAFETY: it ends the child.
            unsafe { libc::_exit(if is_right { 0 } else { 1 }) };
        }
        let begin = std::time::Instant::now();
        let mut status = 0;
        // SAFETY: it is a child of this process.
        while unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == 0 {
            assert!(begin.elapsed().as_secs() < 20, "the child hangs");
            std::thread::yield_now();
        }
        assert_eq!(status, 0);
        assert!(pool.is_parallel());
    }

    /// Defect F7: 100,000 threads were started when asked for.
    #[test]
    fn f7_more_threads_than_the_bound_are_refused() {
        let most = most_threads();
        assert_eq!(most.get() % MOST_THREADS_PER_CORE, 0);
        assert_eq!(check_threads(most), Ok(()));
        for threads in [most.saturating_add(1), NonZeroUsize::MAX] {
            let error = Pool::new(threads).unwrap_err();
            assert!(error.starts_with(&format!("expected at most {most} threads")), "{error}");
            assert!(error.ends_with(&format!("found {threads}")), "{error}");
        }
    }

    #[test]
    fn d9_a_panic_in_a_loop_gets_to_its_caller_and_leaves_the_pool_as_it_was() {
        let pool = several(3);
        for _ in 0..3 {
            let loop_with_panic = || pool.for_each(100, |index| assert!(index != 57, "an iteration is broken"));
            let error = guarded(loop_with_panic).unwrap_err();
            assert!(error.bug_text().contains("an iteration is broken"), "{}", error.bug_text());
            assert!(!pool.is_busy_here());
            let visits = AtomicUsize::new(0);
            pool.for_each(100, |_| {
                visits.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(visits.into_inner(), 100);
        }
    }

    /// Half of the smallest normal number, worked out on every thread: zero where the caller's mode flushes it.
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn threads_inherit_the_mode_of_the_caller() {
        const FLUSH: u32 = 1 << 15;
        let pool = several(3);
        let halves = |pool: &Pool| {
            let n_zeros = AtomicUsize::new(0);
            let both = std::sync::Barrier::new(3);
            pool.for_each(3, |_| {
                both.wait();
                let half = std::hint::black_box(f64::MIN_POSITIVE) * 0.5;
                n_zeros.fetch_add(usize::from(half == 0.0), Ordering::Relaxed);
            });
            n_zeros.into_inner()
        };
        assert_eq!(halves(&pool), 0);
        let mode = FloatMode::of_this_thread().with(FLUSH).inherited();
        assert_eq!(halves(&pool), 3);
        drop(mode);
        assert_eq!(halves(&pool), 0);
    }

    #[test]
    fn no_more_threads_work_than_the_limit_says() {
        let pool = several(4).limited(NonZeroUsize::new(2).unwrap());
        let (at_work, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        pool.for_each(50, |_| {
            most.fetch_max(1 + at_work.fetch_add(1, Ordering::SeqCst), Ordering::SeqCst);
            std::thread::yield_now();
            at_work.fetch_sub(1, Ordering::SeqCst);
        });
        assert!(most.into_inner() <= 2);
    }
}
