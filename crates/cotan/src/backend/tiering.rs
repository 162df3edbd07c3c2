//! Tiered compilation: quickly made code first, optimized code once calls take long enough to pay for it.
//!
//! LLVM is four times as fast where it does not look for good instructions and registers, and what it then makes computes
//! the same bits, a few times slower. So a command that calls a function once starts with such code. Where its calls have
//! taken about as long as it takes to make better code, that is made beside the call that runs then; when it is there
//! first, the call is stopped and made again with it.

use cotan_ir::Module;
use cotan_ops::stop::Reason;
use cotan_runtime::Watch;
use cotan_runtime::{CallOptions, CallResult, CompiledFunction, RuntimeError};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time budget of all calls before recompiling: this much for each byte of code, which is about the time that it takes,
/// but at least `AT_LEAST`.
const FOR_EACH_BYTE: Duration = Duration::from_micros(1);
const AT_LEAST: Duration = Duration::from_millis(50);

/// Makes better code; `None` if that fails.
type Make = dyn Fn() -> Option<CompiledFunction> + Send + Sync;

/// Quickly made code, and how to make optimized code.
pub(crate) struct Tiered {
    code: CompiledFunction,
    better: Arc<Better>,
    /// How long calls may take before.
    patience: Duration,
    /// Nanoseconds that calls have taken so far.
    spent: AtomicU64,
    /// Threads that were making better code when a call was stopped.
    makers: Mutex<Vec<JoinHandle<()>>>,
}

/// Better code, once it is made.
struct Better {
    make: Box<Make>,
    /// `None` in it: there is none, and will be none.
    code: OnceLock<Option<CompiledFunction>>,
}

impl Better {
    fn code(&self) -> Option<&CompiledFunction> {
        self.code.get().and_then(Option::as_ref)
    }

    /// Makes it, unless it is there; whether there is any.
    fn make(&self) -> bool {
        self.code.get_or_init(|| (self.make)()).is_some()
    }
}

impl fmt::Debug for Tiered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tiered").field("code", &self.code).field("better", &self.better.code).finish_non_exhaustive()
    }
}

impl Tiered {
    pub(crate) fn new(
        code: CompiledFunction,
        make: impl Fn() -> Option<CompiledFunction> + Send + Sync + 'static,
    ) -> Tiered {
        let patience = time_to_make(&code);
        let better = Arc::new(Better { make: Box::new(make), code: OnceLock::new() });
        Tiered { code, better, patience, spent: AtomicU64::new(0), makers: Mutex::default() }
    }

    /// The best code that is there.
    pub(crate) fn code(&self) -> &CompiledFunction {
        self.better.code().unwrap_or(&self.code)
    }

    /// Whether optimized code is there.
    pub(super) fn has_better(&self) -> bool {
        self.better.code().is_some()
    }

    /// Calls the best code there is, or will be. A call that is made again has all its steps again, so that whether they
    /// are enough does not depend on time; its deadline stays.
    pub(crate) fn call(
        &self,
        options: &CallOptions,
        mut call: impl FnMut(&CompiledFunction, &CallOptions) -> Result<CallResult, RuntimeError>,
    ) -> Result<CallResult, RuntimeError> {
        if self.better.code.get().is_some() {
            return call(self.code(), options);
        }
        let watch = options.watch.clone().unwrap_or_else(|| Arc::new(Watch::new(None)));
        let watched = CallOptions { watch: Some(Arc::clone(&watch)), ..options.clone() };
        let start = Instant::now();
        let patience = self.patience.saturating_sub(Duration::from_nanos(self.spent.load(Ordering::Relaxed)));
        let (running, ends) = mpsc::channel::<()>();
        let (better, superseded) = (Arc::clone(&self.better), Arc::clone(&watch));
        let make = move || {
            if ends.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Timeout) && better.make() {
                superseded.stop(Reason::Superseded);
            }
        };
        // Where the system refuses a thread, the call goes on as it is.
        let maker = std::thread::Builder::new().spawn(make).ok();
        let outcome = call(&self.code, &watched);
        drop(running);
        let is_stopped = watch.stopping().reason().is_some_and(|reason| reason != Reason::Superseded);
        match maker {
            // Who has stopped a call does not wait for code that it does not need.
            Some(maker) if is_stopped => self.makers.lock().unwrap_or_else(PoisonError::into_inner).push(maker),
            Some(maker) => drop(maker.join()),
            None => {}
        }
        let spent = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.spent.fetch_add(spent, Ordering::Relaxed);
        match outcome {
            Err(RuntimeError::Cancelled) if watch.begin_again() => {
                self.code.forget_memory();
                call(self.code(), options)
            }
            other => {
                // Better code may have come just as the call ended; what runs under the same watch next is not to stop.
                watch.begin_again();
                other
            }
        }
    }
}

impl Drop for Tiered {
    fn drop(&mut self) {
        // Code must not be made while a process ends.
        let makers = std::mem::take(&mut *self.makers.lock().unwrap_or_else(PoisonError::into_inner));
        makers.into_iter().for_each(|maker| drop(maker.join()));
    }
}

/// About how long it takes to make such code again, optimized.
pub(super) fn time_to_make(code: &CompiledFunction) -> Duration {
    let bytes = u32::try_from(code.code_bytes()).unwrap_or(u32::MAX);
    AT_LEAST.max(FOR_EACH_BYTE.saturating_mul(bytes))
}

/// Whether anything in a module writes output, which a call that is made again would write twice.
pub(crate) fn prints(module: &Module) -> bool {
    module.functions().any(|f| f.body.walk().any(|s| s.op.effects().prints))
}
