//! Memory of arrays that outlive calls (segregated free lists): blocks, which their owners give back, for those who come next.
//!
//! Small blocks are parts of a piece of memory, large ones have one each. What is given back is kept for blocks of the same
//! size, so that calls that replace an array by another one ask the driver for nothing; of large blocks at most as much is
//! kept as is in use, and [`KEPT`] bytes.

use super::commands::copied_region;
use super::device::Device;
use super::error::DeviceError;
use super::memory::{Memory, Purpose};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The least block, and what its place is a multiple of.
const GRAIN: u64 = 256;

/// The largest block that is a part of a piece.
const SMALL: u64 = 64 << 10;

/// The size of a piece that small blocks are parts of.
const PIECE: u64 = 1 << 20;

/// Bytes of large blocks that are kept in any case.
const KEPT: u64 = 64 << 20;

/// The blocks of a device that nobody has.
#[derive(Debug, Default)]
pub(super) struct Pool(Mutex<Free>);

#[derive(Debug, Default)]
struct Free {
    /// By size.
    blocks: BTreeMap<u64, Vec<Place>>,
    /// What is left of the piece of which a small block was cut last.
    rest: Option<(Place, u64)>,
    /// Bytes of large blocks that are free.
    free: u64,
    /// Bytes of large blocks that somebody has.
    used: u64,
}

/// Where a block lies.
#[derive(Clone, Debug)]
struct Place {
    memory: Arc<Memory>,
    offset: u64,
}

/// A block of a device's memory that one owner has. It goes back to the pool when it is dropped.
pub struct Block {
    /// `None` only while it is dropped.
    place: Option<Place>,
    bytes: u64,
    pool: Arc<Pool>,
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Block({} bytes at {:#x})", self.bytes, self.address())
    }
}

/// The size of the block for so many bytes: at most an eighth more.
fn size_of_block(bytes: u64) -> u64 {
    let step = (bytes.max(1).checked_next_power_of_two().unwrap_or(u64::MAX) / 16).max(GRAIN);
    // More than there is stays more than there is.
    bytes.max(1).checked_next_multiple_of(step).unwrap_or(u64::MAX)
}

impl Pool {
    fn lock(&self) -> MutexGuard<'_, Free> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Free {
    fn is_large(bytes: u64) -> bool {
        bytes > SMALL
    }

    /// A free block of this size.
    fn find(&mut self, bytes: u64) -> Option<Place> {
        let place = self.blocks.get_mut(&bytes).and_then(Vec::pop);
        if place.is_some() && Free::is_large(bytes) {
            self.free -= bytes;
        }
        place.or_else(|| if Free::is_large(bytes) { None } else { self.cut(bytes) })
    }

    /// A block of what is left of a piece.
    fn cut(&mut self, bytes: u64) -> Option<Place> {
        let (rest, left) = self.rest.as_mut().filter(|(_, left)| *left >= bytes)?;
        let place = rest.clone();
        rest.offset += bytes;
        *left -= bytes;
        Some(place)
    }
}

impl Device {
    /// A block of at least so many bytes, and whether the driver had to give memory for it.
    pub(crate) fn block(&self, bytes: u64) -> Result<(Block, bool), DeviceError> {
        let bytes = size_of_block(bytes);
        let mut free = self.pool.lock();
        let (place, is_new) = match free.find(bytes) {
            Some(place) => (place, false),
            None => (self.new_place(&mut free, bytes)?, true),
        };
        if Free::is_large(bytes) {
            free.used += bytes;
        }
        Ok((Block { place: Some(place), bytes, pool: Arc::clone(&self.pool) }, is_new))
    }

    fn new_place(&self, free: &mut Free, bytes: u64) -> Result<Place, DeviceError> {
        let is_large = Free::is_large(bytes);
        let memory = Arc::new(self.allocate_or_release(if is_large { bytes } else { PIECE }, free)?);
        let place = Place { memory, offset: 0 };
        if !is_large {
            free.rest = Some((Place { offset: bytes, ..place.clone() }, PIECE - bytes));
        }
        Ok(place)
    }

