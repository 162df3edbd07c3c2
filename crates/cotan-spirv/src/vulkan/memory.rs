//! Memory of a device, reached by kernels by its address, by the host directly or by copies of the device.

use super::core::{Core, Queue};
use super::device::Device;
use super::error::{DeviceError, Step};
use ash::vk;
use std::ptr::NonNull;
use std::sync::Arc;

/// A piece of memory of a device. It is given back when it is dropped.
#[derive(Debug)]
pub struct Memory {
    core: Arc<Core>,
    pub(super) buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    bytes: u64,
    address: u64,
    /// Where the host reaches it, if it does.
    mapped: Option<NonNull<u8>>,
}

// SAFETY: the pointer is to memory that belongs to this value alone. It is read and written under the lock of the queue.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

/// Memory that the host sees without flushing.
const FOR_HOST: vk::MemoryPropertyFlags = vk::MemoryPropertyFlags::from_raw(
    vk::MemoryPropertyFlags::HOST_VISIBLE.as_raw() | vk::MemoryPropertyFlags::HOST_COHERENT.as_raw(),
);

impl Device {
    /// Takes so many bytes of the device's memory.
    pub fn allocate(&self, bytes: u64) -> Result<Memory, DeviceError> {
        let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        let wanted: &[vk::MemoryPropertyFlags] = if self.is_staged { &[local] } else { &[local | FOR_HOST, FOR_HOST] };
        Memory::new(&self.core, bytes, wanted, !self.is_staged)
    }

    /// Writes bytes to memory, from an offset on.
    pub fn write(&self, memory: &Memory, offset: u64, data: &[u8]) -> Result<(), DeviceError> {
        memory.check(offset, data.len())?;
        if memory.mapped.is_some() {
            let queue = self.core.queue()?;
            memory.copy_in(&queue, offset, data);
            return Ok(());
        }
        let stage = Memory::new(&self.core, data.len() as u64, &[FOR_HOST], true)?;
        let queue = self.core.queue()?;
        stage.copy_in(&queue, 0, data);
        let region = vk::BufferCopy::default().dst_offset(offset).size(data.len() as u64);
        self.copy(&queue, &stage, memory, region)
    }

    /// Reads bytes of memory, from an offset on.
    pub fn read(&self, memory: &Memory, offset: u64, data: &mut [u8]) -> Result<(), DeviceError> {
        memory.check(offset, data.len())?;
        if memory.mapped.is_some() {
            let queue = self.core.queue()?;
            memory.copy_out(&queue, offset, data);
            return Ok(());
        }
        let stage = Memory::new(&self.core, data.len() as u64, &[FOR_HOST], true)?;
        let queue = self.core.queue()?;
        let region = vk::BufferCopy::default().src_offset(offset).size(data.len() as u64);
        self.copy(&queue, memory, &stage, region)?;
        stage.copy_out(&queue, 0, data);
        Ok(())
    }

    /// Lets the device copy.
    fn copy(&self, queue: &Queue, from: &Memory, to: &Memory, region: vk::BufferCopy) -> Result<(), DeviceError> {
        if region.size == 0 {
            return Ok(());
        }
        self.core.submit(queue, |device, commands| {
            // SAFETY: commands are being recorded, the region lies in both buffers, which are alive until this has run.
            unsafe { device.cmd_copy_buffer(commands, from.buffer, to.buffer, &[region]) };
        })
    }
}

