//! Command buffers: launches and copies that the device takes one after the other, by one submission.

use super::device::Device;
use super::error::DeviceError;
use super::info::DeviceInfo;
use super::memory::Memory;
use super::pipeline::Pipeline;
use ash::vk;

/// Something that a device does.
#[derive(Clone, Copy, Debug)]
pub enum Command<'c> {
    /// Runs a kernel with so many threads at least, in whole workgroups.
    Launch {
        /// The kernel.
        pipeline: &'c Pipeline,
        /// Where its arguments lie.
        arguments: u64,
        /// How many threads.
        threads: u64,
    },
    /// Copies bytes.
    Copy {
        /// From this memory, from an offset on.
        from: (&'c Memory, u64),
        /// To this memory, from an offset on.
        to: (&'c Memory, u64),
        /// How many; none that are copied are copied to.
        bytes: u64,
    },
}

impl Device {
    /// Runs commands, each once what those before it have written can be seen, and waits until all have run. They are recorded
    /// for this once.
    ///
    /// # Safety
    ///
    /// Kernels and memory are of this device. What kernels read and write, their arguments among it, lies in memory of this
    /// device that is alive, and that the host does not touch meanwhile.
    pub unsafe fn run_all(&self, commands: &[Command<'_>]) -> Result<(), DeviceError> {
        commands.iter().try_for_each(|command| groups(self.info(), command).map(drop))?;
        let mut queue = self.core.queue(None)?;
        self.core.record_and_run(&mut queue, |device, buffer| append(device, buffer, self.info(), commands))
    }
}

/// Records commands whose groups and ranges have been checked.
pub(super) fn append(device: &ash::Device, buffer: vk::CommandBuffer, info: &DeviceInfo, commands: &[Command<'_>]) {
    for (k, command) in commands.iter().enumerate() {
        if k > 0 {
            wait_for_writes(device, buffer);
        }
        match command {
            Command::Launch { pipeline, arguments, .. } => {
                let groups = groups(info, command).unwrap_or(0);
                if groups == 0 {
                    continue;
                }
                let point = vk::PipelineBindPoint::COMPUTE;
                let pushed = arguments.to_le_bytes();
                // SAFETY: commands are being recorded; pipeline and layout are of this device and fit each other. What the
                // kernel reads and writes is the word of whoever runs it.
                unsafe {
                    device.cmd_bind_pipeline(buffer, point, pipeline.pipeline);
                    let stage = vk::ShaderStageFlags::COMPUTE;
                    device.cmd_push_constants(buffer, pipeline.layout, stage, 0, &pushed);
                    device.cmd_dispatch(buffer, groups, 1, 1);
                }
            }
            Command::Copy { from: (from, at), to: (to, target), bytes } if *bytes > 0 => {
                let region = copied_region(*at, *target, *bytes);
                // SAFETY: commands are being recorded; the region lies in both buffers, which are alive.
                unsafe { device.cmd_copy_buffer(buffer, from.buffer, to.buffer, &[region]) };
            }
            Command::Copy { .. } => {}
        }
    }
}

/// Bytes from one offset to another one.
pub(super) fn copied_region(from: u64, to: u64, bytes: u64) -> vk::BufferCopy {
    vk::BufferCopy::default().src_offset(from).dst_offset(to).size(bytes)
}

/// The workgroups of a launch. The ranges of a copy are checked.
pub(super) fn groups(info: &DeviceInfo, command: &Command<'_>) -> Result<u32, DeviceError> {
    match command {
        Command::Launch { pipeline, threads, .. } => {
            let (groups, limit) = (threads.div_ceil(pipeline.workgroup.into()), info.limits.groups);
            let few = u32::try_from(groups).ok().filter(|n| *n <= limit);
            few.ok_or(DeviceError::TooManyGroups { groups, limit })
        }
        Command::Copy { from, to, bytes } => {
            from.0.check(from.1, *bytes as usize)?;
            to.0.check(to.1, *bytes as usize)?;
            Ok(0)
        }
    }
}

/// What was written before is seen by what comes behind.
fn wait_for_writes(device: &ash::Device, buffer: vk::CommandBuffer) {
    let (reads, writes) = (
        vk::AccessFlags::SHADER_READ | vk::AccessFlags::TRANSFER_READ,
        vk::AccessFlags::SHADER_WRITE | vk::AccessFlags::TRANSFER_WRITE,
    );
    let seen = [vk::MemoryBarrier::default().src_access_mask(writes).dst_access_mask(reads | writes)];
    let stages = vk::PipelineStageFlags::COMPUTE_SHADER | vk::PipelineStageFlags::TRANSFER;
    // SAFETY: commands are being recorded.
    unsafe { device.cmd_pipeline_barrier(buffer, stages, stages, vk::DependencyFlags::empty(), &seen, &[], &[]) };
}