    fn allocate_or_release(&self, bytes: u64, free: &mut Free) -> Result<Memory, DeviceError> {
        match self.allocate(bytes) {
            Err(DeviceError::Refused { .. }) if free.free > 0 => {
                free.blocks.retain(|size, _| !Free::is_large(*size));
                free.free = 0;
                self.allocate(bytes)
            }
            other => other,
        }
    }

    /// Gives the driver back the memory of arrays that nobody has; whether there was any.
    pub(crate) fn release_free_blocks(&self) -> bool {
        let mut free = self.pool.lock();
        let was_any = !free.blocks.is_empty();
        free.blocks.clear();
        free.rest = None;
        free.free = 0;
        was_any
    }

    /// Writes bytes of a block, from an offset in it on.
    pub(crate) fn write_block(&self, block: &mut Block, offset: u64, data: &[u8]) -> Result<(), DeviceError> {
        block.check(offset, data.len())?;
        let offset = block.offset() + offset;
        if block.memory().is_mapped() {
            // SAFETY: parts of a piece do not overlap, and the block is borrowed by this caller alone: no kernel has it, since
            // those that do keep it borrowed.
            return unsafe { block.memory().write_part(offset, data) };
        }
        let mut stage = self.allocate_for(Purpose::Upload, data.len() as u64)?;
        stage.write(0, data)?;
        self.copy_part([&stage, block.memory()], copied_region(0, offset, data.len() as u64))
    }

    /// Reads the first bytes of a block.
    pub(crate) fn read_block(&self, block: &Block, data: &mut [u8]) -> Result<(), DeviceError> {
        block.check(0, data.len())?;
        self.read(block.memory(), block.offset(), data)
    }
}

impl Block {
    fn place(&self) -> &Place {
        self.place.as_ref().expect("invariant: a block has its place until it is dropped")
    }

    /// The memory that it is a part of.
    pub(crate) fn memory(&self) -> &Memory {
        &self.place().memory
    }

    /// Where in that memory it begins.
    pub(crate) fn offset(&self) -> u64 {
        self.place().offset
    }

    /// The address by which kernels reach it.
    pub fn address(&self) -> u64 {
        self.memory().address() + self.offset()
    }

    /// Its size.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Where in it a range of addresses begins that lies in it.
    pub(crate) fn offset_of(&self, at: u64, bytes: u64) -> Option<u64> {
        let offset = at.checked_sub(self.address())?;
        (offset.checked_add(bytes)? <= self.bytes).then_some(offset)
    }

    /// The memory in which a range of addresses lies that lies in the block, and where in the memory the range begins.
    pub(crate) fn find(&self, at: u64, bytes: u64) -> Option<(&Memory, u64)> {
        Some((self.memory(), self.offset() + self.offset_of(at, bytes)?))
    }

    fn check(&self, offset: u64, len: usize) -> Result<(), DeviceError> {
        let end = offset.saturating_add(len as u64);
        if end > self.bytes { Err(DeviceError::OutOfBounds { end, bytes: self.bytes }) } else { Ok(()) }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let Some(place) = self.place.take() else { return };
        let mut free = self.pool.lock();
        if Free::is_large(self.bytes) {
            free.used = free.used.saturating_sub(self.bytes);
            if free.free + self.bytes > free.used.max(KEPT) {
                drop(free);
                // The driver gets it back outside of the lock.
                drop(place);
                return;
            }
            free.free += self.bytes;
        }
        free.blocks.entry(self.bytes).or_default().push(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_blocks_are_few_and_waste_little() {
        assert_eq!([0, 1, 256, 257, 4096, 4097].map(size_of_block), [256, 256, 256, 512, 4096, 4608]);
        for bytes in (1..60).map(|k| (1_u64 << k) + (1 << k) / 3) {
            let size = size_of_block(bytes);
            assert!(size >= bytes && (bytes < 4096 || size - bytes <= bytes / 8), "{bytes} {size}");
        }
        assert_eq!(size_of_block(u64::MAX), u64::MAX);
    }
}
