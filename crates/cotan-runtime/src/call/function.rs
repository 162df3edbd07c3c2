//! Calling compiled functions.

use super::buffers::{Buffers, ResultBuffer, Unmade};
use super::code::{CodeOrigin, MachineCode};
use super::error::{NoMemory, RuntimeError, no_memory};
use super::nan::has_nan;
use super::signature::Signature;
use crate::abi::{ErrorSlot, code};
use crate::by_thread::ByThread;
use crate::host::{Pool, Session, Watch};
use cotan_ir::{Elem, Function, OutOfMemory};
use cotan_ops::{ElementCount, Registry, Value};
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

/// A function in machine code. It may be called from several threads at once.
pub struct CompiledFunction {
    pub(super) signature: Signature,
    pub(super) code: MachineCode,
    pool: Arc<Pool>,
    registry: &'static Registry,
    /// What is warm and in no call, by the thread that has used it last.
    #[expect(clippy::vec_box, reason = "calls take states out and put them back, and they are large")]
    idle: ByThread<Vec<Box<CallState>>>,
}

/// The state of a call, with the memory that it has warmed up: the next call takes it over.
#[derive(Debug)]
pub(super) struct CallState {
    /// The limits that it was made for.
    max_bytes: usize,
    threads: Option<NonZeroUsize>,
    pub(super) session: Session,
    pub(super) buffers: Buffers,
    /// Empty between calls.
    results: Vec<ResultBuffer>,
}

/// A run of the code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ran {
    time: Duration,
    /// Blocks that the session held before.
    blocks: u64,
}

impl Ran {
    /// What the call took, with the time that was spent on its results.
    pub(super) fn statistics(self, session: &Session, on_results: Duration) -> Statistics {
        Statistics {
            allocations: session.memory().blocks() - self.blocks,
            peak_bytes: session.memory().peak(),
            record_bytes: session.record_bytes(),
            code_time: self.time + on_results,
        }
    }
}

/// What a call may use.
#[derive(Clone, Debug)]
pub struct CallOptions {
    /// Bytes for everything that is computed on the way.
    pub max_bytes: usize,
    /// What may stop the call.
    pub watch: Option<Arc<Watch>>,
    /// How many of the backend's threads may share the work; `None` for all of them.
    pub threads: Option<NonZeroUsize>,
    /// How often the code runs before the time that is told, on the same operands and with no output: they are then in
    /// caches as they are for a caller who has them in the code's layout.
    pub warm_ups: u32,
    /// Whether the clock is looked at, so that [`Statistics::code_time`] is told.
    pub is_timed: bool,
}

impl Default for CallOptions {
    fn default() -> CallOptions {
        CallOptions { max_bytes: usize::MAX, watch: None, threads: None, warm_ups: 0, is_timed: true }
    }
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallResult {
    /// The results.
    pub values: Vec<Value>,
    /// What it took.
    pub statistics: Statistics,
    /// Whether a result may hold a NaN, of code with plain products; else false.
    pub has_nan: bool,
}

/// What a call took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Blocks of memory that the call took from the machine; none once a session is warm.
    pub allocations: u64,
    /// The most bytes that the call held at once, over all its threads, beside its arguments and the results of known
    /// size; what earlier calls have left for it among them.
    pub peak_bytes: usize,
    /// The most bytes of records, kept by loops for their reverse sweeps, that were alive at once; see
    /// [`Session::record_bytes`].
    pub record_bytes: i64,
    /// How long the code ran, with the search for NaN if there is one. Bringing arguments and results that are shorter
    /// than eight bytes from a [`Value`] into the code's layout and back comes on top of it.
    pub code_time: Duration,
}

impl CompiledFunction {
    /// A function of the core IR in machine code, whose parallel loops run on `pool`, and which calls routines of these
    /// operations.
    ///
    /// # Safety
    /// The code takes and gives what the parameters and results of `f` say, and lies in the memory that comes with it.
    #[must_use]
    pub unsafe fn new(
        f: &Function,
        code: MachineCode,
        pool: Arc<Pool>,
        registry: &'static Registry,
    ) -> CompiledFunction {
        CompiledFunction { signature: Signature::of(f), code, pool, registry, idle: ByThread::default() }
    }

    /// Whether it says of its calls if a result is NaN: its products are plain.
    pub fn watches_nan(&self) -> bool {
        self.code.unwatched.is_some()
    }

    /// Whether it adds in another order than the program, or adds products of derivatives without rounding them first, so
    /// that floats may differ from the interpreter's in the last digits.
    pub fn regroups_sums(&self) -> bool {
        self.code.regroups_sums
    }

