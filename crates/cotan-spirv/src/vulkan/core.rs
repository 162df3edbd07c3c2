//! The open device and what all of its parts share.

use super::error::{DeviceError, Step};
use super::info::compute_family;
use super::loader::{Handle, Vulkan};
use super::steps::Meter;
use crate::features::Features;
use crate::turn::{Taken, Turn};
use ash::vk;
use cotan_ops::stop::Stop;
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

/// A logical device, with one queue. Memory and pipelines hold it, so it is the last that is given back.
pub(super) struct Core {
    pub(super) device: ash::Device,
    pub(super) memory: vk::PhysicalDeviceMemoryProperties,
    pub(super) limit: Duration,
    pub(super) family: u32,
    pub(super) meter: Arc<Meter>,
    queue: Turn<Queue>,
    /// A [`State`].
    state: AtomicU8,
    /// The number of the memory or pipeline that was made last.
    last: AtomicU64,
    /// The instance, which stays as well if the device is abandoned.
    instance: ManuallyDrop<Arc<Handle>>,
}

/// Whether a device can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It can.
    Usable,
    /// It was lost. What was made of it is given back all the same.
    Lost,
    /// Work is left on it that never ended. Nothing of it is given back.
    Abandoned,
}

/// The queue, with what one submission needs. One runs at a time.
pub(super) struct Queue {
    pub(super) handle: vk::Queue,
    pub(super) pool: vk::CommandPool,
    pub(super) commands: vk::CommandBuffer,
    pub(super) fence: vk::Fence,
}

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Core")
    }
}

impl Core {
    /// Opens a device with the features that it offers.
    pub(super) fn open(
        vulkan: &Vulkan,
        physical: vk::PhysicalDevice,
        features: Features,
        limit: Duration,
    ) -> Result<Core, DeviceError> {
        let instance = &vulkan.handle.instance;
        let family = compute_family(instance, physical).ok_or(DeviceError::NoDevice)?;
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&priorities)];
        let plain = vk::PhysicalDeviceFeatures::default()
            .shader_float64(features.float64)
            .shader_int64(features.int64)
            .shader_int16(features.int16);
        let mut eleven = vk::PhysicalDeviceVulkan11Features::default().storage_buffer16_bit_access(features.storage16);
        let mut twelve = vk::PhysicalDeviceVulkan12Features::default()
            .shader_int8(features.int8)
            .storage_buffer8_bit_access(features.storage8)
            .shader_buffer_int64_atomics(features.atomics64)
            .buffer_device_address(features.addresses);
        let description = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_features(&plain)
            .push_next(&mut eleven)
            .push_next(&mut twelve);
        // SAFETY: the device is one of the instance's, and offers what the description asks for, which lives until the end.
        let device = unsafe { instance.create_device(physical, &description, None) };
        let device = device.map_err(DeviceError::at(Step::Open))?;
        let queue = Queue::new(&device, family).inspect_err(|_| {
            // SAFETY: the device was made above, and what was made of it is given back.
            unsafe { device.destroy_device(None) };
        })?;
        // SAFETY: the device is one of the instance's.
        let memory = unsafe { instance.get_physical_device_memory_properties(physical) };
        Ok(Core {
            device,
            memory,
            limit,
            family,
            meter: Arc::default(),
            queue: Turn::new(queue),
            state: AtomicU8::new(State::Usable as u8),
            last: AtomicU64::new(0),
            instance: ManuallyDrop::new(Arc::clone(&vulkan.handle)),
        })
    }

    /// The queue, for one caller at a time. A device that was lost or abandoned has none.
    pub(super) fn queue(&self, stop: Option<&Stop>) -> Result<Taken<'_, Queue>, DeviceError> {
        let queue = self.queue.take(stop).ok_or(DeviceError::Stopped)?;
        self.expect_usable()?;
        Ok(queue)
    }

    /// From now on the device is left alone, and nothing of it is given back.
    pub(super) fn abandon(&self) {
        self.state.store(State::Abandoned as u8, Ordering::Release);
    }

    /// From now on the device is left alone.
    pub(super) fn lose(&self) {
        // What never ended does not end because the device is lost, too.
        let _ =
            self.state.compare_exchange(State::Usable as u8, State::Lost as u8, Ordering::AcqRel, Ordering::Acquire);
    }

    fn is_in(&self, state: State) -> bool {
        self.state.load(Ordering::Acquire) == state as u8
    }

    /// Whether work is left on it that never ended.
    pub(super) fn is_abandoned(&self) -> bool {
        self.is_in(State::Abandoned)
    }

    /// Whether it can be used.
    pub(super) fn is_usable(&self) -> bool {
        self.is_in(State::Usable)
    }

    /// An error where it can't be used.
    pub(super) fn expect_usable(&self) -> Result<(), DeviceError> {
        if self.is_abandoned() {
            return Err(DeviceError::Hung { limit: self.limit });
        }
        if self.is_usable() { Ok(()) } else { Err(DeviceError::Lost { step: Step::Open }) }
    }

    /// The number of something that is made now: nothing else of this device has it, or had it.
    pub(super) fn number(&self) -> u64 {
        self.last.fetch_add(1, Ordering::Relaxed)
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        if self.is_abandoned() {
            return;
        }
        // SAFETY: memory, pipelines and recordings hold the core, so they are given back; no work is left, as each submission
        // is waited for; what is given back here was made of this device, and is used by nobody else.
        unsafe {
            if let Some(queue) = self.queue.get_mut() {
                queue.give_back(&self.device);
            }
            self.device.destroy_device(None);
        }
        // SAFETY: it is not touched after this.
        unsafe { ManuallyDrop::drop(&mut self.instance) };
    }
}

impl Queue {
    /// The queue of a family, with a buffer for commands and a fence.
    fn new(device: &ash::Device, family: u32) -> Result<Queue, DeviceError> {
        let refused = DeviceError::at(Step::Open);
        // SAFETY: the device was made with one queue of this family.
        let handle = unsafe { device.get_device_queue(family, 0) };
        let description = vk::CommandPoolCreateInfo::default()
            .queue_family_index(family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        // SAFETY: the family is one of the device's.
        let pool = unsafe { device.create_command_pool(&description, None) }.map_err(&refused)?;
        let mut queue = Queue { handle, pool, commands: vk::CommandBuffer::null(), fence: vk::Fence::null() };
        queue.fill(device).map_err(|error| {
            // SAFETY: the pool was made above, the fence is null or was made for it; nothing runs.
            unsafe { queue.give_back(device) };
            refused(error)
        })?;
        Ok(queue)
    }

    fn fill(&mut self, device: &ash::Device) -> Result<(), vk::Result> {
        let description = vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1);
        // SAFETY: the pool is one of the device's, and nobody else uses it.
        let commands = unsafe { device.allocate_command_buffers(&description) }?;
        self.commands = commands.first().copied().unwrap_or_default();
        // SAFETY: the device is alive.
        self.fence = unsafe { device.create_fence(&vk::FenceCreateInfo::default(), None) }?;
        Ok(())
    }

    /// Gives back the fence and the pool, with its commands.
    ///
    /// # Safety
    ///
    /// They are of this device, no work is left that uses them, and they are not used after this.
    unsafe fn give_back(&mut self, device: &ash::Device) {
        // SAFETY: the caller's word; a null handle is let through.
        unsafe {
            device.destroy_fence(self.fence, None);
            device.destroy_command_pool(self.pool, None);
        }
    }
}
