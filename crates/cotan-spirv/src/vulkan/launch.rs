//! Launches of kernels of plans.

use super::device::Device;
use super::error::DeviceError;
use super::pipeline::Pipeline;
use crate::runner::CallMemory;

impl Device {
    /// Runs a kernel of a plan, whose memory is that of a call.
    pub(crate) fn launch(
        &self,
        pipeline: &Pipeline,
        words: &[u64],
        threads: u64,
        _memory: &CallMemory,
    ) -> Result<(), DeviceError> {
        // SAFETY: a kernel of a plan reaches elements of the arrays that it is given alone, as a nest does on any machine, and
        // all of them lie in the memory of the call, which is alive as long as it is borrowed.
        unsafe { self.run(pipeline, words, threads) }
    }
}