    /// Where the code came from.
    pub fn origin(&self) -> CodeOrigin {
        self.code.origin
    }

    /// How many bytes of code and constants it and what it calls are.
    pub fn code_bytes(&self) -> usize {
        self.code.memory.n_bytes()
    }

    /// Gives back the memory that calls have left for later ones.
    pub fn forget_memory(&self) {
        self.idle.each().for_each(|mut idle| idle.clear());
    }

    /// Calls the function.
    pub fn call(&self, args: &[Value]) -> Result<Vec<Value>, RuntimeError> {
        self.call_with(args, &CallOptions::default()).map(|outcome| outcome.values)
    }

    /// Calls the function under limits, and says what it took.
    pub fn call_with(&self, args: &[Value], options: &CallOptions) -> Result<CallResult, RuntimeError> {
        self.run(args, Vec::new(), options, None)
    }

    /// Calls the function under limits; output goes to `output`, piece by piece as it happens.
    pub fn call_with_output(
        &self,
        args: &[Value],
        options: &CallOptions,
        output: &mut dyn FnMut(&str),
    ) -> Result<CallResult, RuntimeError> {
        self.run(args, Vec::new(), options, Some(output))
    }

    /// Calls the function under limits. The results of an earlier call give their memory to those of this one, so that
    /// calls of equal sizes allocate nothing.
    pub fn call_again(
        &self,
        args: &[Value],
        earlier: Vec<Value>,
        options: &CallOptions,
    ) -> Result<CallResult, RuntimeError> {
        self.run(args, earlier, options, None)
    }

    /// The same with output.
    pub fn call_again_with_output(
        &self,
        args: &[Value],
        earlier: Vec<Value>,
        options: &CallOptions,
        output: &mut dyn FnMut(&str),
    ) -> Result<CallResult, RuntimeError> {
        self.run(args, earlier, options, Some(output))
    }

    fn run(
        &self,
        args: &[Value],
        mut earlier: Vec<Value>,
        options: &CallOptions,
        output: Option<&mut dyn FnMut(&str)>,
    ) -> Result<CallResult, RuntimeError> {
        self.signature.check(args)?;
        let mut warm = self.warm(options);
        earlier.reverse();
        for ty in &self.signature.results {
            // A size that only the call finds out gets memory of the call. Where nothing like it may be held at all, the
            // call says so.
            let is_allowed = |n: &ElementCount| n.get().saturating_mul(size_of::<u64>()) <= options.max_bytes;
            let known = self.signature.size(ty, args).filter(is_allowed);
            warm.results.push(ResultBuffer::new(ty, known, earlier.pop()));
        }
        if let Err(NoMemory(wanted)) = warm.buffers.describe(args, &mut warm.results) {
            warm.results.clear();
            let held = warm.session.memory().in_use();
            return Err(no_memory(wanted, held, options.max_bytes));
        }
        // SAFETY: the arguments and the room for results fit the signature.
        let ran = unsafe { self.execute(&mut warm, options, output) };
        let CallState { session, buffers, results, .. } = &mut *warm;
        let result = ran.and_then(|ran| {
            let mut values = earlier;
            values.clear();
            for (room, buf) in results.drain(..).zip(&buffers.outputs) {
                // SAFETY: the call succeeded, so it has written these results, and nothing has called the session since.
                let value = unsafe { room.value(buf, options.max_bytes) };
                let held = session.memory().in_use();
                values.push(value.map_err(|unmade| match unmade {
                    Unmade::NoMemory(NoMemory(wanted)) => no_memory(wanted, held, options.max_bytes),
                    Unmade::BadExtents(extents) => RuntimeError::BadExtents(extents),
                })?);
            }
            let unwatched = self.code.unwatched.as_deref();
            let saw_nan = unwatched.is_some() && session.saw_nan();
            // A call of a microsecond feels each look at the clock.
            let (has_nan, search) = match unwatched {
                Some(unwatched) if !saw_nan && !unwatched.is_empty() => {
                    let start = Instant::now();
                    (unwatched.iter().any(|k| has_nan(&values[*k])), start.elapsed())
                }
                Some(_) | None => (saw_nan, Duration::ZERO),
            };
            Ok(CallResult { values, statistics: ran.statistics(session, search), has_nan })
        });
        warm.results.clear();
        self.cool(warm);
        result
    }

