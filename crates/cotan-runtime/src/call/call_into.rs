//! Calls on tensors that a host lends: arguments are read, and results written, where they lie.

use super::buffers::take;
use super::error::{NoMemory, RuntimeError, no_memory};
use super::function::{CallOptions, CallResult, CompiledFunction};
use cotan_ops::{TensorMut, TensorRef};
use std::time::{Duration, Instant};

impl CompiledFunction {
    /// Calls the function on tensors that are lent, one for each operand and each result. What it prints is dropped. The
    /// values of the result are in `results`, and not in what is given back. Calls of equal sizes allocate nothing.
    pub fn call_into(
        &self,
        args: &[TensorRef<'_>],
        results: &mut [TensorMut<'_>],
        options: &CallOptions,
    ) -> Result<CallResult, RuntimeError> {
        self.signature.check(args)?;
        self.signature.check_results(args, results)?;
        let mut warm = self.warm(options);
        if let Err(NoMemory(wanted)) = warm.buffers.describe(args, results) {
            return Err(no_memory(wanted, warm.session.memory().in_use(), options.max_bytes));
        }
        // SAFETY: arguments and results fit the signature as far as that tells their extents; of a result whose extents the
        // run finds out, the code writes no more here than the capacity says.
        let ran = unsafe { self.execute(&mut warm, options, None) };
        let result = ran.and_then(|ran| {
            let taken = results.iter_mut().zip(&warm.buffers.outputs).enumerate().try_for_each(|(k, (result, buf))| {
                // SAFETY: the call succeeded, so it has written these results, and nothing has called the session since.
                let taken = unsafe { take(result, buf) };
                taken.map_err(|extents| {
                    RuntimeError::Argument(format!("result {k}: it has the extents {extents:?}, its room others"))
                })
            });
            taken.map(|()| ran)
        });
        let result = result.map(|ran| {
            let is_nan = |k: &usize| results[*k].as_ref().has_nan();
            let start = options.is_timed.then(Instant::now);
            let watches = |unwatched: &Vec<usize>| warm.session.saw_nan() || unwatched.iter().any(is_nan);
            let has_nan = self.code.unwatched.as_ref().is_some_and(watches);
            let search = start.map_or(Duration::ZERO, |start| start.elapsed());
            CallResult { values: Vec::new(), statistics: ran.statistics(&warm.session, search), has_nan }
        });
        self.cool(warm);
        result
    }
}
