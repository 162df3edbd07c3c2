//! Memory of a device, reached by kernels by its address, by the host directly or by copies of the device.

use super::commands::copied_region;
use super::core::Core;
use super::device::Device;
use super::error::{DeviceError, Step};
use super::steps::Refusable;
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
    /// No other memory or pipeline of the device has it, or had it.
    pub(super) number: u64,
    /// Where the host reaches it, if it does.
    mapped: Option<NonNull<u8>>,
}

// SAFETY: the pointer is to memory that belongs to this value alone.
unsafe impl Send for Memory {}
// SAFETY: as above; through a shared reference it is only read.
unsafe impl Sync for Memory {}

/// Memory that the host sees without flushing.
const FOR_HOST: vk::MemoryPropertyFlags = vk::MemoryPropertyFlags::from_raw(
    vk::MemoryPropertyFlags::HOST_VISIBLE.as_raw() | vk::MemoryPropertyFlags::HOST_COHERENT.as_raw(),
);

/// What memory is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Arrays of kernels. The host reaches them where it shares its memory with the device.
    Arrays,
    /// A few words that the host writes and kernels read.
    Arguments,
    /// What the host writes and the device copies.
    Upload,
    /// What the device copies and the host reads.
    ReadBack,
}

impl Purpose {
    /// Whether the host has to reach it.
    fn is_mapped(self, is_staged: bool) -> bool {
        self != Purpose::Arrays || !is_staged
    }

    /// Kinds of memory, the best one first.
    fn kinds(self, is_staged: bool) -> Vec<vk::MemoryPropertyFlags> {
        let (local, cached) = (vk::MemoryPropertyFlags::DEVICE_LOCAL, vk::MemoryPropertyFlags::HOST_CACHED);
        match self {
            Purpose::Arrays if is_staged => vec![local],
            Purpose::Arrays => vec![local | FOR_HOST | cached, local | FOR_HOST, FOR_HOST],
            Purpose::Arguments => vec![local | FOR_HOST, FOR_HOST],
            // Cards have little memory of their own that the host reaches.
            Purpose::Upload => vec![FOR_HOST],
            Purpose::ReadBack => vec![FOR_HOST | cached, FOR_HOST],
        }
    }
}

impl Device {
    /// Takes so many bytes of the device's memory.
    pub fn allocate(&self, bytes: u64) -> Result<Memory, DeviceError> {
        self.allocate_for(Purpose::Arrays, bytes)
    }

    /// Takes so many bytes of memory for a purpose.
    pub fn allocate_for(&self, purpose: Purpose, bytes: u64) -> Result<Memory, DeviceError> {
        Memory::new(&self.core, bytes, &purpose.kinds(self.is_staged), purpose.is_mapped(self.is_staged))
    }

    /// Writes bytes to memory, from an offset on.
    pub fn write(&self, memory: &mut Memory, offset: u64, data: &[u8]) -> Result<(), DeviceError> {
        if memory.is_mapped() {
            return memory.write(offset, data);
        }
        memory.check(offset, data.len())?;
        let mut stage = self.allocate_for(Purpose::Upload, data.len() as u64)?;
        stage.write(0, data)?;
        self.copy_part([&stage, memory], copied_region(0, offset, data.len() as u64))
    }

    /// Reads bytes of memory, from an offset on.
    pub fn read(&self, memory: &Memory, offset: u64, data: &mut [u8]) -> Result<(), DeviceError> {
        if memory.is_mapped() {
            return memory.read(offset, data);
        }
        memory.check(offset, data.len())?;
        let stage = self.allocate_for(Purpose::ReadBack, data.len() as u64)?;
        self.copy_part([memory, &stage], copied_region(offset, 0, data.len() as u64))?;
        stage.read(0, data)
    }

    /// Lets the device copy a region that lies in both memories.
    pub(super) fn copy_part(&self, [from, to]: [&Memory; 2], region: vk::BufferCopy) -> Result<(), DeviceError> {
        if region.size == 0 {
            return Ok(());
        }
        let mut queue = self.core.queue(None)?;
        self.core.record_and_run(&mut queue, |device, commands| {
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
        core.expect_usable()?;
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
            number: core.number(),
            mapped: None,
        };
        // SAFETY: the buffer is one of the device's.
        let needs = unsafe { core.device.get_buffer_memory_requirements(buffer) };
        out.memory = allocated(core, &needs, wanted).map_err(&refused)?;
        core.meter.count_memory(bytes);
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

    /// Whether the host reaches it.
    pub(crate) fn is_mapped(&self) -> bool {
        self.mapped.is_some()
    }

    /// Writes bytes to memory that the host reaches. The device has nothing to do with it meanwhile: what uses it is waited
    /// for as long as it is borrowed, and a device that does not end its work is not used any more.
    pub(crate) fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), DeviceError> {
        // SAFETY: it is borrowed by this caller alone.
        unsafe { self.write_part(offset, data) }
    }

    /// Writes a part of memory that the host reaches.
    ///
    /// # Safety
    ///
    /// Nobody else reads or writes the part, and no kernel does.
    pub(super) unsafe fn write_part(&self, offset: u64, data: &[u8]) -> Result<(), DeviceError> {
        self.check(offset, data.len())?;
        self.core.expect_usable()?;
        let place = self.mapped.ok_or(DeviceError::NotMapped)?;
        // SAFETY: the range lies in the mapping; nobody else uses it, as the caller says.
        unsafe { place.add(offset as usize).copy_from_nonoverlapping(NonNull::from(data).cast(), data.len()) };
        Ok(())
    }

    /// Reads bytes of memory that the host reaches.
    pub(crate) fn read(&self, offset: u64, data: &mut [u8]) -> Result<(), DeviceError> {
        self.check(offset, data.len())?;
        self.core.expect_usable()?;
        let (place, len) = (self.mapped.ok_or(DeviceError::NotMapped)?, data.len());
        // SAFETY: the range lies in the mapping; nobody writes it: the host does so where it has the memory, or a part of it,
        // alone, and a kernel while its memory is borrowed by a call, which is waited for.
        unsafe { place.add(offset as usize).copy_to_nonoverlapping(NonNull::from(data).cast(), len) };
        Ok(())
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
        if self.memory != vk::DeviceMemory::null() {
            self.core.meter.forget_memory(self.bytes);
        }
    }
}

/// Memory of the first kind that there is enough of.
fn allocated(
    core: &Core,
    needs: &vk::MemoryRequirements,
    wanted: &[vk::MemoryPropertyFlags],
) -> Result<vk::DeviceMemory, vk::Result> {
    let mut types: Vec<u32> = Vec::new();
    let found = wanted.iter().filter_map(|flags| memory_type(&core.memory, needs.memory_type_bits, *flags));
    found.for_each(|kind| {
        if !types.contains(&kind) {
            types.push(kind)
        }
    });
    let mut outcome = Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
    for kind in types {
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let description =
            vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind).push_next(&mut flags);
        outcome = core.meter.take(Refusable::Allocation).and_then(|()| {
            // SAFETY: the type of memory is one of the device's.
            unsafe { core.device.allocate_memory(&description, None) }
        });
        if outcome.is_ok() {
            break;
        }
    }
    outcome
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
