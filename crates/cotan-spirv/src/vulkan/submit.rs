//! One submission: recorded, started, waited for in slices, so that a driver that hangs is left in time.

use super::core::{Core, Queue};
use super::error::{DeviceError, Step};
use ash::vk;
use std::time::{Duration, Instant};

/// How long one wait is at most.
const SLICE: Duration = Duration::from_millis(20);

impl Core {
    /// Records commands, runs them, and waits until they have run. What they write is then seen by the host.
    pub(super) fn submit(
        &self,
        queue: &Queue,
        record: impl FnOnce(&ash::Device, vk::CommandBuffer),
    ) -> Result<(), DeviceError> {
        let (device, commands) = (&self.device, queue.commands);
        let refused = DeviceError::at(Step::Record);
        let once = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the caller has the queue, so nothing of it runs; its pool lets buffers be begun anew.
        unsafe { device.begin_command_buffer(commands, &once) }.map_err(&refused)?;
        record(device, commands);
        let seen = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::SHADER_WRITE | vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ)];
        let written = vk::PipelineStageFlags::COMPUTE_SHADER | vk::PipelineStageFlags::TRANSFER;
        let none = vk::DependencyFlags::empty();
        // SAFETY: commands are being recorded.
        unsafe {
            device.cmd_pipeline_barrier(commands, written, vk::PipelineStageFlags::HOST, none, &seen, &[], &[]);
            device.end_command_buffer(commands)
        }
        .map_err(&refused)?;
        let buffers = [commands];
        let work = [vk::SubmitInfo::default().command_buffers(&buffers)];
        // SAFETY: the caller has the queue; the fence is not signalled, as it is reset after each wait.
        let submitted = unsafe { device.queue_submit(queue.handle, &work, queue.fence) };
        if submitted == Err(vk::Result::ERROR_DEVICE_LOST) {
            self.abandon();
        }
        submitted.map_err(DeviceError::at(Step::Submit))?;
        self.wait(queue)
    }

    /// Waits for what was submitted.
    fn wait(&self, queue: &Queue) -> Result<(), DeviceError> {
        let start = Instant::now();
        let fences = [queue.fence];
        let slice = SLICE.min(self.limit).as_nanos() as u64;
        loop {
            // SAFETY: the fence is of this device.
            match unsafe { self.device.wait_for_fences(&fences, true, slice) } {
                Ok(()) => break,
                Err(vk::Result::TIMEOUT) if start.elapsed() < self.limit => {}
                Err(vk::Result::TIMEOUT) => {
                    self.abandon();
                    return Err(DeviceError::Hung { limit: self.limit });
                }
                Err(error) => {
                    // Whether the work has ended is not known.
                    self.abandon();
                    return Err(DeviceError::at(Step::Wait)(error));
                }
            }
        }
        // SAFETY: the fence is of this device, and nothing waits for it.
        unsafe { self.device.reset_fences(&fences) }.map_err(DeviceError::at(Step::Wait))
    }
}
