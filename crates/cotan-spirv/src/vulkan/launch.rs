//! Commands of plans.

use super::commands::Command;
use super::device::Device;
use super::error::DeviceError;
use crate::runner::CallMemory;

impl Device {
    /// Runs commands of a plan, whose memory is that of a call.
    pub(crate) fn run_of_plan(&self, commands: &[Command<'_>], _memory: &CallMemory) -> Result<(), DeviceError> {
        // SAFETY: a kernel of a plan reaches elements of the arrays that it is given alone, as a nest does on any machine, and
        // all of them lie in the memory of the call, its arguments too, which is alive as long as it is borrowed.
        unsafe { self.run_all(commands) }
    }
}
