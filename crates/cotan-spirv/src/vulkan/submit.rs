//! One submission: started, and waited for in slices, so that a driver that hangs is left in time.

use super::core::{Core, Queue};
use super::error::{DeviceError, Step};
use super::steps::Refusable;
use ash::vk;
use std::time::{Duration, Instant};

/// How long one wait is at most.
const SLICE: Duration = Duration::from_millis(20);

impl Core {
    /// Records commands, runs them, and waits until they have run. What they write is then seen by the host.
    pub(super) fn record_and_run(
        &self,
        queue: &mut Queue,
        record: impl FnOnce(&ash::Device, vk::CommandBuffer),
    ) -> Result<(), DeviceError> {
        let commands = queue.commands;
        // SAFETY: the caller has the queue, whose buffer it is, so nothing of it runs; its pool lets buffers be begun anew.
        unsafe { self.record(commands, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT, record) }?;
        // SAFETY: it has been recorded.
        unsafe { self.run(queue, commands) }
    }

    /// Records commands, whose writes the host sees once they have run.
    ///
    /// # Safety
    ///
    /// The buffer is of this device, of a pool that lets buffers be begun anew, nobody else uses the pool meanwhile, and nothing
    /// of the buffer runs.
    pub(super) unsafe fn record(
        &self,
        commands: vk::CommandBuffer,
        usage: vk::CommandBufferUsageFlags,
        record: impl FnOnce(&ash::Device, vk::CommandBuffer),
    ) -> Result<(), DeviceError> {
        let device = &self.device;
        let refused = DeviceError::at(Step::Record);
        let usage = vk::CommandBufferBeginInfo::default().flags(usage);
        // SAFETY: the caller's word.
        unsafe { device.begin_command_buffer(commands, &usage) }.map_err(&refused)?;
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
        .map_err(refused)
    }

    /// Runs what was recorded, and waits until it has run.
    ///
    /// # Safety
    ///
    /// The buffer is of this device and has been recorded; all that it names is alive.
    pub(super) unsafe fn run(&self, queue: &mut Queue, commands: vk::CommandBuffer) -> Result<(), DeviceError> {
        let buffers = [commands];
        let work = [vk::SubmitInfo::default().command_buffers(&buffers)];
        let submitted = self.meter.take(Refusable::Submission).and_then(|()| {
            // SAFETY: the caller has the queue, and gives its word for the buffer; the fence is not signalled, as it is reset
            // after each wait.
            unsafe { self.device.queue_submit(queue.handle, &work, queue.fence) }
        });
        if submitted == Err(vk::Result::ERROR_DEVICE_LOST) {
            self.lose();
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
            let waited = unsafe { self.device.wait_for_fences(&fences, true, slice) };
            match waited.and_then(|()| self.meter.take(Refusable::Wait)) {
                Ok(()) => break,
                Err(vk::Result::TIMEOUT) if start.elapsed() < self.limit => {}
                Err(vk::Result::TIMEOUT) => {
                    self.abandon();
                    return Err(DeviceError::Hung { limit: self.limit });
                }
                Err(error @ vk::Result::ERROR_DEVICE_LOST) => {
                    self.lose();
                    return Err(DeviceError::at(Step::Wait)(error));
                }
                Err(error) => {
                    // Whether the work has ended is not known.
                    self.abandon();
                    return Err(DeviceError::at(Step::Wait)(error));
                }
            }
        }
        // SAFETY: the fence is of this device, and nothing waits for it.
        unsafe { self.device.reset_fences(&fences) }.map_err(|error| {
            // It can't be waited for any more.
            self.lose();
            DeviceError::at(Step::Wait)(error)
        })
    }
}
