//! Commands of plans.

use super::commands::Command;
use super::error::DeviceError;
use super::pool::Block;
use super::recording::Recordings;
use crate::runner::CallMemory;
use cotan_ops::stop::Stop;
use std::sync::Arc;

impl Recordings {
    /// Runs commands of a plan, as [`Recordings::run`] does. Its memory is that of a call, of results that stay on the device, and
    /// of arguments that lie there already.
    pub(crate) fn run_of_plan(
        &mut self,
        commands: &[Command<'_>],
        stop: Option<&Stop>,
        _memory: &CallMemory,
        _results: &[(Arc<Block>, bool)],
        _arguments: &[&Block],
    ) -> Result<bool, DeviceError> {
        // SAFETY: a kernel of a plan reaches elements of the arrays that it is given alone, as a nest does on any machine, and all
        // of them lie in the memory of the call, its arguments too, or in blocks, all of which are borrowed until this has run: so
        // it is alive, and the host writes to none of it. Kernels write to the memory of the call and to results, which this call
        // alone has; of arguments they read.
        unsafe { self.run(commands, stop) }
    }
}