    /// Runs the code on the arguments and the room for results that are described.
    ///
    /// # Safety
    /// They fit the signature, and stay where they are.
    pub(super) unsafe fn execute(
        &self,
        warm: &mut CallState,
        options: &CallOptions,
        output: Option<&mut dyn FnMut(&str)>,
    ) -> Result<Ran, RuntimeError> {
        let CallState { session, buffers, .. } = warm;
        for _ in 0..options.warm_ups {
            let mut outputs = buffers.outputs.clone();
            // SAFETY: as below; what went wrong goes wrong once more.
            let _ = unsafe { session.call(self.code.entry, &buffers.inputs, &mut outputs, None) };
        }
        let blocks = session.memory().blocks();
        let start = options.is_timed.then(Instant::now);
        // SAFETY: by this function's contract; the signature is that of the code, and its memory lives as long as `self`.
        let outcome = unsafe { session.call(self.code.entry, &buffers.inputs, &mut buffers.outputs, output) };
        let ran = Ran { time: start.map_or(Duration::ZERO, |start| start.elapsed()), blocks };
        outcome.map(|()| ran).map_err(|error| self.error(&error))
    }

    /// The state for a call: what an earlier one has left, or a new one.
    pub(super) fn warm(&self, options: &CallOptions) -> Box<CallState> {
        let &CallOptions { max_bytes, threads, .. } = options;
        let known = |mut idle: MutexGuard<'_, Vec<Box<CallState>>>| {
            let k = idle.iter().position(|warm| warm.max_bytes == max_bytes && warm.threads == threads)?;
            Some(idle.swap_remove(k))
        };
        let mut warm = match self.idle.each().find_map(known) {
            Some(warm) => warm,
            None => {
                let pool = threads.map_or_else(|| self.pool.clone(), |most| Arc::new(self.pool.limited(most)));
                let session = Session::new(max_bytes)
                    .with_pool(pool)
                    .with_registry(self.registry)
                    .with_instructions(self.code.instructions);
                let (buffers, results) = (Buffers::default(), Vec::new());
                Box::new(CallState { max_bytes, threads, session, buffers, results })
            }
        };
        warm.session.set_watch(options.watch.clone());
        warm
    }

    /// Leaves the state of a call to the next one.
    pub(super) fn cool(&self, mut warm: Box<CallState>) {
        warm.session.set_watch(None);
        self.idle.own().push(warm);
    }

    fn error(&self, slot: &ErrorSlot) -> RuntimeError {
        match slot.code {
            code::OUT_OF_MEMORY => RuntimeError::OutOfMemory(self.out_of_memory(slot)),
            code::CANCELLED => RuntimeError::Cancelled,
            code::OUT_OF_STEPS => RuntimeError::OutOfSteps,
            code::TIMED_OUT => RuntimeError::TimedOut,
            code::BAD_EXTENTS => {
                let rank = usize::try_from(slot.span).unwrap_or(0).min(slot.args.len());
                RuntimeError::BadExtents(slot.args[..rank].to_vec())
            }
            code::BUG => RuntimeError::Bug(slot.bug_text()),
            number => {
                let check = usize::try_from(number).ok().and_then(|n| self.code.reports.checks.get(n.checked_sub(1)?));
                let unknown = || RuntimeError::Bug(format!("compiled code reported the unknown error {number}"));
                check.map_or_else(unknown, |check| RuntimeError::Check {
                    kind: check.kind,
                    args: slot.args.iter().zip(&check.args).map(|(arg, elem)| shown(*arg, *elem)).collect(),
                    span: check.span,
                })
            }
        }
    }

    fn out_of_memory(&self, slot: &ErrorSlot) -> OutOfMemory {
        let [wanted, held, limit, ..] = slot.args;
        let position = usize::try_from(slot.span).ok().and_then(|n| n.checked_sub(1));
        OutOfMemory {
            wanted: bytes(wanted),
            held: bytes(held),
            limit: (limit != code::NO_LIMIT).then(|| bytes(limit)),
            site: position.and_then(|at| self.code.reports.sites.get(at).cloned()),
        }
    }
}

/// A reported number of bytes.
fn bytes(arg: i64) -> u64 {
    u64::try_from(arg).unwrap_or_default()
}

/// A reported number of a type: an i64, or the bits of a u64 or a float, which lie first in the slot.
fn shown(arg: i64, elem: Elem) -> i128 {
    match elem {
        Elem::U64 | Elem::F64 => (arg as u64).into(),
        Elem::F32 => (arg as u32).into(),
        Elem::F16 | Elem::BF16 => (arg as u16).into(),
        Elem::Bool | Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 | Elem::U8 | Elem::U16 | Elem::U32 => arg.into(),
    }
}

impl fmt::Debug for CompiledFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompiledFunction").field("signature", &self.signature).finish_non_exhaustive()
    }
}
