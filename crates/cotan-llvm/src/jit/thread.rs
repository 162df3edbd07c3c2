//! The thread that LLVM runs on.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::thread::JoinHandle;

use super::error::JitError;
use crate::load::{Llvm, fatal};

/// LLVM recurses over expressions and blocks. The memory is reserved, not used, until it does.
const STACK_BYTES: usize = 256 << 20;

/// How work on the compiler thread ended.
enum Outcome<T> {
    Done(T),
    Fatal(String),
}

/// Work on a thread of its own.
struct Started<T> {
    outcome: mpsc::Receiver<Outcome<Result<T, JitError>>>,
    thread: JoinHandle<()>,
}

/// Runs `work` on a thread with a large stack and waits for it. If LLVM gives up, the thread is
/// abandoned; since it may hold LLVM's locks, the library is not used again.
pub(super) fn on_compiler_thread<T: Send + 'static>(
    llvm: &Arc<Llvm>,
    work: impl FnOnce(&Arc<Llvm>) -> Result<T, JitError> + Send + 'static,
) -> Result<T, JitError> {
    wait(llvm, start(llvm, work)?)
}

/// The same on several threads at once, each of which runs `work`.
pub(super) fn on_compiler_threads<T: Send + 'static>(
    llvm: &Arc<Llvm>,
    n_threads: usize,
    work: impl Fn(&Arc<Llvm>) -> Result<T, JitError> + Send + Sync + 'static,
) -> Result<Vec<T>, JitError> {
    let work = Arc::new(work);
    let started: Vec<_> = (0..n_threads)
        .map(|_| {
            let work = Arc::clone(&work);
            start(llvm, move |llvm| work(llvm))
        })
        .collect::<Result<_, _>>()?;
    started.into_iter().map(|outcome| wait(llvm, outcome)).collect()
}

fn start<T: Send + 'static>(
    llvm: &Arc<Llvm>,
    work: impl FnOnce(&Arc<Llvm>) -> Result<T, JitError> + Send + 'static,
) -> Result<Started<T>, JitError> {
    if llvm.gave_up.load(Ordering::Acquire) {
        return Err(JitError::Fatal("it gave up on an earlier module".to_owned()));
    }
    let (sender, outcome) = mpsc::channel();
    let shared = Arc::clone(llvm);
    let thread = std::thread::Builder::new()
        .name("cotan-llvm".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || {
            let failed = sender.clone();
            // A receiver that is gone has no use for the result.
            fatal::listen_on_this_thread(move |message| drop(failed.send(Outcome::Fatal(message))));
            drop(sender.send(Outcome::Done(work(&shared))));
        })
        .map_err(|error| JitError::Thread(error.to_string()))?;
    Ok(Started { outcome, thread })
}

fn wait<T>(llvm: &Arc<Llvm>, Started { outcome, thread }: Started<T>) -> Result<T, JitError> {
    match outcome.recv() {
        Ok(Outcome::Done(result)) => {
            // Its thread locals are LLVM's too: where they are destroyed while the process ends, it crashes.
            drop(thread.join());
            result
        }
        Ok(Outcome::Fatal(message)) => {
            llvm.gave_up.store(true, Ordering::Release);
            Err(JitError::Fatal(message))
        }
        Err(mpsc::RecvError) => Err(JitError::Thread("it panicked".to_owned())),
    }
}
