//! Code that is there soon, until better code pays.
//!
//! LLVM is four times as fast where it does not look for good instructions and registers, and what it then makes computes
//! the same bits, a few times slower. So a command that calls a function once starts with such code. Where its calls have
//! taken about as long as it takes to make better code, that is made beside the call that runs then; when it is there
//! first, the call is stopped and made again with it.

use cotan_ir::{Block, Module, Op};
use cotan_llvm::runtime::Watch;
use cotan_llvm::{CallOptions, CompiledFunction, Outcome, RuntimeError};
use cotan_ops::PRINT;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::time::{Duration, Instant};

/// How long calls may take, all together, before better code is made: so long for each byte of code, which is about the
/// time that this takes, but at least so long.
const FOR_EACH_BYTE: Duration = Duration::from_micros(1);
const AT_LEAST: Duration = Duration::from_millis(50);

/// Makes better code; `None` if that fails.
type Make = dyn Fn() -> Option<CompiledFunction> + Send + Sync;

/// Code that was made quickly, and how to make better one.
pub(crate) struct Quick {
    code: CompiledFunction,
    make: Box<Make>,
    /// How long calls may take before.
    patience: Duration,
    /// `None` in it: there is none, and will be none.
    better: OnceLock<Option<CompiledFunction>>,
    /// Nanoseconds that calls have taken so far.
    spent: AtomicU64,
}

impl fmt::Debug for Quick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Quick").field("code", &self.code).field("better", &self.better).finish_non_exhaustive()
    }
}

impl Quick {
    pub(crate) fn new(
        code: CompiledFunction,
        make: impl Fn() -> Option<CompiledFunction> + Send + Sync + 'static,
    ) -> Quick {
        let bytes = u32::try_from(code.code_bytes()).unwrap_or(u32::MAX);
        let patience = AT_LEAST.max(FOR_EACH_BYTE.saturating_mul(bytes));
        Quick { code, make: Box::new(make), patience, better: OnceLock::new(), spent: AtomicU64::new(0) }
    }

    /// The best code that is there.
    pub(crate) fn code(&self) -> &CompiledFunction {
        self.better.get().and_then(Option::as_ref).unwrap_or(&self.code)
    }

    /// Calls the best code there is, or will be; `call` is not to stop it itself.
    pub(crate) fn call(
        &self,
        options: &CallOptions,
        mut call: impl FnMut(&CompiledFunction, &CallOptions) -> Result<Outcome, RuntimeError>,
    ) -> Result<Outcome, RuntimeError> {
        if self.better.get().is_some() {
            return call(self.code(), options);
        }
        let watch = Arc::new(Watch::new(None));
        let watched = CallOptions { watch: Some(Arc::clone(&watch)), ..options.clone() };
        let start = Instant::now();
        let patience = self.patience.saturating_sub(Duration::from_nanos(self.spent.load(Ordering::Relaxed)));
        let outcome = std::thread::scope(|scope| {
            let (running, ends) = mpsc::channel::<()>();
            let watch = &watch;
            let make = move || {
                if ends.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Timeout)
                    && self.better.get_or_init(|| (self.make)()).is_some()
                {
                    watch.cancel();
                }
            };
            // Where the system refuses a thread, the call goes on as it is.
            let maker = std::thread::Builder::new().spawn_scoped(scope, make);
            let outcome = call(&self.code, &watched);
            drop(running);
            drop(maker);
            outcome
        });
        let spent = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.spent.fetch_add(spent, Ordering::Relaxed);
        match outcome {
            Err(RuntimeError::Cancelled) => {
                self.code.forget_memory();
                call(self.code(), options)
            }
            other => other,
        }
    }
}

/// Whether anything in a module writes output, which a call that is made again would write twice.
pub(crate) fn prints(module: &Module) -> bool {
    module.functions().any(|f| block_prints(&f.body))
}

fn block_prints(block: &Block) -> bool {
    block.stmts.iter().any(|stmt| {
        matches!(&stmt.op, Op::Tensor { op, .. } if *op == PRINT.op()) || stmt.op.blocks().iter().any(block_prints)
    })
}
