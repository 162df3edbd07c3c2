//! Recordings: command buffers that are submitted again as long as their commands are the same.
//!
//! A launch is the same where kernel, number of workgroups and address of the arguments are: what lies there is written anew
//! for each call. A copy is the same where its memory is. So calls of equal sizes record nothing.

use super::commands::{Command, append, groups};
use super::core::Core;
use super::device::Device;
use super::error::{DeviceError, Step};
use ash::vk;
use cotan_ops::stop::Stop;
use rustc_hash::FxHasher;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// How many are kept. What was not used for longest makes room.
const MOST: usize = 64;

/// Command buffers of one owner, who runs one after the other.
pub struct Recordings {
    device: Device,
    pool: vk::CommandPool,
    kept: Vec<Recorded>,
    /// How many were run.
    clock: u64,
}

struct Recorded {
    hash: u64,
    /// `None` where recording failed.
    commands: Option<Vec<Same>>,
    buffer: vk::CommandBuffer,
    /// When it was run last.
    used: u64,
}

/// What makes two commands the same. Numbers of kernels and memory are never given out twice.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Same {
    Launch { kernel: u64, groups: u32, arguments: u64 },
    Copy { from: (u64, u64), to: (u64, u64), bytes: u64 },
}

impl fmt::Debug for Recordings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Recordings({})", self.kept.len())
    }
}

impl Recordings {
    /// None yet.
    pub fn new(device: &Device) -> Result<Recordings, DeviceError> {
        let core = &device.core;
        core.expect_usable()?;
        let description = vk::CommandPoolCreateInfo::default()
            .queue_family_index(core.family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        // SAFETY: the family is one of the device's.
        let pool = unsafe { core.device.create_command_pool(&description, None) };
        let pool = pool.map_err(DeviceError::at(Step::Record))?;
        Ok(Recordings { device: device.clone(), pool, kept: Vec::new(), clock: 0 })
    }

    /// Runs commands, each once what those before it have written can be seen, and waits until all have run. Whether they had
    /// to be recorded. Who waits for the device is stopped; work of its own that runs is waited for.
    ///
    /// # Safety
    ///
    /// Kernels and memory are of this device. What kernels read and write, their arguments among it, lies in memory of this
    /// device that is alive, and that the host does not touch meanwhile.
    pub unsafe fn run(&mut self, commands: &[Command<'_>], stop: Option<&Stop>) -> Result<bool, DeviceError> {
        let same = commands.iter().map(|command| self.same(command)).collect::<Result<Vec<Same>, DeviceError>>()?;
        let hash = hash_of(&same);
        let known = self.kept.iter().position(|one| one.hash == hash && one.commands.as_ref() == Some(&same));
        let at = match known {
            Some(at) => at,
            None => self.record(commands, same, hash)?,
        };
        self.clock += 1;
        self.kept[at].used = self.clock;
        let core: &Arc<Core> = &self.device.core;
        let mut queue = core.queue(stop)?;
        // SAFETY: it has been recorded; what it names is the same as what the caller gives its word for.
        unsafe { core.run(&mut queue, self.kept[at].buffer) }?;
        Ok(known.is_none())
    }

    fn same(&self, command: &Command<'_>) -> Result<Same, DeviceError> {
        let groups = groups(self.device.info(), command)?;
        Ok(match command {
            Command::Launch { pipeline, arguments, .. } => {
                Same::Launch { kernel: pipeline.number, groups, arguments: *arguments }
            }
            Command::Copy { from, to, bytes } => {
                Same::Copy { from: (from.0.number, from.1), to: (to.0.number, to.1), bytes: *bytes }
            }
        })
    }

    /// Records commands in a buffer that is not in use.
    fn record(&mut self, commands: &[Command<'_>], same: Vec<Same>, hash: u64) -> Result<usize, DeviceError> {
        let at = self.room()?;
        let info = self.device.info();
        let one = &mut self.kept[at];
        one.commands = None;
        let core = &self.device.core;
        // SAFETY: the buffer is of a pool of this value's own, which lets buffers be begun anew, and what ran was waited for.
        unsafe {
            core.record(one.buffer, vk::CommandBufferUsageFlags::empty(), |device, buffer| {
                append(device, buffer, info, commands);
            })?;
        }
        (one.commands, one.hash) = (Some(same), hash);
        Ok(at)
    }

    /// A buffer to record in: a new one, or the one that was not used for longest.
    fn room(&mut self) -> Result<usize, DeviceError> {
        if self.kept.len() == MOST {
            let oldest = (0..MOST).min_by_key(|at| self.kept[*at].used);
            return Ok(oldest.unwrap_or_default());
        }
        let description = vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1);
        // SAFETY: the pool is of this device, and of this value alone.
        let buffers = unsafe { self.device.core.device.allocate_command_buffers(&description) };
        let buffer = buffers.map_err(DeviceError::at(Step::Record))?.first().copied().unwrap_or_default();
        self.kept.push(Recorded { hash: 0, commands: None, buffer, used: 0 });
        Ok(self.kept.len() - 1)
    }
}

fn hash_of(same: &[Same]) -> u64 {
    let mut hasher = FxHasher::default();
    same.hash(&mut hasher);
    hasher.finish()
}

impl Drop for Recordings {
    fn drop(&mut self) {
        let core = &self.device.core;
        if core.is_abandoned() {
            return;
        }
        // SAFETY: the pool is of this device and of this value alone; what ran of it was waited for.
        unsafe { core.device.destroy_command_pool(self.pool, None) };
    }
}