impl Memory {
    /// The address by which kernels reach it.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Its size.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn new(
        core: &Arc<Core>,
        bytes: u64,
        wanted: &[vk::MemoryPropertyFlags],
        is_mapped: bool,
    ) -> Result<Memory, DeviceError> {
        if core.is_abandoned() {
            return Err(DeviceError::Hung { limit: core.limit });
        }
        let refused = DeviceError::at(Step::Allocate { bytes });
        let description = vk::BufferCreateInfo::default().size(bytes.max(8)).usage(
            vk::BufferUsageFlags::STORAGE_BUFFER
                | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
                | vk::BufferUsageFlags::TRANSFER_SRC
                | vk::BufferUsageFlags::TRANSFER_DST,
        );
        // SAFETY: the device is alive and offers addresses.
        let buffer = unsafe { core.device.create_buffer(&description, None) }.map_err(&refused)?;
        // What fails from here on drops what was made so far; a null handle is let through.
        let mut out = Memory {
            core: Arc::clone(core),
            buffer,
            memory: vk::DeviceMemory::null(),
            bytes,
            address: 0,
            mapped: None,
        };
        // SAFETY: the buffer is one of the device's.
        let needs = unsafe { core.device.get_buffer_memory_requirements(buffer) };
        let kind = wanted.iter().find_map(|flags| memory_type(&core.memory, needs.memory_type_bits, *flags));
        let kind = kind.ok_or_else(|| refused(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY))?;
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let description =
            vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind).push_next(&mut flags);
        // SAFETY: the type of memory is one of the device's.
        out.memory = unsafe { core.device.allocate_memory(&description, None) }.map_err(&refused)?;
        // SAFETY: the memory is as large as the buffer needs, of a type that it takes, and new.
        unsafe { core.device.bind_buffer_memory(buffer, out.memory, 0) }.map_err(&refused)?;
        let place = vk::BufferDeviceAddressInfo::default().buffer(buffer);
        // SAFETY: the buffer was made for addresses and has its memory.
        out.address = unsafe { core.device.get_buffer_device_address(&place) };
        if is_mapped {
            let flags = vk::MemoryMapFlags::empty();
            // SAFETY: the memory is visible to the host and not mapped yet; it is unmapped when it is freed.
            let place = unsafe { core.device.map_memory(out.memory, 0, vk::WHOLE_SIZE, flags) };
            out.mapped = NonNull::new(place.map_err(DeviceError::at(Step::Map))?.cast());
        }
        Ok(out)
    }

    /// Whether a range lies inside.
    pub(super) fn check(&self, offset: u64, len: usize) -> Result<(), DeviceError> {
        let end = offset.saturating_add(len as u64);
        if end > self.bytes { Err(DeviceError::OutOfBounds { end, bytes: self.bytes }) } else { Ok(()) }
    }

    /// Writes to mapped memory, while nothing runs: the caller has the queue. The range has been checked.
    fn copy_in(&self, _queue: &Queue, offset: u64, data: &[u8]) {
        if let Some(place) = self.mapped {
            // SAFETY: the range lies in the mapping; neither the device nor another thread touches it, as both need the queue.
            unsafe { place.add(offset as usize).copy_from_nonoverlapping(NonNull::from(data).cast(), data.len()) };
        }
    }

    /// Reads mapped memory, while nothing runs: the caller has the queue. The range has been checked.
    fn copy_out(&self, _queue: &Queue, offset: u64, data: &mut [u8]) {
        if let Some(place) = self.mapped {
            let len = data.len();
            // SAFETY: the range lies in the mapping; neither the device nor another thread touches it, as both need the queue.
            unsafe { place.add(offset as usize).copy_to_nonoverlapping(NonNull::from(data).cast(), len) };
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.core.is_abandoned() {
            return;
        }
        // SAFETY: both are of this device, and no work is left that uses them, as each submission is waited for.
        unsafe {
            self.core.device.destroy_buffer(self.buffer, None);
            self.core.device.free_memory(self.memory, None);
        }
    }
}

/// The first type of memory that is allowed and has these properties.
fn memory_type(
    memory: &vk::PhysicalDeviceMemoryProperties,
    allowed: u32,
    wanted: vk::MemoryPropertyFlags,
) -> Option<u32> {
    let types = memory.memory_types_as_slice();
    (0u32..).zip(types).find(|(k, kind)| allowed >> k & 1 == 1 && kind.property_flags.contains(wanted)).map(|(k, _)| k)
}
