//! Calling compiled code from Rust.

use std::sync::Arc;
use std::sync::atomic::AtomicU8;

use cotan_ops::Registry;

use super::arena::{Arena, ArenaStore};
use super::context::Output;
use super::memory::MemoryLimit;
use super::pool::Pool;
use super::product::products;
use super::watch::Watch;
use crate::InstructionSet;
use crate::abi::{Buf, Ctx, Entry, ErrorSlot, OK, Products, code};

/// The memory and the threads of a series of calls. One session makes one call at a time; calls that
/// run at the same time have a session each, and may share the pool.
#[derive(Debug)]
pub struct Session {
    arena: Arena,
    arenas: ArenaStore,
    limit: Arc<MemoryLimit>,
    pool: Option<Arc<Pool>>,
    watch: Option<Arc<Watch>>,
    registry: &'static Registry,
    products: &'static Products,
    record_bytes: i64,
    saw_nan: bool,
}

impl Session {
    /// A session whose calls hold at most `max_bytes` for what they compute on the way.
    #[must_use]
    pub fn new(max_bytes: usize) -> Self {
        let limit = MemoryLimit::new(max_bytes);
        Self {
            arena: Arena::new(&limit),
            arenas: ArenaStore::new(&limit),
            limit,
            pool: None,
            watch: None,
            registry: Registry::standard(),
            products: products(None),
            record_bytes: 0,
            saw_nan: false,
        }
    }

    /// Runs parallel loops on `pool`; without one they run on the calling thread.
    #[must_use]
    pub fn with_pool(mut self, pool: Arc<Pool>) -> Self {
        self.pool = Some(pool);
        self
    }

    /// Lets `watch` stop calls.
    #[must_use]
    pub fn with_watch(mut self, watch: Arc<Watch>) -> Self {
        self.watch = Some(watch);
        self
    }

    /// Calls routines of these operations.
    #[must_use]
    pub fn with_registry(mut self, registry: &'static Registry) -> Self {
        self.registry = registry;
        self
    }

    /// Keeps to an instruction set where a library does products; `None` for all that the machine has.
    #[must_use]
    pub fn with_instructions(mut self, instructions: Option<InstructionSet>) -> Self {
        self.products = products(instructions);
        self
    }

    /// Chooses what may stop the next calls.
    pub fn set_watch(&mut self, watch: Option<Arc<Watch>>) {
        self.watch = watch;
    }

    /// The most bytes of records, kept by loops for their reverse sweeps, that were alive at once in the last call. Of
    /// a parallel loop the iteration with the most counts, so that the figure is the same for any number of threads.
    #[must_use]
    pub fn record_bytes(&self) -> i64 {
        self.record_bytes
    }

    /// Whether the last call stored a NaN where its code watches for that.
    #[must_use]
    pub fn saw_nan(&self) -> bool {
        self.saw_nan
    }

    /// The memory that the session holds.
    #[must_use]
    pub fn memory(&self) -> &MemoryLimit {
        &self.limit
    }

    /// Calls `function`. Results that it placed in memory of its own are valid until the next call
    /// of this session. Output goes to `output`, or nowhere.
    ///
    /// # Safety
    /// `function` is compiled code of a live module; `args` and `results` are what it was compiled
    /// for, in number, rank, element type and the sizes of their memory.
    pub unsafe fn call(
        &mut self,
        function: Entry,
        args: &[Buf],
        results: &mut [Buf],
        output: Option<&mut dyn FnMut(&str)>,
    ) -> Result<(), ErrorSlot> {
        let mut output = output.map(|write| Output { write });
        self.arena.reset();
        self.limit.start_peak();
        let saw_nan = AtomicU8::new(0);
        let mut ctx = Ctx {
            arena: std::ptr::from_mut(&mut self.arena).cast(),
            arenas: std::ptr::from_ref(&self.arenas).cast(),
            pool: self.pool.as_ref().map_or(std::ptr::null(), |pool| Arc::as_ptr(pool).cast()),
            watch: self.watch.as_ref().map_or(std::ptr::null(), |watch| Arc::as_ptr(watch).cast()),
            record_bytes: 0,
            most_record_bytes: 0,
            products: self.products,
            registry: self.registry,
            output: output.as_mut().map_or(std::ptr::null_mut(), |output| std::ptr::from_mut(output).cast()),
            saw_nan: saw_nan.as_ptr(),
            error: ErrorSlot::default(),
        };
        // SAFETY: by this function's contract; everything in `ctx` outlives the call.
        let status = unsafe { function(&mut ctx, args.as_ptr(), results.as_mut_ptr()) };
        self.record_bytes = ctx.most_record_bytes;
        self.saw_nan = saw_nan.into_inner() != 0;
        match status {
            // Output has no status of its own.
            OK if ctx.error.code != code::BUG => Ok(()),
            _ => Err(ctx.error),
        }
    }
}
